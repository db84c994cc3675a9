"""The auditor `cvpl-progressive`: bounds of the linkage rate that tighten as blocks grow.

Algorithm 2 of the paper drops blocking keys one by one and stops when the rate rises no more. It
bounds the final rate from below only, and a rise that is small once says nothing about the next.
Here every step also bounds the final rate from above, in two ways. For certain: a record that is
not linked yet can be only if some candidate that it has not met might reach the threshold. That
excludes hardly anybody: in twenty dimensions any group of candidates is wider than the angle of a
threshold, so that every record might reach every group, and whoever would exclude more has to look
at the candidates, which is what the final step does. So some records, drawn at random, take the
final step first: how many of those that a step has not linked the end will link bounds the share of
all of them, as far as chance allows.
"""

import time
from collections.abc import Callable, Sequence

import attrs
import numpy as np

from anonloom import AuditInput, Chart, Findings, Schema, StageContext, param
from anonloom.findings import FindingBuilder
from anonloom.lazy import lazy_module
from anonloom.params import above, at_least, between, distinct
from anonloom.typing import BoolArray, IntArray
from anonloom_cvpl.attacker import Attacker
from anonloom_cvpl.configuration import NOTHING, LinkageSetup
from anonloom_cvpl.evidence import LinkageTask, announce_search
from anonloom_cvpl.representation import unfit_reason
from anonloom_linkage.blocking import Scheme

stats = lazy_module("scipy.stats")

#: Rows of a piece when bounds are computed.
CHUNK = 2_048
#: Records that take the final step first; among fewer than twice as many it would be no shortcut.
SAMPLED = 1_000
#: With this chance the upper bound of some step is too low.
MISTAKEN = 0.001


@attrs.frozen
class Step:
    """One step of the ladder.

    Attributes
    ----------
    lower, upper
        The linkage rate of the last step lies between them; above for certain, or nearly.
    certain
        The upper bound that holds for certain.
    """

    words: str
    lower: float
    upper: float
    certain: float
    comparisons: int
    seconds: float


@attrs.frozen(kw_only=True)
class Progressive(Attacker):
    """Bounds the linkage rate step by step, from fine blocks to coarse ones."""

    threshold: float = param(
        help="The attacker's strictness: a pair this similar is a plausible link.",
        default=0.9,
        check=between(0, 1),
    )
    relax: tuple[str, ...] | None = param(
        help="Blocking columns in the order in which they are given up; by default the last one "
        "first, down to the first one.",
        default=None,
        check=distinct(),
    )
    tolerance: float = param(
        help="Stop when the bounds are this near to each other, or when two steps together raised "
        "the rate by less.",
        default=0.01,
        check=at_least(0),
    )
    seconds: float | None = param(
        help="Start no step that would end after so many seconds; no limit by default.",
        default=None,
        check=above(0),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say which column cannot be given up, too."""
        if self.hash_bits or self.also:
            return "blocking columns are given up one by one: neither 'hash_bits' nor 'also'"
        if self.exact is not None:
            return "an approximate search gives no bound from above: leave out 'exact'"
        for name in self.relax or ():
            if name not in (schema.quasi if self.blocking is None else self.blocking):
                return f"'relax' names '{name}', which is no blocking column"
        return super().problem(schema)

    def link(self, case: AuditInput, context: StageContext) -> Findings:
        """Climb the ladder."""
        assert case.original is not None
        setup = self.configuration.prepare(case.original, [case.release], context)
        if setup is None:
            finding = FindingBuilder(unfit=NOTHING)
            return Findings.of(
                finding(name, None, "Nothing can be compared.", key=True)
                for name in ("linkage_rate_lower", "linkage_rate_upper")
            )
        schemes = ladder(setup.schemes[0], self.relax)
        steps, why = climb(
            setup,
            schemes,
            self.threshold,
            context,
            tolerance=self.tolerance,
            seconds=self.seconds,
        )
        last = steps[-1]
        assumptions = (f"at similarity {self.threshold:g}", f"stopped because {why}")
        coarsest = LinkageTask(setup.space, schemes[-1:])
        finding = FindingBuilder(unfit=unfit_reason(float((_candidates(coarsest) == 0).mean())))
        return Findings.of(
            finding(
                "linkage_rate_lower",
                last.lower,
                "At least this share of the records is linked by the last step of the ladder.",
                status="bound",
                assumptions=assumptions,
                key=True,
            ),
            finding(
                "linkage_rate_upper",
                last.upper,
                "At most this share of the records is linked by the last step of the ladder.",
                status="bound",
                assumptions=(
                    *assumptions,
                    f"it is too low with a chance of {MISTAKEN:g}: {SAMPLED:,} records at most "
                    "took the last step first",
                ),
                key=True,
            ),
            finding(
                "linkage_rate_upper_certain",
                last.certain,
                "The same for certain: records that might reach a candidate they have not met.",
                status="bound",
                assumptions=assumptions,
            ),
            finding.about_audit("steps", len(steps), "Steps of the ladder that were taken."),
            finding.about_audit("stopped", why, "Why no further step was taken."),
            _chart(steps),
        )


def ladder(finest: Scheme, relax: Sequence[str] | None) -> tuple[Scheme, ...]:
    """Schemes from the finest to the coarsest, one key fewer each."""
    names = [key.column.name for key in finest.keys]
    order = list(reversed(names))[:-1] if relax is None else [n for n in relax if n in names]
    steps = [finest]
    for name in order:
        kept = tuple(key for key in steps[-1].keys if key.column.name != name)
        steps.append(Scheme(kept, finest.lengths))
    return tuple(steps)


def climb(
    setup: LinkageSetup,
    schemes: Sequence[Scheme],
    threshold: float,
    context: StageContext,
    *,
    tolerance: float,
    seconds: float | None,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[list[Step], str]:
    """Take step after step; return them, and why the last one was the last."""
    start = clock()
    task = setup.task()
    announce_search(attrs.evolve(task, schemes=tuple(schemes[-1:])), 1, context)
    linked = np.zeros(task.records, bool)
    sample = _Sample.of(task, schemes, threshold, context)
    steps: list[Step] = []
    for number, scheme in enumerate(schemes):
        chosen = np.flatnonzero(~linked)
        step = attrs.evolve(task, schemes=(scheme,), chosen=chosen)
        comparisons = sum(int(item.comparisons.sum()) for some in step.blocks() for item in some)
        if (
            seconds is not None
            and steps
            and _too_long(steps, comparisons, seconds, clock() - start)
        ):
            context.warn(
                f"The ladder stopped after {number} of {len(schemes)} steps: the next one would "
                "have ended after 'seconds'. The bounds are wider than they need to be."
            )
            return steps, "the next step would take too long"
        linked[chosen] = step.evidence(context).best >= threshold
        lower = float(linked.mean()) if len(linked) else 0.0
        last = number == len(schemes) - 1
        open_ = 0.0 if last else _open_share(setup, scheme, schemes[-1], ~linked, threshold)
        certain = lower + open_
        upper = certain if last else min(certain, sample.upper(linked, len(schemes)))
        steps.append(Step(scheme.words, lower, upper, certain, comparisons, clock() - start))
        context.progress(number + 1, len(schemes))
        if steps[-1].upper - lower <= tolerance and number > 0:
            return steps, "the bounds meet" if not last else "the ladder ends"
        # Never at the first step, and never because of a single flat one (C18).
        if number >= 2 and lower - steps[-3].lower < tolerance and not last:
            return steps, "two steps raised the rate by less than the tolerance; the bounds hold"
    return steps, "the ladder ends"


@attrs.frozen(eq=False)
class _Sample:
    """Records, drawn at random, of which it is known whether the final step links them."""

    records: IntArray
    linked: BoolArray

    @classmethod
    def of(
        cls,
        task: LinkageTask,
        schemes: Sequence[Scheme],
        threshold: float,
        context: StageContext,
    ) -> "_Sample":
        """Let some records take the final step."""
        if task.records < 2 * SAMPLED or len(schemes) < 2:
            return cls(np.empty(0, np.int64), np.empty(0, bool))
        records = np.sort(context.rng.choice(task.records, SAMPLED, replace=False))
        final = attrs.evolve(task, schemes=tuple(schemes[-1:]), chosen=records)
        return cls(records, final.evidence(context).best >= threshold)

    def upper(self, linked: BoolArray, steps: int) -> float:
        """Bound the final rate, if these records are linked by now; all steps hold together."""
        unlinked = ~linked[self.records]
        asked, later = int(unlinked.sum()), int((unlinked & self.linked).sum())
        # The bound of Clopper and Pearson: those not yet linked are a sample of all such.
        share = 1.0
        if later < asked:
            share = float(stats.beta.ppf(1 - MISTAKEN / steps, later + 1, asked - later))
        return float(linked.mean() + share * (~linked).mean()) if len(linked) else 1.0


def _too_long(steps: Sequence[Step], comparisons: int, seconds: float, spent: float) -> bool:
    done = sum(step.comparisons for step in steps)
    return spent + spent * comparisons / max(done, 1) > seconds


def _open_share(
    setup: LinkageSetup,
    reached: Scheme,
    final: Scheme,
    unlinked: BoolArray,
    threshold: float,
) -> float:
    """Share of all records that are not linked but might be by the final scheme."""
    rows = np.flatnonzero(unlinked)
    if not len(rows):
        return 0.0
    if setup.configuration.similarity in ("cosine", "whitened"):
        rows = rows[_may_reach(setup, rows, threshold)]
    full = LinkageTask(setup.space, (final,), chosen=rows)
    met = LinkageTask(setup.space, (reached,), chosen=rows)
    more = _candidates(full) > _candidates(met)
    return float(more.sum()) / len(unlinked)


def _candidates(task: LinkageTask) -> IntArray:
    total = np.zeros(task.records, np.int64)
    ones = np.ones(task.space.vectors.rows(task.published), np.int64)
    for blocks in task.blocks()[0]:
        total += blocks.candidates_of(ones, task.records)
    return total


def _may_reach(setup: LinkageSetup, rows: IntArray, threshold: float) -> BoolArray:
    """Whether any candidate might be similar enough, by the triangle inequality of angles.

    Candidates are grouped around as many of their number as the square root; no member of a group
    is nearer to a record than the group's middle less the group's radius.
    """
    candidates = setup.space.candidates_of(1, None)
    if not len(candidates):
        return np.zeros(len(rows), bool)
    centres = candidates[:: max(int(np.sqrt(len(candidates))), 1)]
    radius = np.zeros(len(centres))
    for index in range(0, len(candidates), CHUNK):
        cosines = np.clip(candidates[index : index + CHUNK] @ centres.T, -1, 1)
        nearest = cosines.argmax(axis=1)
        angle = np.arccos(cosines[np.arange(len(nearest)), nearest])
        np.maximum.at(radius, nearest, angle)
    reach = np.arccos(min(threshold, 1.0)) + radius + 1e-3
    result = np.zeros(len(rows), bool)
    for index in range(0, len(rows), CHUNK):
        records = setup.space.records_of(0, rows[index : index + CHUNK])
        angles = np.arccos(np.clip(records @ centres.T, -1, 1))
        result[index : index + CHUNK] = (angles <= reach).any(axis=1)
    return result


def _chart(steps: Sequence[Step]) -> Chart:
    x = list(range(1, len(steps) + 1))
    return Chart(
        name="bounds",
        kind="line",
        title="Bounds of the linkage rate, step by step",
        x="step: "
        + "; ".join(f"{index}: {step.words}" for index, step in zip(x, steps, strict=True)),
        y="share of the records",
        meaning="The final rate lies between the lines from every step on.",
        data={
            "at least": {"x": x, "y": [step.lower for step in steps]},
            "at most": {"x": x, "y": [step.upper for step in steps]},
        },
    )
