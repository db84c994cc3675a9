"""Two rounds: everybody reserves a position without a name, then fills it with a record."""

from collections.abc import Callable, Sequence
from itertools import groupby

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import TransportError
from anonloom_transport import (
    SECRET_BYTES,
    Driver,
    EngineTransport,
    Entropy,
    Erasure,
    Round,
    SlotKey,
    SlotSecret,
    Suite,
)

#: Bytes of the message that reserves a position.
KEY_BYTES = 2 * SECRET_BYTES

#: Bytes of what makes the commitment to the erased positions hard to guess.
_SALT_BYTES = 32

#: Uploading and opening, in each of two rounds.
STEPS = 4

Progress = Callable[[int, int], None]


def _silent(done: int, total: int) -> None:
    """Tell nobody."""


@attrs.frozen(kw_only=True)
class Plan:
    """What both rounds have in common.

    Attributes
    ----------
    context
        Digest of what else all must agree on: the layout of records.
    min_leave
        The second round is held when fewer senders than that are missing from it, but some.
    dishonest
        Senders who join the first round and do the worst to it that passes all checks, as a share
        of the honest ones.
    progress
        Told how many of the `STEPS` are done.
    """

    transport: EngineTransport
    servers: int
    min_batch: int
    suite: Suite
    entropy: Entropy = attrs.field(repr=False)
    context: bytes = attrs.field(default=b"", repr=False)
    traced: bool = False
    dishonest: float = 0.0
    min_leave: int = 1
    progress: Progress = attrs.field(default=_silent, repr=False)

    def spoilers(self, senders: int) -> int:
        """Return how many dishonest senders there are beside the honest ones."""
        return round(self.dishonest * senders)

    def post(self, senders: int, name: str) -> Round:
        """Describe the round in which positions are reserved."""
        return Round(
            id=f"{name} post",
            operation="post",
            servers=self.servers,
            message_size=KEY_BYTES,
            min_batch=self.min_batch,
            capacity=senders,
            suite=self.suite,
            context=self.context,
        )

    def deposit(
        self,
        slots: Sequence[bytes],
        size: int,
        name: str,
        erasure: Erasure | None = None,
        senders: int = 0,
    ) -> Round:
        """Describe the round in which positions are filled; senders may be more than positions."""
        return Round(
            id=f"{name} deposit",
            operation="deposit",
            servers=self.servers,
            message_size=size,
            min_batch=self.min_batch,
            slots=slots,
            capacity=max(senders, len(slots)),
            min_leave=self.min_leave,
            erasure=b"" if erasure is None else erasure.commitment,
            suite=self.suite,
            cohort=max(senders, len(slots)),
            context=self.context,
        )


@attrs.frozen(eq=False, kw_only=True)
class DeliveryResult:
    """What became of the rows.

    Attributes
    ----------
    rows
        The rows whose records arrived, in rising order. In process the sender of every position is
        known, because one program plays all parties; no server could tell.
    records
        Their records, one by one.
    reserved, erased
        How many rows had a position, and how many positions were erased.
    """

    rows: NDArray[np.int64] = attrs.field(repr=False)
    records: NDArray[np.uint8] = attrs.field(repr=False)
    reserved: int
    erased: int
    post: Driver = attrs.field(repr=False)
    deposit: Driver = attrs.field(repr=False)


def reserve(plan: Plan, senders: int, name: str) -> tuple[Driver, list[SlotSecret], list[SlotKey]]:
    """Let everybody post the key of a position; return what became public, in order of position.

    Raises
    ------
    TransportError
        When too few keys arrived for another round.
    """
    secrets = [
        SlotSecret(plan.entropy.bytes(SECRET_BYTES), plan.entropy.bytes(SECRET_BYTES))
        for _ in range(senders)
    ]
    spoilers = plan.spoilers(senders)
    described = plan.post(senders + spoilers, name)
    driver = Driver(plan.transport, described, entropy=plan.entropy, traced=plan.traced)
    driver.post([bytes(secret.key()) for secret in secrets])
    driver.spoil(spoilers)
    plan.progress(1, STEPS)
    keys = [SlotKey.read(message) for message in driver.finish() if message is not None]
    plan.progress(2, STEPS)
    if len(keys) < plan.min_batch:
        raise TransportError(
            f"of {senders:,} senders {len(keys):,} were heard in the first round, and a round "
            f"never closes with fewer than {plan.min_batch:,}"
        )
    return driver, secrets, sorted(keys, key=lambda key: key.slot)


def send(
    plan: Plan, records: NDArray[np.uint8], unwanted: NDArray[np.bool_], name: str
) -> DeliveryResult:
    """Carry one record per row.

    Parameters
    ----------
    unwanted
        Rows whose positions are erased, which all servers sign before anybody deposits. In process
        rows are chosen and not positions, so that a seed repeats a run; either way every row is as
        likely.
    """
    first, secrets, keys = reserve(plan, len(records), name)
    slots, spoilers = [key.slot for key in keys], plan.spoilers(len(records))
    place = {slot: position for position, slot in enumerate(slots)}
    positions = [place.get(secret.slot) for secret in secrets]
    chosen = {
        position
        for position, out in zip(positions, unwanted.tolist(), strict=True)
        if out and position is not None
    }
    erasure = Erasure(chosen, plan.entropy.bytes(_SALT_BYTES)) if chosen else None
    second = Driver(
        plan.transport,
        plan.deposit(slots, records.shape[1], name, erasure, len(records) + spoilers),
        identities=first.identities,
        slot_keys=tuple(keys),
        erasure=erasure,
        entropy=plan.entropy,
        traced=plan.traced,
    )
    _fill(second, secrets, positions, records)
    # Who spoiled the first round is seen in the second: to be missing would tell on others.
    second.decoy(spoilers)
    plan.progress(3, STEPS)
    result = second.finish()
    plan.progress(4, STEPS)
    arrived = [
        (row, result[position])
        for row, position in enumerate(positions)
        if position is not None and result[position] is not None
    ]
    return DeliveryResult(
        rows=np.array([row for row, _ in arrived], np.int64),
        records=np.frombuffer(b"".join(item or b"" for _, item in arrived), np.uint8).reshape(
            len(arrived), records.shape[1]
        ),
        reserved=len(records) - positions.count(None),
        erased=len(chosen),
        post=first,
        deposit=second,
    )


def _fill(
    driver: Driver,
    secrets: Sequence[SlotSecret],
    positions: Sequence[int | None],
    records: NDArray[np.uint8],
) -> None:
    """Let everybody fill a position; senders keep their numbers of the first round.

    Who was not heard there has none, and sends what looks the same: staying away would show it.
    """
    everybody = range(len(secrets))
    for here, group in groupby(everybody, key=lambda row: positions[row] is not None):
        rows = list(group)
        if here:
            driver.deposit([(secrets[row], records[row].tobytes()) for row in rows])
        else:
            driver.decoy(len(rows))
