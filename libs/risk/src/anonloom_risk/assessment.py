"""One auditor's attacks on one release: self-tests, baseline, interval, and what they are worth.

For the self-test both sides come from the original: a copy of one random half plays the release.
Its own people must be found, and other people must not be, even where they play the original. For
the release itself people inside are compared with people outside: those of the control or, where
there is none, people of the original who are taken out of the release.
"""

from collections.abc import Callable, Sequence

import attrs
import numpy as np

from anonloom import AuditInput, Findings, StageContext, Table, short_repr
from anonloom.data import MOST_UNREAD
from anonloom.findings import (
    AttackResult,
    Baseline,
    PrivateRows,
    Question,
    excess_interval,
    normalized_excess,
)
from anonloom.kinds import stream
from anonloom.typing import BoolArray, IntArray
from anonloom_risk import thresholds
from anonloom_risk.answers import Answers, divide
from anonloom_risk.control import control_problem
from anonloom_risk.left_out import (
    generalizes,
    halves,
    join_people,
    leave_out,
    publish_as,
    some_of,
    truth_is_known,
)

__all__ = ["NO_CONTROL", "Assessment"]

#: People outside the release who are attacked, and people inside where nobody asks for more.
MOST_ATTACKED = 5_000
#: The same in a self-test, which has to tell .9 from less.
MOST_TESTED = 2_000
#: With fewer people, halves of them say nothing.
FEWEST = 20
#: A share of the original's people plays those who are not in it where there is no control; at most
#: so many, since a row that covers each of them has to be looked for.
LEFT_OUT, MOST_LEFT_OUT = 0.1, 1_000
#: What an attack must find of a copy, and may find of strangers.
LEAST_OF_A_COPY, MOST_OF_STRANGERS = 0.9, 0.05
#: An attack is refused for what it finds of strangers when that is hardly chance: every audit tries
#: many attacks.
STRANGERS_LEVEL = 0.999
#: Where the best attacker finds no more of a copy beyond chance, there is nothing to find.
LEAST_TO_FIND = 0.01
#: Differences of shares that are less are none.
ROUNDING = 1e-9
NO_CONTROL = "not assessable without --control"

Attack = Callable[[AuditInput, Table, StageContext], Sequence[Answers]]
#: What else an attack's answers about people in and outside the release show.
Examine = Callable[[AttackResult, Answers, Answers, StageContext], Findings]


@attrs.frozen(eq=False)
class Trial:
    """Answers about people inside, and about people outside."""

    inside: Answers
    outside: Answers

    def rates(self, rng: np.random.Generator) -> thresholds.Rates:
        """Return how often people on either side are found."""
        return thresholds.found_rates(_side(self.inside), _side(self.outside), rng)

    @property
    def attainable(self) -> float:
        """Share of the people inside whom the best attacker would find in a copy."""
        at_best = self.inside.attainable
        return 1.0 if at_best is None else _side(self.inside).mean(at_best)

    @property
    def numbers(self) -> tuple[float, float]:
        """How many people on either side tell as much as those who were attacked."""
        return _side(self.inside).number, _side(self.outside).number

    def exposed(self) -> BoolArray:
        """Return who of the people inside is found because of the release."""
        return thresholds.exposed(_side(self.inside), _side(self.outside))


def _side(answers: Answers) -> thresholds.Side:
    return thresholds.Side(answers.right, answers.score, answers.unsure, answers.weights)


@short_repr
@attrs.frozen(eq=False)
class Assessment:
    """The attacks of one auditor on one release."""

    attack: Attack
    examine: Examine
    question: Question
    case: AuditInput
    context: StageContext

    @property
    def original(self) -> Table:
        """The table before any stage."""
        assert self.case.original is not None
        return self.case.original

    def findings(self) -> Findings:
        """Return the results of all attacks, their figures, and the rows that are exposed."""
        # The same people play the same parts for every auditor: chance knows nothing of the stage.
        rng = stream(self.context.seed, "people attacked")
        if len(self.original) < FEWEST:
            return Findings()
        people = self.case.people_attacked(self.context.seed)
        copies, strangers = self._self_tests(rng)
        trials, baseline = self._release_trials(people, rng)
        problem = ""
        if baseline == "control" and self.case.control is not None:
            workers = self.context.workers
            problem = control_problem(self.original, self.case.control, rng, workers)
        results: list[object] = []
        for copy, stranger, trial in zip(copies, strangers, trials, strict=True):
            result = self._result(copy, stranger, trial, baseline, problem, rng)
            results += [result, *result.findings()]
            if result.exposed:
                results.append(_exposed_rows(result, trial, people))
            if baseline == "control":
                more = self.examine(result, trial.inside, trial.outside, self.context)
                results += more.items
        return Findings.of(results)

    # --- where the answer is known ---------------------------------------------------------------

    def _self_tests(self, rng: np.random.Generator) -> tuple[list[Trial], list[Trial]]:
        """Attack a copy of one half of the original: its people, and then the other half's."""
        inside, outside = halves(self.original, rng)
        # Of the others some are the control, some are what an attacker knows of the population,
        # and the rest are people who are taken for the original.
        third = max(len(outside) // 3, 1)
        control = outside[:third][:MOST_TESTED]
        known, rest = outside[third : 2 * third], outside[2 * third :]
        release = publish_as(self.case.release, self.original.take(inside))
        truth_known = truth_is_known(self.case)
        case = AuditInput(
            release=release if truth_known else attrs.evolve(release, origin=None),
            original=self.original.take(inside),
            truth=np.arange(len(inside)) if truth_known else None,
            control=self.original.take(known),
            groups=None if self.case.groups is None else self.case.groups[inside],
        )
        copies = self._trials(case, inside[:MOST_TESTED], control, "copy")
        case = attrs.evolve(
            case,
            original=self.original.take(rest),
            truth=np.full(len(inside), -1) if truth_known else None,
            groups=None if self.case.groups is None else self.case.groups[rest],
        )
        return copies, self._trials(case, rest[:MOST_TESTED], control, "strangers")

    def _trials(
        self, case: AuditInput, inside: IntArray, outside: IntArray, stage: str
    ) -> list[Trial]:
        targets = self.original.take(np.concatenate([inside, outside]))
        return [Trial(*pair) for pair in divide(self._answers(case, targets, stage), len(inside))]

    # --- the release itself ----------------------------------------------------------------------

    def _release_trials(
        self, people: IntArray, rng: np.random.Generator
    ) -> tuple[list[Trial], Baseline]:
        """Attack the release: people of the original, and people who are not in it."""
        control = self.case.control
        if control is not None and len(control) >= 2:
            order = rng.permutation(len(control))
            # One half is attacked, the other is what an attacker knows of the population.
            attacked = order[: -(-len(order) // 2)][:MOST_ATTACKED]
            known = order[-(-len(order) // 2) :]
            targets = join_people(self.original.take(people), control.take(attacked))
            case = attrs.evolve(self.case, control=control.take(known))
            answers = self._answers(case, targets, "release")
            return [Trial(*pair) for pair in divide(answers, len(people))], "control"
        number = min(max(round(LEFT_OUT * len(self.original)), FEWEST // 2), MOST_LEFT_OUT)
        out = some_of(np.arange(len(self.original)), number, rng)
        without = attrs.evolve(self.case, control=None)
        inside = self._answers(without, self.original.take(people), "release")
        lacking, out = leave_out(without, out, rng)
        outside = self._answers(lacking, self.original.take(out), "left out")
        return [Trial(*pair) for pair in zip(inside, outside, strict=True)], "leave-one-out"

    def _answers(self, case: AuditInput, targets: Table, stage: str) -> Sequence[Answers]:
        context = attrs.evolve(self.context, stage=f"{self.context.stage}, {stage}", watched=False)
        return self.attack(case, targets, context)

    # --- what it is worth ------------------------------------------------------------------------

    def _result(
        self,
        copy: Trial,
        stranger: Trial,
        trial: Trial,
        baseline: Baseline,
        problem: str,
        rng: np.random.Generator,
    ) -> AttackResult:
        tested, strange, rates = copy.rates(rng), stranger.rates(rng), trial.rates(rng)
        answers = trial.inside
        result = AttackResult(
            name=answers.name,
            question=answers.question or self.question,
            meaning=answers.meaning,
            success=rates.success,
            people=len(answers.right),
            baseline=rates.baseline,
            strangers=len(trial.outside.right),
            baseline_kind=baseline,
            copy=normalized_excess(*tested),
            numbers=None if answers.weight is None else trial.numbers,
            of_strangers=excess_interval(
                strange.success,
                stranger.numbers[0],
                strange.baseline,
                stranger.numbers[1],
                STRANGERS_LEVEL,
            ),
        )
        attainable = normalized_excess(copy.attainable, min(tested.baseline, copy.attainable))
        reason = problem or self._unfit(result, attainable, answers)
        # Nobody is called exposed by an attack that may do no better than chance.
        beyond_chance = not reason and result.interval()[0] > 0
        found = int(trial.exposed().sum()) if beyond_chance else 0
        return attrs.evolve(result, reason=reason, exposed=found)

    def _unfit(self, result: AttackResult, attainable: float, answers: Answers) -> str:
        """Say why nothing can be concluded from an attack; nothing when something can."""
        if result.question == "membership" and result.baseline_kind == "leave-one-out":
            return f"{NO_CONTROL}: membership is judged on people who are not in the release"
        rows = max(len(self.case.release), 1)
        for name in answers.columns:
            unread = self.case.unread.get(name, 0)
            if unread > MOST_UNREAD * rows:
                return f"column '{name}': {unread} of {rows} cells of the release cannot be read"
        if result.baseline > thresholds.MOST_BASELINE:
            return (
                f"{result.baseline:.0%} of the people who are not in the release are found as "
                "well: that leaves nothing to tell apart"
            )
        short = result.copy < LEAST_OF_A_COPY * attainable
        # Few people may be all that can be found: an attack that finds them says something.
        if attainable < ROUNDING or (short and attainable < LEAST_TO_FIND):
            return "chance alone is right as often as an attacker can be: there is nothing to find"
        if short:
            return (
                f"of a copy of the original the attack finds {result.copy:.0%} of the people "
                f"beyond chance, where {attainable:.0%} can be found: it is too weak, or people "
                "are too much alike"
            )
        if result.of_strangers[0] > MOST_OF_STRANGERS:
            low, high = result.of_strangers
            return (
                f"the attack claims to find {low:.0%} to {high:.0%} of people who are not in the "
                "table that it attacks"
            )
        if result.baseline_kind == "leave-one-out":
            return self._unfit_without_control(result)
        return ""

    def _unfit_without_control(self, result: AttackResult) -> str:
        # By more than chance: strangers, too, are found as often as somebody who is left out.
        if result.interval()[1] >= 0 or truth_is_known(self.case) or generalizes(self.case):
            return ""
        return (
            f"{NO_CONTROL}: the original's other people are found more often than these in the "
            "release, which therefore changes values or makes them up"
        )


def _exposed_rows(result: AttackResult, trial: Trial, people: IntArray) -> PrivateRows:
    exposed = np.flatnonzero(trial.exposed())
    order = exposed[np.argsort(-trial.inside.score[exposed], kind="stable")]
    return PrivateRows(
        name=f"{result.name}_exposed",
        rows=people[order],
        scores=trial.inside.score[order],
        meaning=f"Records found because of the release, the surest first. {result.meaning}",
    )
