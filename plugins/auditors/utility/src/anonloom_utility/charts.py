"""Charts of one release, as data."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonloom import Chart

#: More bars than this and a histogram of class sizes is no longer read at a glance.
MOST_BARS = 14

LOSS_MEANING = "0: every value is published as it was; 1: nothing is left of the column."


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
        meaning=LOSS_MEANING,
        data={"labels": list(losses), "loss": list(losses.values())},
    )
