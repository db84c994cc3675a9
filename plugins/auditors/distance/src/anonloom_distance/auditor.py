"""The auditor `distance`: how near published records lie to the persons of the original."""

from collections.abc import Iterator
from typing import ClassVar, Literal

import attrs
import numpy as np

from anonloom.data.case import Case, Need
from anonloom.data.findings import Better, Chart, Finding, Findings, PrivateRows
from anonloom.data.schema import Schema
from anonloom.kinds.auditor import Auditor
from anonloom.kinds.context import Run
from anonloom.params import all_of, at_least, distinct, not_empty, param
from anonloom_distance.figures import Floats, Sampled, figure, nearer_share, quantile, ratios
from anonloom_distance.measured import Measured, NotAssessable, measure
from anonloom_distance.search import Nearest

Categories = Literal["one-hot", "frequency", "hierarchical"]

#: How many of the most exposed rows the steward is shown.
SHOWN = 1000
BARS = 40

PERSONS = "every row is a person of its own"
NO_CONTROL = "there is no control table: write 'holdout' under 'data'"
NO_SOURCE = "which row a published row came from is not known"
ONE_ROW = "the original has a single row"
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
class Distance(Auditor):
    """Measures how near published records lie to original ones."""

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "risk"
    needs: ClassVar[frozenset[Need]] = frozenset({"original"})

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
        default=20_000,
        check=at_least(1),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say which of the columns cannot be compared because it is not published."""
        return schema.unpublished(self.columns or ())

    def audit(self, case: Case, run: Run) -> Findings:
        """Measure distances in both directions, and beside those among the original's own rows."""
        try:
            measured = measure(case, run, self.columns, self.categories, self.records)
        except NotAssessable as why:
            return Findings.of(_unknown(str(why)))
        figures = _Figures(measured, run)
        return Findings.of(
            figures.distances(),
            figures.identifiability(),
            figures.closer_to_train(),
            figures.nearest_is_source(),
            _chart(measured),
            _exposed(measured),
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
    found = [
        figure(name, None, meaning, _better(name), (), reason=reason)
        for name, meaning in _distance_names()
    ]
    return found + [
        figure(name, None, meaning, better, (), reason=reason)
        for name, (better, meaning) in MEANINGS.items()
    ]


def _better(name: str) -> Better:
    return "neither" if name.endswith("_null") else "higher"


@attrs.frozen(eq=False)
class _Figures:
    """Turns what was measured into findings."""

    measured: Measured
    run: Run

    def _mean(self, values: Floats) -> Sampled | None:
        return Sampled.of(values, self.run.rng)

    def _say(self, name: str, sampled: Sampled | None, *said: str, **how: object) -> Finding:
        better, meaning = MEANINGS[name]
        assumptions = (*said, *self.measured.space, PERSONS)
        return figure(name, sampled, meaning, better, assumptions, **how)  # type: ignore[arg-type]  # keywords of figure

    def distances(self) -> list[Finding]:
        """DCR and NNDR in both directions, their nulls, and copies."""
        measured, meanings = self.measured, dict(_distance_names())
        found = []
        for what in ("dcr", "nndr"):
            null = self._mean(_values(what, measured.others))
            for (suffix, *_), side in zip(
                DIRECTIONS, (measured.published, measured.original), strict=True
            ):
                found += self._summaries(f"{what}{suffix}", _values(what, side), null, meanings)
            name = f"{what}_null"
            found.append(
                figure(name, null, meanings[name], "neither", measured.space, reason=ONE_ROW)
            )
        for name, side in (("copies", measured.published), ("copies_null", measured.others)):
            found.append(self._say(name, self._mean((side.distance == 0).astype(float))))
        return found

    def _summaries(
        self, name: str, values: Floats, null: Sampled | None, meanings: dict[str, str]
    ) -> list[Finding]:
        space = self.measured.space
        reason = "there are fewer than two rows to be near to"
        mean = self._mean(values)
        relative = mean.relative_to(null) if mean is not None and null is not None else None
        why = reason if mean is None else ONE_ROW
        if null is not None and mean is not None:
            why = "every original row has an equal one"
        found = [
            figure(name, mean, meanings[name], "higher", space, reason=reason),
            figure(
                f"{name}_relative", relative, meanings[f"{name}_relative"], "higher", space,
                reason=why,
            ),
        ]  # fmt: skip
        for suffix, share in (("_median", 0.5), ("_5", 0.05)):
            value, interval = quantile(values, share) if len(values) else (None, None)
            found.append(
                Finding(
                    name=f"{name}{suffix}",
                    value=value,
                    interval=interval,
                    better="higher",
                    status="measured" if value is not None else "not assessable",
                    meaning=meanings[f"{name}{suffix}"],
                    assumptions=space if value is not None else (reason, *space),
                )
            )
        return found

    def identifiability(self) -> list[Finding]:
        """Return the share of persons to whom the release is nearer than anybody else."""
        measured = self.measured
        n, m, _ = measured.rows
        score = self._mean(nearer_share(measured.original, measured.others))
        generalized = any("generalized" in words for words in measured.space)
        said = "ties by expectation"
        status: Literal["measured", "bound"] = "measured"
        if measured.control is not None and measured.control_original is not None:
            null = self._mean(nearer_share(measured.control, measured.control_original))
            source = "the null is the same share of the rows of the control table"
        else:
            null = Sampled.fixed(m / (m + n - 1))
            # Noise and generalization take strangers farther away than the null knows.
            source = f"{OTHERS}; {HOLD_OUT}"
            status = "bound" if generalized else "measured"
        assert score is not None
        assert null is not None
        return [
            self._say("identifiability", score, said),
            self._say("identifiability_null", null, source, known=measured.control is None),
            self._say(
                "identifiability_excess", score.above(null), source, said, status=status,
                reason="there is nothing above the null",
            ),
        ]  # fmt: skip

    def closer_to_train(self) -> list[Finding]:
        """Return the share of the published rows that are nearer to the original than to others."""
        measured = self.measured
        n, _, h = measured.rows
        share = excess = None
        said: tuple[str, ...] = ()
        if measured.of_control is not None:
            baseline = n / (n + h)
            share = self._mean(nearer_share(measured.published, measured.of_control))
            excess = share.above(Sampled.fixed(baseline)) if share is not None else None
            said = (
                f"by chance {baseline:.4g}: {n} of {n + h} rows are the original's",
                "the control table is of the same population",
                "ties by expectation",
            )
        return [
            self._say("closer_to_train_share", share, *said, reason=NO_CONTROL),
            self._say("closer_to_train_excess", excess, *said, reason=NO_CONTROL),
        ]

    def nearest_is_source(self) -> Finding:
        """Return the share of the published rows whose nearest original is their own."""
        measured = self.measured
        found = None
        said: tuple[str, ...] = ()
        if measured.source is not None:
            known = ~np.isnan(measured.source)
            # The source is one of the rows asked: nothing is nearer, or it is among the nearest.
            beaten = measured.published.nearer(np.where(known, measured.source, np.inf))
            hits = ~beaten[known] / measured.published.ties[known]
            found = self._mean(hits)
            n = measured.rows[0]
            said = (f"by chance {1 / n:.4g}, one of {n} rows", "ties by expectation")
        return self._say("nearest_is_source", found, *said, reason=NO_SOURCE)


def _values(what: str, found: Nearest) -> Floats:
    if what == "nndr":
        return ratios(found)
    return found.distance[np.isfinite(found.distance)]


def _chart(measured: Measured) -> list[Chart]:
    """Distances to the closest row, beside those among the original's own rows."""
    series = {
        "published to original": measured.published.distance,
        "original to published": measured.original.distance,
        "original to other original": measured.others.distance,
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


def _exposed(measured: Measured) -> list[PrivateRows]:
    """Rows of the original to which the release is nearer than anybody else."""
    release, others = measured.original, measured.others
    nearer = np.flatnonzero(release.nearer(others.distance) & np.isfinite(others.distance))
    score = 1 - release.distance[nearer] / others.distance[nearer]
    order = np.argsort(-score, kind="stable")[:SHOWN]
    if not len(order):
        return []
    return [
        PrivateRows(
            name="nearest_to_release",
            rows=measured.asking[nearer[order]],
            scores=score[order],
            meaning="Rows to which a published row is nearer than any other row; 1: a copy.",
        )
    ]
