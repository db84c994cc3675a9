"""Round: what everybody who takes part in one round has to agree on."""

import hashlib
import json
from collections.abc import Iterable
from typing import Literal

import attrs
from attrs.validators import ge, in_, instance_of, optional

from anonloom.errors import TransportError
from anonloom_transport.slots import SLOT_BYTES

#: How envelopes are sealed to a server: X25519, or X25519 together with ML-KEM-768.
Suite = Literal["x25519", "mlkem768-x25519"]

SUITES: tuple[Suite, ...] = ("x25519", "mlkem768-x25519")

RoundOperation = Literal["post", "deposit"]


@attrs.frozen
class Party:
    """Somebody who sends and receives envelopes."""

    role: Literal["client", "server"] = attrs.field(validator=in_(("client", "server")))
    index: int = attrs.field(validator=[instance_of(int), ge(0)])

    def __str__(self) -> str:
        return f"{self.role} {self.index}"


def _tuple(slots: Iterable[bytes]) -> tuple[bytes, ...]:
    return tuple(slots)


@attrs.frozen(kw_only=True, eq=False)
class Round:
    """What everybody who takes part in one round has to agree on.

    Attributes
    ----------
    id
        A name that no other round has.
    operation
        `post`: each sender, one message, unlinkably. `deposit`: a sealed record at a position.
    servers
        Number of servers.
    message_size
        Bytes of every message or record; longer and shorter ones are refused.
    min_batch
        Least number of senders; a round with fewer never closes.
    capacity
        Most senders that the round takes. Of a deposit it is the number of slots, or more if there
        are senders without a position, who send decoys.
    slots
        Of a deposit, the hash of each position's secret (see `slots.slot_of`), in rising order.
    iteration, iterations
        Which of how many rounds over the same slots this is, counted from 1.
    erasure
        Of a deposit, what binds all servers to the positions that will be erased before anybody
        knows a record, and tells nobody else which they are (see `Erasure`); empty for none.
    counted
        Of a deposit, whether the servers can learn before anything is opened how many positions of
        a group are filled (see `ServerEngine.count`); uploads are a little larger for it.
    suite
        How envelopes are sealed.
    authority
        Public key of whoever signs invitations; each admits one upload. Empty: whoever likes may
        send, and as often.
    study
        What invitations must have been signed for, beside coming from the authority: digest of the
        study. One to another study of the same authority admits nobody.
    cohort, min_leave
        How many senders the phase before this one had, 0 for none; the round is held when there are
        fewer or more of them by less than `min_leave`: who alone stays away, or is new, shows what
        is hers.
    deadline
        Time after which uploads are refused; None for no such time.
    context
        Digest of whatever else all must agree on: the schema, the classes, the software.
    everyone
        The servers.
    digest
        Hash of all the above.
    """

    id: str = attrs.field(validator=instance_of(str))
    operation: RoundOperation = attrs.field(validator=in_(("post", "deposit")))
    servers: int = attrs.field(validator=[instance_of(int), ge(1)])
    message_size: int = attrs.field(validator=[instance_of(int), ge(1)])
    min_batch: int = attrs.field(validator=[instance_of(int), ge(1)])
    slots: tuple[bytes, ...] = attrs.field(default=(), converter=_tuple, repr=False)
    capacity: int = attrs.field(validator=[instance_of(int), ge(0)])
    iteration: int = attrs.field(default=1, validator=[instance_of(int), ge(1)])
    iterations: int = attrs.field(default=1, validator=[instance_of(int), ge(1)])
    erasure: bytes = attrs.field(default=b"", validator=instance_of(bytes), repr=False)
    counted: bool = attrs.field(default=False, validator=instance_of(bool))
    suite: Suite = attrs.field(default="x25519", validator=in_(SUITES))
    authority: bytes = attrs.field(default=b"", validator=instance_of(bytes), repr=False)
    study: bytes = attrs.field(default=b"", validator=instance_of(bytes), repr=False)
    cohort: int = attrs.field(default=0, validator=[instance_of(int), ge(0)])
    min_leave: int = attrs.field(default=1, validator=[instance_of(int), ge(1)])
    deadline: float | None = attrs.field(
        default=None, converter=attrs.converters.optional(float), validator=optional(ge(0))
    )
    context: bytes = attrs.field(default=b"", validator=instance_of(bytes), repr=False)
    everyone: tuple[Party, ...] = attrs.field(init=False, repr=False)
    digest: bytes = attrs.field(init=False, repr=False)

    @capacity.default
    def _capacity(self) -> int:
        return len(self.slots)

    def __attrs_post_init__(self) -> None:
        if not self.id:
            raise ValueError("a round needs an id")
        if (self.operation == "deposit") != bool(self.slots):
            raise ValueError("a deposit has slots, and a post has none")
        if any(slot >= other for slot, other in zip(self.slots, self.slots[1:], strict=False)):
            raise ValueError("slots come in rising order, and no two are the same")
        if any(len(slot) != SLOT_BYTES for slot in self.slots):
            raise ValueError(f"a slot has {SLOT_BYTES} bytes")
        if self.capacity < len(self.slots):
            raise ValueError("a deposit takes at least as many uploads as it has slots: capacity")
        if not self.capacity:
            raise ValueError("a post says how many senders it takes at most: capacity")
        if self.capacity < self.min_batch:
            raise ValueError(
                f"a round for at most {self.capacity} senders never closes with {self.min_batch}"
            )
        if self.iteration > self.iterations:
            raise ValueError(f"iteration {self.iteration} of {self.iterations}")
        if self.erasure and not self.slots:
            raise ValueError("only a deposit erases")
        if self.counted and not self.slots:
            raise ValueError("only a deposit is counted")

    @everyone.default
    def _everyone(self) -> tuple[Party, ...]:
        return tuple(Party("server", index) for index in range(self.servers))

    @digest.default
    def _digest(self) -> bytes:
        return hashlib.sha256(self.encode()).digest()

    # The digest stands for the whole: a round with a million slots is compared at once.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Round) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def encode(self) -> bytes:
        """Return the round as bytes, the same for the same round everywhere."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        hexed = {name: getattr(self, name).hex() for name in _BINARY}
        listed = {"anonloom round": 1, "slots": len(self.slots)}
        head = json.dumps({**listed, **plain, **hexed}, sort_keys=True).encode()
        return len(head).to_bytes(8, "big") + head + b"".join(self.slots)

    @classmethod
    def decode(cls, data: bytes) -> "Round":
        """Read a round.

        Raises
        ------
        TransportError
            When no round is written like that.
        """
        try:
            size = int.from_bytes(data[:8], "big")
            head, slots = json.loads(data[8 : 8 + size]), data[8 + size :]
            messages = {name: head[name] for name in _PLAIN}
            if messages["servers"] > MOST_SERVERS:
                raise ValueError("more servers than any round has")
            messages |= {name: bytes.fromhex(head[name]) for name in _BINARY}
            cut = range(0, len(slots), SLOT_BYTES)
            result = cls(
                slots=tuple(slots[index : index + SLOT_BYTES] for index in cut), **messages
            )
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise TransportError("the round description cannot be read") from None
        if result.encode() != data:
            raise TransportError("the round description cannot be read")
        return result


#: A description with more servers than these is not read: each is listed before anybody counts.
MOST_SERVERS = 1000

_BINARY = ("erasure", "authority", "study", "context")
_PLAIN = (
    "id",
    "operation",
    "servers",
    "message_size",
    "min_batch",
    "capacity",
    "iteration",
    "iterations",
    "counted",
    "suite",
    "cohort",
    "min_leave",
    "deadline",
)


def _positions(positions: Iterable[int]) -> frozenset[int]:
    return frozenset(positions)


@attrs.frozen
class Erasure:
    """Which positions of a deposit will be erased, fixed before anybody deposits.

    The servers know the positions; everybody else sees a commitment only, because a donor who knew
    that her record will be erased could stay away, and her absence would tell.

    Parameters
    ----------
    positions
        What will be erased.
    salt
        32 random bytes that all servers know.
    """

    positions: frozenset[int] = attrs.field(converter=_positions, repr=False)
    salt: bytes = attrs.field(repr=False)

    @property
    def commitment(self) -> bytes:
        """What the round description holds of it."""
        listed = b"".join(position.to_bytes(8, "big") for position in sorted(self.positions))
        return hashlib.sha256(b"anonloom erasure 1\0" + self.salt + listed).digest()


def require_size(round: Round, message: bytes) -> None:
    """Refuse a message that is not of the round's size.

    Raises
    ------
    TransportError
        With both sizes.
    """
    if len(message) != round.message_size:
        raise TransportError(
            f"a message of this round must have {round.message_size} bytes. "
            f"Got {len(message)} instead."
        )


def require_operation(round: Round, operation: str) -> None:
    """Refuse what the round is not for.

    Raises
    ------
    TransportError
        Naming both operations.
    """
    if round.operation != operation:
        raise TransportError(f"this round is for '{round.operation}', not for '{operation}'")


def require_positions(round: Round, positions: Iterable[int]) -> None:
    """Refuse positions that the round has not.

    Raises
    ------
    TransportError
        Naming the first.
    """
    unknown = sorted(set(positions) - set(range(len(round.slots))))
    if unknown:
        raise TransportError(
            f"the round has the positions 0 to {len(round.slots) - 1}. Got {unknown[0]} instead."
        )
