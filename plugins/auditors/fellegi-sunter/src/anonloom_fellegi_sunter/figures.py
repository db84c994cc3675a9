"""From links to figures: rates beside their null, precision, and what the model learnt."""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import Chart, Finding, short_repr
from anonloom.findings import FindingBuilder, PrivateRows, Status
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_fellegi_sunter.linking import Linkage
from anonloom_linkage.bootstrap import BootstrapShares, block_bootstrap

#: With more records without any candidate, the blocks say more about the figures than the release.
MOST_WITHOUT = 0.05
#: How many of the most exposed rows the steward is shown.
SHOWN = 1000
#: Weights at which the curve is drawn.
POINTS = 60

NAMES = (
    "linkage_rate", "linkage_null", "linkage_excess",
    "linkage_rate_posterior", "linkage_null_posterior", "linkage_excess_posterior",
    "precision_at_1", "block_recall",
)  # fmt: skip
#: The figures that a steward needs first.
KEY = frozenset({"linkage_excess", "precision_at_1"})
RULES = {"": "a positive weight", "_posterior": "a posterior above 0.5"}

KNOWS = "the attacker knows the compared columns of every record of the original"
OTHERS = {
    "null": "columns agree independently of each other among matches; other pairs agree as "
    "different people of the original do",
    "independent": "columns agree independently of each other among matches, and among other pairs",
}
NULL = (
    "the null links every record to other people of the original, at most as many as there are "
    "published rows, with the same weights"
)
COARSE = (
    "published cells cover several values, and agree by chance more often than the null's single "
    "values: an upper bound"
)
MORE_ROWS = "the release has more rows than the null has candidates: an upper bound"


@attrs.frozen(eq=False)
class Truth:
    """What is known of the true pairs.

    Attributes
    ----------
    pairs, met
        Of every record, the rows of the release that are its own, and how many of these it shares
        a block with.
    """

    pairs: IntArray = attrs.field(repr=False)
    met: IntArray = attrs.field(repr=False)

    @classmethod
    def of(cls, truth: IntArray, together: BoolArray, records: int) -> "Truth":
        """Count the pairs of every record.

        Parameters
        ----------
        truth
            For every row its record; -1 for none.
        together
            For every row that has one, whether both share a block.
        """
        own = truth[truth >= 0]
        return cls(
            np.bincount(own, minlength=records), np.bincount(own[together], minlength=records)
        )


def share_without(candidates: IntArray) -> float:
    """Share of the records without any candidate."""
    return float((candidates == 0).mean())


def coverage_flaws(share: float) -> tuple[str, ...]:
    """Say that too many records have no candidate; nothing if they have."""
    if share <= MOST_WITHOUT:
        return ()
    return (f"{share:.1%} of the records have no candidate: what is not compared is not safe",)


def coverage(attacked: Sequence[str], candidates: IntArray, comparisons: int) -> list[Finding]:
    """Say how much was compared."""
    finding = FindingBuilder(tuple(attacked))
    return [
        finding("without_candidates", share_without(candidates),
                "Share of the records that share a block with no published row.", "neither"),
        finding("candidates", float(candidates.mean()),
                "Published rows that an average record is compared with.", "neither"),
        finding("comparisons", comparisons,
                "Pairs of a record and a published row that were compared.", "neither",
                unit="pairs"),
    ]  # fmt: skip


def nothing_compared(reason: str, attacked: Sequence[str]) -> list[Finding]:
    """Return all figures without a value."""
    finding = FindingBuilder(tuple(attacked), unfit=reason)
    return [
        finding(
            name,
            None,
            "Not a single pair could be compared.",
            "neither" if name == "block_recall" or "null" in name else "lower",
            key=name in KEY,
        )
        for name in NAMES
    ]


@short_repr
@attrs.frozen(eq=False)
class Figures:
    """Makes the findings of one linkage.

    Attributes
    ----------
    truth
        None when nobody knows it.
    attacked
        What was compared and how, for the assumptions.
    bounds
        Why the excess is a bound; empty if it is none.
    """

    linkage: Linkage
    truth: Truth | None
    attacked: tuple[str, ...]
    bounds: tuple[str, ...]
    rng: np.random.Generator = attrs.field(repr=False)

    def findings(self) -> list[Finding]:
        """Return the figures, each with its interval."""
        columns, counted = self._columns()
        resampled = block_bootstrap(
            self.linkage.block,
            np.stack(list(columns.values()), axis=1),
            self.rng,
            counted=np.stack([counted[name] for name in columns], axis=1),
        )
        intervals = dict(zip(columns, resampled.interval(), strict=True))
        values = {
            name: float(column.sum() / max(counted[name].sum(), 1.0))
            for name, column in columns.items()
        }
        results = []
        for suffix, rule in RULES.items():
            results += self._rates(suffix, rule, values, intervals, resampled)
        return [*results, *self._of_truth(values, intervals, resampled)]

    def _columns(self) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
        """How much every record counts for every figure, and out of how much."""
        linkage, ones = self.linkage, np.ones(len(self.linkage.candidates))
        columns: dict[str, FloatArray] = {}
        for suffix, limit in (("", 0.0), ("_posterior", -linkage.model.odds)):
            linked, null = (
                (links.weight > limit).astype(float) for links in (linkage.release, linkage.null)
            )
            columns[f"linkage_rate{suffix}"] = linked
            columns[f"linkage_null{suffix}"] = null
            columns[f"linkage_excess{suffix}"] = linked - null
        counted = dict.fromkeys(columns, ones)
        if self.truth is not None:
            columns["precision_at_1"] = linkage.release.chance
            counted["precision_at_1"] = (self.truth.pairs > 0).astype(float)
            columns["block_recall"] = self.truth.met.astype(float)
            counted["block_recall"] = self.truth.pairs.astype(float)
        return columns, counted

    @property
    def _coverage_flaws(self) -> tuple[str, ...]:
        return coverage_flaws(share_without(self.linkage.candidates))

    @property
    def _degenerate(self) -> tuple[str, ...]:
        flaws = self.linkage.model.flaws
        return (f"the model is degenerate: {flaws[0]}",) if flaws else ()

    def _rates(
        self,
        suffix: str,
        rule: str,
        values: dict[str, float],
        intervals: dict[str, tuple[float, float]],
        resampled: BootstrapShares,
    ) -> list[Finding]:
        troubles = (*self._coverage_flaws, *self._degenerate)
        status: Status = "not assessable" if troubles else "measured"
        others = OTHERS[self.linkage.model.others]
        general = (*troubles, KNOWS, others, *self.attacked, _interval_of(resampled))
        excess = "bound" if self.bounds and not troubles else status
        meanings = {
            "rate": f"Share of the records for which some published row has {rule}, right or not.",
            "null": f"Share of the records for which somebody else of the original has {rule}: "
            "what chance alone links.",
            "excess": f"How many more records find a published row with {rule} than find somebody "
            "else.",
        }
        return [
            Finding(
                name=(name := f"linkage_{figure}{suffix}"),
                value=values[name],
                interval=intervals[name],
                better="neither" if figure == "null" else "lower",
                status=excess if figure == "excess" else status,
                meaning=meaning,
                assumptions=(
                    *general,
                    *(() if figure == "rate" else (NULL,)),
                    *(self.bounds if figure == "excess" else ()),
                ),
                key=name in KEY,
            )
            for figure, meaning in meanings.items()
        ]

    def _of_truth(
        self,
        values: dict[str, float],
        intervals: dict[str, tuple[float, float]],
        resampled: BootstrapShares,
    ) -> list[Finding]:
        results = []
        for name, meaning in (
            ("precision_at_1", "Chance that the best candidate of a record is its own row."),
            ("block_recall", "Share of the published rows that share a block with their record."),
        ):
            status, reasons = self._status_of_truth(name == "precision_at_1")
            known = self.truth is not None and bool(self.truth.pairs.any())
            results.append(
                Finding(
                    name=name,
                    value=values[name] if known else None,
                    interval=intervals[name] if known else None,
                    better="lower" if name == "precision_at_1" else "neither",
                    status=status,
                    meaning=meaning,
                    assumptions=(*reasons, *self.attacked, _interval_of(resampled)),
                    key=name in KEY,
                )
            )
        return results

    def _status_of_truth(self, linking: bool) -> tuple[Status, tuple[str, ...]]:
        if self.truth is None:
            return "not assessable", ("nobody knows which row belongs to which record",)
        if not self.truth.pairs.any():
            return "none detected", ("no row of the release belongs to a record",)
        if not linking:
            return "measured", ("true pairs are known",)
        if self._coverage_flaws:
            return "not assessable", self._coverage_flaws
        known = ("true pairs are known", "ties are broken at random", KNOWS)
        if self._degenerate:
            better = "with a better model, more could be found"
            return "bound", (*self._degenerate, better, *known)
        return "measured", known

    def private_rows(self) -> list[PrivateRows]:
        """Rows of the original whose own row is more likely found than not."""
        if self.truth is None:
            return []
        chance, weight = self.linkage.release.chance, self.linkage.release.weight
        over = np.flatnonzero(chance > 0.5)
        over = over[np.lexsort((-weight[over], -chance[over]))][:SHOWN]
        if not len(over):
            return []
        return [
            PrivateRows(
                name="most_exposed",
                rows=over,
                scores=chance[over],
                meaning="Rows whose own published row is more likely found than not.",
            )
        ]

    def charts(self) -> list[Chart]:
        """What the model learnt of every column, and how many records link at which weight."""
        model, linkage = self.linkage.model, self.linkage
        used = model.used.tolist()
        labels = [linkage.attributes[index].column.name for index in used]
        estimate = model.estimate
        curve = Chart(
            name="linkage_curve",
            kind="line",
            title="How many records link",
            x="least weight, in bits",
            y="share of the records",
            meaning="Where the release lies above the null, records are linked by more than "
            "chance.",
            data=_curve({"release": linkage.release.weight, "null": linkage.null.weight}),
        )
        if not used:
            return [curve]
        return [
            Chart(
                name="agreement",
                kind="bars",
                title="How often columns agree",
                x="column",
                y="share of the pairs",
                meaning="The further apart the two, the more a column tells who is who.",
                data={
                    "labels": labels,
                    "matching pairs (m)": estimate.m[used].tolist(),
                    "other pairs (u)": estimate.u[used].tolist(),
                },
            ),
            Chart(
                name="weights",
                kind="bars",
                title="What a column weighs",
                x="column",
                y="weight, in bits",
                meaning="What a column adds to a pair's weight when it agrees, and when it does "
                "not; columns that weigh most do most to find people.",
                data={
                    "labels": labels,
                    "agrees": estimate.agreement[used].tolist(),
                    "disagrees": estimate.disagreement[used].tolist(),
                },
            ),
            curve,
        ]


def _interval_of(resampled: BootstrapShares) -> str:
    return f"95 % intervals by resampling {resampled.unit}"


def _curve(series: dict[str, FloatArray]) -> dict[str, dict[str, list[float]]]:
    every = np.concatenate(list(series.values()))
    finite = every[np.isfinite(every)]
    if not len(finite):
        return {name: {"x": [], "y": []} for name in series}
    x = np.linspace(min(finite.min(), 0.0), finite.max(), POINTS)
    curves = {}
    for name, weights in series.items():
        reached = len(weights) - np.searchsorted(np.sort(weights), x, side="left")
        curves[name] = {"x": x.tolist(), "y": (reached / len(weights)).tolist()}
    return curves
