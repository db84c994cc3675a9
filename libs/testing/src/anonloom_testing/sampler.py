"""Conformance of samplers: the mask fits, the least is kept, and nothing but labels is seen."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from anonloom import Classes, StageContext
from anonloom_testing import tables
from anonloom_testing.canaries import CANARIES, CANARY_TABLES
from anonloom_testing.cell_leaks import LEAK_CHECKS
from anonloom_testing.class_checks import plain_classes
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.observation import fingerprint
from anonloom_testing.purity import PURITY_CHECKS, MethodConformance, Scenario, ScenarioResult
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import Sample

#: Sizes of classes for which the promise is tried: all of them.
SIZES = list(range(1, 201))


class SamplerConformance(MethodConformance):
    """Checks of a sampler.

    Attributes
    ----------
    rate
        The share of all rows that the sampler says it keeps with these parameters; None if it
        says nothing of the sort.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestStratified(SamplerConformance):
            method = Stratified
            params = {"share": 0.7}
            rate = 0.7
    """

    kind = "sampler"
    rate: ClassVar[float | None] = None

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Sample."""
        return method.sample(inputs["classes"], context)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield classes of every size, of one size, one class, none, and shuffled rows."""
        yield _scenario("one class of each size up to 200", SIZES)
        yield _scenario("500 classes of 3", [3] * 500)
        yield _scenario("one class of 20,000", [20_000])
        yield _scenario("one row", [1])
        yield _scenario("no rows", [])
        yield _scenario("shuffled rows, some suppressed", SIZES[:60], suppressed=40, shuffle=True)
        # It gets no cells; that it tells none is heard all the same.
        for make in CANARY_TABLES:
            sample = make()
            yield _scenario(make.__name__, [10] * (len(sample) // 10), leak_sample=sample)


def _scenario(
    name: str,
    sizes: list[int],
    suppressed: int = 0,
    shuffle: bool = False,
    leak_sample: Sample | None = None,
) -> Scenario:
    total = sum(sizes)
    numbers = (
        tables.shuffled_order(total + suppressed, 5) if shuffle else list(range(total + suppressed))
    )

    def make_inputs() -> Mapping[str, Any]:
        return {"classes": _classes_of_sizes(sizes, numbers[:total], numbers[total:])}

    special = "" if leak_sample is None else CANARIES
    return Scenario(name, make_inputs, sizes, special, leak_sample=leak_sample)


def _classes_of_sizes(sizes: list[int], rows: list[int], suppressed: list[int]) -> Classes:
    members, index = [], 0
    for size in sizes:
        members.append(rows[index : index + size])
        index += size
    return plain_classes(members, suppressed)


def _kept_counts(outcome: ScenarioResult) -> list[int]:
    """Return how many rows of each class the mask keeps, counted in plain Python."""
    mask, kept, index = [bool(x) for x in outcome.seen.result], [], 0
    for size in outcome.scenario.facts:
        kept.append(sum(mask[index : index + size]))
        index += size
    return kept


def _fitting_results(subject: SamplerConformance) -> list[ScenarioResult]:
    fitting = [item for item in subject.successes() if _fits(item)]
    if not fitting:
        raise NotApplicable("no mask fits")
    return fitting


def _fits(outcome: ScenarioResult) -> bool:
    mask = np.asarray(outcome.seen.result)
    return mask.dtype == bool and mask.shape == (sum(outcome.scenario.facts),)


def check_mask_fits(subject: SamplerConformance) -> None:
    """The result is a mask of bools with one element per row of `classes.rows`."""
    refuse_problems(
        (item.scenario.name for item in subject.successes() if not _fits(item)),
        "the mask does not fit",
    )


def check_least_kept_is_possible(subject: SamplerConformance) -> None:
    """`least_kept` gives an integer from 0 to the size, for each size on its own."""
    method = subject.build_method()
    together = [int(kept) for kept in method.least_kept(np.array(SIZES, np.int64))]
    alone = [int(method.least_kept(np.array([size], np.int64))[0]) for size in SIZES]
    assert alone == together, "a size is judged differently in company"
    bad = [size for size, kept in zip(SIZES, together, strict=True) if not 0 <= kept <= size]
    assert not bad, f"sizes {bad[:5]}: not between 0 and the size"


def check_least_kept_is_honoured(subject: SamplerConformance) -> None:
    """Of a class of every size from 1 to 200 at least `least_kept(size)` rows are kept."""
    method, problems = subject.build_method(), []
    first = subject.scenario_results()[0].scenario
    results = [
        *_fitting_results(subject),
        *(ScenarioResult(first, subject.run_scenario(first, seed)) for seed in range(8)),
    ]
    for result in results:
        if result.seen.error is not None or not result.scenario.facts:
            continue
        least = method.least_kept(np.array(result.scenario.facts, np.int64)).tolist()
        short = [
            size
            for size, kept, need in zip(
                result.scenario.facts, _kept_counts(result), least, strict=True
            )
            if kept < need
        ]
        if short:
            problems.append(f"{result.scenario.name}: classes of {sorted(set(short))[:8]} rows")
    refuse_problems(problems, "fewer rows are kept than least_kept says")


def check_rate_is_kept(subject: SamplerConformance) -> None:
    """The share of rows kept lies within six standard deviations of `rate`, rounding allowed."""
    if subject.rate is None:
        raise NotApplicable("no rate: the subclass may say which share of rows is kept")
    problems = []
    for item in _fitting_results(subject):
        total, rate = sum(item.scenario.facts), subject.rate
        # Every class may be rounded to whole rows, and at least one.
        slack = 6 * (total * rate * (1 - rate)) ** 0.5 + len(item.scenario.facts)
        kept = sum(_kept_counts(item))
        if abs(kept - rate * total) > slack:
            problems.append(f"{item.scenario.name}: {kept} of {total} rows")
    refuse_problems(problems, f"the share kept is not {subject.rate}")


def check_sees_labels_only(subject: SamplerConformance) -> None:
    """The mask is the same whichever rows the classes hold: rows may still be sealed."""
    problems = []
    for item in _fitting_results(subject):
        sizes = item.scenario.facts
        numbers = [3 * row + 1 for row in tables.shuffled_order(sum(sizes), 6)]
        classes = _classes_of_sizes(sizes, numbers, [])
        other = Scenario(item.scenario.name, partial(dict, classes=classes))
        again = [
            fingerprint(subject.run_scenario(scenario).result)
            for scenario in (other, item.scenario)
        ]
        # A sampler that differs from call to call is blamed for that by another check.
        if again[0] != fingerprint(item.seen.result) == again[1]:
            problems.append(item.scenario.name)
    refuse_problems(problems, "the mask depends on the row numbers")


_CHECKS: tuple[Check, ...] = (
    check_mask_fits,
    check_least_kept_is_possible,
    check_least_kept_is_honoured,
    check_rate_is_kept,
    check_sees_labels_only,
)
SamplerConformance.checks = (*DECLARATION_CHECKS, *PURITY_CHECKS, *LEAK_CHECKS, *_CHECKS)
