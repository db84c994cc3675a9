"""The search for sensitive correlations: sets by growing size, supersets skipped."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from math import comb
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from anonloom import Schema, Table, short_repr
from anonloom.findings import NotAssessable
from anonloom.typing import FloatArray, IntArray
from anonloom_prism.correlations import Correlation, Measure
from anonloom_prism.encoding import EncodedTable, encode, types_of
from anonloom_prism.measures import (
    CellMeasure,
    Classifier,
    CramersV,
    Sums,
    Whole,
    pair_sums,
    summed_alone,
)
from anonloom_prism.pair_counts import Grams
from anonloom_prism.regression import Regressions
from anonloom_prism.significance import ContingencyTable, Tests, by_cells, by_regression
from anonloom_prism.single_attributes import Singles
from anonloom_prism.targets import Targets, targets

#: Sets of attributes, (sets x attributes), and their figures, (targets x sets).
Figures = tuple[IntArray, FloatArray]
Progress = Callable[[int, int | None], None]

_BY_CELLS: dict[str, type[CellMeasure]] = {"cramers-v": CramersV, "classifier": Classifier}


def _silent(done: int, total: int | None) -> None:
    """Show nothing."""


@attrs.frozen(kw_only=True)
class Question:
    """How to search; see the parameters of `discover`."""

    measure: Measure = "cramers-v"
    threshold: float = 0.3
    size: int = 3
    alpha: float | None = 0.05
    bins: int = 4
    levels: int = 8


@short_repr
@attrs.frozen(kw_only=True, eq=False)
class Search:
    """What was searched, and found.

    Attributes
    ----------
    found
        By size, the strongest of a size first.
    strongest
        By size, the largest figure of all sets that were looked at, found or not.
    looked_at, sets
        By size, how many sets were looked at, and how many there are; the others hold one that was
        found.
    targets
        Critical values that were searched for.
    rows, left_out
        Rows that were used, and rows without a sensitive value.
    attributes, constant
        Columns that were looked at, and columns that tell nothing as they never vary.
    by_chance
        Sets and targets over the threshold that chance may have put there.
    """

    found: tuple[Correlation, ...]
    strongest: dict[int, float]
    looked_at: dict[int, int]
    sets: dict[int, int]
    targets: tuple[str, ...]
    rows: int
    left_out: int
    attributes: tuple[str, ...]
    constant: tuple[str, ...]
    by_chance: int


def discover(
    table: Table | pd.DataFrame,
    sensitive: str | None = None,
    critical: Sequence[Any] | None = None,
    *,
    attributes: Sequence[str] | None = None,
    label: str | Sequence[str] = (),
    measure: Measure = "cramers-v",
    threshold: float = 0.3,
    size: int = 3,
    alpha: float | None = 0.05,
    bins: int = 4,
    levels: int = 8,
) -> tuple[Correlation, ...]:
    """Find the sets of attributes that give critical values of a sensitive attribute away.

    Parameters
    ----------
    table
        A table of Anonloom or a data frame.
    sensitive
        Name of the sensitive column; of a table, by default, the one with that role.
    critical
        Its values that must not be inferred; all of them by default.
    attributes
        Names of the columns to look at; by default all others that are no label.
    label
        Columns that are predicted and therefore not looked at; of a table also those with the role.
    measure
        `cramers-v`: bias-corrected, of the joint levels of the set; `multiple-correlation`:
        adjusted R on the levels of its attributes, added up; `classifier`: gain of a
        cross-validated table of decisions.
    threshold
        A set is a sensitive correlation when its figure is at least this.
    size
        Most attributes of a set.
    alpha
        Chance of finding anything where there is nothing; None for no guard against chance.
    bins, levels
        Ranges of a number, and most levels of a category or of a number with few values. Single
        attributes are also looked at value by value.

    Returns
    -------
    tuple[Correlation, ...]
        One for each set and target, small sets first, the strongest of a size first; no set
        contains another.

    Raises
    ------
    ValueError
        When there is no such column, or a critical value never occurs.
    """
    question = Question(
        measure=measure, threshold=threshold, size=size, alpha=alpha, bins=bins, levels=levels
    )
    labels = (label,) if isinstance(label, str) else tuple(label)
    schema = table.schema if isinstance(table, Table) else None
    frame = table.frame if isinstance(table, Table) else table
    if schema is not None:
        labels += schema.names_with_role("label")
        sensitive = _by_role(schema) if sensitive is None else sensitive
    if sensitive is None:
        raise ValueError("'sensitive' must name a column of the data frame")
    names = eligible(frame, schema, sensitive, labels) if attributes is None else attributes
    try:
        return search(frame, schema, sensitive, critical, tuple(names), question).found
    except NotAssessable as why:
        # A call with wrong arguments, as scikit-learn has it; only auditors report it as a finding.
        raise ValueError(str(why)) from None


def eligible(
    frame: pd.DataFrame, schema: Schema | None, sensitive: str, labels: Iterable[str]
) -> tuple[str, ...]:
    """Return the columns to look at when nobody says which: not the labels, nor who somebody is."""
    apart = {sensitive, *labels}
    if schema is not None:
        apart |= set(schema.names_with_role("label", "identifier", "person", "group", "truth"))
    return tuple(str(name) for name in frame if str(name) not in apart)


def search(
    frame: pd.DataFrame,
    schema: Schema | None,
    sensitive: str,
    critical: Sequence[Any] | None,
    attributes: Sequence[str],
    question: Question,
    progress: Progress = _silent,
) -> Search:
    """Look at sets of attributes by growing size.

    Parameters
    ----------
    frame
        Cells as they are, or as a release writes them.
    schema
        Declares the columns; None for a data frame that speaks for itself.

    Raises
    ------
    NotAssessable
        When there is nothing to search for.
    """
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    lacking = [name for name in (sensitive, *attributes) if name not in frame]
    if lacking:
        raise NotAssessable(f"there is no column '{lacking[0]}'")
    types = types_of(frame, schema)
    asked = targets(frame[sensitive], types[sensitive], critical, question.bins)
    known = np.flatnonzero(asked.classes >= 0)
    asked = attrs.evolve(asked, classes=asked.classes[known])
    columns = {name: frame[name].take(known) for name in attributes if name != sensitive}
    encoded = encode(columns, types, question.bins, question.levels).cheapest_first()
    # The products are small: threads would wait for each other more than they work.
    with threadpool_limits(1):
        return _by_size(encoded, asked, question, len(frame) - len(known), progress)


def _by_size(
    encoded: EncodedTable, asked: Targets, question: Question, left_out: int, progress: Progress
) -> Search:
    """Look at single attributes, then at pairs, and so on."""
    count = len(encoded.names)
    sizes = range(1, min(question.size, count) + 1)
    hidden = sum(of_rows is not None for of_rows in encoded.values)
    tests = Tests(count, len(asked.names), len(sizes), hidden)
    looking = _SetScan(Grams(encoded, asked), question, progress) if sizes else None
    results: list[Correlation] = []
    apart: list[frozenset[int]] = []
    strongest: dict[int, float] = {}
    looked_at: dict[int, int] = {}
    by_chance = 0
    for size in sizes:
        assert looking is not None
        of_size: list[tuple[frozenset[int], Correlation]] = []
        level = (question.alpha or 0.0) / tests.of_size(size)
        strongest[size], looked_at[size] = 0.0, 0
        for places, figures in looking.figures_of_size(size, apart):
            looked_at[size] += len(places)
            strongest[size] = max(strongest[size], float(figures.max(initial=0.0)))
            for target, index in np.argwhere(figures >= question.threshold).tolist():
                chosen = tuple(places[index].tolist())
                one = Correlation(
                    attributes=frozenset(encoded.names[place] for place in chosen),
                    target=asked.names[target],
                    measure=question.measure,
                    value=float(figures[target, index]),
                    p=min(1.0, looking.p(chosen, target, level) * tests.of_size(size)),
                )
                if question.alpha is not None and one.p > question.alpha:
                    by_chance += 1
                else:
                    of_size.append((frozenset(chosen), one))
        apart += {places for places, _ in of_size}
        results += sorted(
            (item for _, item in of_size),
            key=lambda one: (-one.value, sorted(one.attributes), one.target),
        )
    return Search(
        found=tuple(results),
        strongest=strongest,
        looked_at=looked_at,
        sets={size: comb(count, size) for size in sizes},
        targets=asked.names,
        rows=encoded.rows,
        left_out=left_out,
        attributes=encoded.names,
        constant=encoded.constant,
        by_chance=by_chance,
    )


class _SetScan:
    """The figures of all sets of a size."""

    def __init__(self, grams: Grams, question: Question, progress: Progress) -> None:
        self.grams, self.progress = grams, progress
        self.whole = Whole.of(grams.members, grams.sizes)
        by_cells_ = _BY_CELLS.get(question.measure)
        self.measure = by_cells_() if by_cells_ else None
        self.regressions = None if by_cells_ else Regressions(grams)
        self.by_levels = self._by_levels()
        self.singles = Singles(grams, self.whole, self.measure)
        self.threshold = question.threshold

    def p(self, chosen: tuple[int, ...], target: int, level: float) -> float:
        """Return the chance that some attribute of a set contributes so much by chance.

        Parameters
        ----------
        level
            Up to which it is believed that chance did not do it.
        """
        if len(chosen) > 1:
            return self._p_of_levels(chosen, target, level)
        (index,) = chosen
        # Two tests, and counted as two.
        by_levels = self.by_levels[target, index] >= self.threshold
        by_values = self.singles.figures[target, index] >= self.threshold
        return min(
            self._p_of_levels(chosen, target, level) if by_levels else 1.0,
            self.singles.p(index, target, level) if by_values else 1.0,
        )

    def _p_of_levels(self, chosen: tuple[int, ...], target: int, level: float) -> float:
        table = ContingencyTable.of(self.grams, chosen, target)
        # Alone, an attribute is added up and combined at once.
        combined = self.measure is not None or len(chosen) == 1
        return by_cells(table, level) if combined else by_regression(table)

    def figures_of_size(self, size: int, apart: Sequence[frozenset[int]]) -> Iterator[Figures]:
        """Yield sets of a size that hold none of those found already, and their figures."""
        count = len(self.grams.encoded.names)
        if size == 1:
            # By levels or value by value: whichever tells more.
            yield np.arange(count)[:, None], np.maximum(self.by_levels, self.singles.figures)
        elif self.regressions is not None:
            for last in range(size - 1, count):
                before = combinations(range(last), size - 1)
                sets = np.array([(*item, last) for item in before], np.int64)
                kept = sets[~_supersets(sets, count, apart)]
                yield kept, self.regressions.figure(kept)
                self.progress(last + 1, count)
        else:
            given = list(combinations(range(count - 1, 1, -1), size - 2))
            for done, chosen in enumerate(given):
                if not any(item <= set(chosen) for item in apart):
                    yield self._pairs(chosen, apart)
                self.progress(done + 1, len(given))

    def _by_levels(self) -> FloatArray:
        """Figures of single attributes, (targets x attributes)."""
        if self.measure is None:
            assert self.regressions is not None
            return self.regressions.figure(np.arange(len(self.grams.encoded.names))[:, None])
        counts, starts = self.grams.total_counts(), self.grams.encoded.starts
        sums = summed_alone(self.measure, counts, starts, self.whole)
        return self.measure.figure(sums, self.whole)

    def _pairs(self, chosen: tuple[int, ...], apart: Sequence[frozenset[int]]) -> Figures:
        """Figures of some attributes with every two that stand before them."""
        assert self.measure is not None
        grams = self.grams
        before = min(chosen, default=len(grams.encoded.names))
        rows, columns = np.triu_indices(before, 1)
        pairs = np.stack([rows, columns], axis=1)
        sets = np.concatenate([pairs, np.tile(np.sort(chosen), (len(pairs), 1))], axis=1)
        kept = ~_supersets(sets.astype(np.int64), len(grams.encoded.names), apart)
        if not kept.any():
            return sets[kept].astype(np.int64), np.empty((len(self.whole.hits), 0))
        starts = grams.encoded.starts[:before]
        parts = grams.conditional_counts(chosen) if chosen else iter([grams.total_counts()])
        total: Sums | None = None
        for counts in parts:
            sums = pair_sums(self.measure, counts, starts, self.whole)
            total = sums if total is None else tuple(map(np.add, total, sums))
        assert total is not None
        figures = self.measure.figure(total, self.whole)
        return sets[kept].astype(np.int64), figures[:, rows[kept], columns[kept]]


def _supersets(sets: IntArray, count: int, apart: Sequence[frozenset[int]]) -> NDArray[np.bool_]:
    """Which sets hold one of those found already."""
    member = np.zeros((len(sets), count), bool)
    member[np.arange(len(sets))[:, None], sets] = True
    held = np.zeros(len(sets), bool)
    for item in apart:
        held |= member[:, sorted(item)].all(axis=1)
    return held


def _by_role(schema: Schema) -> str:
    """Return the one sensitive column."""
    names = schema.names_with_role("sensitive")
    if len(names) != 1:
        listed = ", ".join(f"'{name}'" for name in names) or "no column"
        raise ValueError(f"the role 'sensitive' has {listed}: name one with 'sensitive'")
    return names[0]
