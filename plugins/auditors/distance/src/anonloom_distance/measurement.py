"""The searches that all figures come from: who is nearest to whom, in every direction."""

import threading
from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import AuditInput, Release, StageContext, Table, short_repr
from anonloom.findings import NotAssessable
from anonloom.typing import FloatArray, IntArray
from anonloom_distance.pair_distances import pair_distances
from anonloom_distance.search import Nearest, nearest, steps_of
from anonloom_distance.space import Points, Space
from anonloom_kernels.compiled import announce_interpreted
from anonloom_linkage.aligned_columns import AlignedColumn, align_columns, shared_columns
from anonloom_linkage.features import Categories, Encoding

ROLES = frozenset({"quasi", "sensitive", "label", "other"})

#: A category with more values than this, and than half of the rows, is a text: it tells equal from
#: unequal, not near from far.
FEW_VALUES = 50
#: Indicators without a limit: a rare value must not look equal to another.
ALL_VALUES = 2**31 - 1

ORIGINAL, RELEASE, CONTROL = 0, 1, 2


@short_repr
@attrs.frozen(eq=False)
class Measurement:
    """What the figures are computed from.

    Attributes
    ----------
    published
        What of the original is nearest to the published rows that ask.
    original, others
        What of the release, and which other row of the original, is nearest to the rows of the
        original that ask.
    of_control
        What of the control table is nearest to the published rows; None without one.
    control, control_original
        What of the release and of the original is nearest to the rows of the control table.
    source
        For every published row that asks the distance to the row that it came from; NaN where
        that is not known. None when it is known of none.
    asking
        Rows of the original that ask.
    rows
        Rows of the original, of the release (those that say something) and of the control table.
    generalized
        Whether any published cell is.
    space
        Sentences on the space, for the assumptions.
    """

    published: Nearest
    original: Nearest
    others: Nearest
    of_control: Nearest | None
    control: Nearest | None
    control_original: Nearest | None
    source: FloatArray | None
    asking: IntArray
    rows: tuple[int, int, int]
    generalized: bool
    space: tuple[str, ...]


def measure(
    case: AuditInput,
    context: StageContext,
    columns: tuple[str, ...] | None,
    categories: Categories,
    most: int | None,
) -> Measurement:
    """Search in every direction.

    Parameters
    ----------
    most
        How many rows of each table ask, at most; all rows are always asked.

    Raises
    ------
    NotAssessable
        When there are no distances to speak of.
    """
    assert case.original is not None
    kept = np.flatnonzero(~case.release.suppressed_rows)
    if not len(kept):
        raise NotAssessable(
            "every published row is suppressed" if len(case.release) else "nothing is published"
        )
    used, notes = _columns(case, case.original, kept, columns)
    space = Space.of(used, Encoding(categories=categories, most_values=ALL_VALUES))
    if not space.names:
        raise NotAssessable("no column that both tables show says anything")
    return _Searches(case, context, space, kept, most).all((*_words(space, categories), *notes))


def _columns(
    case: AuditInput, original: Table, kept: IntArray, wanted: tuple[str, ...] | None
) -> tuple[list[AlignedColumn], list[str]]:
    """Choose the columns; say which are left out, and why."""
    tables: list[Release | Table] = [case.release]
    if case.control is not None:
        tables.append(case.control)
    names = shared_columns(original, tables, ROLES)
    texts = []
    if wanted is None:
        texts = [name for name in names if _is_text(original, name)]
        names = tuple(name for name in names if name not in texts)
    else:
        names = tuple(name for name in names if name in wanted)
    paired = align_columns(original, tables, names)
    silent = [item.name for item in paired if item.open[item.sides[RELEASE][kept]].all()]
    notes = []
    if texts:
        notes.append(f"left out, as nearly every row has its own value: {_join_names(texts)}")
    if silent:
        notes.append(f"left out, as the release says nothing of them: {_join_names(silent)}")
    used = [item for item in paired if item.name not in silent]
    unread = sum(item.unread[RELEASE] for item in used)
    if unread:
        notes.append(f"{unread} published cells cannot be read and count as '*'")
    return used, notes


def _is_text(original: Table, name: str) -> bool:
    axis = original.encode_column(name).axis
    return axis.type == "category" and axis.value_count > max(FEW_VALUES, len(original) // 2)


def _join_names(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _words(space: Space, categories: Categories) -> list[str]:
    encoded = {
        "one-hot": "categories as indicators of their values",
        "frequency": "categories by the share of their value",
        "hierarchical": "categories as indicators of their values and of the groups above them",
    }[categories]
    words = [
        f"Euclidean distance over {_join_names(list(space.names))}: numbers in standard deviations "
        f"of the original, {encoded}"
    ]
    if space.sides[RELEASE][1].any():
        words.append(
            "the squared distance to a generalized cell is the mean over the original's values "
            "under it"
        )
    return words


class _Searches:
    """All searches of one audit, with one count of what is done."""

    def __init__(
        self,
        case: AuditInput,
        context: StageContext,
        space: Space,
        kept: IntArray,
        most: int | None,
    ) -> None:
        self.case, self.run, self.space, self.most = case, context, space, most
        self.asked = {ORIGINAL: space.points(ORIGINAL), RELEASE: space.points(RELEASE, kept)}
        # Positions among the rows that are asked.
        self.asking = {ORIGINAL: self._sample(ORIGINAL), RELEASE: self._sample(RELEASE)}
        if case.control is not None and len(case.control):
            self.asked[CONTROL] = space.points(CONTROL)
            self.asking[CONTROL] = self._sample(CONTROL)
        self.askers = {side: self._points(side) for side in self.asked}
        self.kept = kept
        self.done = self.total = 0
        self.lock = threading.Lock()

    def _sample(self, side: int) -> IntArray:
        rows = self.asked[side].rows
        if self.most is None or rows <= self.most:
            return np.arange(rows)
        return np.sort(self.run.rng.choice(rows, self.most, replace=False))

    def _points(self, side: int) -> Points:
        """Those that ask, as points of their own; all of them as the points that are asked."""
        whole, rows = self.asked[side], self.asking[side]
        if len(rows) == whole.rows:
            return whole
        index, of = np.unique(whole.of[rows], return_inverse=True)
        return Points(
            np.ascontiguousarray(whole.codes[:, index]),
            whole.spread[index],
            np.bincount(of).astype(np.int64),
            of.astype(np.int64),
        )

    def all(self, words: tuple[str, ...]) -> Measurement:
        pairs = [(RELEASE, ORIGINAL), (ORIGINAL, RELEASE), (ORIGINAL, ORIGINAL)]
        if CONTROL in self.asked:
            pairs += [(RELEASE, CONTROL), (CONTROL, RELEASE), (CONTROL, ORIGINAL)]
        sizes = [len(self.askers[a]) * len(self.asked[b]) for a, b in pairs]
        self.total = sum(sizes)
        self.run.note(f"comparing {self.total:,} pairs of records")
        announce_interpreted(self.run, __package__, self._steps(pairs))
        results = {pair: self._search(*pair) for pair in pairs}
        source = self._source()
        most = max(len(rows) for rows in self.asking.values())
        if any(len(self.asking[side]) < self.asked[side].rows for side in self.asked):
            words = (*words, f"{most} rows of a table, drawn at random, ask; all rows are asked")
        control = self.asked.get(CONTROL)
        return Measurement(
            published=results[RELEASE, ORIGINAL],
            original=results[ORIGINAL, RELEASE],
            others=results[ORIGINAL, ORIGINAL],
            of_control=results.get((RELEASE, CONTROL)),
            control=results.get((CONTROL, RELEASE)),
            control_original=results.get((CONTROL, ORIGINAL)),
            source=source,
            asking=self.asking[ORIGINAL],
            rows=(
                self.asked[ORIGINAL].rows,
                self.asked[RELEASE].rows,
                0 if control is None else control.rows,
            ),
            generalized=bool(self.asked[RELEASE].spread.any()),
            space=words,
        )

    def _steps(self, pairs: Sequence[tuple[int, int]]) -> float:
        return sum(steps_of(self.space, self.askers[a], self.asked[b]) for a, b in pairs)

    def _search(self, asking: int, asked: int) -> Nearest:
        return nearest(
            self.space,
            self.askers[asking],
            self.asked[asked],
            others=asking == asked,
            workers=self.run.workers,
            done=self._report_progress,
        )

    def _report_progress(self, comparisons: int) -> None:
        with self.lock:
            self.done += comparisons
            self.run.progress(self.done, self.total)

    def _source(self) -> FloatArray | None:
        """Distance of every published row that asks from the row that it came from."""
        if self.case.truth is None:
            return None
        rows = np.asarray(self.case.truth)[self.kept][self.asking[RELEASE]]
        known = np.flatnonzero(rows >= 0)
        if not len(known):
            return None
        result = np.full(len(rows), np.nan)
        pairs = known.astype(np.int64), rows[known].astype(np.int64)
        askers, whole = self.askers[RELEASE], self.asked[ORIGINAL]
        result[known] = pair_distances(self.space.cells, askers, whole, pairs)
        return result
