"""Charts of one release and of a whole experiment, as data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonloom.data.findings import Chart
from anonloom.kinds.auditor import GridRow

#: More bars than this and a histogram of class sizes is no longer read at a glance.
MOST_BARS = 14
#: More lines than this and none can be followed.
MOST_LINES = 12


def size_edges(smallest: int, largest: int) -> NDArray[np.int64]:
    """Lower edges of the bars of a histogram of class sizes, and the end of the last one.

    One bar per size as long as they are few; then bars whose width grows with the size, because a
    handful of large classes would otherwise squeeze all others into one bar.
    """
    if largest - smallest < MOST_BARS:
        return np.arange(smallest, largest + 2)
    steps = np.geomspace(smallest, largest + 1, MOST_BARS + 1)
    return np.unique(np.r_[smallest, np.round(steps[1:-1]), largest + 1].astype(np.int64))


def class_size_chart(divisions: Mapping[str, NDArray[np.int64]]) -> Chart:
    """Histogram of class sizes, one series per way to count classes."""
    every = np.concatenate(list(divisions.values()))
    edges = size_edges(int(every.min()), int(every.max()))
    labels = [
        str(lo) if hi - lo == 1 else f"{lo}-{hi - 1}"
        for lo, hi in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    data: dict[str, Any] = {"labels": labels}
    for name, sizes in divisions.items():
        data[name] = np.histogram(sizes, edges)[0].tolist()
    return Chart(
        name="class_sizes",
        kind="bars",
        title="Sizes of the classes",
        x="records in a class",
        y="classes",
        meaning="Records of one class cannot be told apart by their quasi-identifiers.",
        data=data,
    )


def column_chart(losses: Mapping[str, float]) -> Chart:
    """Loss of every column."""
    return Chart(
        name="column_losses",
        kind="bars",
        title="Loss per column",
        x="column",
        y="mean loss (NCP)",
        meaning="0: every value is published as it was; 1: nothing is left of the column.",
        data={"labels": list(losses), "loss": list(losses.values())},
    )


def numeric_parameter(grid: Sequence[GridRow]) -> str | None:
    """The first varied parameter that is a number in every run and takes several values."""
    names = {name: None for row in grid for name in row.parameters}
    for name in names:
        values = [row.parameters.get(name) for row in grid]
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(numbers) == len(values) and len(set(numbers)) > 1:
            return name
    return None


def figure_over_parameter(grid: Sequence[GridRow], figure: str, title: str) -> Chart | None:
    """A figure against the varied number, one line per combination of the other parameters."""
    along = numeric_parameter(grid)
    if along is None:
        return None
    points: dict[str, dict[float, list[float]]] = {}
    for row in grid:
        if figure not in row.findings or not row.findings[figure].assessable:
            continue
        # A case changes whole sections, and its name says which; runs with other seeds are one.
        others = {
            name: value
            for name, value in row.parameters.items()
            if name not in (along, "seed") and not isinstance(value, Mapping | list)
        }
        series = ", ".join(f"{name} = {value}" for name, value in others.items()) or figure
        value = float(row.findings[figure].value)  # type: ignore[arg-type]  # it is assessable
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
        data={
            series: {"x": sorted(of), "y": [float(np.mean(of[x])) for x in sorted(of)]}
            for series, of in points.items()
        },
    )


def column_heat(grid: Sequence[GridRow], prefix: str) -> Chart | None:
    """Which columns pay in which run."""
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
    return Chart(
        name="column_losses",
        kind="heat",
        title="Loss per column and run",
        x="column",
        y="run",
        meaning="0: every value is published as it was; 1: nothing is left of the column.",
        data={"x": columns, "y": list(rows), "z": z},
    )


def _mean(rows: Sequence[GridRow], figure: str) -> float | None:
    """Mean of a figure over the runs that have it."""
    found = [row.findings[figure] for row in rows if figure in row.findings]
    values = [float(finding.value) for finding in found if finding.assessable]  # type: ignore[arg-type]  # they are
    return float(np.mean(values)) if values else None
