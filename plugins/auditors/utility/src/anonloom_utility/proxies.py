"""Four proxies of what a release is still good for (CVPL paper, Table 11), each on its own."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anonloom import AuditInput, Finding, Findings, StageContext
from anonloom.findings import NotAssessable, Status
from anonloom.typing import FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_linkage.marginals import (
    distribution,
    divergence,
    leaf_parts,
    place_parts,
    quantile_edges,
)
from anonloom_utility.classifier import LinearClassifier
from anonloom_utility.samples import CONTROL, ORIGINAL, RELEASE, SOURCES, Rows, SampledTables

Codes = NDArray[np.integer]

#: What most recipients want a release for, to learn from it, is key where it can be measured.
KEY = "accuracy_preserved"

#: Pairs of records whose distances are compared.
PAIRS = 10_000
#: Bins of a number: its own quantiles.
BINS = 20
#: Share of the original that judges a model, where there is no control table.
JUDGES = 0.3
#: A label with more values is no class.
MOST_CLASSES = 50
QUANTILES = 100

MEANINGS = {
    "correlation_preserved": "How alike the associations between columns are in the original and "
    "in the release: the correlation of the two tables of associations, 1 for the same pattern.",
    "marginals_preserved": "How alike the distributions of single columns are: 1 less the mean "
    "Jensen-Shannon divergence, 1 for the same distributions.",
    "accuracy_preserved": "How well a model that learned from the release predicts the label of "
    "original rows, over how well one does that learned from the original.",
    "distances_preserved": "How well distances between published records follow those between the "
    "original ones: the correlation over pairs of records, 1 for the same pattern.",
}


def proxies(
    case: AuditInput, context: StageContext, predict: tuple[str, ...] | None = None
) -> Findings:
    """Compute all four; each says why where it cannot.

    Parameters
    ----------
    predict
        Columns that a model predicts; those with the role label without it.
    """
    if not len(case.release):
        return Findings.of([_unknown(name, "nothing is published") for name in MEANINGS])
    tables = SampledTables.of(case, context, predict)
    computed: dict[str, Callable[[SampledTables, StageContext], Finding]] = {
        "correlation_preserved": correlation,
        "marginals_preserved": marginals,
        "accuracy_preserved": accuracy,
        "distances_preserved": distances,
    }
    results = []
    for name, compute in computed.items():
        try:
            results.append(compute(tables, context))
        except NotAssessable as why:
            results.append(_unknown(name, str(why)))
    return Findings.of(results)


def _unknown(name: str, reason: str) -> Finding:
    return Finding(
        name=name,
        value=None,
        better="higher",
        status="not assessable",
        meaning=MEANINGS[name],
        assumptions=(reason,),
    )


def _figure(
    name: str,
    value: float,
    tables: SampledTables,
    *assumptions: str,
    interval: tuple[float, float] | None = None,
    status: Status = "measured",
) -> Finding:
    return Finding(
        name=name,
        value=float(value),
        interval=interval,
        better="higher",
        status=status,
        meaning=MEANINGS[name],
        assumptions=(*assumptions, *tables.assumptions),
        key=name == KEY,
    )


def pearson(a: FloatArray, b: FloatArray) -> float:
    """Pearson's correlation.

    Raises
    ------
    NotAssessable
        Where one of them does not vary.
    """
    a, b = a - a.mean(), b - b.mean()
    lengths = float(np.sqrt(a @ a) * np.sqrt(b @ b))
    if lengths <= 1e-12 * max(len(a), 1):
        raise NotAssessable("all of them are equal in the original or in the release")
    return float(np.clip(a @ b / lengths, -1.0, 1.0))


# --- correlation ---------------------------------------------------------------------------------


def correlation(tables: SampledTables, context: StageContext) -> Finding:
    """Correlate the associations of all pairs of columns in both tables."""
    if len(tables.features) < 3:
        raise NotAssessable("fewer than three columns vary, which is one association or none")
    before, after = (associations(tables, side) for side in (ORIGINAL, RELEASE))
    pairs = np.triu_indices(len(before), 1)
    return _figure(
        "correlation_preserved",
        pearson(before[pairs], after[pairs]),
        tables,
        f"{len(pairs[0])} pairs of columns",
        "the association of two numbers is their correlation, of other columns the size of the "
        "covariance of their features over the sizes of their own",
        "a generalized cell is the mean of the original's values under it",
    )


def associations(tables: SampledTables, side: int) -> FloatArray:
    """Association of every pair of columns; 0 with one that never varies."""
    rows = tables.vectors(side)
    n = rows.shape[0]
    mean = np.asarray(rows.sum(axis=0)).ravel() / n
    covariance = np.asarray((rows.T @ rows).todense()) / n - np.outer(mean, mean)
    ends = np.cumsum([0, *(feature.rows[side].shape[1] for feature in tables.features)])
    squares = np.add.reduceat(np.add.reduceat(covariance**2, ends[:-1], axis=0), ends[:-1], axis=1)
    own = np.sqrt(np.sqrt(np.diag(squares)))
    scale = np.outer(own, own)
    result = np.divide(np.sqrt(squares), scale, out=np.zeros_like(scale), where=scale > 1e-9)
    numbers = np.flatnonzero([feature.number for feature in tables.features])
    index = np.ix_(numbers, numbers)
    result[index] *= np.sign(covariance[np.ix_(ends[numbers], ends[numbers])])
    return result


# --- marginals -----------------------------------------------------------------------------------


def marginals(tables: SampledTables, context: StageContext) -> Finding:
    """Compare the distributions of all columns."""
    if not tables.columns:
        raise NotAssessable("the original and the release share no column")
    divergences = {column.name: column_divergence(column) for column in tables.columns}
    worst = max(divergences, key=lambda name: divergences[name])
    return _figure(
        "marginals_preserved",
        1 - float(np.mean(list(divergences.values()))),
        tables,
        f"least of '{worst}': {1 - divergences[worst]:.4g}",
        f"numbers in {BINS} quantiles of the original",
        "a generalized cell counts in equal parts for all that it covers",
    )


def column_divergence(column: AlignedColumn) -> float:
    """Jensen-Shannon divergence of a column's two distributions, in bits: 0 to 1."""
    before, after = (column.counts(side) for side in (ORIGINAL, RELEASE))
    if column.is_ordered:
        parts = place_parts(column, quantile_edges(column, before, BINS), "spread")
    else:
        parts = leaf_parts(column, "spread")
    return divergence(
        distribution(column, parts, before),
        distribution(column, parts, after, column.unread[RELEASE]),
    )


# --- accuracy ------------------------------------------------------------------------------------


def accuracy(tables: SampledTables, context: StageContext) -> Finding:
    """Train on the release and on the original; both predict rows that neither has seen."""
    labels = [
        column
        for column in tables.columns
        if column.name in tables.labels and len(column.axis.values) > 1
    ]
    if not labels:
        raise NotAssessable(
            "no published column is to be predicted and takes several values: give one the role "
            "'label', or name it in 'predict'"
        )
    small = [label for label in labels if len(label.axis.values) <= MOST_CLASSES]
    if not small:
        raise NotAssessable(f"the label takes more than {MOST_CLASSES} values")
    hits, base, often = [], [], []
    for column in small:
        result = _hits(tables, column, context)
        hits.append(result[0])
        base.append(result[1])
        often.append(result[2])
    right, before = np.mean(hits, axis=0), np.mean(base, axis=0)
    if not before.sum():
        raise NotAssessable("a model of the original predicts nothing")
    value = float(right.sum() / before.sum())
    # The standard error of a ratio of means over the same rows.
    error = float(np.sqrt(np.mean((right - value * before) ** 2) / len(right)) / before.mean())
    return _figure(
        "accuracy_preserved",
        value,
        tables,
        f"right of {len(right)} rows: {right.mean():.4g}, learned from the original "
        f"{before.mean():.4g}, the most frequent value always {np.mean(often):.4g}",
        "a linear model (ridge regression on the values of the label)",
        interval=(max(value - 1.96 * error, 0.0), value + 1.96 * error),
    )


def _hits(
    tables: SampledTables, column: AlignedColumn, context: StageContext
) -> tuple[FloatArray, FloatArray, float]:
    """Which judging rows each model gets right, and how often the most frequent value is right."""
    original = tables.vectors(ORIGINAL, column.name)
    codes = column.sides[ORIGINAL]
    if not original.shape[1]:
        raise NotAssessable("no other column varies")
    learned_from = np.arange(len(column.sides[RELEASE]))
    if len(column.sides) > CONTROL:
        judges, truth = tables.vectors(CONTROL, column.name), column.sides[CONTROL]
        training = np.arange(len(codes))
    else:
        order = context.rng.permutation(len(codes))
        cut = round(JUDGES * len(codes))
        judging, training = order[:cut], order[cut:]
        judges, truth = original[judging], codes[judging]
        if tables.truth is not None:
            # Nobody is judged by a model that has seen them.
            seen = np.isin(tables.truth, tables.rows[judging])
            learned_from = learned_from[~seen]
    return _compare_models(
        column,
        (original[training], codes[training]),
        (
            tables.vectors(RELEASE, column.name)[learned_from],
            column.sides[RELEASE][learned_from],
        ),
        (judges, truth),
    )


def _compare_models(
    column: AlignedColumn,
    original: tuple[Rows, Codes],
    release: tuple[Rows, Codes],
    judges: tuple[Rows, Codes],
) -> tuple[FloatArray, FloatArray, float]:
    classes = len(column.axis.values)
    answers = []
    for rows, codes in (release, original):
        # A missing label, and one that cannot be read, teaches nothing.
        known = codes < classes
        if not known.any():
            raise NotAssessable("there are no rows with a label to learn from")
        answers.append(LinearClassifier.fit(rows[known], codes[known], classes).predict(judges[0]))
    known = judges[1] < classes
    if not known.any():
        raise NotAssessable("there are no rows with a label to judge by")
    hits, base = ((answer == judges[1])[known].astype(float) for answer in answers)
    most = np.bincount(original[1][original[1] < classes], minlength=classes).argmax()
    return hits, base, float((judges[1][known] == most).mean())


# --- distances -----------------------------------------------------------------------------------


def distances(tables: SampledTables, context: StageContext) -> Finding:
    """Correlate distances between pairs of original and of published records."""
    if not tables.features:
        raise NotAssessable("no column varies")
    release = tables.vectors(RELEASE)
    if tables.truth is None:
        return _distributions(tables, context, release)
    known = np.flatnonzero(tables.truth >= 0)
    first, second = _pairs(known, context)
    before = _lengths(tables.vectors(SOURCES), first, second)
    after = _lengths(release, first, second)
    return _figure(
        "distances_preserved",
        pearson(before, after),
        tables,
        f"{len(first)} random pairs of records",
        "Euclidean distances, numbers in standard deviations, categories as indicators",
        "a generalized cell is the mean of the original's values under it",
    )


def _distributions(tables: SampledTables, context: StageContext, release: Rows) -> Finding:
    """Correlate quantiles: no pairing of the records could correlate better."""
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
    before, after = (
        np.quantile(_lengths(rows, *_pairs(np.arange(rows.shape[0]), context)), shares)
        for rows in (tables.vectors(ORIGINAL), release)
    )
    return _figure(
        "distances_preserved",
        pearson(before, after),
        tables,
        "published rows correspond to no known rows: quantiles of the distances are compared, "
        "which any pairing of the rows falls short of",
        "Euclidean distances, numbers in standard deviations, categories as indicators",
        status="bound",
    )


def _pairs(rows: IntArray, context: StageContext) -> tuple[IntArray, IntArray]:
    """Draw pairs of different rows."""
    if len(rows) < 2:
        raise NotAssessable("there is no pair of records")
    first = context.rng.integers(len(rows), size=PAIRS)
    second = (first + context.rng.integers(1, len(rows), size=PAIRS)) % len(rows)
    return rows[first], rows[second]


def _lengths(rows: Rows, first: IntArray, second: IntArray) -> FloatArray:
    apart = rows[first] - rows[second]
    result: FloatArray = np.sqrt(np.asarray(apart.multiply(apart).sum(axis=1)).ravel())
    return result
