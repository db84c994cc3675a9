"""The pictures of an audit, as data."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from anonloom import Chart
from anonloom.kinds import GridRow
from anonloom.typing import FloatArray
from anonloom_cvpl.rates import THRESHOLDS

#: More records than any block has.
MOST = 10**12


def risk_curve(series: Mapping[str, FloatArray], intervals: list[tuple[float, float]]) -> Chart:
    """Rates over the attacker's strictness, the linkage rate with its interval."""
    x = THRESHOLDS.tolist()
    low, high = zip(*intervals, strict=True)
    data = {
        name: {"x": x, "y": [float(value) for value in values]} for name, values in series.items()
    }
    first = next(iter(data))
    data[first] |= {"low": list(low), "high": list(high)}
    return Chart(
        name="risk_curve",
        kind="line",
        title="Linked records over the attacker's strictness",
        x="threshold of similarity",
        y="share of the records",
        meaning="What lies above the line of chance is linked because of the release itself.",
        data=data,
    )


def densities(true: FloatArray, wrong: FloatArray) -> Chart | None:
    """Distributions of the similarities of true and of wrong pairs (section 6.1)."""
    known = {"true pairs": true[~np.isnan(true)], "wrong pairs": wrong[np.isfinite(wrong)]}
    known = {name: values for name, values in known.items() if len(values)}
    if not known:
        return None
    low = min(float(values.min()) for values in known.values())
    edges = np.linspace(min(low, 0.99), 1.0, 41)
    middle = ((edges[1:] + edges[:-1]) / 2).tolist()
    return Chart(
        name="similarities",
        kind="density",
        title="Similarities of true and of wrong pairs",
        x="similarity",
        y="density",
        meaning="Where the two overlap, a plausible link may be a wrong one.",
        data={
            name: {"x": middle, "y": np.histogram(values, edges, density=True)[0].tolist()}
            for name, values in known.items()
        },
    )


def block_sizes(sizes: NDArray[np.integer]) -> Chart:
    """How many records live in blocks of which size."""
    edges = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, MOST]
    stop = int(np.searchsorted(edges, int(sizes.max(initial=1)), side="right")) + 1
    edges = edges[: max(stop, 2)]
    counts = np.histogram(sizes, edges)[0]
    records = np.histogram(sizes, edges, weights=sizes.astype(float))[0]
    labels = [
        str(low) if high - low == 1 else f"{low:,}-{high - 1:,}" if high < MOST else f"{low:,} up"
        for low, high in pairwise(edges)
    ]
    return Chart(
        name="block_sizes",
        kind="bars",
        title="Sizes of the blocks",
        x="records of the original in a block",
        y="share",
        meaning="Larger blocks give every record more candidates, and chance more to link.",
        data={
            "labels": labels,
            "blocks": (counts / max(counts.sum(), 1)).tolist(),
            "records": (records / max(records.sum(), 1)).tolist(),
        },
    )


def safe_region(surface: Chart, tolerable: float) -> Chart:
    """Runs and thresholds with a tolerable rate: {(lambda, tau): R <= r0} (45)."""
    return Chart(
        name="safe_region",
        kind="heat",
        title=f"Where no more than {tolerable:g} of the records are linked",
        x=surface.x,
        y=surface.y,
        meaning="1 where the linkage rate is tolerable, 0 elsewhere; it holds for this attacker.",
        data={
            "x": surface.data["x"],
            "y": surface.data["y"],
            "z": [[int(rate <= tolerable) for rate in row] for row in surface.data["z"]],
        },
    )


def risk_surface(grid: Sequence[GridRow]) -> Chart | None:
    """R(lambda, tau) of section 6.4: the risk curves of all runs, side by side.

    Runs that differ in the seed alone are one row, their mean.
    """
    curves: dict[str, list[list[float]]] = {}
    for row in grid:
        for chart in row.findings.charts:
            if chart.name == "risk_curve":
                curves.setdefault(row.setting, []).append(chart.data["linkage rate"]["y"])
    if len(curves) < 2:
        return None
    return Chart(
        name="risk_surface",
        kind="heat",
        title="Linkage rate by protection and by the attacker's strictness",
        x="threshold of similarity",
        y="run",
        meaning="No single threshold and no single parameter makes a release safe.",
        data={
            "x": [f"{threshold:.2f}" for threshold in THRESHOLDS],
            "y": list(curves),
            "z": [np.mean(of_runs, axis=0).tolist() for of_runs in curves.values()],
        },
    )
