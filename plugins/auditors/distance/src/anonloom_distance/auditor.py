"""The auditor `distance`: how near published records lie to the persons of the original."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

import attrs
import numpy as np

from anonloom import (
    AuditInput,
    Chart,
    Finding,
    Findings,
    Release,
    Schema,
    StageContext,
    Table,
    param,
)
from anonloom.findings import (
    Better,
    FindingBuilder,
    NotAssessable,
    PrivateRows,
    Question,
    Status,
)
from anonloom.params import all_of, at_least, distinct, not_empty
from anonloom.typing import FloatArray
from anonloom_distance.calibration import calibrate
from anonloom_distance.figures import (
    BootstrapMean,
    bootstrap_means,
    distances,
    figure,
    nearer_share,
    quantile,
    ratios,
)
from anonloom_distance.measurement import ROLES, Measurement, measure
from anonloom_linkage.aligned_columns import shared_columns
from anonloom_risk import Answers, NearestRows, RiskAuditor, align_evidence, right_rows

Categories = Literal["one-hot", "frequency", "hierarchical"]

#: How many of the most exposed rows the steward is shown.
SHOWN = 1000
BARS = 40

PERSONS = "every row is a person of its own"
NO_CONTROL = "there is no control table: write 'holdout' under 'data'"
NO_SOURCE = "which row a published row came from is not known"
ONE_ROW = "the original has a single row"
NO_ROOM = "every original row has an equal one"
OTHERS = (
    "the null is that of other persons of the same population, published as they are; of rows that "
    "noise or generalization moved it is too high, and the excess too low"
)
HOLD_OUT = "a control table ('holdout' under 'data') gives the right one"

DIRECTIONS = (
    ("", "a published row", "original row"),
    ("_original", "an original row", "published row"),
)
EXCESS = "as a part of what is possible: 0 as by chance, 1 all"


@attrs.frozen(kw_only=True)
class Distance(RiskAuditor):
    """Measures how near published records lie to original ones."""

    question: ClassVar[Question] = "linkability"

    columns: tuple[str, ...] | None = param(
        help="Columns that distances are measured over; by default all published ones but texts.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )
    categories: Categories = param(
        help="Categories as an indicator per value, as the share of their value, or as indicators "
        "of their value and of the groups above it.",
        default="one-hot",
    )
    records: int | None = param(
        help="Rows of each table, drawn at random, whose nearest neighbours are looked for; always "
        "among all rows. By default all rows ask.",
        default=10_000,
        check=at_least(1),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say which of the columns cannot be compared because it is not published."""
        return schema.publication_problem(self.columns or ())

    def attack(self, case: AuditInput, targets: Table, context: StageContext) -> Sequence[Answers]:
        """Name the nearest row; surer, the farther other people of the population are."""
        return [
            self._nearest(
                "nearest",
                "An attacker names the nearest published row.",
                case,
                targets,
                context,
            ),
            self._nearest(
                "calibrated",
                "An attacker moves published numbers to where people of the population have them, "
                "whatever their unit, and names the nearest row.",
                calibrate(case),
                targets,
                context,
            ),
        ]

    def _nearest(
        self, name: str, meaning: str, case: AuditInput, targets: Table, context: StageContext
    ) -> Answers:
        aligned = align_evidence(case, targets, self._attacked_columns(case, targets))
        rows = NearestRows.of(aligned, context.workers)
        return Answers(
            name=name,
            right=right_rows(case, aligned, rows.row, context.rng, context.workers),
            score=rows.surprise,
            columns=tuple(column.name for column in aligned),
            meaning=meaning,
        )

    def _attacked_columns(self, case: AuditInput, targets: Table) -> tuple[str, ...] | None:
        """Those that were asked for, as far as every table shows them; None for all known ones."""
        if self.columns is None:
            return None
        assert case.original is not None
        others: list[Release | Table] = [case.release, targets]
        others += [case.control] if case.control is not None else []
        shown = shared_columns(case.original, others, ROLES)
        return tuple(name for name in self.columns if name in shown)

    def details(self, case: AuditInput, context: StageContext) -> Findings:
        """Measure distances in both directions, and beside those among the original's own rows."""
        try:
            measurement = measure(case, context, self.columns, self.categories, self.records)
        except NotAssessable as why:
            return Findings.of(_unknown(str(why)))
        figures = _Figures(measurement, context)
        return Findings.of(
            figures.distances(),
            figures.identifiability(),
            figures.closer_to_train(),
            figures.nearest_is_source(),
            _chart(measurement),
            _private_rows(measurement),
        )


MEANINGS: dict[str, tuple[Better, str]] = {
    "identifiability": (
        "lower",
        "Share of the original rows to which a published row is nearer than any other original "
        "row.",
    ),
    "identifiability_null": (
        "neither",
        "What identifiability would be had the release nothing to do with the persons of the "
        "original.",
    ),
    "identifiability_excess": ("lower", f"identifiability over its null, {EXCESS}."),
    "closer_to_train_share": (
        "lower",
        "Share of the published rows whose nearest row is of the original, not of the control "
        "table.",
    ),
    "closer_to_train_excess": (
        "lower",
        f"closer_to_train_share over the original's share of both tables' rows, {EXCESS}.",
    ),
    "nearest_is_source": (
        "lower",
        "Share of the published rows whose nearest original row is the one that they came from.",
    ),
    "copies": (
        "lower",
        "Share of the published rows that equal an original row in every column compared.",
    ),
    "copies_null": (
        "neither",
        "Share of the original rows that equal another original row in every column compared.",
    ),
}

SUMMARIES = (
    ("", "mean"),
    ("_median", "median"),
    ("_5", "5 % quantile"),
    ("_relative", "mean, as a multiple of that among the original's own rows"),
)


def _distance_names() -> Iterator[tuple[str, str]]:
    """Names and meanings of all figures of distances."""
    for what, words in (
        ("dcr", "distance of {} from the closest {}"),
        ("nndr", "distance of {} from the closest {} over that from the second closest"),
    ):
        for direction, asking, asked in DIRECTIONS:
            for summary, which in SUMMARIES:
                name = f"{what}{direction}{summary}"
                yield name, f"{words.format(asking, asked)}: {which}.".capitalize()
        null = words.format("an original row", "other original row")
        yield f"{what}_null", f"{null}: mean.".capitalize()


def _unknown(reason: str) -> list[Finding]:
    """Say of every figure that there is none."""
    results = [
        figure(name, None, meaning, _better(name), (), reason=reason)
        for name, meaning in _distance_names()
    ]
    return results + [
        figure(name, None, meaning, better, (), reason=reason)
        for name, (better, meaning) in MEANINGS.items()
    ]


def _better(name: str) -> Better:
    return "neither" if name.endswith("_null") else "higher"


class _Figures:
    """Turns what was measured into findings."""

    def __init__(self, measurement: Measurement, context: StageContext) -> None:
        self.measurement = measurement
        n, m, _ = measurement.rows
        #: Every figure of every row, by the rows that it is a mean over.
        self.published = {
            "dcr": distances(measurement.published),
            "nndr": ratios(measurement.published),
            "copies": (measurement.published.distance == 0).astype(float),
            "nearest_is_source": _sources(measurement),
        }
        if measurement.of_control is not None:
            share = nearer_share(measurement.published, measurement.of_control)
            self.published["closer_to_train_share"] = share
        self.original = {
            "dcr_original": distances(measurement.original),
            "nndr_original": ratios(measurement.original),
            "dcr_null": distances(measurement.others),
            "nndr_null": ratios(measurement.others),
            "copies_null": (measurement.others.distance == 0).astype(float),
            "identifiability": nearer_share(measurement.original, measurement.others),
        }
        self.means = {
            **bootstrap_means(self.published, context.rng),
            **bootstrap_means(self.original, context.rng),
        }
        if measurement.control is not None and measurement.control_original is not None:
            null = nearer_share(measurement.control, measurement.control_original)
            self.means |= bootstrap_means({"identifiability_null": null}, context.rng)
        else:
            self.means["identifiability_null"] = BootstrapMean.constant(m / (m + n - 1))

    def _finding(
        self, name: str, mean: BootstrapMean | None, *notes: str, **how: object
    ) -> Finding:
        better, meaning = MEANINGS[name]
        assumptions = (*notes, *self.measurement.space, PERSONS)
        return figure(name, mean, meaning, better, assumptions, **how)  # type: ignore[arg-type]  # keywords of figure

    def distances(self) -> list[Finding]:
        """DCR and NNDR in both directions, their nulls, and copies."""
        measurement, meanings = self.measurement, dict(_distance_names())
        results = []
        for what in ("dcr", "nndr"):
            name = f"{what}_null"
            null = self.means[name]
            results += self._summaries(what, self.published[what], null, meanings)
            both = f"{what}_original"
            results += self._summaries(both, self.original[both], null, meanings)
            results.append(
                figure(name, null, meanings[name], "neither", measurement.space, reason=ONE_ROW)
            )
        return results + [
            self._finding(name, self.means[name]) for name in ("copies", "copies_null")
        ]

    def _summaries(
        self, name: str, values: FloatArray, null: BootstrapMean | None, meanings: dict[str, str]
    ) -> list[Finding]:
        space = self.measurement.space
        reason = "there are fewer than two rows to be near to"
        finding = FindingBuilder(space)
        mean = self.means[name]
        relative = mean.relative_to(null) if mean is not None and null is not None else None
        why = reason if mean is None else ONE_ROW if null is None else NO_ROOM
        results = [
            figure(name, mean, meanings[name], "higher", space, reason=reason),
            figure(
                f"{name}_relative", relative, meanings[f"{name}_relative"], "higher", space,
                reason=why,
            ),
        ]  # fmt: skip
        for suffix, share in (("_median", 0.5), ("_5", 0.05)):
            value, interval = quantile(values, share) or (None, None)
            lacking = reason if value is None else ""
            title = f"{name}{suffix}"
            results.append(
                finding(title, value, meanings[title], "higher", interval=interval, lacking=lacking)
            )
        return results

    def identifiability(self) -> list[Finding]:
        """Return the share of persons to whom the release is nearer than anybody else."""
        measurement = self.measurement
        score, null = self.means["identifiability"], self.means["identifiability_null"]
        message = "ties by expectation"
        status: Status = "measured"
        if measurement.control is not None:
            source = "the null is the same share of the rows of the control table"
        else:
            # Noise and generalization take strangers farther away than the null knows.
            source = f"{OTHERS}; {HOLD_OUT}"
            status = "bound" if measurement.generalized else "measured"
        assert score is not None
        assert null is not None
        return [
            self._finding("identifiability", score, message),
            self._finding("identifiability_null", null, source, known=measurement.control is None),
            self._finding(
                "identifiability_excess", score.above(null), source, message, status=status,
                reason="there is nothing above the null",
            ),
        ]  # fmt: skip

    def closer_to_train(self) -> list[Finding]:
        """Return the share of the published rows that are nearer to the original than to others."""
        n, _, h = self.measurement.rows
        share = self.means.get("closer_to_train_share")
        excess = None
        assumptions: tuple[str, ...] = ()
        if share is not None:
            baseline = n / (n + h)
            excess = share.above(BootstrapMean.constant(baseline))
            assumptions = (
                f"by chance {baseline:.4g}: {n} of {n + h} rows are the original's",
                "the control table is of the same population",
                "ties by expectation",
            )
        return [
            self._finding("closer_to_train_share", share, *assumptions, reason=NO_CONTROL),
            self._finding("closer_to_train_excess", excess, *assumptions, reason=NO_CONTROL),
        ]

    def nearest_is_source(self) -> Finding:
        """Return the share of the published rows whose nearest original is their own."""
        result = self.means["nearest_is_source"]
        n = self.measurement.rows[0]
        message = (f"by chance {1 / n:.4g}, one of {n} rows", "ties by expectation")
        return self._finding("nearest_is_source", result, *message, reason=NO_SOURCE)


def _sources(measurement: Measurement) -> FloatArray:
    """Chance that each row's nearest is the row that it came from; NaN where that is not known."""
    if measurement.source is None:
        return np.full(len(measurement.published.distance), np.nan)
    known = ~np.isnan(measurement.source)
    # The source is one of the rows asked: if nothing is nearer, it is among the nearest.
    beaten = measurement.published.nearer(np.where(known, measurement.source, np.inf))
    return np.where(known, ~beaten / np.maximum(measurement.published.ties, 1), np.nan)


def _chart(measurement: Measurement) -> list[Chart]:
    """Distances to the closest row, beside those among the original's own rows."""
    series = {
        "published to original": measurement.published.distance,
        "original to published": measurement.original.distance,
        "original to other original": measurement.others.distance,
    }
    series = {name: values[np.isfinite(values)] for name, values in series.items()}
    far = max((float(np.quantile(v, 0.99)) for v in series.values() if len(v)), default=0.0)
    if far <= 0:
        return []
    edges = np.linspace(0, far, BARS + 1)
    middles = ((edges[:-1] + edges[1:]) / 2).tolist()
    data = {
        # What lies beyond the last edge is not drawn, but counts.
        name: {"x": middles, "y": (np.histogram(v, edges)[0] / len(v) / (far / BARS)).tolist()}
        for name, v in series.items()
        if len(v)
    }
    return [
        Chart(
            name="closest",
            kind="density",
            title="Distance to the closest record",
            x="distance",
            y="density",
            meaning="Published rows that lie nearer to original ones than those to each other "
            "follow single persons.",
            data=data,
        )
    ]


def _private_rows(measurement: Measurement) -> list[PrivateRows]:
    """Rows of the original to which the release is nearer than anybody else."""
    release, others = measurement.original, measurement.others
    nearer = np.flatnonzero(release.nearer(others.distance) & np.isfinite(others.distance))
    score = 1 - release.distance[nearer] / others.distance[nearer]
    order = np.argsort(-score, kind="stable")[:SHOWN]
    if not len(order):
        return []
    return [
        PrivateRows(
            name="nearest_to_release",
            rows=measurement.asking[nearer[order]],
            scores=score[order],
            meaning="Rows to which a published row is nearer than any other row; 1: a copy.",
        )
    ]
