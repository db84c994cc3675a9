"""Conformance of samplers: the mask fits, the least is kept, and nothing but labels is seen."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from anonloom import Classes, StageContext
from anonloom_testing import tables
from anonloom_testing.canaries import CANARIES, CANARY_TABLES
from anonloom_testing.cell_leaks import OVERHEARD
from anonloom_testing.class_checks import plain_classes
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARED
from anonloom_testing.observation import fingerprint
from anonloom_testing.purity import CONDUCT, Acting, Played, Scene
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import Sample

#: Sizes of classes for which the promise is tried: all of them.
SIZES = list(range(1, 201))


class SamplerConformance(Acting):
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

    def act(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Sample."""
        return method.sample(inputs["classes"], context)

    def scenes(self) -> Iterator[Scene]:
        """Yield classes of every size, of one size, one class, none, and shuffled rows."""
        yield _scene("one class of each size up to 200", SIZES)
        yield _scene("500 classes of 3", [3] * 500)
        yield _scene("one class of 20,000", [20_000])
        yield _scene("one row", [1])
        yield _scene("no rows", [])
        yield _scene("shuffled rows, some suppressed", SIZES[:60], suppressed=40, shuffle=True)
        # It gets no cells; that it tells none is heard all the same.
        for make in CANARY_TABLES:
            sample = make()
            yield _scene(make.__name__, [10] * (len(sample) // 10), overheard=sample)


def _scene(
    name: str,
    sizes: list[int],
    suppressed: int = 0,
    shuffle: bool = False,
    overheard: Sample | None = None,
) -> Scene:
    total = sum(sizes)
    numbers = tables.shuffled(total + suppressed, 5) if shuffle else list(range(total + suppressed))

    def given() -> Mapping[str, Any]:
        return {"classes": _sized(sizes, numbers[:total], numbers[total:])}

    special = "" if overheard is None else CANARIES
    return Scene(name, given, sizes, special, overheard=overheard)


def _sized(sizes: list[int], rows: list[int], suppressed: list[int]) -> Classes:
    members, index = [], 0
    for size in sizes:
        members.append(rows[index : index + size])
        index += size
    return plain_classes(members, suppressed)


def _kept(one: Played) -> list[int]:
    """Return how many rows of each class the mask keeps, counted in plain Python."""
    mask, kept, index = [bool(x) for x in one.seen.result], [], 0
    for size in one.scene.facts:
        kept.append(sum(mask[index : index + size]))
        index += size
    return kept


def _fitting(subject: SamplerConformance) -> list[Played]:
    fitting = [item for item in subject.returned() if _fits(item)]
    if not fitting:
        raise NotApplicable("no mask fits")
    return fitting


def _fits(one: Played) -> bool:
    mask = np.asarray(one.seen.result)
    return mask.dtype == bool and mask.shape == (sum(one.scene.facts),)


def check_mask_fits(subject: SamplerConformance) -> None:
    """The result is a mask of bools with one element per row of `classes.rows`."""
    refuse_problems(
        (item.scene.name for item in subject.returned() if not _fits(item)), "the mask does not fit"
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
    first = subject.played()[0].scene
    shows = [*_fitting(subject), *(Played(first, subject.play(first, seed)) for seed in range(8))]
    for show in shows:
        if show.seen.error is not None or not show.scene.facts:
            continue
        least = method.least_kept(np.array(show.scene.facts, np.int64)).tolist()
        short = [
            size
            for size, kept, need in zip(show.scene.facts, _kept(show), least, strict=True)
            if kept < need
        ]
        if short:
            problems.append(f"{show.scene.name}: classes of {sorted(set(short))[:8]} rows")
    refuse_problems(problems, "fewer rows are kept than least_kept says")


def check_rate_is_kept(subject: SamplerConformance) -> None:
    """The share of rows kept lies within six standard deviations of `rate`, rounding allowed."""
    if subject.rate is None:
        raise NotApplicable("no rate: the subclass may say which share of rows is kept")
    problems = []
    for item in _fitting(subject):
        total, rate = sum(item.scene.facts), subject.rate
        # Every class may be rounded to whole rows, and at least one.
        slack = 6 * (total * rate * (1 - rate)) ** 0.5 + len(item.scene.facts)
        kept = sum(_kept(item))
        if abs(kept - rate * total) > slack:
            problems.append(f"{item.scene.name}: {kept} of {total} rows")
    refuse_problems(problems, f"the share kept is not {subject.rate}")


def check_sees_labels_only(subject: SamplerConformance) -> None:
    """The mask is the same whichever rows the classes hold: rows may still be sealed."""
    problems = []
    for item in _fitting(subject):
        sizes = item.scene.facts
        numbers = [3 * row + 1 for row in tables.shuffled(sum(sizes), 6)]
        other = Scene(item.scene.name, lambda s=sizes, n=numbers: {"classes": _sized(s, n, [])})  # type: ignore[misc]  # mypy does not follow lambda defaults
        again = [fingerprint(subject.play(scene).result) for scene in (other, item.scene)]
        # A sampler that differs from call to call is blamed for that by another check.
        if again[0] != fingerprint(item.seen.result) == again[1]:
            problems.append(item.scene.name)
    refuse_problems(problems, "the mask depends on the row numbers")


_CHECKS: tuple[Check, ...] = (
    check_mask_fits,
    check_least_kept_is_possible,
    check_least_kept_is_honoured,
    check_rate_is_kept,
    check_sees_labels_only,
)
SamplerConformance.checks = (*DECLARED, *CONDUCT, *OVERHEARD, *_CHECKS)
