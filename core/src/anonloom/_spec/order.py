"""The order of stages as a typed hand-over: table -> classes -> release."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from anonloom._spec.cursor import Cursor
from anonloom._spec.model import MethodUse

State = Literal["table", "classes", "release"]

_AFTER_CLASSES = "the classes would no longer fit the table"
_AFTER_RELEASE = "the rows are already in the form in which they are published"

# (kind, what it would be given) -> why it cannot be, and what to do.
_REFUSED: dict[tuple[str, State], tuple[str, str]] = {
    ("mechanism", "classes"): (
        f"a mechanism cannot follow a partitioner: {_AFTER_CLASSES}",
        "put it before the partitioner",
    ),
    ("mechanism", "release"): (
        f"a mechanism cannot follow a generalizer: {_AFTER_RELEASE}",
        "put it before the partitioner",
    ),
    ("partitioner", "release"): (
        f"a partitioner cannot follow a generalizer: {_AFTER_RELEASE}",
        "put it before the generalizer",
    ),
    ("outliers", "table"): (
        "an outlier handler needs classes, and no partitioner comes before it",
        "put a partitioner before it",
    ),
    ("outliers", "release"): (
        f"an outlier handler cannot follow a generalizer: {_AFTER_RELEASE}",
        "put it before the generalizer",
    ),
    ("generalizer", "table"): (
        "a generalizer needs classes, and no partitioner comes before it",
        "put a partitioner before it",
    ),
    ("generalizer", "release"): (
        f"a generalizer cannot follow a generalizer: {_AFTER_RELEASE}",
        "keep one of them",
    ),
    ("sampler", "classes"): (
        "a sampler cannot stand between a partitioner and its generalizer",
        "put it after the generalizer, or before the partitioner",
    ),
}

_NEXT: dict[str, State] = {
    "mechanism": "table",
    "partitioner": "classes",
    "outliers": "classes",
    "generalizer": "release",
}


def check_order(stages: Sequence[tuple[Cursor, str, MethodUse | None]]) -> None:
    """Complain of every stage that cannot work on what the one before it hands over.

    Parameters
    ----------
    stages : sequence of (Cursor, str, MethodUse or None)
        Where each stage is, its kind, and the method if it could be built.
    """
    state: State = "table"
    sampled = wrong = False
    last: Cursor | None = None
    for cursor, kind, use in stages:
        refused = _REFUSED.get((kind, state))
        if refused:
            cursor.error(*refused)
            wrong = True
        elif kind == "sampler" and state == "release":
            if sampled:
                cursor.error("only one sampler can follow a generalizer", "keep one of them")
            elif use is not None and guarantees_nothing(use):
                cursor.error(
                    f"sampler {use.name!r} guarantees no rows of a class, so that it cannot follow "
                    "a partitioner",
                    "put it before the partitioner, or use one that keeps a share of every class",
                )
            sampled = True
        # A stage in a wrong place is reported once: what follows is judged as if it were right.
        if not (refused and kind == "mechanism"):
            state = _NEXT.get(kind, state)
        last = cursor
    if state == "classes" and last is not None and not wrong:
        last.error(
            "the stages end with classes that nothing publishes", "add a generalizer after it"
        )


def guarantees_nothing(use: MethodUse) -> bool:
    """Return whether a sampler may drop every row of a class of any size."""
    sizes = 2 ** np.arange(31, dtype=np.int64)
    return not np.any(use.method.least_kept(sizes))


def check_quasi(
    stages: Sequence[tuple[Cursor, str, MethodUse | None]], quasi: tuple[str, ...]
) -> None:
    """Complain of a partitioner that has nothing to divide by."""
    if quasi:
        return
    for cursor, kind, _ in stages:
        if kind == "partitioner":
            cursor.error(
                "a partitioner needs quasi-identifiers, and no column has the role 'quasi'",
                "declare in data.columns what others may know about a person",
            )
            return
