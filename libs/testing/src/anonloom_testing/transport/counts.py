"""Checks of counting: a transport that carries counted rounds counts filled positions, no more."""

from collections.abc import Callable, Sequence
from typing import Any

from anonloom.errors import TransportError
from anonloom_testing.transport.plans import Plan, make_driver, send, step
from anonloom_transport import Driver, Round

#: Positions of the rounds that are counted; every seventh stays empty.
POSITIONS = 16

#: Disjoint, not all positions, one with erased positions, one without any position.
GROUPS: Sequence[Sequence[int]] = ((0, 1, 2, 3), (14, 7), (), (4, 5, 6, 8, 9))


def plan(*, restarts: bool = False, counted: bool = True) -> Plan:
    """Return a deposit whose filled positions are counted."""
    return Plan(
        operation="deposit",
        senders=POSITIONS,
        planned=(5, 11),
        restarts=restarts,
        more={"counted": counted},
    )


def check_counting(transport: Any, describe: Callable[[Plan], Round]) -> None:
    """Count in several rounds, unless the transport says that it carries none."""
    problem = transport.problem(describe(plan()))
    if problem is not None:
        assert str(problem).strip(), "it does not say why it cannot count"
        return
    usual = _open_uncounted(transport, describe, restarts=False)
    for restarts in (False, True):
        if restarts and _open_uncounted(transport, describe, restarts=True) != usual:
            break  # blamed on restarts, which lose more than counts
        tried = plan(restarts=restarts)
        driver = make_driver(transport, describe(tried), tried)
        _must_refuse(driver, GROUPS, "before everything is settled")
        sent = _send_and_settle(driver, tried)
        expected = tuple(len(sent.keys() & {*group}) for group in GROUPS)
        again = " when servers start again" if restarts else ""
        for wrong, why in (((POSITIONS,),), "of no position"), (((1, 2), (2,)), "that overlap"):
            _must_refuse(driver, wrong, why)
        for _ in range(2):
            result = _count_groups(driver)
            assert result == expected, f"counted {result} instead of {expected}{again}"
        _must_refuse(driver, ((1, 2, 3),), "other than those that were counted before")
        step(driver, driver.open)
        assert list(driver.result()) == usual, "a count changed what became public"
        _must_refuse(driver, GROUPS, "after the opening")
    plain = plan(counted=False)
    driver = make_driver(transport, describe(plain), plain)
    _send_and_settle(driver, plain)
    _must_refuse(driver, GROUPS, "of a round that is not counted")


def _open_uncounted(
    transport: Any, describe: Callable[[Plan], Round], *, restarts: bool
) -> list[bytes | None] | str:
    """Return what becomes public when nothing is counted, or how that fails."""
    tried = plan(restarts=restarts, counted=False)
    try:
        driver = make_driver(transport, describe(tried), tried)
        _send_and_settle(driver, tried)
        step(driver, driver.open)
        return list(driver.result())
    except Exception as error:
        return repr(error)


def _send_and_settle(driver: Driver, tried: Plan) -> dict[int, bytes]:
    sent = send(driver, tried)
    driver.close()
    step(driver, driver.settle)
    return sent


def _count_groups(driver: Driver) -> tuple[int, ...]:
    results: list[tuple[int, ...]] = []
    step(driver, lambda: results.append(driver.count(GROUPS)))
    return results[-1]


def _must_refuse(driver: Driver, groups: Sequence[Sequence[int]], why: str) -> None:
    try:
        driver.servers[0].count(groups)
    except TransportError:
        return
    raise AssertionError(f"groups {why} were counted")
