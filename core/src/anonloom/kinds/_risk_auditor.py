"""Risk auditor: an attack on a release that is tried on a copy and on strangers before it counts."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

import attrs
import numpy as np

from anonloom._representation import short_repr
from anonloom.data._audit_input import AuditInput, Need
from anonloom.data._left_out import is_generalized, join_people, leave_out, publish_as
from anonloom.data._table import Table
from anonloom.findings import AttackResult, Baseline, Findings, PrivateRows, Question
from anonloom.kinds import _attack_scale as scale
from anonloom.kinds._auditor import Auditor
from anonloom.kinds._context import StageContext, stream
from anonloom.typing import BoolArray, FloatArray, IntArray

#: People who are attacked, and people outside who are; all of them where there are fewer.
MOST_ATTACKED = 5_000
#: The same in a self-test, which has to tell .9 from less.
MOST_TESTED = 2_000
#: With fewer people, halves of them say nothing.
FEWEST = 20
#: A share of the original's people plays those who are not in it where there is no control.
LEFT_OUT = 0.1
#: What an attack must find of a copy, and may find of strangers.
LEAST_OF_A_COPY, MOST_OF_STRANGERS = 0.9, 0.05
#: A column of which more cells than this cannot be read says nothing.
MOST_UNREAD = 0.01


@short_repr
@attrs.frozen(kw_only=True, eq=False)
class Answers:
    """What one attack answers about every target.

    Attributes
    ----------
    name
        Unique within the auditor; figures are named after it.
    right
        For every target the chance that the answer is right, 0 where there is none. A row or a
        value that is named is right when it equals the person's own in the columns attacked, so
        that a twin's is right, too. Membership claims that everybody is inside: 1.
    score
        For every target how sure the attacker is; unsure answers are kept back.
    columns
        The columns that it uses.
    attainable
        For every target the chance with which the best attacker with this knowledge would be right
        about a copy; 1 unless people who look alike to the attacker differ in what he wants.
    question
        The question that it answers, where that is not the auditor's.
    meaning
        One sentence: what the attacker does.
    """

    name: str
    right: FloatArray
    score: FloatArray
    columns: tuple[str, ...]
    meaning: str
    attainable: FloatArray | None = None
    question: Question | None = None


@attrs.frozen(eq=False)
class _Trial:
    """Answers about people inside, and about people outside."""

    inside: Answers
    outside: Answers

    def rates(self, rng: np.random.Generator) -> scale.Rates:
        inside, outside = self.inside, self.outside
        return scale.found_rates(inside.right, inside.score, outside.right, outside.score, rng)

    @property
    def attainable(self) -> float:
        return 1.0 if self.inside.attainable is None else float(self.inside.attainable.mean())

    def exposed(self) -> BoolArray:
        inside, outside = self.inside, self.outside
        return scale.exposed(inside.right, inside.score, outside.right, outside.score)


class RiskAuditor(Auditor):
    """Judges a release by attacks, and every attack by what it does where the answer is known.

    A method writes `attack`. This class runs it on the release, on a copy of one half of the
    original, on that half with the other half's people as the original, and compares: figures are
    what people inside are found more often than people outside, on one scale for every attack. An
    attack that misses a copy, or finds strangers, is `not assessable`.

    Promise: `attack` does not depend on who of the targets is inside.
    """

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "risk"
    needs: ClassVar[frozenset[Need]] = frozenset({"original"})
    #: The question that its attacks answer.
    question: ClassVar[Question]

    @abstractmethod
    def attack(
        self, case: AuditInput, targets: Table, context: StageContext
    ) -> Sequence[Answers]:
        """Answer about every target, with the release and the control at hand.

        Parameters
        ----------
        case
            Its `control`, where there is one, is a sample of the population: none of the targets.
            Its original says what columns are and, with `truth`, whose rows are.
        targets
            Raw records of people, in and outside the release, in no order.

        Returns
        -------
        Sequence[Answers]
            The same attacks, in the same order, whatever the tables are.
        """

    def details(self, case: AuditInput, context: StageContext) -> Findings:
        """Return what else the method finds; it makes no headline."""
        return Findings()

    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Attack, and say what that is worth; then the details."""
        attacks = self.assess(case, context) if case.original is not None else Findings()
        return Findings.of(attacks, self.details(case, context))

    def assess(self, case: AuditInput, context: StageContext) -> Findings:
        """Return what the attacks find, on the scale of all attacks."""
        return _Assessment(self, case, context).findings()


@attrs.frozen(eq=False)
class _Assessment:
    """One auditor's attacks on one release."""

    method: RiskAuditor
    case: AuditInput
    context: StageContext

    @property
    def original(self) -> Table:
        assert self.case.original is not None
        return self.case.original

    def findings(self) -> Findings:
        # The same people are attacked by every auditor: their choice knows nothing of the stage.
        rng = stream(self.context.seed, "people attacked")
        if len(self.original) < FEWEST:
            return Findings()
        copies, strangers = self._self_tests(rng)
        people = _some(np.arange(len(self.original)), MOST_ATTACKED, rng)
        trials, baseline = self._release_trials(people, rng)
        results = []
        for copy, stranger, trial in zip(copies, strangers, trials, strict=True):
            result = self._result(copy, stranger, trial, baseline, rng)
            results += [result, *result.findings()]
            if result.assessable and trial.exposed().any():
                results.append(_exposed_rows(result, trial, people))
        return Findings.of(results)

    def _self_tests(self, rng: np.random.Generator) -> tuple[list[_Trial], list[_Trial]]:
        """Attack a copy of one half of the original: its people, and then the other half's."""
        inside, outside = _halves(self.original, rng)
        # Of the others some are the control, some are what an attacker knows of the population,
        # and the rest are people who are taken for the original.
        third = max(len(outside) // 3, 1)
        control = outside[:third][:MOST_TESTED]
        known, rest = outside[third : 2 * third], outside[2 * third :]
        release = publish_as(self.case.release, self.original.take(inside))
        truth_known = self.case.truth is not None and bool((self.case.truth >= 0).any())
        release = release if truth_known else attrs.evolve(release, origin=None)
        case = AuditInput(
            release=release,
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
    ) -> list[_Trial]:
        targets = self.original.take(np.concatenate([inside, outside]))
        return _divide(self._attack(case, targets, stage), len(inside))

    def _release_trials(
        self, people: IntArray, rng: np.random.Generator
    ) -> tuple[list[_Trial], Baseline]:
        """Attack the release: people of the original, and people who are not in it."""
        control = self.case.control
        if control is not None and len(control) >= 2:
            order = rng.permutation(len(control))
            # One half is attacked, the other is what an attacker knows of the population.
            attacked = order[: -(-len(order) // 2)][:MOST_ATTACKED]
            known = order[-(-len(order) // 2) :]
            targets = join_people(self.original.take(people), control.take(attacked))
            case = attrs.evolve(self.case, control=control.take(known))
            return _divide(self._attack(case, targets, "release"), len(people)), "control"
        number = max(round(LEFT_OUT * len(self.original)), FEWEST // 2)
        left_out = _some(np.arange(len(self.original)), min(number, MOST_ATTACKED), rng)
        without = attrs.evolve(self.case, control=None)
        inside = self._attack(without, self.original.take(people), "release")
        outside = self._attack(
            leave_out(without, left_out), self.original.take(left_out), "left out"
        )
        return [_Trial(*pair) for pair in zip(inside, outside, strict=True)], "leave-one-out"

    def _attack(self, case: AuditInput, targets: Table, stage: str) -> Sequence[Answers]:
        context = attrs.evolve(
            self.context, stage=f"{self.context.stage}, {stage}", watched=False
        )
        return self.method.attack(case, targets, context)

    def _result(
        self,
        copy: _Trial,
        stranger: _Trial,
        trial: _Trial,
        baseline: Baseline,
        rng: np.random.Generator,
    ) -> AttackResult:
        tested, strange, rates = copy.rates(rng), stranger.rates(rng), trial.rates(rng)
        answers = trial.inside
        result = AttackResult(
            name=answers.name,
            question=answers.question or self.method.question,
            meaning=answers.meaning,
            success=rates.success,
            people=len(answers.right),
            baseline=rates.baseline,
            strangers=len(trial.outside.right),
            baseline_kind=baseline,
            copy=scale.normalized_excess(*tested),
            of_strangers=scale.excess_interval(
                strange.success, len(stranger.inside.right),
                strange.baseline, len(stranger.outside.right),
            ),  # fmt: skip
            exposed=int(trial.exposed().sum()),
        )
        attainable = scale.normalized_excess(copy.attainable, min(tested.baseline, copy.attainable))
        reason = self._unfit(result, tested, attainable, answers)
        return attrs.evolve(result, reason=reason, exposed=0 if reason else result.exposed)

    def _unfit(
        self, result: AttackResult, tested: scale.Rates, attainable: float, answers: Answers
    ) -> str:
        """Say why nothing can be concluded from an attack; nothing when something can."""
        rows = max(len(self.case.release), 1)
        for name in answers.columns:
            unread = self.case.unread.get(name, 0)
            if unread > MOST_UNREAD * rows:
                return f"column '{name}': {unread} of {rows} cells of the release cannot be read"
        if tested.baseline > scale.MOST_BASELINE or attainable <= 0:
            return (
                f"people are too much alike: of a copy, {tested.baseline:.0%} of those who are not "
                "in it are found as well"
            )
        if result.copy < LEAST_OF_A_COPY * attainable:
            return (
                f"the attack finds {result.copy:.0%} of the people in a copy of the original, "
                f"where {attainable:.0%} can be found"
            )
        if result.of_strangers[0] > MOST_OF_STRANGERS:
            low, high = result.of_strangers
            return (
                f"the attack claims to find {low:.0%} to {high:.0%} of people who are not in the "
                "table that it attacks"
            )
        if result.baseline > scale.MOST_BASELINE:
            return (
                f"{result.baseline:.0%} of the people who are not in the release are found as "
                "well: that leaves nothing to tell apart"
            )
        if result.baseline_kind == "leave-one-out":
            return self._unfit_without_control(result)
        return ""

    def _unfit_without_control(self, result: AttackResult) -> str:
        if result.question == "membership":
            return "not assessable without --control: people who are not in the release"
        known = self.case.truth is not None and bool((self.case.truth >= 0).any())
        if result.baseline <= result.success or known:
            return ""
        if is_generalized(self.case.release, self.original):
            return ""
        return (
            "not assessable without --control: the original's other people are found more often "
            "than these in the release, which therefore changes values or makes them up"
        )


def _halves(original: Table, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Divide the complete rows at random into halves that share no person, each in no order."""
    rows = rng.permutation(np.flatnonzero(~original.incomplete))
    persons = original.persons
    if persons is None:
        return rows[: len(rows) // 2], rows[len(rows) // 2 :]
    side = rng.permutation(int(persons.max(initial=0)) + 1) % 2 == 0
    first = side[persons[rows]]
    return rows[first], rows[~first]


def _some(rows: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _divide(answers: Sequence[Answers], inside: int) -> list[_Trial]:
    return [
        _Trial(_part(one, slice(None, inside)), _part(one, slice(inside, None))) for one in answers
    ]


def _part(answers: Answers, people: slice) -> Answers:
    attainable = answers.attainable
    return attrs.evolve(
        answers,
        right=answers.right[people],
        score=answers.score[people],
        attainable=None if attainable is None else attainable[people],
    )


def _exposed_rows(result: AttackResult, trial: _Trial, people: IntArray) -> PrivateRows:
    exposed = np.flatnonzero(trial.exposed())
    order = exposed[np.argsort(-trial.inside.score[exposed], kind="stable")]
    return PrivateRows(
        name=f"{result.name}_exposed",
        rows=people[order],
        scores=trial.inside.score[order],
        meaning=f"Records found because of the release, the surest first. {result.meaning}",
    )
