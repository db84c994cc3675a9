"""Checks of announced keys: one that nobody can use is refused before anything is signed."""

from collections.abc import Callable, Iterator
from typing import Any

from anonloom.errors import TransportError
from anonloom_testing.transport.adversaries import misannounces
from anonloom_testing.transport.plans import Plan, make_driver, messages, slot_secrets
from anonloom_transport import Corruption, Driver, Round, RoundOperation, RoundTransport

Keys = tuple[bytes, ...]
Change = Callable[[Keys], Keys]

_SENDERS = 8
_OPERATIONS: tuple[RoundOperation, ...] = ("post", "deposit")


def check_announcements(transport: Any, describe: Callable[[Plan], Round]) -> None:
    """Let the last server announce keys that are wrong in every way, in several rounds."""
    for plan in _plans():
        round = describe(plan)
        if transport.problem(round) is not None:
            continue
        for what, change, usable in _changes(_announced_keys(transport, round, plan)):
            driver = _begun(transport, round, plan, change)
            named = f"{plan.operation}, {what}"
            if driver is not None and not (usable and _sends(driver, plan, named)):
                _must_name(driver, named)


def _announced_keys(transport: Any, round: Round, plan: Plan) -> Keys:
    """Return the keys that a server announces; none where nobody does."""
    announced: list[Keys] = [()]

    def note(keys: Keys) -> Keys:
        announced.append(keys)
        return keys

    _begun(transport, round, plan, note)
    return announced[-1]


def _plans() -> Iterator[Plan]:
    for operation in _OPERATIONS:
        yield Plan(operation=operation, senders=_SENDERS)
    yield Plan(operation="deposit", senders=_SENDERS, more={"counted": True})


def _changes(keys: Keys) -> Iterator[tuple[str, Change, bool]]:
    """Yield what is announced instead, and whether some keys may be so."""
    if not keys:
        return
    yield "no key at all", lambda keys: (), False
    yield "one key less", lambda keys: keys[:-1], False
    yield "one key more", lambda keys: (*keys, keys[-1]), False
    for index in range(len(keys)):
        for what, wrong, usable in (
            ("is empty", lambda key: b"", False),
            ("is a byte short", lambda key: key[:-1], False),
            ("is a byte long", lambda key: key + b"\1", False),
            # Of low order where keys are points of a curve. A hash may be zero.
            ("is zero", lambda key: bytes(len(key)), True),
            ("is one", lambda key: b"\1" + bytes(len(key) - 1), True),
        ):
            yield f"key {index} {what}", _replace_key(index, wrong), usable


def _replace_key(at: int, change: Callable[[bytes], bytes]) -> Change:
    return lambda keys: (*keys[:at], change(keys[at]), *keys[at + 1 :])


def _begun(transport: Any, round: Round, plan: Plan, change: Change) -> Driver | None:
    corrupt = _corruption(transport, change)
    if corrupt is None:
        return None
    return make_driver(transport, round, plan, corrupted={round.servers - 1: corrupt})


def _corruption(transport: Any, change: Change) -> Corruption | None:
    if isinstance(transport, RoundTransport):
        return misannounces(change)
    corruption: Corruption | None = transport.corrupt_announcement(change)
    return corruption


def _sends(driver: Driver, plan: Plan, named: str) -> bool:
    """Whether the round was begun and a sender can send; raises where that fails."""
    if driver.servers[0].notice is None:
        return False
    message = messages(1)[0]
    try:
        if plan.operation == "post":
            driver.post([message])
        else:
            driver.deposit([(slot_secrets(plan.senders)[0], message)])
    except Exception as error:
        raise AssertionError(f"{named}: a sender fails with {error!r}") from error
    return True


def _must_name(driver: Driver, named: str) -> None:
    liar = f"server {driver.round.servers - 1}"
    for index, server in enumerate(driver.servers[:-1]):
        assert server.notice is None, f"{named}: server {index} has signed it"
        assert server.stop_reason.startswith(liar), (
            f"{named}: server {index} says {server.stop_reason!r}"
        )
    text = ""
    try:
        driver.client()
    except TransportError as error:
        text = str(error)
    assert liar in text, f"{named}: a sender is told {text!r}"
