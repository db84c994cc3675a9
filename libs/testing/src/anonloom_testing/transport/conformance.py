"""Conformance of transports: what was acknowledged arrives once, on a bad network too."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import attrs

from anonloom import StageContext
from anonloom.errors import TransportError
from anonloom.kinds import Guarantees
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.purity import (
    PURITY_CHECKS,
    MethodConformance,
    Scenario,
    ScenarioResult,
    check_same_seed_same_result,
)
from anonloom_testing.transport import secrecy
from anonloom_testing.transport.announcements import check_announcements
from anonloom_testing.transport.counts import check_counting
from anonloom_testing.transport.plans import (
    ITERATION,
    ITERATIONS,
    SENDERS,
    CarriedRound,
    Network,
    Plan,
    carry,
    good_network,
    make_driver,
    make_round,
    messages,
    slot_secrets,
)
from anonloom_transport import Envelope, Round, RoundOperation, faults

_OPERATIONS: tuple[RoundOperation, ...] = ("post", "deposit")
_MIDDLE = {"iteration": ITERATION, "iterations": ITERATIONS}


class TransportConformance(MethodConformance):
    """Checks of a transport; a driver inside one process carries the envelopes.

    Attributes
    ----------
    servers
        Number of servers of the rounds that are tried.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestRelay(TransportConformance):
            method = Relay
            servers = 3
    """

    kind = "transport"
    servers: ClassVar[int] = 2

    def round(self, plan: Plan) -> Round:
        """Return the description of a round."""
        return make_round(self.servers, plan)

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Drive a whole round."""
        plan: Plan = inputs["plan"]
        return carry(method, self.round(plan), plan, context.seed)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield posts and deposits over networks that lose, repeat, reorder and corrupt."""
        for name, network in _NETWORKS.items():
            for operation in _OPERATIONS:
                yield _scenario(f"{operation}, {name}", Plan(operation=operation, network=network))
        for operation in _OPERATIONS:
            noise = Plan(operation=operation, noise=True, senders=8)
            yield _scenario(f"{operation}, garbage from somebody", noise)
            for restarts in (False, True):
                again = Plan(operation=operation, restarts=restarts, senders=8)
                name = (
                    f"{operation}, servers start again{' at every step' if restarts else ' never'}"
                )
                yield _scenario(name, again, "restarts")
        some = Plan(operation="deposit", planned=(1, 8), withdrawn=(5,))
        yield _scenario("deposit, some erased", some)
        later = Plan(operation="deposit", more=_MIDDLE)
        yield _scenario(f"deposit, iteration {ITERATION} of {ITERATIONS}", later)
        yield _scenario("too few senders", Plan(operation="post", min_batch=SENDERS + 1), "few")


def _with_clients(envelope: Envelope) -> bool:
    return "client" in (envelope.sender.role, envelope.receiver.role)


_NETWORKS: dict[str, Network] = {
    "a good network": good_network,
    "a network that loses": lambda entropy: [
        faults.drop(faults.chance(0.3, entropy, _with_clients))
    ],
    "a network that repeats": lambda _: [faults.duplicate(times=3)],
    "a network that reorders": lambda entropy: [
        faults.reorder(entropy, within=50.0, when=_with_clients)
    ],
    "a network that corrupts": lambda entropy: [
        faults.corrupt(entropy, faults.chance(0.3, entropy, _with_clients))
    ],
    "a network that fails between servers too": lambda entropy: [
        faults.drop(faults.chance(0.1, entropy)),
        faults.corrupt(entropy, faults.chance(0.1, entropy)),
        faults.reorder(entropy, within=5.0),
    ],
}


def _scenario(name: str, plan: Plan, special: str = "") -> Scenario:
    return Scenario(name, lambda: {"plan": plan}, plan, special, may_raise=bool(special))


def _posts(subject: TransportConformance) -> Iterator[ScenarioResult]:
    return (item for item in subject.successes() if item.scenario.facts.operation == "post")


def check_everybody_is_acknowledged(subject: TransportConformance) -> None:
    """A sender that tries again often enough is told that all servers have its message."""
    refuse_problems(
        (
            f"{item.scenario.name}: {missing} of {len(item.seen.result.sent)} senders are not"
            for item in subject.successes()
            if (missing := sum(not held for held in item.seen.result.acknowledged.values()))
        ),
        "senders are never acknowledged",
    )


def check_acknowledged_messages_arrive(subject: TransportConformance) -> None:
    """Every acknowledged message is among what became public, unless it was erased."""
    problems = []
    for item in subject.successes():
        carried: CarriedRound = item.seen.result
        lost = [
            index
            for index, message in carried.sent.items()
            if carried.acknowledged[index]
            and index not in item.scenario.facts.erased_positions
            and message not in carried.result
        ]
        problems += [f"{item.scenario.name}: {len(lost)} messages"] if lost else []
    refuse_problems(problems, "acknowledged messages are lost")


def check_messages_arrive_once(subject: TransportConformance) -> None:
    """No message becomes public twice."""
    problems = []
    for item in subject.successes():
        times = Counter(message for message in item.seen.result.result if message is not None)
        doubled = sum(count > 1 for count in times.values())
        problems += [f"{item.scenario.name}: {doubled} messages"] if doubled else []
    refuse_problems(problems, "messages arrive more than once")


def check_nothing_is_invented(subject: TransportConformance) -> None:
    """Nothing becomes public that no sender sent."""
    problems = []
    for item in subject.successes():
        sent = set(item.seen.result.sent.values())
        strange = sum(m is not None and m not in sent for m in item.seen.result.result)
        problems += [f"{item.scenario.name}: {strange} messages"] if strange else []
    refuse_problems(problems, "messages appear that nobody sent")


def check_records_are_at_their_positions(subject: TransportConformance) -> None:
    """A deposit becomes public at its own position; empty positions are None."""
    problems = []
    for item in subject.successes():
        carried: CarriedRound = item.seen.result
        if item.scenario.facts.operation != "deposit":
            continue
        moved = [
            index
            for index, record in enumerate(carried.result)
            if record is not None
            and record in carried.sent.values()
            and record != carried.sent.get(index)
        ]
        if moved or len(carried.result) != item.scenario.facts.senders:
            problems.append(f"{item.scenario.name}: positions {moved[:5]}")
    refuse_problems(problems, "records are not at their positions")


def check_erased_records_stay_unknown(subject: TransportConformance) -> None:
    """An erased record, planned or withdrawn, is nowhere in what became public."""
    problems = []
    for item in subject.successes():
        carried: CarriedRound = item.seen.result
        shown = [
            index
            for index in sorted(item.scenario.facts.erased_positions)
            if carried.sent[index] in carried.result
        ]
        problems += [f"{item.scenario.name}: the records of positions {shown}"] if shown else []
    refuse_problems(problems, "erased records became public")


def check_order_says_nothing_about_senders(subject: TransportConformance) -> None:
    """The messages of a post do not come in the order in which they were sent."""
    problems = []
    for post in _posts(subject):
        if post.scenario.facts.senders < SENDERS:
            continue
        rank = {message: index for index, message in post.seen.result.sent.items()}
        order = [rank[message] for message in post.seen.result.result if message in rank]
        # The share of neighbours in rising order is about a half when the order says nothing.
        rising = sum(a < b for a, b in pairwise(order))
        if not 0.15 * len(order) <= rising <= 0.85 * len(order):
            problems.append(f"{post.scenario.name}: {rising} of {len(order) - 1} neighbours rise")
    refuse_problems(problems, "the order of the messages follows the order of the senders")


def check_foreign_envelopes_are_counted(subject: TransportConformance) -> None:
    """Whatever a client sends that does not belong into the round is refused and counted."""
    refuse_problems(
        (
            f"{item.scenario.name}: {counted} of {item.seen.result.garbage}"
            for item in subject.successes()
            if (counted := sum(item.seen.result.refused.values())) < item.seen.result.garbage
        ),
        "garbage was not counted as refused",
    )


def check_restarted_servers_go_on(subject: TransportConformance) -> None:
    """Servers that start again from what they saved, at every step, end with the same result."""
    subject.successes()  # a transport that carries nothing is blamed for that alone
    ends = {
        (item.scenario.facts.operation, item.scenario.facts.restarts): _end(item)
        for item in subject.scenario_results("restarts")
    }
    refuse_problems(
        (
            f"{operation}: {ends[operation, True][0] or 'another result'}"
            for operation in _OPERATIONS
            if ends[operation, True] != ends[operation, False]
        ),
        "a round ends otherwise when servers start again from what they saved",
    )


def _end(one: ScenarioResult) -> tuple[str, Any]:
    """Return how a round failed, and what it delivered; the order of a post is not its own."""
    if one.seen.error is not None:
        return f"{type(one.seen.error).__name__}: {one.seen.error}", None
    carried: CarriedRound = one.seen.result
    shown = carried.result
    if one.scenario.facts.operation == "post":
        shown = sorted(shown, key=lambda message: message or b"")
    return "", (carried.acknowledged, shown)


def check_small_rounds_do_not_close(subject: TransportConformance) -> None:
    """A round with fewer senders than `min_batch` raises `TransportError` instead of closing."""
    subject.successes()  # a transport that carries nothing is blamed for that alone
    for item in subject.scenario_results("few"):
        error = item.seen.error
        assert isinstance(error, TransportError), f"closing gave {error!r}"


def _refusal(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return error


def check_client_refuses_what_it_cannot_send(subject: TransportConformance) -> None:
    """Another size, a second message or a foreign position raise `TransportError` at the sender."""
    subject.successes()  # a transport that carries nothing is blamed for that alone
    plan, (message, other) = Plan(operation="post", senders=8), messages()[:2]
    driver = make_driver(subject.build_method(), subject.round(plan), plan)
    short = _refusal(lambda: driver.client().post(message[:-1]))
    assert isinstance(short, TransportError), "a short message was sent"
    twice = driver.client()
    twice.post(message)
    second = _refusal(lambda: twice.post(other))
    assert isinstance(second, TransportError), "a second message was sent"
    foreign = slot_secrets(9)[0]
    wrong = _refusal(lambda: driver.client().deposit(foreign, message))
    assert isinstance(wrong, TransportError), "a record was deposited in a post"
    plan = Plan(operation="deposit", senders=8)
    driver = make_driver(subject.build_method(), subject.round(plan), plan)
    strange = next(secret for secret in slot_secrets(9) if secret.slot not in driver.round.slots)
    wrong = _refusal(lambda: driver.client().deposit(strange, message))
    assert isinstance(wrong, TransportError), "a record was sent to a position of nobody's"


def check_wrong_keys_are_blamed_before_anything_is_signed(subject: TransportConformance) -> None:
    """A server that announces keys nobody can use is named by all others; no sender sees them."""
    subject.successes()  # a transport that carries nothing is blamed for that alone
    if subject.servers > 1:
        check_announcements(subject.build_method(), subject.round)


def check_counts_filled_positions(subject: TransportConformance) -> None:
    """Filled positions are counted before the opening, or `problem` says that they are not."""
    subject.successes()  # a transport that carries nothing is blamed for that alone
    check_counting(subject.build_method(), subject.round)


def check_says_what_it_guarantees(subject: TransportConformance) -> None:
    """`guarantees` states every field for both operations, in words that are not empty."""
    for operation in _OPERATIONS:
        described = subject.round(Plan(operation=operation, senders=9))
        stated = subject.build_method().guarantees(described)
        assert isinstance(stated, Guarantees), f"a {type(stated).__name__}"
        assert stated.honest_senders_min >= 1, "a message hides at least in itself"
        assert 0 <= stated.colluding_servers < subject.servers or stated.honest_senders_min == 1, (
            "all servers together know everything"
        )
        empty = [
            field.name
            for field in attrs.fields(Guarantees)
            if isinstance(value := getattr(stated, field.name), str) and not value.strip()
        ]
        assert not empty, f"not stated: {empty}"


def _of_secrets(check: Callable[[secrecy.WatchedRound], None]) -> Check:
    """Make a check of a transport out of one that looks at a round of each operation."""

    def judge(subject: TransportConformance) -> None:
        subject.successes()  # a transport that carries nothing is blamed for that alone
        rounds: list[secrecy.WatchedRound] = subject.keep(
            "watched",
            lambda: [
                secrecy.watch(subject.build_method(), subject.round(plan), plan)
                for plan in (
                    Plan(operation="post", senders=8),
                    # In the middle: the last link of a chain, once it is shown, is no secret.
                    Plan(operation="deposit", senders=8, more=_MIDDLE),
                )
            ],
        )
        for watched in rounds:
            check(watched)

    judge.__name__, judge.__doc__ = check.__name__, check.__doc__
    return judge


_CHECKS: tuple[Check, ...] = (
    check_everybody_is_acknowledged,
    check_acknowledged_messages_arrive,
    check_messages_arrive_once,
    check_nothing_is_invented,
    check_records_are_at_their_positions,
    check_erased_records_stay_unknown,
    check_order_says_nothing_about_senders,
    check_foreign_envelopes_are_counted,
    check_restarted_servers_go_on,
    check_small_rounds_do_not_close,
    check_client_refuses_what_it_cannot_send,
    check_wrong_keys_are_blamed_before_anything_is_signed,
    check_counts_filled_positions,
    check_says_what_it_guarantees,
    *(_of_secrets(check) for check in secrecy.CHECKS),
)
# Sealing draws from the system's randomness, whatever seed is given: no two rounds are the same.
_PURITY_WITHOUT_SEED = tuple(
    check for check in PURITY_CHECKS if check is not check_same_seed_same_result
)
TransportConformance.checks = (*DECLARATION_CHECKS, *_PURITY_WITHOUT_SEED, *_CHECKS)
