"""What the tree found: the importance of every quasi-identifier, and the tree as a picture.

Both are published. Numbers of rows come in steps that are no smaller than a class may be; what is
suppressed, and the values of labels, are not told. Conditions say more of a class than its cells
may, as published regions do, and are written only where somebody asked for them, in the words of
the release: no cell is told that it does not show.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from anonloom import Chart, Finding, Guard, Release, Table
from anonloom.data import Axis
from anonloom.typing import BoolArray, FloatArray
from anonloom_columns import Visible
from anonloom_tada.thresholds import parts_of, questions
from anonloom_tada.tree_growth import Forest, Splits

#: Nodes that a picture shows; what lies deeper is summed up.
MOST_NODES = 100
#: Given classes whose trees are drawn, the largest first.
MOST_TREES = 8

#: What the splits lower, in words.
LOWERED = {
    "prediction": "impurity of the labels",
    "clustering": "squared distance between rows of one class",
}

_BEFORE = "what the given classes differ in was removed before the tree, and is not counted"


def findings(
    table: Table,
    grown: Forest,
    lowered: str,
    admitted: BoolArray,
) -> Iterator[Finding | Chart]:
    """Yield findings and the chart of importance.

    Parameters
    ----------
    lowered
        What the splits lower.
    admitted
        Whether each leaf, in the order of the classes, may be published.
    """
    gained = gains(table, grown)
    explained = float(gained.sum())
    shares = gained / explained if explained > 0 else gained
    yield Finding(
        name="leaves", value=int(admitted.sum()), unit="classes", meaning="Leaves of the tree."
    )
    yield Finding(
        name="explained",
        value=min(explained, 1.0),
        better="higher",
        meaning=f"Share of the {lowered} that the tree removes: 0 without any split, 1 when "
        "nothing of it is left.",
        assumptions=(
            "measured on the rows that the tree was grown from",
            *(() if len(grown.roots) == 1 else (_BEFORE,)),
        ),
    )
    for axis, share in zip(table.axes, shares.tolist(), strict=True):
        yield Finding(
            name=f"importance.{axis.name}",
            value=share,
            meaning=f"Share of what the tree's splits gain that is due to '{axis.name}'.",
        )
    order = np.argsort(-shares, kind="stable")
    yield Chart(
        name="importance",
        kind="bars",
        title="Importance of the quasi-identifiers",
        x="quasi-identifier",
        y="share of the gain",
        meaning="Share of what the tree's splits gain that is due to each quasi-identifier.",
        data={
            "labels": [table.axes[index].name for index in order],
            "share of the gain": [float(shares[index]) for index in order],
        },
    )


def picture(
    table: Table,
    grown: Forest,
    guard: Guard,
    lowered: str,
    admitted: BoolArray,
    release: Release | None = None,
) -> Iterator[Chart]:
    """Yield the picture of the tree, if there is anything to see.

    Parameters
    ----------
    lowered, admitted
        As of `findings`.
    release
        Where conditions are to be told: what is published, as they are told in its words.
    """
    shown = (
        {}
        if release is None
        else {axis.name: Visible.of(axis, release.frame[axis.name]) for axis in table.axes}
    )
    tree = tree_chart(table, grown, step_of(guard.min_size), shown, admitted)
    if tree is not None:
        yield Chart(
            name="tree",
            kind="tree",
            title="The tree",
            meaning="Every line is a node: what its rows have in common beside those above, about "
            f"how many they are and, where it is split, the share of the {lowered} that the split "
            "removes.",
            data=tree,
        )


def gains(table: Table, grown: Forest) -> FloatArray:
    """What the splits along each axis gain, as a share of the impurity of all rows."""
    result = np.zeros(len(table.axes))
    for level in grown.splits:
        result += np.bincount(level.axis, level.gain, len(result))
    return result


def tree_chart(
    table: Table, grown: Forest, step: int, shown: Mapping[str, Visible], admitted: BoolArray
) -> dict[str, Any] | None:
    """Return the picture of the trees, or None when there is nothing to see.

    Parameters
    ----------
    shown
        What the release shows of every column whose conditions are told.
    """
    # What was never split and is refused is suppressed: nothing is said of it.
    refused = grown.leaves.number[np.argsort(grown.leaves.start)][~admitted]
    roots = np.setdiff1d(np.arange(len(grown.roots)), refused)
    if not len(roots):
        return None
    roots = roots[np.argsort(-grown.roots[roots], kind="stable")]
    first = roots[:MOST_TREES]
    drawing = _ChartBuilder(table, step, shown)
    what = "all rows" if len(grown.roots) == 1 else "a given class"
    nodes = {int(root): drawing.root(what, int(grown.roots[root])) for root in first}
    trees = [nodes[int(root)] for root in first]
    for level in grown.splits:
        drawing.add(level, nodes)
    if len(roots) == 1:
        return trees[0]
    rest = [{"label": f"and {len(roots) - len(first)} more"}] if len(roots) > len(first) else []
    return {"label": f"{len(roots)} given classes", "children": [*trees, *rest]}


def step_of(least: int) -> int:
    """Return the least of 1, 2, 5, 10, 20, ... that is no smaller than a class may be."""
    step = 1
    while step < least:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return step


class _ChartBuilder:
    """Adds lines to a picture until it is full."""

    def __init__(self, table: Table, step: int, shown: Mapping[str, Visible]) -> None:
        self.table = table
        self.step = step
        self.shown = shown
        self.left = MOST_NODES

    def root(self, what: str, rows: int) -> dict[str, Any]:
        """Begin a tree."""
        return {"label": f"{what}: {self._about(rows)}"}

    def add(self, level: Splits, nodes: dict[int, dict[str, Any]]) -> None:
        """Hang the parts of a level's splits below their nodes, the largest nodes first."""
        drawn = [index for index, node in enumerate(level.node.tolist()) if node in nodes]
        drawn.sort(key=lambda at: -int(level.rows[at].sum()))
        for index in drawn:
            above = nodes[int(level.node[index])]
            above["label"] += f", gain {float(level.gain[index]):.1%}"
            if self.left < 2:
                above["children"] = [{"label": "…"}]
                continue
            self.left -= 2
            codes = (int(own[index]) for own in (level.begin, level.end, level.last))
            conditions = self._question_texts(self.table.axes[int(level.axis[index])], *codes)
            below = [
                {"label": f"{text}: {self._about(int(rows))}"}
                for text, rows in zip(conditions, level.rows[index], strict=True)
            ]
            above["children"] = below
            nodes.update(zip(level.parts[index].tolist(), below, strict=True))

    def _question_texts(self, axis: Axis, begin: int, end: int, last: int) -> tuple[str, str]:
        shown = self.shown.get(axis.name)
        if shown is None:
            return parts_of(axis, begin, end, last)
        return questions(axis, begin, end, last, shown)

    def _about(self, rows: int) -> str:
        rounded = max(round(rows / self.step), 1) * self.step
        return f"~{rounded:,} rows" if self.step > 1 else f"{rounded:,} rows"
