"""How much of every column a release kept, learnt without the truth, and what agreement then says.

Columns that a release changed much tell people apart badly, and those that it shuffled mislead. So
columns are weighed by a model of what the release did: it kept a category with a chance m, and else
drew another from the column; it added noise of a scale t to a number. The logarithm of how much
likelier a row is under this model to be a record's own than anybody's is a dot product: the binary
log-likelihood ratio of Fellegi and Sunter (17), which is CVPL without a projection (Proposition
4.1), with numbers beside categories.

m and t follow from some records of the original by expectation maximization: how much each of
the best candidates counts for a record, and what of each column they share, in turns.
"""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.lazy import lazy_module
from anonloom.typing import Float32Array, FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_linkage.features import Encoding
from anonloom_linkage.vectors import Part, Vectors
from anonloom_risk.nearest_rows import ORIGINAL, RELEASE

sparse = lazy_module("scipy.sparse")

#: What is supposed before anything was seen.
FIRST_NOISE, FIRST_KEPT = 0.3, 0.8
#: Bounds of what is learnt: noise in standard deviations, and the chance to be kept.
LEAST_NOISE, MOST_NOISE = 0.03, 3.0
LEAST_KEPT, MOST_KEPT = 0.01, 0.99
#: Share of the records that may have no row.
ABSENT = 0.05
#: Records that are learnt from, at least and at most; rows, at most; and pairs of them.
FEWEST, LEARNT_FROM, MOST_ROWS, PAIRS = 100, 200, 1 << 17, 1e7
#: Candidates of a record that count, turns, and turns after which candidates are chosen anew.
CANDIDATES, TURNS, ANEW = 64, 12, 6
#: Products that are held at a time.
CHUNK = 1 << 22


@short_repr
@attrs.frozen(eq=False)
class _ColumnModel:
    """What agreement in one column says, if noise or chance to be kept are as given.

    Attributes
    ----------
    parameter
        t of a number, m of a category.
    of_records, of_candidates
        By feature, what the vectors of records and of candidates are multiplied with.
    bias, constant
        By cell, what is added for a candidate, and for a record.
    """

    part: Part
    ordered: bool
    parameter: float
    of_records: FloatArray
    of_candidates: FloatArray
    bias: FloatArray
    constant: FloatArray

    @classmethod
    def of(cls, part: Part, ordered: bool, parameter: float) -> "_ColumnModel":
        """Return what agreement says after noise of this scale, or if so much was kept."""
        counts = np.bincount(part.sides[RELEASE], minlength=part.cells).astype(float)
        rows, ones, none = max(counts.sum(), 1.0), np.ones(part.width), np.zeros(part.cells)
        if not ordered:
            shares = np.maximum(np.asarray(counts @ part.table).ravel() / rows, 0.5 / rows)
            weights = np.log1p(parameter / ((1 - parameter) * shares))
            return cls(part, ordered, parameter, ones, weights, none, none + np.log1p(-parameter))
        squared = (part.table**2).sum(axis=1) / (2 * parameter**2)
        rarity = _rarity(part.table[:, 0], counts, parameter)
        return cls(part, ordered, parameter, ones / parameter**2, ones, rarity - squared, -squared)

    def evidence(self, records: IntArray, candidates: IntArray) -> FloatArray:
        """Logarithm of the likelihood ratio of pairs, by their cells."""
        own, other = self.part.table[records], self.part.table[candidates]
        common = own.multiply(other) if sparse.issparse(own) else own * other
        products = np.asarray(common @ (self.of_records * self.of_candidates)).ravel()
        return products + self.bias[candidates] + self.constant[records]

    def learn(self, records: IntArray, candidates: IntArray, counts: FloatArray) -> float:
        """Return the parameter that makes pairs likeliest, each counted so much."""
        table, total = self.part.table, max(float(counts.sum()), 1e-300)
        if self.ordered:
            apart = ((table[records] - table[candidates]) ** 2).sum(axis=1)
            return float(np.clip(np.sqrt((counts @ apart) / total), LEAST_NOISE, MOST_NOISE))
        own = table[records]
        agree = np.asarray(own.multiply(table[candidates]).sum(axis=1)).ravel()
        released = np.bincount(self.part.sides[RELEASE], minlength=self.part.cells).astype(float)
        shares = np.asarray(released @ table).ravel() / max(released.sum(), 1.0)
        common = np.asarray(own @ shares).ravel()
        # What agrees was kept, or drawn again by chance.
        kept = self.parameter / (self.parameter + (1 - self.parameter) * common)
        return float(np.clip((counts @ (agree * kept)) / total, LEAST_KEPT, MOST_KEPT))


def _rarity(places: FloatArray, counts: FloatArray, near: float) -> FloatArray:
    """Of every cell, minus the logarithm of the share of the rows that are near it."""
    order = np.argsort(places, kind="stable")
    upto = np.r_[0.0, np.cumsum(counts[order])]
    first = np.searchsorted(places[order], places - near, side="left")
    stop = np.searchsorted(places[order], places + near, side="right")
    result: FloatArray = np.log(max(counts.sum(), 1.0) / np.maximum(upto[stop] - upto[first], 0.5))
    return result


@short_repr
@attrs.frozen(eq=False)
class KeptColumns:
    """A model of what a release did to every column, and the space in which it compares."""

    vectors: Vectors
    models: tuple[_ColumnModel, ...]

    @classmethod
    def learn(
        cls, columns: Sequence[AlignedColumn], rng: np.random.Generator, workers: int = 1
    ) -> "KeptColumns | None":
        """Learn the model from some records of the original; None where nothing varies.

        Parameters
        ----------
        columns
            Those of `align_evidence`.
        """
        vectors = Vectors.of(columns, Encoding(clock=("position",)), (ORIGINAL, RELEASE), workers)
        rows, records = vectors.rows(RELEASE), vectors.rows(ORIGINAL)
        if not vectors.parts or not rows or not records:
            return None
        among = np.sort(rng.choice(rows, min(rows, MOST_ROWS), replace=False))
        ordered = {column.name for column in columns if column.is_ordered}
        parameters = [FIRST_NOISE if part.name in ordered else FIRST_KEPT for part in vectors.parts]
        number = min(LEARNT_FROM, max(int(PAIRS / len(among)), FEWEST), records)
        some = np.sort(rng.choice(records, number, replace=False))
        candidates = np.empty((number, 0), np.int64)
        for turn in range(TURNS):
            result = cls._of(vectors, ordered, parameters)
            if turn % ANEW == 0:
                candidates = result._best_candidates(some, among)
            parameters = result._learnt(some, candidates, len(among))
        return cls._of(vectors, ordered, parameters)

    @classmethod
    def _of(cls, vectors: Vectors, ordered: set[str], parameters: Sequence[float]) -> "KeptColumns":
        return cls(
            vectors,
            tuple(
                _ColumnModel.of(part, part.name in ordered, parameter)
                for part, parameter in zip(vectors.parts, parameters, strict=True)
            ),
        )

    def _learnt(self, records: IntArray, candidates: IntArray, among: int) -> list[float]:
        """Return the parameters that follow from how likely each candidate is a record's own.

        Parameters
        ----------
        among
            How many rows the candidates were chosen from: the others are as good as absent.
        """
        number, each = candidates.shape
        repeated = np.repeat(records, each)
        pairs = [
            (model.part.sides[ORIGINAL][repeated], model.part.sides[RELEASE][candidates.ravel()])
            for model in self.models
        ]
        evidence = np.zeros(number * each)
        for model, (own, other) in zip(self.models, pairs, strict=True):
            evidence += model.evidence(own.astype(np.int64), other.astype(np.int64))
        evidence = evidence.reshape(number, each)
        rows = self.vectors.rows(RELEASE)
        absent = np.log(rows / (1 - ABSENT) - among)
        highest = np.maximum(evidence.max(axis=1), absent)[:, None]
        likely = np.exp(evidence - highest)
        counts = (likely / (likely.sum(axis=1)[:, None] + np.exp(absent - highest))).ravel()
        return [
            model.learn(own.astype(np.int64), other.astype(np.int64), counts)
            for model, (own, other) in zip(self.models, pairs, strict=True)
        ]

    def _best_candidates(self, records: IntArray, among: IntArray) -> IntArray:
        """Return the best of some rows for some records of the original, in no order."""
        own, other = self.records(ORIGINAL, records), self.candidates(RELEASE, among)
        number = min(CANDIDATES, len(among))
        step = max(CHUNK // max(len(other), 1), 1)
        parts = [
            np.argpartition(-(own[start : start + step] @ other.T), number - 1, axis=1)[:, :number]
            for start in range(0, len(own), step)
        ]
        result: IntArray = among[np.concatenate(parts)]
        return result

    def records(self, side: int, rows: IntArray | None = None) -> Float32Array:
        """Vectors of records; the dot product with a candidate's and `constants` are evidence."""
        vectors = self._project(side, [model.of_records for model in self.models], rows)
        vectors[:, -1] = 1.0
        return vectors

    def candidates(self, side: int, rows: IntArray | None = None) -> Float32Array:
        """Vectors of candidates."""
        vectors = self._project(side, [model.of_candidates for model in self.models], rows)
        for model in self.models:
            cells = model.part.sides[side]
            vectors[:, -1] += model.bias[cells if rows is None else cells[rows]]
        return vectors

    def constants(self, side: int) -> FloatArray:
        """Return what is added to all evidence about a record."""
        result = np.zeros(self.vectors.rows(side))
        for model in self.models:
            result += model.constant[model.part.sides[side]]
        return result

    def _project(
        self, side: int, scales: Sequence[FloatArray], rows: IntArray | None
    ) -> Float32Array:
        """Multiply features, and leave room for one number more, which is 0."""
        scale = np.concatenate(scales)
        matrix = np.hstack([np.diag(scale), np.zeros((len(scale), 1))])
        return self.vectors.project(side, matrix, np.zeros(len(scale)), rows)
