"""The auditor `traffic`: what the network and all servers but one learn about who sent what."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import attrs
import numpy as np

from anonloom import AuditInput, Auditor, Finding, Findings, StageContext, param
from anonloom.data import Need
from anonloom.findings import Better, Status
from anonloom.params import at_least, between
from anonloom_traffic.attack import Attack, Guess, NothingToGuess
from anonloom_traffic.charts import charts
from anonloom_traffic.iterations import Step, over_iterations
from anonloom_traffic.observation import Observation
from anonloom_traffic.round_pairs import round_pairs
from anonloom_transport import Rounds, Trace

ADVERSARY = (
    "the adversary sees all lines of the network and holds all that any choice of all servers but "
    "one knows; the worst choice counts"
)
STRUCTURE = (
    "AES output passes any statistical battery: this auditor sees structural leaks only, not "
    "broken ciphers, weak keys or active attacks that are not in the trace"
)
HALVES = "the best view is chosen on one half of the messages and judged on the other"
HONEST = "all clients of the trace are honest; every dishonest one makes the anonymity set smaller"
CONTENT = "what messages say has nothing to do with the order or the numbers of the clients"
TIES = "ties by expectation"
LINKED = (
    "what links messages by design, as keys of positions do, and is not equal, is not looked at"
)
JUDGED = (ADVERSARY, STRUCTURE, HALVES, HONEST, CONTENT, TIES)

MEANINGS: dict[str, tuple[Better, str]] = {
    "top1_success": (
        "lower",
        "Share of the published messages whose sender the adversary's first guess names.",
    ),
    "chance": ("neither", "How often a blind guess among those who uploaded names the sender."),
    "top1_excess": (
        "lower",
        "What of top1_success is surely above chance (lower end of its interval), as a part of "
        "what is possible: 0 as by chance, 1 all.",
    ),
    "one_round_success": ("lower", "top1_success when rounds are not compared with each other."),
    "one_round_excess": ("lower", "top1_excess when rounds are not compared with each other."),
    "leaking_view": ("neither", "What the adversary looks at to guess better than by chance."),
    "honest_server": ("neither", "The server whose honesty helps least."),
    "shannon_entropy": (
        "higher",
        "Bits that the adversary lacks to know a sender, on average over messages.",
    ),
    "min_entropy": ("higher", "Bits of difficulty of the adversary's first guess."),
    "entropy_degree": (
        "higher",
        "shannon_entropy as a part of what so many senders could have: 1 is perfect hiding.",
    ),
    "anonymity_set": ("higher", "Number of clients among whom a sender hides, on average."),
    "smallest_anonymity_set": (
        "higher",
        "Fewest clients to whom a view has narrowed a message down without ever missing its "
        "sender.",
    ),
    "linked_success": (
        "lower",
        "Share of the published messages for which the adversary's first guess names the same "
        "sender's message of an earlier round.",
    ),
    "linked_chance": ("neither", "How often a blind guess names it."),
    "linked_excess": ("lower", "What of linked_success is surely above chance."),
    "linking_view": ("neither", "What the adversary looks at to link messages of two rounds."),
    "presence_success": (
        "lower",
        "top1_success of comparing who was absent with what was missing, over all rounds.",
    ),
    "presence_excess": ("lower", "What of presence_success is surely above chance."),
    "absent_success": (
        "lower",
        "Share of the clients who were ever absent whose messages absence alone gives away.",
    ),
    "smallest_blank_pattern": (
        "higher",
        "Fewest positions that were empty in the same rounds: the anonymity set of whoever misses "
        "rounds.",
    ),
    "rounds_with_two_lists": (
        "lower",
        "Rounds in which a server showed some clients another list than most.",
    ),
    "bytes_up": ("lower", "Bytes that a client sends in a round, on average."),
    "bytes_down": ("lower", "Bytes that a client is sent in a round, on average."),
    "rounds": ("neither", "Number of rounds that were looked at."),
    "messages": ("neither", "Number of published messages whose senders were guessed."),
    "trials": (
        "neither",
        "Number of guesses that have nothing to do with each other; the intervals count these.",
    ),
}
UNITS = {
    "shannon_entropy": "bits",
    "min_entropy": "bits",
    "bytes_up": "bytes",
    "bytes_down": "bytes",
}


@attrs.frozen
class _Hexadecimal:
    """A text of hexadecimal digits, two for each byte."""

    words: str = " of hexadecimal digits, two for each byte"

    def __call__(self, value: object) -> bool:
        if not isinstance(value, str):
            return True  # None: nothing stands for 'no answer'
        try:
            return len(bytes.fromhex(value)) * 2 == len(value)
        except ValueError:
            return False

    def schema(self) -> dict[str, object]:
        """Return the rule as JSON schema."""
        return {"pattern": "^([0-9a-fA-F]{2})*$"}


@attrs.frozen(kw_only=True)
class Traffic(Auditor):
    """Guesses who sent what from the trace of a transport."""

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "risk"
    needs: ClassVar[frozenset[Need]] = frozenset({"trace"})

    trials: int | None = param(
        help="At most so many published messages are guessed, drawn at random; by default all.",
        default=None,
        check=at_least(2),
    )
    confidence: float = param(
        help="Confidence of the intervals.",
        default=0.99,
        check=between(0.5, 1, most_open=True),
    )
    blank: str | None = param(
        help="The record that stands for 'no answer' in a deposit, in hexadecimal digits.",
        default=None,
        check=_Hexadecimal(),
    )

    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Guess over one round and over repeated rounds."""
        rounds = _rounds(case.trace)
        if rounds is None:
            return Findings.of(_unknown("there is no trace of a round"))
        blank = None if self.blank is None else bytes.fromhex(self.blank)
        attack = Attack(
            rounds, context.rng, blank, trials=self.trials, confidence=self.confidence
        )  # fmt: skip
        try:
            single = attack.guess(repeated=False)
            several = attack.guess() if len(rounds.traces) > 1 else single
        except NothingToGuess:
            why = "no published message has a known sender who could hide among others"
            return Findings.of(_unknown(why))
        pairs = round_pairs(rounds)
        try:
            linked = self._guess_links(pairs, context) if pairs.traces else None
        except NothingToGuess:
            linked = None
        steps = over_iterations(attack.observed, blank, self.confidence)
        return Findings.of(
            _sender_findings(single, several),
            _links(linked),
            _presence(several, steps),
            _count_findings(attack.observed, several),
            charts(single, several, steps),
        )

    def _guess_links(self, pairs: Rounds, context: StageContext) -> Guess:
        """Guess which messages of different rounds are from one sender."""
        attack = Attack(pairs, context.rng, trials=self.trials, confidence=self.confidence)
        return attack.guess(repeated=False)


def _rounds(trace: object) -> Rounds | None:
    """Return the rounds of a case; a single trace is one round."""
    if isinstance(trace, Trace):
        servers = {party.index for party in trace.links}
        for sight in trace.seen:
            ends = (sight.envelope.sender, sight.envelope.receiver)
            servers |= {party.index for party in ends if party.role == "server"}
        trace = Rounds((trace,), max(servers, default=0) + 1)
    return trace if isinstance(trace, Rounds) and trace.traces else None


def _say(
    name: str,
    value: float | int | str | None,
    interval: tuple[float, float] | None = None,
    status: Status = "measured",
    assumptions: Sequence[str] = (),
) -> Finding:
    better, meaning = MEANINGS[name]
    return Finding(
        name=name,
        value=value,
        interval=interval,
        better=better,
        status=status,
        meaning=meaning,
        assumptions=assumptions,
        unit=UNITS.get(name, ""),
    )


def _unknown(reason: str) -> list[Finding]:
    """Say of every figure that there is none."""
    return [_say(name, None, None, "not assessable", (reason,)) for name in MEANINGS]


def _sender_findings(single: Guess, several: Guess) -> list[Finding]:
    top1, alone = several.top1, single.top1
    leaks = top1.excess > 0
    bound = "a cleverer adversary may lack fewer"
    return [
        _say("top1_success", top1.value, top1.interval, assumptions=JUDGED),
        _say("chance", top1.chance),
        _say("top1_excess", top1.excess, status=_status(top1.excess), assumptions=JUDGED),
        _say("one_round_success", alone.value, alone.interval, assumptions=JUDGED),
        _say("one_round_excess", alone.excess, status=_status(alone.excess), assumptions=JUDGED),
        _say("leaking_view", several.view if leaks else None,
             status="measured" if leaks else "none detected", assumptions=(ADVERSARY, STRUCTURE)),
        _say("honest_server", several.honest if leaks else None,
             status="measured" if leaks else "none detected", assumptions=(ADVERSARY,)),
        _say("shannon_entropy", several.shannon, several.shannon_interval, "bound",
             (bound, *JUDGED)),
        _say("min_entropy", several.min_entropy, several.min_entropy_interval, "bound",
             (bound, *JUDGED)),
        _say("entropy_degree", several.degree, status="bound", assumptions=(bound, *JUDGED)),
        _say("anonymity_set", several.senders, assumptions=(HONEST,)),
        _say("smallest_anonymity_set", several.smallest, status="bound", assumptions=JUDGED),
    ]  # fmt: skip


def _links(linked: Guess | None) -> list[Finding]:
    names = ("linked_success", "linked_chance", "linked_excess", "linking_view")
    if linked is None:
        why = "no cohort has posted something in one round and sent something in a later one"
        return [_say(name, None, None, "not assessable", (why,)) for name in names]
    result, leaks = linked.top1, linked.top1.excess > 0
    basis = (LINKED, *JUDGED)
    return [
        _say("linked_success", result.value, result.interval, assumptions=basis),
        _say("linked_chance", result.chance),
        _say("linked_excess", result.excess, status=_status(result.excess), assumptions=basis),
        _say("linking_view", linked.view if leaks else None,
             status="measured" if leaks else "none detected", assumptions=(ADVERSARY, STRUCTURE)),
    ]  # fmt: skip


def _status(excess: float) -> Status:
    return "measured" if excess > 0 else "none detected"


def _presence(several: Guess, steps: list[Step]) -> list[Finding]:
    of = several.families.get("presence")
    last = steps[-1] if steps else None
    absent = last.absent if last else None
    smallest = last.smallest if last else None
    nobody = "nobody was absent in rounds that belong together"
    posts = "positions are of deposits"
    return [
        _say("presence_success", of.value if of else several.top1.chance,
             of.interval if of else None, "measured" if of else "none detected",
             JUDGED if of else (nobody, *JUDGED)),
        _say("presence_excess", of.excess if of else 0.0, None, _status(of.excess if of else 0.0),
             JUDGED if of else (nobody, *JUDGED)),
        _say("absent_success", absent.value if absent else None,
             absent.interval if absent else None, "measured" if absent else "none detected",
             (TIES, HONEST) if absent else (nobody,)),
        _say("smallest_blank_pattern", smallest, None,
             "not assessable" if smallest is None else "measured",
             (posts,) if smallest is None else (HONEST, "positions are not told apart by class")),
    ]  # fmt: skip


def _count_findings(observed: Observation, several: Guess) -> list[Finding]:
    results = [_say("rounds_with_two_lists", int(observed.two_lists.sum()))]
    for name, figure in (("bytes_up", "up"), ("bytes_down", "down")):
        of = observed.figures[figure][observed.present]
        known = bool(np.isfinite(of).any())
        # Who was sent nothing was sent 0 bytes, if anybody was sent something.
        value = float(np.nan_to_num(of).mean()) if len(of) else None
        status: Status = "measured" if value is not None and known else "none detected"
        results.append(_say(name, value, status=status))
    return [
        *results,
        _say("rounds", len(observed.lines)),
        _say("messages", several.messages),
        _say("trials", several.top1.trials),
    ]
