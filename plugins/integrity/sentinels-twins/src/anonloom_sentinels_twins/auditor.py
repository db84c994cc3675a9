"""Auditor outsourcing: what hidden controls would notice if others classified the rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import attrs
import numpy as np

from anonloom import AuditInput, Auditor, Findings, Schema, StageContext, Table, param
from anonloom.data import Need
from anonloom.lazy import pd
from anonloom.params import all_of, at_least, between, distinct, not_empty

if TYPE_CHECKING:
    from anonloom_sentinels_twins.comparison import Plan
    from anonloom_sentinels_twins.figures import Figure

Which = Literal["classes", "replicas", "extremes", "crossing", "campaign", "collusion", "proxies"]
ALL: tuple[Which, ...] = (
    "campaign", "classes", "replicas", "extremes", "crossing", "collusion", "proxies",
)  # fmt: skip
#: Genuine rows of a campaign that is not about the table: 50 extra jobs are 5 percent of them.
JOBS = 1000
# Of so many judged campaigns one is played on the table's rows, which takes much longer.
_PLAYED = 10


@attrs.frozen
class _ZipfRule:
    """The two numbers of Zipf's law."""

    words: str = " with 'classes' (a whole number from 2 to 1000) and 'alpha' (from 0 to 10)"

    def __call__(self, value: object) -> bool:
        if not isinstance(value, Mapping):
            return True
        if set(value) != {"classes", "alpha"} or not 0 <= value["alpha"] <= 10:
            return False
        classes = float(value["classes"])
        return 2 <= classes <= 1000 and classes.is_integer()

    def schema(self) -> dict[str, object]:
        """Return the rule as JSON schema."""
        return {
            "required": ["alpha", "classes"],
            "properties": {
                "classes": {"minimum": 2, "maximum": 1000, "multipleOf": 1},
                "alpha": {"minimum": 0, "maximum": 10},
            },
        }


@attrs.frozen(kw_only=True)
class Outsourcing(Auditor):
    """Plays campaigns in which untrusted workers find the label of every row.

    Every probability is given twice: by the formula that sizes controls, and as the share of
    simulated campaigns. Nothing here is about the release.
    """

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "cost"
    needs: ClassVar[frozenset[Need]] = frozenset({"original"})
    #: With the defaults a check of all promises would take many minutes.
    example: ClassVar[Mapping[str, object]] = {
        "workers": 3, "lazy": 1, "budget": 12, "campaigns": 20, "judged": 4,
    }  # fmt: skip

    label: str | None = param(
        help="The column that workers are to find; by default the one with the role `label`.",
        default=None,
    )
    zipf: Mapping[str, float] | None = param(
        help="Classes by Zipf's law instead of those of the label, such as {classes: 4, alpha: 1}: "
        "the share of the class of rank r is in proportion to r to the power -alpha. Proxy workers "
        "get the rows of the table all the same.",
        default=None,
        check=_ZipfRule(),
    )
    workers: int = param(help="Number of workers.", default=10, check=between(2, 100))
    lazy: int = param(help="How many of them omit work.", default=4, check=at_least(1))
    omission: float = param(
        help="The share of its jobs that a lazy worker omits.",
        default=0.2,
        check=between(0, 1, least_open=True),
    )
    budget: int = param(
        help="Extra jobs that may be paid for.", default=50, check=between(1, 100_000)
    )
    campaigns: int = param(
        help="Simulated campaigns for every point of a figure.", default=2000, check=at_least(1)
    )
    judged: int = param(
        help="Campaigns whose workers are judged; a tenth as many are played on rows of the table.",
        default=100,
        check=at_least(1),
    )
    figures: tuple[Which, ...] = param(
        help="Which experiments: the declared `campaign`; figure 8 (`classes`), 9a (`replicas`), "
        "9b (`extremes`) and 9c (`crossing`) of the paper; `collusion`; `proxies`. By default all.",
        default=ALL,
        check=all_of(not_empty(), distinct()),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse more lazy workers than workers."""
        if self.lazy > self.workers:
            raise ValueError(f"{self.lazy} of {self.workers} workers cannot be lazy")

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with the label, or None."""
        labels = schema.names_with_role("label")
        if self.label is not None:
            return schema.publication_problem((self.label,))
        if len(labels) > 1:
            listed = ", ".join(f"'{name}'" for name in labels)
            return f"the role 'label' has {listed}: name the one that workers are to find"
        if not labels and self.zipf is None:
            return "no column has the role 'label': name one with 'label', or give 'zipf'"
        return None

    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Compute and simulate the figures that were asked for."""
        # Imported here: a pipeline that is only checked need not wait for them.
        from anonloom_sentinels_twins.finding_texts import unknown

        assert case.original is not None
        result = self._labels(case.original)
        abstract = self._shares(result)
        if isinstance(abstract, str):
            return Findings.of(unknown(["", *self.figures], abstract))
        # Every experiment has its own random numbers: leaving one out changes no other.
        streams = dict(zip(ALL, context.rng.spawn(len(ALL)), strict=True))
        made = []
        for index, which in enumerate(which for which in ALL if which in self.figures):
            context.progress(index, len(self.figures))
            context.note(which)
            made.append(self._figure(which, abstract, result, case.original, streams[which]))
        context.progress(len(self.figures), len(self.figures))
        return Findings.of(*(figure.items for figure in made), _agreement(made))

    def _labels(self, table: Table) -> "pd.Series | None":
        """Return the label of every row, if the table has one label."""
        if self.problem(table.schema) is not None:
            return None
        name = self.label or next(iter(table.schema.names_with_role("label")), None)
        return None if name is None else table.column(name)

    def _shares(self, labels: "pd.Series | None") -> tuple[float, ...] | str:
        """Return the shares of the classes, the largest first, or why there are none."""
        if self.zipf is not None:
            powers = np.arange(1, int(self.zipf["classes"]) + 1) ** -self.zipf["alpha"]
            return tuple((powers / powers.sum()).tolist())
        if labels is None:
            return "there is no label"
        shares = labels.value_counts(normalize=True)
        if len(shares[shares > 0]) < 2:
            return "the label has one class only, and every guess is right"
        return tuple(shares[shares > 0].tolist())

    def _plan(self, shares: tuple[float, ...]) -> "Plan":
        from anonloom_sentinels_twins.comparison import Plan

        return Plan(
            classes=shares,
            workers=self.workers,
            lazy=self.lazy,
            omission=self.omission,
            budget=self.budget,
            jobs=max(JOBS, self.budget),
            runs=self.campaigns,
        )

    def _figure(
        self,
        which: Which,
        shares: tuple[float, ...],
        labels: "pd.Series | None",
        table: Table,
        rng: np.random.Generator,
    ) -> "Figure":
        from anonloom_sentinels_twins import figures
        from anonloom_sentinels_twins.accusations import declared_campaign, majority
        from anonloom_sentinels_twins.finding_texts import TOO_FEW, unknown

        if which in ("campaign", "proxies") and self.budget < self.workers:
            return figures.Figure(tuple(unknown([which], TOO_FEW)))
        if which == "proxies":
            return self._proxies(labels, table, rng)
        plan = self._plan(shares)
        if which == "campaign":
            return declared_campaign(plan, self.judged, rng)
        drawing = {
            "classes": figures.classes,
            "replicas": figures.replicas,
            "extremes": figures.extremes,
            "crossing": figures.crossover,
            "collusion": figures.collusion,
        }
        drawn = drawing[which](plan, rng)
        if which != "collusion":
            return drawn
        return attrs.evolve(drawn, items=(*drawn.items, *majority(plan, self.judged, rng)))

    def _proxies(
        self, labels: "pd.Series | None", table: Table, rng: np.random.Generator
    ) -> "Figure":
        from anonloom_sentinels_twins.figures import Figure
        from anonloom_sentinels_twins.finding_texts import unknown
        from anonloom_sentinels_twins.proxies import proxies

        shares = attrs.evolve(self, zipf=None)._shares(labels)
        if labels is None or isinstance(shares, str):
            why = shares if isinstance(shares, str) else "there is no label"
            return Figure(tuple(unknown(["proxies"], why)))
        given = labels.notna().to_numpy()
        seen = [name for name in table.schema.published_names if name != labels.name]
        return proxies(
            self._plan(shares),
            table.frame.loc[given, seen],
            labels[given],
            max(1, self.judged // _PLAYED),
            rng,
        )


def _agreement(made: "list[Figure]") -> Findings:
    """Say how well formula and simulation agree over all figures."""
    from anonloom_sentinels_twins.comparison import by_chance, largest
    from anonloom_sentinels_twins.finding_texts import say

    compared = [comparison for figure in made for comparison in figure.comparisons]
    if not compared:
        return Findings()
    message = (
        f"{len(compared)} points were compared; if the formulas are right, chance alone exceeds "
        f"{by_chance(len(compared)):.2f} in one of 100 experiments."
    )
    return Findings.of(
        say("largest_deviation", largest(compared), unit="standard errors", more=message)
    )
