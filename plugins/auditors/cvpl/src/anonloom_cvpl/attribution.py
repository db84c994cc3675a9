"""Which columns drive linkage: by what they weigh in the space, and by what is lost without them.

Loadings (section 8.10, Table 19) say how much of the space is a column's; they are no effects, as
section 9.6 admits. Ablation leaves a column out, fits again and links again.
"""

from collections.abc import Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Chart, Finding, StageContext
from anonloom.findings import FindingBuilder
from anonloom.typing import FloatArray, IntArray
from anonloom_cvpl.configuration import LinkageSetup
from anonloom_cvpl.evidence import LinkageTask
from anonloom_cvpl.projection import Linear, components_for, principal_components
from anonloom_cvpl.similarity import space
from anonloom_linkage.vectors import Vectors

#: Records that columns are left out for; whole blocks, drawn at random.
SAMPLED = 2_000
#: Resamples of the loadings; each takes an eigendecomposition, which of many features takes long:
#: then there are fewer.
RESAMPLES = 200
MOST_WORK = RESAMPLES * 100**3
FEWEST = 25
#: Groups of rows of a table whose moments are resampled.
GROUPS = 20
#: So few rows are written out; of more, moments follow from counts.
FEW_ROWS = 10_000


@attrs.frozen
class Share:
    """A column's share and its 95 % interval."""

    value: float
    interval: tuple[float, float]


def loading_shares(linear: Linear) -> FloatArray:
    """Sum of the loadings of every feature, each component by the variance it explains (U20)."""
    weights = linear.variances / max(float(linear.variances.sum()), 1e-300)
    return np.abs(linear.matrix) @ weights


def contributions(setup: LinkageSetup, rng: np.random.Generator) -> dict[str, Share]:
    """Share of every column in the space, by loadings, with intervals from resampled rows."""
    linear = setup.projection
    if not isinstance(linear, Linear):
        return {}
    vectors = linear.vectors
    point = _per_column(vectors, loading_shares(linear))
    resampled = np.array(
        [
            _per_column(vectors, loading_shares(_refit(setup, linear, mean, covariance)))
            for mean, covariance in _resampled_moments(setup, rng)
        ]
    )
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    return {
        part.name: Share(float(point[index]), (float(low[index]), float(high[index])))
        for index, part in enumerate(vectors.parts)
    }


def _per_column(vectors: Vectors, features: FloatArray) -> FloatArray:
    sums = np.array([features[span].sum() for span in vectors.spans])
    return np.asarray(sums / max(float(sums.sum()), 1e-300))


def _refit(setup: LinkageSetup, linear: Linear, mean: FloatArray, covariance: FloatArray) -> Linear:
    spec = setup.configuration.projection_spec
    if spec.method != "pca":
        # These directions do not follow from the moments: what varies is how far rows lie along
        # them.
        along = np.einsum("ij,ij->j", linear.matrix, covariance @ linear.matrix).clip(0.0)
        return attrs.evolve(linear, offset=mean, variances=along, total=float(np.trace(covariance)))
    values, directions = principal_components(covariance)
    kept = components_for(values, spec.variance, spec.least, spec.most)
    return attrs.evolve(
        linear,
        matrix=directions[:, :kept],
        offset=mean,
        variances=values[:kept],
        total=float(np.trace(covariance)),
    )


def _resampled_moments(
    setup: LinkageSetup, rng: np.random.Generator
) -> list[tuple[FloatArray, FloatArray]]:
    """Moments of resampled rows: groups of rows are drawn, and their moments put together."""
    vectors = setup.projection.vectors
    sizes, sums, seconds = [], [], []
    for side in setup.fitted_on:
        groups = rng.integers(GROUPS, size=vectors.rows(side))
        written = vectors.dense(side) if len(groups) <= FEW_ROWS else None
        for rows in (np.flatnonzero(groups == group) for group in range(GROUPS)):
            sizes.append(float(len(rows)))
            total, second = _sums(vectors, side, rows, written)
            sums.append(total)
            seconds.append(second)
    size, sum_, second_ = np.array(sizes), np.stack(sums), np.stack(seconds)
    times_ = max(min(RESAMPLES, MOST_WORK // max(vectors.width, 1) ** 3), FEWEST)
    drawn = rng.multinomial(len(size), np.full(len(size), 1 / len(size)), size=times_)
    results = []
    for times in drawn.astype(float):
        rows_ = max(float(times @ size), 1.0)
        mean = times @ sum_ / rows_
        results.append((mean, np.tensordot(times, second_, 1) / rows_ - np.outer(mean, mean)))
    return results


def _sums(
    vectors: Vectors, side: int, rows: NDArray[np.integer], written: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Sum of the vectors of some rows, and of their products."""
    if written is not None:
        dense = written[rows]
        return dense.sum(axis=0), dense.T @ dense
    parts = tuple(attrs.evolve(p, sides=(p.sides[side][rows],)) for p in vectors.parts)
    mean, covariance = attrs.evolve(vectors, parts=parts).moments(0)
    return mean * len(rows), (covariance + np.outer(mean, mean)) * len(rows)


def ablation(
    setup: LinkageSetup, threshold: float, truth: IntArray | None, context: StageContext
) -> dict[str, Share]:
    """By how much the linkage rate of sampled records falls without each column.

    With ground truth it is the precision at 1 that falls: the rate itself may rise when a column
    that tells records apart is left out.
    """
    linear = setup.projection
    if not isinstance(linear, Linear) or len(linear.vectors.parts) < 2:
        return {}
    labels = setup.schemes[0].labels(0)
    records = _sample_records(
        labels if len(labels) else np.zeros(linear.vectors.rows(0), np.int64), context.rng
    )
    whole = _outcome(setup, linear, records, threshold, truth, context)
    spec = setup.configuration.projection_spec
    mean, covariance = spec.moments(linear.vectors, setup.fitted_on, context.rng)
    results = {}
    for name, span in zip(
        (p.name for p in linear.vectors.parts), linear.vectors.spans, strict=True
    ):
        kept = np.r_[: span.start, span.stop : len(mean)]
        projection = spec.from_moments(
            linear.vectors.without(name), mean[kept], covariance[np.ix_(kept, kept)], context.rng
        )
        less = _outcome(setup, projection, records, threshold, truth, context)
        drop = whole - less
        drawn = context.rng.integers(len(drop), size=(RESAMPLES, len(drop)))
        low, high = np.quantile(drop[drawn].mean(axis=1), [0.025, 0.975])
        results[name] = Share(float(drop.mean()), (float(low), float(high)))
    return results


def _sample_records(labels: NDArray[np.integer], rng: np.random.Generator) -> IntArray:
    """Records of whole blocks, drawn at random until there are enough, and no more than that."""
    blocks, number = np.unique(labels, return_inverse=True)
    sizes = np.bincount(number)
    order = rng.permutation(len(blocks))
    enough = int(np.searchsorted(np.cumsum(sizes[order]), SAMPLED)) + 1
    records = np.flatnonzero(np.isin(number, order[:enough]))
    if len(records) > SAMPLED:
        records = np.sort(rng.choice(records, SAMPLED, replace=False))
    return records


def _outcome(
    setup: LinkageSetup,
    projection: Linear,
    records: IntArray,
    threshold: float,
    truth: IntArray | None,
    context: StageContext,
) -> FloatArray:
    """Whether every sampled record is found, or linked where the truth is not known."""
    own_space = space(setup.configuration.similarity, projection, setup.columns)
    task = LinkageTask(own_space, setup.schemes, chosen=records)
    evidence = task.evidence(context, None if truth is None else truth[records])
    if truth is None:
        return (evidence.best >= threshold).astype(float)
    return np.nan_to_num(evidence.hit)


def findings(
    finding: FindingBuilder,
    by_loading: Mapping[str, Share],
    by_ablation: Mapping[str, Share],
    figure: str,
    quasi: Sequence[str],
) -> list[Finding]:
    """Say what every column contributes, and what those that are no quasi-identifiers do."""
    if not by_loading:
        return []
    rest = sum(share.value for name, share in by_loading.items() if name not in quasi)
    loadings = (
        "loadings say what the space is made of, not what an attacker would lose; see the ablation",
    )
    results = [
        finding("contribution_not_quasi", rest,
                "Share of the compared space that is not made of quasi-identifiers.", "neither",
                assumptions=loadings)
    ]  # fmt: skip
    results += [
        finding(f"contribution.{name}", share.value,
                f"Share of the compared space that is '{name}'.", "neither",
                interval=share.interval, assumptions=loadings)
        for name, share in by_loading.items()
    ]  # fmt: skip
    results += [
        finding(f"ablation.{name}", share.value,
                f"By how much the {figure} of sampled records falls without '{name}'.", "neither",
                interval=share.interval)
        for name, share in by_ablation.items()
    ]  # fmt: skip
    return results


def chart(
    by_loading: Mapping[str, Share], by_ablation: Mapping[str, Share], figure: str
) -> list[Chart]:
    """Bars of both attributions."""
    charts = []
    for name, title, shares, words in (
        ("contributions", "What the compared space is made of", by_loading, "share by loadings"),
        ("ablation", f"What leaving a column out costs the attacker in {figure}", by_ablation,
         "fall without the column"),
    ):  # fmt: skip
        if shares:
            order = sorted(shares, key=lambda column: -shares[column].value)
            charts.append(
                Chart(
                    name=name,
                    kind="bars",
                    title=title,
                    x="column",
                    y=words,
                    meaning="The higher a column stands, the more it matters to the attacker.",
                    data={
                        "labels": order,
                        words: [shares[column].value for column in order],
                    },
                )
            )
    return charts
