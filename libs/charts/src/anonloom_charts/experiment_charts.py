"""How a figure moves over an experiment: lines over a varied number, maps of columns and runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anonloom import Chart
from anonloom.kinds import GridRow

#: More lines than this and none can be followed.
MOST_LINES = 12


def numeric_parameter(grid: Sequence[GridRow]) -> str | None:
    """The first varied parameter that is a number in every run and takes several values."""
    names = {name: None for row in grid for name in row.parameters}
    for name in names:
        values = [row.parameters.get(name) for row in grid]
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(numbers) == len(values) and len(set(numbers)) > 1:
            return name
    return None


def figure_over_parameter(
    grid: Sequence[GridRow], figure: str, title: str, beside: Mapping[str, str] | None = None
) -> Chart | None:
    """A figure against the varied number, one line per combination of the other parameters.

    Runs that differ in their seed alone are one point, with the range of their values.

    Parameters
    ----------
    beside
        Further figures to draw beside it, and what their lines are called.
    """
    along = numeric_parameter(grid)
    if along is None:
        return None
    points: dict[str, dict[float, list[float]]] = {}
    for name, message in {figure: "", **(beside or {})}.items():
        for row in grid:
            if name not in row.findings or not row.findings[name].assessable:
                continue
            # A case changes whole sections, and its name says which; runs with other seeds are one.
            others = [
                f"{parameter} = {value}"
                for parameter, value in row.parameters.items()
                if parameter not in (along, "seed") and not isinstance(value, Mapping | list)
            ]
            series = ", ".join([*others, *([message] if message else [])]) or figure
            value = float(row.findings[name].value)  # type: ignore[arg-type]  # it is assessable
            of_series = points.setdefault(series, {})
            of_series.setdefault(float(row.parameters[along]), []).append(value)
    if not points or len(points) > MOST_LINES:
        return None
    return Chart(
        name=figure,
        kind="line",
        title=title,
        x=along,
        y=figure,
        meaning=f"How {figure} changes with {along}; lower is better.",
        data={series: _line(of_series) for series, of_series in points.items()},
    )


def _line(of_series: Mapping[float, list[float]]) -> dict[str, list[float]]:
    xs = sorted(of_series)
    line = {"x": xs, "y": [float(np.mean(of_series[x])) for x in xs]}
    if any(len(values) > 1 for values in of_series.values()):
        line["low"] = [min(of_series[x]) for x in xs]
        line["high"] = [max(of_series[x]) for x in xs]
    return line


def column_heat(
    grid: Sequence[GridRow], prefix: str, *, name: str, title: str, meaning: str, x: str = "column"
) -> Chart | None:
    """Figures that are named `prefix` and a column, by column and run."""
    columns = list(
        dict.fromkeys(
            finding.name.removeprefix(prefix)
            for row in grid
            for finding in row.findings
            if finding.name.startswith(prefix)
        )
    )
    if not columns or len(grid) < 2:
        return None
    rows: dict[str, list[GridRow]] = {}
    for row in grid:
        rows.setdefault(row.setting, []).append(row)
    z = [[_mean(of_setting, prefix + column) for column in columns] for of_setting in rows.values()]
    data: dict[str, Any] = {"x": columns, "y": list(rows), "z": z}
    return Chart(name=name, kind="heat", title=title, x=x, y="run", meaning=meaning, data=data)


def _mean(rows: Sequence[GridRow], figure: str) -> float | None:
    """Mean of a figure over the runs that have it."""
    results = [row.findings[figure] for row in rows if figure in row.findings]
    values = [float(finding.value) for finding in results if finding.assessable]  # type: ignore[arg-type]  # they are
    return float(np.mean(values)) if values else None
