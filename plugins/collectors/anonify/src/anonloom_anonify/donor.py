"""Donor: one person's side of a study, between the rounds of a transport.

She acts only on what all servers have signed: the study, the classes, and the description of every
round, whose context says which study and which classes it belongs to. She takes part in every
round, also when she has no class, no position or no answer: presence must tell nothing. Only when
her own post was not accepted does she stay away from then on: those who were are counted, and with
her there would be one more of them.
"""

import hashlib
from functools import lru_cache

import attrs

from anonloom.errors import TransportError
from anonloom_anonify.registration import class_of_everybody
from anonloom_anonify.reservation import NO_CLASS, plan_document, write_reservation
from anonloom_anonify.server_agreement import binding_of, read_study
from anonloom_anonify.study import PID_BYTES, WITHDRAWAL_BYTES, Study
from anonloom_transport import SECRET_BYTES, ClientEngine, Entropy, Round, SlotSecret, read_signed


@attrs.define(eq=False)
class Donor:
    """One person in a study.

    Parameters
    ----------
    notice
        The study, signed by all servers.
    pins
        The servers' public keys, known from elsewhere.

    Attributes
    ----------
    number
        Her class; None before she knows it, and when she is in none.
    withdrawn
        Whether she took her consent back.
    left_out
        Whether a registration or reservation of hers was not accepted; see `posted`.

    Raises
    ------
    TransportError
        When one of the servers has not signed the study.
    """

    notice: bytes = attrs.field(repr=False)
    pins: tuple[bytes, ...] = attrs.field(repr=False)
    _entropy: Entropy = attrs.field(repr=False)
    study: Study = attrs.field(init=False)
    number: int | None = attrs.field(default=None, init=False, repr=False)
    withdrawn: bool = attrs.field(default=False, init=False, repr=False)
    left_out: bool = attrs.field(default=False, init=False, repr=False)
    _pid: bytes = attrs.field(default=b"", init=False, repr=False)
    _secret: SlotSecret | None = attrs.field(default=None, init=False, repr=False)
    _answered: int = attrs.field(default=0, init=False)
    _answered_anew: int = attrs.field(default=0, init=False)
    _known: bytes = attrs.field(default=b"", init=False, repr=False)
    _plan: bytes = attrs.field(default=b"", init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.study = _study(self.notice, self.pins)

    def registration(self, round: Round, record: bytes) -> bytes:
        """Return the message with which she registers (algorithm 1, step 1).

        Raises
        ------
        TransportError
            When the round is not one of her study, or the record has not the study's size.
        """
        self._require(round, "registration", self.study.digest)
        if len(record) != self.study.registration_size:
            raise TransportError(
                f"a registration of this study has {self.study.registration_size} bytes. "
                f"Got {len(record)} instead."
            )
        # A new identifier whenever everybody posts again: none is ever seen in two rounds.
        self._pid = self._entropy.bytes(PID_BYTES)
        return self._pid + record

    def learn_outcome(self, client: ClientEngine) -> None:
        """Learn what became of a registration or reservation, when the servers have shown the list.

        Who is neither confirmed by all nor on the list stays away from all that follows. Whoever
        watches her line could see before that nobody confirmed what she sent.
        """
        self.left_out |= not client.stands

    def look_up(self, broadcast: bytes) -> None:
        """Find her class in what is broadcast to everybody (algorithm 1, step 6).

        Raises
        ------
        TransportError
            When one of the servers has not signed it.
        """
        document = read_signed(broadcast, "classes", binding_of(self.notice), self.pins)
        if document is None:
            raise TransportError("the classes are not signed by all servers of the study")
        self.number = class_of_everybody(document).get(self._pid)
        self._known = _digest(document)

    def reservation(self, round: Round) -> bytes:
        """Return the message that reserves a position (algorithm 2, step 1); raises as above.

        Who has no class sends what reserves nothing. With every new list of positions another set
        is erased: who had answered before does so again only as often as the study allows.
        """
        self._require(round, "reservation", self._known)
        if self._answered and self._answered_anew == self.study.restarts:
            raise TransportError(
                f"the reservations were made anew {self._answered_anew} times: nothing more is sent"
            )
        self._answered_anew += self._answered > 0
        self._answered, self._plan = 0, b""
        self._secret = SlotSecret(
            self._entropy.bytes(SECRET_BYTES), self._entropy.bytes(SECRET_BYTES)
        )
        number = NO_CLASS if self.number is None else self.number
        return write_reservation(self._secret.key(self.study.iterations), number)

    def position(self, round: Round) -> SlotSecret | None:
        """Return the secret of her position in a deposit; None when she has none and sends a decoy.

        Raises
        ------
        TransportError
            When the round is not the deposit of her study that she expects: no iteration comes
            twice, because a second opening with another erased set would show what was erased.
        """
        self._require(round, "publishing", _plan_digest(self._known, round))
        if round.iteration <= self._answered:
            raise TransportError(
                f"iteration {round.iteration} comes after iteration {self._answered}: nothing is "
                "sent twice"
            )
        self._answered, self._plan = round.iteration, round.context
        if self._secret is None or self._secret.slot not in _slots(round):
            return None
        return self._secret

    @property
    def slot(self) -> bytes:
        """What is published of her position; empty when she has reserved none."""
        return b"" if self._secret is None else self._secret.slot

    def consent(self, round: Round) -> bytes:
        """Return what she posts before an iteration is opened: proof that she withdraws, or noise.

        Servers know the alpha of every position; the link of this iteration only she knows, so that
        nobody withdraws in her name.

        Raises
        ------
        TransportError
            When the round does not belong to the positions that she knows of.
        """
        self._require(round, "withdrawal", self._plan)
        if self.withdrawn and self._secret is not None:
            # Of the round's iteration: a decoy may have stood in for her deposit.
            link = self._secret.link(round.iteration, self.study.iterations)
            return self._secret.alpha + link
        return self._entropy.bytes(WITHDRAWAL_BYTES)

    def _require(self, round: Round, phase: str, context: bytes) -> None:
        if self.left_out:
            raise TransportError("an earlier post was not accepted: nothing more is sent")
        name = round.id.removeprefix(f"{self.study.id} ")
        if not context or not name.startswith(f"{phase} ") or round.context != context:
            raise TransportError("the round is not one of this study: nothing is sent")


# Thousands of donors in one process are shown the same bytes: they are read once.


@lru_cache(maxsize=4)
def _study(notice: bytes, pins: tuple[bytes, ...]) -> Study:
    return read_study(notice, pins)


@lru_cache(maxsize=4)
def _slots(round: Round) -> frozenset[bytes]:
    return frozenset(round.slots)


@lru_cache(maxsize=4)
def _digest(document: bytes) -> bytes:
    return hashlib.sha256(document).digest()


@lru_cache(maxsize=4)
def _plan_digest(classes: bytes, round: Round) -> bytes:
    return hashlib.sha256(plan_document(classes, round.slots, round.erasure)).digest()
