"""Conformance of samplers: the mask fits, the least is kept, and nothing but labels is seen."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from anonloom.data.classes import Classes
from anonloom.kinds.context import Run
from anonloom.testing import tables
from anonloom.testing.canaries import CANARIES, CANARY_TABLES
from anonloom.testing.conduct import CONDUCT, Acting, Played, Scene
from anonloom.testing.conformance import Check, held
from anonloom.testing.declaring import DECLARED
from anonloom.testing.dividing import plain_classes
from anonloom.testing.results import NotApplicable
from anonloom.testing.tables import Sample
from anonloom.testing.telling import OVERHEARD
from anonloom.testing.watching import fingerprint

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

    def act(self, method: Any, inputs: Mapping[str, Any], run: Run) -> Any:
        """Sample."""
        return method.sample(inputs["classes"], run)

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
    members, at = [], 0
    for size in sizes:
        members.append(rows[at : at + size])
        at += size
    return plain_classes(members, suppressed)


def _kept(one: Played) -> list[int]:
    """Return how many rows of each class the mask keeps, counted in plain Python."""
    mask, kept, at = [bool(x) for x in one.seen.result], [], 0
    for size in one.scene.facts:
        kept.append(sum(mask[at : at + size]))
        at += size
    return kept


def _fitting(subject: SamplerConformance) -> list[Played]:
    fitting = [one for one in subject.returned() if _fits(one)]
    if not fitting:
        raise NotApplicable("no mask fits")
    return fitting


def _fits(one: Played) -> bool:
    mask = np.asarray(one.seen.result)
    return mask.dtype == bool and mask.shape == (sum(one.scene.facts),)


def check_mask_fits(subject: SamplerConformance) -> None:
    """The result is a mask of bools with one element per row of `classes.rows`."""
    held((one.scene.name for one in subject.returned() if not _fits(one)), "the mask does not fit")


def check_least_kept_is_possible(subject: SamplerConformance) -> None:
    """`least_kept` gives an integer from 0 to the size, for each size on its own."""
    method = subject.made()
    together = [int(kept) for kept in method.least_kept(np.array(SIZES, np.int64))]
    alone = [int(method.least_kept(np.array([size], np.int64))[0]) for size in SIZES]
    assert alone == together, "a size is judged differently in company"
    bad = [size for size, kept in zip(SIZES, together, strict=True) if not 0 <= kept <= size]
    assert not bad, f"sizes {bad[:5]}: not between 0 and the size"


def check_least_kept_is_honoured(subject: SamplerConformance) -> None:
    """Of a class of every size from 1 to 200 at least `least_kept(size)` rows are kept."""
    method, problems = subject.made(), []
    first = subject.played()[0].scene
    shows = [*_fitting(subject), *(Played(first, subject.play(first, seed)) for seed in range(8))]
    for one in shows:
        if one.seen.error is not None or not one.scene.facts:
            continue
        least = method.least_kept(np.array(one.scene.facts, np.int64)).tolist()
        short = [
            size
            for size, kept, need in zip(one.scene.facts, _kept(one), least, strict=True)
            if kept < need
        ]
        if short:
            problems.append(f"{one.scene.name}: classes of {sorted(set(short))[:8]} rows")
    held(problems, "fewer rows are kept than least_kept says")


def check_rate_is_kept(subject: SamplerConformance) -> None:
    """The share of rows kept lies within six standard deviations of `rate`, rounding allowed."""
    if subject.rate is None:
        raise NotApplicable("no rate: the subclass may say which share of rows is kept")
    problems = []
    for one in _fitting(subject):
        total, rate = sum(one.scene.facts), subject.rate
        # Every class may be rounded to whole rows, and at least one.
        slack = 6 * (total * rate * (1 - rate)) ** 0.5 + len(one.scene.facts)
        kept = sum(_kept(one))
        if abs(kept - rate * total) > slack:
            problems.append(f"{one.scene.name}: {kept} of {total} rows")
    held(problems, f"the share kept is not {subject.rate}")


def check_sees_labels_only(subject: SamplerConformance) -> None:
    """The mask is the same whichever rows the classes hold: rows may still be sealed."""
    problems = []
    for one in _fitting(subject):
        sizes = one.scene.facts
        numbers = [3 * row + 1 for row in tables.shuffled(sum(sizes), 6)]
        other = Scene(one.scene.name, lambda s=sizes, n=numbers: {"classes": _sized(s, n, [])})  # type: ignore[misc]  # mypy does not follow lambda defaults
        again = [fingerprint(subject.play(scene).result) for scene in (other, one.scene)]
        # A sampler that differs from call to call is blamed for that by another check.
        if again[0] != fingerprint(one.seen.result) == again[1]:
            problems.append(one.scene.name)
    held(problems, "the mask depends on the row numbers")


_CHECKS: tuple[Check, ...] = (
    check_mask_fits,
    check_least_kept_is_possible,
    check_least_kept_is_honoured,
    check_rate_is_kept,
    check_sees_labels_only,
)
SamplerConformance.checks = (*DECLARED, *CONDUCT, *OVERHEARD, *_CHECKS)
