"""The auditor `utility`: information loss, class sizes and suppression of a release."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import (
    AuditInput,
    Auditor,
    Chart,
    Finding,
    Findings,
    Schema,
    StageContext,
    Table,
    param,
)
from anonloom.data import Need
from anonloom.kinds import GridRow
from anonloom.params import all_of, at_least, distinct, not_empty

if TYPE_CHECKING:
    from anonloom_utility.measures import Division

CHANGED = "published values differ from the originals instead of covering them: {}"
NO_CLASSES = "the release does not say which classes its stages made"


@attrs.frozen(kw_only=True)
class Utility(Auditor):
    """Measures what protection has cost the data."""

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "utility"
    names_cells: ClassVar[bool] = False
    needs: ClassVar[frozenset[Need]] = frozenset({"original"})

    k: int | None = param(
        help="The k that CAVG divides by; by default the least class that the declared privacy "
        "admits, or else the smallest published class.",
        default=None,
        check=at_least(1),
    )
    proxies: bool = param(
        help="Whether correlations, marginals, accuracy of a model and distances are compared.",
        default=True,
    )
    predict: tuple[str, ...] | None = param(
        help="Columns that a model learns to predict from all others; by default those with the "
        "role label.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say which column is not published, and cannot be predicted."""
        return schema.publication_problem(self.predict or ())

    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Measure loss, class sizes and suppression."""
        # Imported here and below: a pipeline that is only checked measures nothing.
        from anonloom_loss import changed_columns, release_losses
        from anonloom_utility.measures import by_label

        assert case.original is not None
        release = case.release
        suppressed = release.suppressed_rows
        published = by_label(np.where(suppressed, -1, release.groups()), release.dropped)
        labels = None if release.classes is None else np.where(suppressed, -1, release.classes)
        partition = None if labels is None else by_label(labels, release.dropped)
        changed = changed_columns(case.original, release)
        losses = _Losses.of(
            case.original, release_losses(case.original, release), release.dropped, changed
        )
        return Findings.of(
            losses.findings(),
            self._set_valued(case, labels, losses.reason),
            self._classes(partition, published, case.demanded),
            _suppression(published),
            self._proxies(case, context),
            self._charts(losses, partition, published),
        )

    def _proxies(self, case: AuditInput, context: StageContext) -> Findings:
        if not self.proxies:
            return Findings()
        # Imported here: loading what it needs takes longer than all other figures together.
        from anonloom_utility.proxies import proxies

        return proxies(case, context, self.predict)

    def summarize(self, grid: Sequence[GridRow]) -> Findings:
        """Show loss against the varied number, and which columns pay in which run."""
        from anonloom_charts import column_heat, figure_over_parameter
        from anonloom_utility.charts import LOSS_MEANING

        lines = [
            figure_over_parameter(grid, "gcp", "Information loss (GCP)"),
            figure_over_parameter(grid, "cavg", "Average class size over k (CAVG)"),
        ]
        heat = column_heat(
            grid,
            "ncp.",
            name="column_losses",
            title="Loss per column and run",
            meaning=LOSS_MEANING,
        )
        return Findings.of([chart for chart in [*lines, heat] if chart is not None])

    def _set_valued(
        self, case: AuditInput, labels: NDArray[np.int64] | None, changed: str | None
    ) -> Finding:
        """GCP of the members, the figure that papers on set-valued recoding report."""
        from anonloom_utility.measures import set_valued_gcp

        meaning = (
            "Mean loss as if categories were published as the sets of values in each class "
            "instead of nodes of a hierarchy."
        )
        if changed is not None:
            return _unknown("gcp_sets", meaning, changed)
        rows = case.release.rows_in(case.original) if case.original is not None else None
        if labels is None or rows is None or case.original is None or not case.original.axes:
            reason = NO_CLASSES if labels is None else "rows cannot be traced to the original"
            return _unknown("gcp_sets", meaning, reason)
        value = set_valued_gcp(case.original, rows, labels, case.release.dropped)
        assumption = "numbers lose the width of their range, categories members / occurring values"
        return Finding(
            name="gcp_sets", value=value, better="lower", meaning=meaning, assumptions=(assumption,)
        )

    def _classes(
        self, partition: "Division | None", published: "Division", demanded: int | None
    ) -> list[Finding]:
        smallest = int(published.sizes.min()) if len(published.sizes) else None
        findings = [
            Finding(
                name="smallest_class",
                value=smallest,
                better="higher",
                status="measured" if smallest is not None else "not assessable",
                meaning="The fewest records that share one combination of published cells.",
                assumptions=() if smallest is not None else ("every record is suppressed",),
                unit="records",
            )
        ]
        k, source = self._k(demanded, smallest)
        for division, suffix, what in (
            (partition, "", "classes that the stages made"),
            (published, "_published", "classes of equal published cells"),
        ):
            findings += _of_division(division, suffix, what, k, source)
        return findings

    def _k(self, demanded: int | None, smallest: int | None) -> tuple[int | None, str]:
        """Return what CAVG divides by, and where it is from."""
        if self.k is not None:
            return self.k, "as given"
        # Models that demand no size, such as t-closeness, leave classes of one row.
        if demanded is not None and demanded > 1:
            return demanded, "as the declared privacy demands"
        return smallest, "the smallest published class, as no k was given"

    def _charts(
        self, losses: "_Losses", partition: "Division | None", published: "Division"
    ) -> list[Chart]:
        from anonloom_utility.charts import class_size_chart, column_chart

        divisions = {"as published": published.sizes}
        if partition is not None and len(partition.sizes):
            divisions = {"as partitioned": partition.sizes, **divisions}
        charts = [class_size_chart(divisions)] if len(published.sizes) else []
        measured = {name: loss for name, loss in losses.columns.items() if loss is not None}
        return [*charts, column_chart(measured)] if measured else charts


@attrs.frozen(eq=False)
class _Losses:
    """Loss by column and by record, rows that were kept out included.

    Attributes
    ----------
    columns
        Mean loss of every quasi-identifier; None where values were changed.
    reason
        Why there is no loss over all columns; None where there is.
    """

    columns: dict[str, float | None]
    gcp: float
    high: float
    reason: str | None = None

    @classmethod
    def of(
        cls,
        original: Table,
        losses: NDArray[np.float64],
        dropped: int,
        changed: tuple[str, ...],
    ) -> "_Losses":
        total = losses.shape[1] + dropped
        if not original.axes or not total:
            return cls({}, 0.0, 0.0)
        means = (losses.sum(axis=1) + dropped) / total
        weights = np.array([axis.weight for axis in original.axes])
        weights /= weights.sum()
        # The 95th of 100 records, counted from the least loss; those kept out lost everything.
        index = int(np.ceil(0.95 * total)) - 1
        records = weights @ losses
        high = float(np.partition(records, index)[index]) if index < len(records) else 1.0
        columns = {
            axis.name: None if axis.name in changed else mean
            for axis, mean in zip(original.axes, means.tolist(), strict=True)
        }
        listed = ", ".join(f"'{name}'" for name in changed)
        reason = CHANGED.format(listed) if changed else None
        return cls(columns, float(weights @ means), high, reason)

    def findings(self) -> list[Finding]:
        suppressed = "a suppressed record has lost everything"
        results = [
            self._over_columns(
                "gcp",
                self.gcp,
                "Mean information loss over all records and quasi-identifiers: 0 means that "
                "nothing was lost, 1 that nothing is left.",
                (suppressed, "columns count by weight"),
                key=True,
            ),
            self._over_columns(
                "record_loss_95",
                self.high,
                "95 of 100 records have lost at most this share of their information.",
                (suppressed,),
            ),
        ]
        for name, mean in self.columns.items():
            meaning = f"Mean information loss of the column '{name}'."
            results.append(
                _unknown(f"ncp.{name}", meaning, CHANGED.format(f"'{name}'"))
                if mean is None
                else Finding(
                    name=f"ncp.{name}",
                    value=mean,
                    better="lower",
                    meaning=meaning,
                    assumptions=(suppressed,),
                    columns=(name,),
                )
            )
        return results

    def _over_columns(
        self,
        name: str,
        value: float,
        meaning: str,
        assumptions: tuple[str, ...],
        *,
        key: bool = False,
    ) -> Finding:
        """Return a figure over all columns, or why there is none."""
        if self.reason is not None:
            return _unknown(name, meaning, self.reason, key=key)
        return Finding(
            name=name,
            value=value,
            better="lower",
            meaning=meaning,
            assumptions=assumptions,
            key=key,
        )


def _of_division(
    division: "Division | None", suffix: str, what: str, k: int | None, source: str
) -> list[Finding]:
    count = f"Number of {what}."
    cavg = f"Average size of the {what}, as a multiple of k; 1 is the least that k allows."
    dm = (
        f"Discernibility: the sum of squared sizes of the {what}, plus the number of all records "
        "for every suppressed one."
    )
    names = ("published_classes" if suffix else "classes", f"cavg{suffix}", f"dm{suffix}")
    if division is None:
        meanings = zip(names, (count, cavg, dm), strict=True)
        return [_unknown(name, meaning, NO_CLASSES) for name, meaning in meanings]
    averaged = (
        Finding(
            name=names[1],
            value=division.cavg(k),
            better="lower",
            meaning=cavg,
            assumptions=(f"k = {k}, {source}", "suppressed records are in no class"),
        )
        if len(division.sizes) and k
        else _unknown(names[1], cavg, "every record is suppressed")
    )
    return [
        Finding(name=names[0], value=len(division.sizes), better="higher", meaning=count),
        averaged,
        Finding(name=names[2], value=division.discernibility(), better="lower", meaning=dm),
    ]


def _suppression(division: "Division") -> list[Finding]:
    total = division.rows_in_classes + division.lost
    return [
        Finding(
            name="suppression_rate",
            value=division.lost / total if total else 0.0,
            better="lower",
            meaning="Share of the records whose quasi-identifiers are all withheld.",
            assumptions=("a record counts whether it is published as '*' or left out",),
            key=True,
        ),
        Finding(
            name="suppressed",
            value=division.lost,
            better="lower",
            meaning="Records whose quasi-identifiers are all withheld.",
            unit="records",
        ),
    ]


def _unknown(name: str, meaning: str, reason: str, *, key: bool = False) -> Finding:
    return Finding(
        name=name,
        value=None,
        better="higher" if name == "classes" else "lower",
        status="not assessable",
        meaning=meaning,
        assumptions=(reason,),
        key=key,
    )
