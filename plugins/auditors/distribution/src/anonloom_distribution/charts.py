"""Charts of one release: every figure of groups, distances of columns, changes of associations."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from anonloom import Chart
from anonloom.cells import cell_text
from anonloom.typing import FloatArray
from anonloom_distribution.association import Associations, changes
from anonloom_distribution.figures import FEWEST_OF_A_MEAN, Figure, OfSample
from anonloom_distribution.noise import Noise
from anonloom_distribution.tables import ORIGINAL

MAP_MEANING = (
    "How far the association in the release is from that in the original: 0 where it is as it was."
)


def figure_chart(figure: Figure, samples: Sequence[OfSample], scaled: bool) -> Chart | None:
    """Show the figure of every group in all tables; a mean over declared ranges is a line."""
    shown = np.flatnonzero(figure.shown)
    if not len(shown):
        return None
    group, division = figure.group, figure.division
    tables = figure.tables
    measure = what(figure)
    x = group.by if len(shown) == len(division.labels) else f"{group.by}, groups with enough rows"
    series = {
        tables.names[side]: _plain(figure.values[side][shown]) for side in tables.drawing_order
    }
    line = not group.is_count and division.centres is not None and len(shown) > 1
    data: dict[str, Any]
    if line:
        assert division.centres is not None
        centres = [division.centres[index] for index in shown]
        data = {name: {"x": centres, "y": values} for name, values in series.items()}
        band = np.array([sample.values for sample in samples])[:, shown]
        # The mean of a single row of a sample is a cell of the original.
        fewest = min(sample.rows[shown].min() for sample in samples)
        if fewest >= FEWEST_OF_A_MEAN:
            data[tables.names[ORIGINAL]] |= {
                "low": band.min(axis=0).tolist(),
                "high": band.max(axis=0).tolist(),
            }
    else:
        data = {"labels": [division.labels[index] for index in shown], **series}
    meaning = f"{measure[0].upper()}{measure[1:]}, by {group.by}, in each table."
    if line:
        meaning += (
            " Points are middles of ranges; the band is where random samples of the "
            "original lie that are as large as the release."
        )
    elif group.is_count:
        meaning += (
            " Rows of the release are counted for as many as they stand for."
            if scaled
            else " Rows are counted as they are: a sample of half has half of them."
        )
    return Chart(
        name=f"group.{group.title}",
        kind="line" if line else "bars",
        title=f"{measure[0].upper()}{measure[1:]}, by {group.by}",
        x=x,
        y=measure,
        meaning=meaning,
        data=data,
    )


def what(figure: Figure) -> str:
    """Say what the figure is."""
    group = figure.group
    if group.of is None:
        return "number of rows"
    if group.value is None:
        return f"mean {group.of}"
    return f"number of rows with {group.of} = {cell_text(group.value)}"


def _plain(values: FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def distance_chart(distances: Sequence[tuple[str, float, Noise]]) -> Chart:
    """Show the distance of every column beside that of random samples."""
    return Chart(
        name="jsd",
        kind="bars",
        title="Jensen-Shannon distance per column",
        x="column",
        y="distance",
        meaning="0: the distribution of the original, 1: nothing in common. A column that is no "
        "further off than random samples is as good as a sample can be.",
        data={
            "labels": [name for name, *_ in distances],
            "release": [value for _, value, _ in distances],
            "random samples (mean)": [noise.mean for *_, noise in distances],
        },
    )


def comparison_table(
    name: str, title: str, first: str, rows: Sequence[tuple[str, float, float | None, Noise]]
) -> Chart:
    """List figures beside those of the release before sampling and of random samples."""
    sampled = any(before is not None for _, _, before, _ in rows)
    columns = [first, "release", *(["before sampling"] if sampled else [])]
    columns += ["random samples", "least", "most", "beyond noise"]
    listed = [
        [
            label,
            value,
            *([before] if sampled else []),
            noise.mean,
            noise.least,
            noise.most,
            "yes" if value > noise.most else "no",
        ]
        for label, value, before, noise in rows
    ]
    return Chart(
        name=name,
        kind="table",
        title=title,
        meaning="Beyond noise: further from the original than every random sample of the same "
        "size.",
        data={"columns": columns, "rows": listed},
    )


def change_map(associations: Associations, before: FloatArray, after: FloatArray) -> Chart:
    """Show the change of every association."""
    change = changes(before, after)
    z: list[list[float | None]] = [
        [None if row == column else value for column, value in enumerate(values)]
        for row, values in enumerate(change.tolist())
    ]
    names = list(associations.names)
    return Chart(
        name="association_change",
        kind="heat",
        title="Change of the association of every two columns",
        x="column",
        y="column",
        meaning=MAP_MEANING,
        data={"x": names, "y": names, "z": z},
    )
