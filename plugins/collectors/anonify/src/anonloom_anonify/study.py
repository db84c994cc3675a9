"""Study: what donors, servers and the recipient agree on before anybody registers.

One study has many rounds of a transport: a post in which donors register, a post in which they
reserve a position, and a deposit for every iteration. All of them are described here, so that a
donor can tell a round of her study from any other.
"""

import hashlib
import json
from functools import cached_property
from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable, ge, in_, instance_of

from anonloom.errors import TransportError
from anonloom_transport import SECRET_BYTES, SUITES, Party, Round, Suite

#: Bytes of the identifier under which a donor registers (section 4.1 recommends 128 bits).
PID_BYTES = 16

#: Bytes of a class identifier.
CID_BYTES = 4

#: Bytes of what reserves a position: its key and the class of whoever will fill it.
RESERVATION_BYTES = 2 * SECRET_BYTES + CID_BYTES

#: Bytes of what takes a consent back: the position's alpha, and the link of its owner's chain.
WITHDRAWAL_BYTES = 2 * SECRET_BYTES

#: What becomes of an iteration in which somebody is missing.
Missing = Literal["stop", "blank"]


def _number(least: int, default: Any = attrs.NOTHING) -> Any:
    return attrs.field(default=default, validator=[instance_of(int), ge(least)])


@attrs.frozen(kw_only=True)
class Study:
    """What everybody agrees on.

    Attributes
    ----------
    id
        A name that no other study has.
    donors
        Most donors that the registration takes.
    k
        Least number of records of a class that is opened and published.
    min_batch
        Least number of donors; with fewer no round closes.
    min_leave
        From one phase to the next nobody may leave, or at least so many: whoever leaves alone
        shows which class was hers.
    iterations
        How often donors answer.
    missing
        `stop`: an iteration in which somebody is missing is withheld for all. `blank`: each upload
        leaves a decoy for the iteration after it, which stands in for whoever is missing then.
    withdrawals
        Whether everybody is asked, before anything is opened, if the consent still holds.
    counted
        Whether the servers learn how many records a class has before they open any.
    repeats
        How often everybody posts again when some posts did not arrive.
    restarts
        How often the reservations may be made anew after the servers had to give up.
    registration_size, answer_size
        Bytes of encoded quasi-identifiers, and of an answer.
    authority
        Public key of whoever signs invitations; empty for none.
    rules
        Digest of how records are read, and how classes are made and drawn from.
    versions
        The software that all servers must run alike.
    """

    id: str = attrs.field(validator=instance_of(str))
    servers: int = _number(1)
    donors: int = _number(1)
    k: int = _number(1)
    min_batch: int = _number(1)
    min_leave: int = _number(1, default=1)
    iterations: int = _number(1, default=1)
    missing: Missing = attrs.field(default="stop", validator=in_(("stop", "blank")))
    withdrawals: bool = attrs.field(default=False, validator=instance_of(bool))
    counted: bool = attrs.field(default=False, validator=instance_of(bool))
    repeats: int = _number(0, default=1)
    restarts: int = _number(0, default=1)
    suite: Suite = attrs.field(default="x25519", validator=in_(SUITES))
    registration_size: int = _number(1)
    answer_size: int = _number(1)
    authority: bytes = attrs.field(default=b"", validator=instance_of(bytes), repr=False)
    rules: bytes = attrs.field(default=b"", validator=instance_of(bytes), repr=False)
    versions: tuple[str, ...] = attrs.field(
        default=(), validator=deep_iterable(instance_of(str), instance_of(tuple))
    )

    @property
    def everyone(self) -> tuple[Party, ...]:
        """The servers."""
        return tuple(Party("server", index) for index in range(self.servers))

    @cached_property
    def digest(self) -> bytes:
        """Hash of all the above but the software.

        Servers of one study that run different software must understand each other so far that
        each can say which of them does.
        """
        return hashlib.sha256(attrs.evolve(self, versions=()).encode()).digest()

    def encode(self) -> bytes:
        """Return the study as bytes, the same for the same study everywhere."""
        fields = attrs.asdict(self)
        plain = {name: _plain(value) for name, value in fields.items()}
        return json.dumps({"anonloom study": 1, **plain}, sort_keys=True).encode()

    @classmethod
    def decode(cls, data: bytes) -> "Study":
        """Read a study.

        Raises
        ------
        TransportError
            When no study is written like that.
        """
        try:
            fields = json.loads(data)
            del fields["anonloom study"]
            for name in ("authority", "rules"):
                fields[name] = bytes.fromhex(fields[name])
            result = cls(**{**fields, "versions": tuple(fields["versions"])})
        except (ValueError, KeyError, TypeError, RecursionError):
            raise TransportError("the study cannot be read") from None
        if result.encode() != data:
            raise TransportError("the study cannot be read")
        return result

    # --- its rounds -----------------------------------------------------------------------------

    def registration(self, attempt: int, cohort: int = 0) -> Round:
        """Describe the post in which donors register; `cohort` did so in the attempt before."""
        size = PID_BYTES + self.registration_size
        return self._post(f"registration {attempt}", size, cohort, context=self.digest)

    def reservation(self, attempt: int, cohort: int, classes: bytes) -> Round:
        """Describe the post in which donors reserve a position, knowing these classes."""
        return self._post(f"reservation {attempt}", RESERVATION_BYTES, cohort, classes)

    def withdrawal(self, attempt: int, iteration: int, plan: bytes) -> Round:
        """Describe the post in which everybody says whether the consent still holds."""
        name = f"withdrawal {attempt}.{iteration}"
        post = self._post(name, WITHDRAWAL_BYTES, cohort=0, context=plan)
        return attrs.evolve(post, iteration=iteration, iterations=self.iterations)

    def publication(
        self,
        attempt: int,
        iteration: int,
        *,
        cohort: int,
        slots: tuple[bytes, ...],
        erasure: bytes,
        plan: bytes,
    ) -> Round:
        """Describe the deposit of an iteration."""
        # By the paper an iteration needs everybody. With decoys that stand in, whoever is missing
        # without one may not be alone.
        # For all who may have registered: whoever comes without a reservation is one too many and
        # holds the round, but takes nobody's place.
        capacity = max(self.donors, cohort, len(slots))
        leave = capacity + 1 if self.missing == "stop" else self.min_leave
        return Round(
            id=f"{self.id} publishing {attempt}.{iteration}",
            operation="deposit",
            servers=self.servers,
            message_size=self.answer_size,
            min_batch=self.min_batch,
            slots=slots,
            capacity=capacity,
            iteration=iteration,
            iterations=self.iterations,
            erasure=erasure,
            suite=self.suite,
            authority=self.authority,
            study=self.digest,
            cohort=cohort,
            min_leave=leave,
            counted=self.counted,
            context=plan,
        )

    def _post(self, name: str, size: int, cohort: int, context: bytes) -> Round:
        return Round(
            id=f"{self.id} {name}",
            operation="post",
            servers=self.servers,
            message_size=size,
            min_batch=self.min_batch,
            capacity=self.donors,
            suite=self.suite,
            authority=self.authority,
            study=self.digest,
            cohort=cohort,
            min_leave=self.min_leave,
            context=context,
        )


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return list(value) if isinstance(value, tuple) else value
