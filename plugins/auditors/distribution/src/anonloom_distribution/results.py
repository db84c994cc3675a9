"""What was computed, in words: findings with what they mean and assume."""

import attrs
import numpy as np

from anonloom import Chart, Finding, short_repr
from anonloom.findings import Better, FindingBuilder
from anonloom.typing import FloatArray
from anonloom_distribution import charts
from anonloom_distribution.association import Associations, Change, Correlation
from anonloom_distribution.figures import Figure, OfSample
from anonloom_distribution.marginals import Marginal
from anonloom_distribution.noise import Noise, Samples
from anonloom_distribution.tables import BEFORE, RELEASE, Tables
from anonloom_linkage.marginals import Reading

MEANINGS = {
    "jsd_mean": "Mean over the columns of the distance between their distributions in the original "
    "and in the release: 0 for the same, 1 for nothing in common.",
    "jsd_max": "The distance of the column whose distribution has changed most.",
    "jsd_null": "What jsd_mean is for random samples of the original: noise that no release of "
    "this size avoids.",
    "association_change": "Mean over all pairs of columns of the change of their association "
    "between the original and the release: 0 where all are as they were.",
    "association_change_max": "The change of the association that has changed most.",
    "association_null": "What association_change is for random samples of the original.",
    "association_null_max": "What association_change_max is for random samples of the original.",
    "group_deviation_mean": "Mean over the figures of groups of how far they are from the "
    "original's, as a share of those.",
    "group_deviation_max": "The deviation of the figure that has changed most.",
    "group_null": "What group_deviation_mean is for random samples of the original.",
}

#: The figures that a steward needs first.
KEY = frozenset({"group_deviation_mean", "jsd_mean"})


def not_assessable(name: str, reason: str, meaning: str = "") -> Finding:
    """Say why a figure has no value."""
    better: Better = "neither" if "null" in name else "lower"
    finding = FindingBuilder(unfit=reason)
    return finding(name, None, meaning or MEANINGS[name], better, key=name in KEY)


@short_repr
@attrs.frozen(eq=False)
class Result:
    """Puts what was computed into words."""

    reading: Reading
    scaled: bool
    bins: int
    correlation: Correlation
    tables: Tables
    samples: Samples
    least: int

    def _read(self) -> str:
        if self.reading == "midpoint":
            return (
                "a generalized number counts in the middle of what it covers, a generalized "
                "category in equal parts for its values, and '*' for nothing"
            )
        return "a generalized cell counts in equal parts for all that it covers"

    def _table_finding(self, name: str, value: float, *notes: str, meaning: str = "") -> Finding:
        finding = FindingBuilder(notes)
        return finding(name, value, meaning or MEANINGS[name], key=name in KEY)

    def _null(self, name: str, noise: Noise) -> Finding:
        finding = FindingBuilder(
            (self.samples.words, "the interval has the least and the most of them")
        )
        ends = (noise.least, noise.most)
        return finding(name, noise.mean, MEANINGS[name], "neither", interval=ends)

    # --- columns -----------------------------------------------------------------------------

    def marginals(
        self, columns: list[Marginal], samples: list[list[float]]
    ) -> list[Finding | Chart]:
        """Distances of single columns."""
        if not columns:
            reason = "the original and the release share no column"
            return [not_assessable(name, reason) for name in ("jsd_mean", "jsd_max", "jsd_null")]
        noises = [Noise.of(values) for values in zip(*samples, strict=True)]
        distances = [column.distance() for column in columns]
        worst = int(np.argmax(distances))
        binned = f"numbers in up to {self.bins} bins, at quantiles of the original"
        results: list[Finding | Chart] = [
            self._table_finding(
                "jsd_mean", float(np.mean(distances)), binned, self._read(), *self.tables.notes
            ),
            self._table_finding("jsd_max", distances[worst], f"of '{columns[worst].name}'"),
            self._null("jsd_null", Noise.of([float(np.mean(values)) for values in samples])),
        ]
        for column, value, noise in zip(columns, distances, noises, strict=True):
            meaning = (
                f"Jensen-Shannon distance (square root, base 2) of the distributions of "
                f"'{column.name}' in the original and in the release."
            )
            message = f"random samples of the same size: {noise}"
            finding = self._table_finding(f"jsd.{column.name}", value, message, meaning=meaning)
            results.append(attrs.evolve(finding, columns=(column.name,)))
        named = [
            (column.name, value, noise)
            for column, value, noise in zip(columns, distances, noises, strict=True)
        ]
        sampled = len(self.tables.sizes) > BEFORE
        rows = [
            (column.name, value, column.distance(BEFORE) if sampled else None, noise)
            for column, (_, value, noise) in zip(columns, named, strict=True)
        ]
        table = charts.comparison_table(
            "jsd_table", "Distances of the columns, and noise", "column", rows
        )
        return [*results, charts.distance_chart(named), table]

    # --- pairs of columns --------------------------------------------------------------------

    def associations(
        self, pairs: Associations, own: FloatArray, samples: list[FloatArray]
    ) -> list[Finding | Chart]:
        """Changes of associations."""
        names = [name for name in MEANINGS if name.startswith("association")]
        if len(pairs.names) < 2:
            reason = "the original and the release share fewer than two columns"
            return [not_assessable(name, reason) for name in names]
        after = pairs.matrix([column.sides[RELEASE] for column in self.tables.columns.values()])
        change = Change.between(own, after)
        first, second = change.pair
        noises = [Change.between(own, sample) for sample in samples]
        kinds = (
            f"numbers: {self.correlation.capitalize()}'s correlation; categories: Cramér's V with "
            "bias correction; a number and a category: correlation ratio"
        )
        text = "rows that do not tell both columns are left out of the pair"
        return [
            self._table_finding(
                "association_change",
                change.mean,
                kinds,
                text,
                "a generalized number counts as its middle, a generalized category in equal parts "
                "for its values",
                *self.tables.notes,
            ),
            self._table_finding(
                "association_change_max",
                change.most,
                f"of '{pairs.names[first]}' and '{pairs.names[second]}': {own[first, second]:.4g} "
                f"in the original, {after[first, second]:.4g} in the release",
            ),
            self._null("association_null", Noise.of([noise.mean for noise in noises])),
            self._null("association_null_max", Noise.of([noise.most for noise in noises])),
            charts.change_map(pairs, own, after),
        ]

    # --- groups ------------------------------------------------------------------------------

    def groups(
        self, figures: list[Figure], samples: list[list[OfSample]], left_out: int
    ) -> list[Finding | Chart]:
        """Deviations of figures of groups."""
        names = [name for name in MEANINGS if name.startswith("group")]
        results: list[Finding | Chart] = []
        group_charts: list[Chart] = []
        rows: list[tuple[str, float, float | None, Noise]] = []
        for index, figure in enumerate(figures):
            of_samples = [sample[index] for sample in samples]
            noise = Noise.of([figure.deviation_of(sample) for sample in of_samples])
            deviation = figure.deviation()
            results.append(self._figure(figure, deviation, noise))
            chart = charts.figure_chart(figure, of_samples, self.scaled)
            group_charts += [] if chart is None else [chart]
            before = figure.deviation(BEFORE) if len(self.tables.sizes) > BEFORE else None
            if deviation is not None:
                rows.append((figure.group.title, deviation, before, noise))
        if not rows:
            reason = "no figure of groups can be compared"
            return [*(not_assessable(name, reason) for name in names), *results]
        deviations = [value for _, value, *_ in rows]
        worst = int(np.argmax(deviations))
        assessed = [index for index, figure in enumerate(figures) if figure.deviation() is not None]
        noises = [
            float(np.mean([figures[index].deviation_of(sample[index]) for index in assessed]))
            for sample in samples
        ]
        messages = [f"{len(rows)} figures", *self._counting_rule()]
        if left_out:
            messages.append(f"{left_out} more are not compared")
        return [
            self._table_finding("group_deviation_mean", float(np.mean(deviations)), *messages),
            self._table_finding("group_deviation_max", deviations[worst], f"of '{rows[worst][0]}'"),
            self._null("group_null", Noise.of(noises)),
            *results,
            charts.comparison_table(
                "group_table", "Deviations of groups, and noise", "figure", rows
            ),
            *group_charts,
        ]

    def _counting_rule(self) -> tuple[str, ...]:
        if not self.scaled:
            return (self._read(), "rows are counted as they are")
        return (
            self._read(),
            "rows of the release count for as many as they stand for: the reader knows what share "
            "of each class was kept",
        )

    def _figure(self, figure: Figure, deviation: float | None, noise: Noise) -> Finding:
        name = f"group_deviation.{figure.group.title}"
        measure = charts.what(figure)
        meaning = (
            f"Differences of the {measure} by {figure.group.by} between original and release, "
            "added "
            "up over the groups, as a share of the original's."
        )
        hidden = int((~figure.shown).sum())
        withheld = (
            f"{hidden} of {len(figure.shown)} groups have fewer than {self.least} rows of the "
            "original and are left out"
        )
        if deviation is None:
            reason = withheld if hidden else "it is 0 in every group of the original"
            return not_assessable(name, reason, meaning)
        worst = figure.worst()
        assert worst is not None
        notes = [
            f"furthest off in the group '{figure.division.labels[worst]}'",
            f"random samples of the same size: {noise}",
        ]
        if len(self.tables.sizes) > BEFORE:
            notes.append(f"before sampling: {figure.deviation(BEFORE) or 0.0:.4g}")
        if hidden:
            notes.append(withheld)
        if figure.outside[RELEASE] > 1e-9:
            notes.append(f"{figure.outside[RELEASE]:.2%} of the release's rows are in no group")
        return self._table_finding(name, deviation, *notes, meaning=meaning)
