"""What a whole experiment shows: accuracy of every classifier per setting, means over its seeds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anonloom import Chart, Findings
from anonloom.kinds import GridRow
from anonloom_charts import column_heat, numeric_parameter

PREFIX = "accuracy."


def summary(grid: Sequence[GridRow]) -> Findings:
    """Return a table of accuracies, a map of losses and lines over the varied number."""
    names = [
        name
        for name in dict.fromkeys(finding.name for row in grid for finding in row.findings)
        if name.startswith(PREFIX)
    ]
    if not names:
        return Findings()
    heat = column_heat(
        grid,
        "accuracy_loss.",
        name="accuracy_losses",
        title="Accuracy lost, per classifier and run",
        meaning="Accuracy of the original's model less that of the release's; negative where the "
        "release does better.",
        x="classifier",
    )
    return Findings.of([_table(grid, names)], [heat] if heat else [], _lines(grid, names))


def _table(grid: Sequence[GridRow], names: Sequence[str]) -> Chart:
    settings: dict[str, list[GridRow]] = {}
    for row in grid:
        settings.setdefault(row.setting, []).append(row)
    columns = [*names, "majority_accuracy"]
    rows = [
        [setting, *(_mean(values_of(rows, name)) for name in columns)]
        for setting, rows in settings.items()
    ]
    return Chart(
        name="accuracy",
        kind="table",
        title="Accuracy on the release",
        meaning="Means over the seeds of a setting; 'majority' is what always guessing the most "
        "frequent label gets right.",
        data={
            "columns": ["run", *(name.removeprefix(PREFIX) for name in names), "majority"],
            "rows": rows,
        },
    )


def values_of(rows: Sequence[GridRow], name: str) -> list[float]:
    """Values of a figure in the runs that could assess it."""
    results = [row.findings[name] for row in rows if name in row.findings]
    return [float(finding.value) for finding in results if finding.assessable]  # type: ignore[arg-type]  # they have values


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _lines(grid: Sequence[GridRow], names: Sequence[str]) -> list[Chart]:
    """Accuracy against the varied number: one picture per combination of what else is varied."""
    along = numeric_parameter(grid)
    if along is None:
        return []
    combinations: dict[str, dict[float, list[GridRow]]] = {}
    for row in grid:
        others = ", ".join(
            f"{name} = {value}"
            for name, value in row.parameters.items()
            # A case changes whole sections, and seeds repeat a setting.
            if name not in (along, "seed") and not isinstance(value, Mapping | list)
        )
        rows_by_value = combinations.setdefault(others, {})
        rows_by_value.setdefault(float(row.parameters[along]), []).append(row)
    return [
        _picture(number, others, along, rows, names)
        for number, (others, rows) in enumerate(combinations.items(), start=1)
        if len(rows) > 1
    ]


def _picture(
    number: int,
    others: str,
    along: str,
    rows: Mapping[float, Sequence[GridRow]],
    names: Sequence[str],
) -> Chart:
    data: dict[str, Any] = {}
    for name in names:
        points = {x: values_of(rows[x], name) for x in sorted(rows)}
        kept = {x: values for x, values in points.items() if values}
        if kept:
            data[name.removeprefix(PREFIX)] = {
                "x": list(kept),
                "y": [_mean(values) for values in kept.values()],
            }
    return Chart(
        name=f"accuracy_{number}",
        kind="line",
        title=f"Accuracy on the release{': ' if others else ''}{others}",
        x=along,
        y="accuracy",
        meaning=f"How accuracy changes with {along}; means over seeds, higher is better.",
        data=data,
    )
