"""Trials: small rounds that hide nothing, to see what taking part costs on this machine."""

import sys
from collections.abc import Sequence
from functools import cache
from statistics import median
from typing import Any, ClassVar

import attrs

from anonloom.kinds import Guarantees
from anonloom_transport.client import RoundClient
from anonloom_transport.driver import Driver
from anonloom_transport.engines import Entropy
from anonloom_transport.entropy import SystemEntropy
from anonloom_transport.invitations import Authority
from anonloom_transport.notice import Notice
from anonloom_transport.rounds import Round, Suite
from anonloom_transport.slots import SlotSecret
from anonloom_transport.state import RoundState
from anonloom_transport.strategy import ServerStrategy
from anonloom_transport.transport import RoundTransport

#: Senders of a trial, and how often it is repeated.
_SENDERS = 32
_TIMES = 3


@attrs.frozen
class Microbench:
    """What a small round shows: CPU seconds, and bytes that a server holds.

    Attributes
    ----------
    words
        Of the first server, for all that does not depend on the number of senders.
    upload
        Of the first server, for one upload: taken, confirmed, listed and agreed on.
    sender
        Of a sender: sealing, sending, checking receipts.
    held
        Bytes that the first server keeps of one upload.
    """

    words: float
    upload: float
    sender: float
    held: int


@cache
def run_microbench(contents: tuple[int, ...], suite: Suite, invited: bool) -> Microbench:
    """Try a round with contents of these sizes, one for each server."""
    runs = [_run(contents, suite, invited, senders) for senders in (1, _SENDERS) * _TIMES]
    alone = median(_cpu(driver, "server 0") for driver, _ in runs[::2])
    many = median(_cpu(driver, "server 0") for driver, _ in runs[1::2])
    upload = max(0.0, many - alone) / (_SENDERS - 1)
    return Microbench(
        words=max(0.0, alone - upload),
        upload=upload,
        sender=median(_cpu(driver, "clients") for driver, _ in runs[1::2]) / _SENDERS,
        held=runs[1][1] // _SENDERS,
    )


def _run(
    contents: tuple[int, ...], suite: Suite, invited: bool, senders: int
) -> tuple[Driver, int]:
    """Run a round; return it, and the bytes that the first server kept of all uploads."""
    entropy = SystemEntropy()
    authority = Authority.draw(entropy) if invited else None
    described = Round(
        id=entropy.bytes(8).hex(),
        operation="post",
        servers=len(contents),
        message_size=1,
        min_batch=1,
        capacity=senders,
        suite=suite,
        authority=authority.public if authority else b"",
    )
    carrier = _Plain(contents=contents)
    driver = Driver(carrier, described, traced=False)
    codes = [authority.invite(entropy) for _ in range(senders)] if authority else []
    driver.post([b"x"] * senders, codes)
    driver.finish()
    return driver, carrier.held[0]


def _cpu(driver: Driver, who: str) -> float:
    return sum(spent for (_, party), spent in driver.meter.cpu.items() if party == who)


@attrs.frozen(kw_only=True)
class _Plain(RoundTransport):
    """Seals zeros to every server, and publishes nothing."""

    name: ClassVar[str] = "trial"
    distribution: ClassVar[str] = "anonloom-transport"

    contents: tuple[int, ...]
    #: Bytes that the first server kept of all uploads.
    held: list[int] = attrs.field(factory=list, eq=False, repr=False)

    @property
    def software(self) -> bytes:
        return b"trial"

    def make_client(self, notice: Notice, entropy: Entropy, invitation: bytes) -> RoundClient:
        return _Client(notice, entropy, invitation, contents=self.contents)

    def make_server(self, state: RoundState) -> ServerStrategy:
        return _Server(state, size=self.contents[state.index], noted=self.held)

    def guarantees(self, round: Round) -> Guarantees:
        raise AssertionError("a trial promises nothing")


@attrs.define(eq=False)
class _Client(RoundClient):
    contents: tuple[int, ...] = attrs.field(kw_only=True)

    def for_post(self, message: bytes) -> list[bytes]:
        return [bytes(size) for size in self.contents]

    def for_deposit(self, position: int, secret: SlotSecret, record: bytes) -> list[bytes]:
        raise AssertionError("trials are posts")

    def for_decoy(self) -> list[bytes]:
        raise AssertionError("trials are posts")


@attrs.define(eq=False)
class _Server(ServerStrategy):
    size: int = attrs.field(kw_only=True)
    noted: list[int] = attrs.field(kw_only=True)

    @property
    def content_size(self) -> int:
        return self.size

    def place(self) -> bool:
        state = self.state
        if not state.index:
            self.noted.append(size_of((state.uploads._bodies, state.contents, state.clients)))
        return True

    def reveal(self) -> bool:
        return True

    def conclude(self) -> Sequence[bytes | None]:
        return []


def size_of(kept: Any) -> int:
    """Return the bytes of objects and of all that is inside them, each once."""
    seen: set[int] = set()
    waiting, total = [kept], 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, tuple | list | set):
            waiting += one
        elif attrs.has(type(one)):
            waiting += [getattr(one, field.name) for field in attrs.fields(type(one))]
    return total
