"""Other packages on the same rows: installed into an environment of their own, scored by our code.

anonypy's classes are rows, so that their loss is that of any other classes. anjana publishes nodes
of the hierarchies that it is given; its cells are read as those of a release are. pyod publishes
nothing and is only timed.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from adult_table import QUASI, SENSITIVE, rows_of_adult
from chains import Asked, judged
from environments import environment, run

from anonloom import Classes, Table
from anonloom.data import Axis
from anonloom_columns import NotationReader
from anonloom_utility.measures import by_label, set_valued_gcp

REQUIRED = ("anonypy==0.2.1", "anjana==1.2.3", "pyod==3.6.7")
CALLS = Path(__file__).with_name("peer_calls.py")

#: What is called, by the name in the tables.
PEERS: dict[str, dict[str, Any]] = {
    "anonypy Mondrian": {"peer": "anonypy", "cells": True},
    "anjana": {"peer": "anjana"},
    "anjana, 5 % suppressed": {"peer": "anjana", "suppressed_percent": 5},
    # Distances of all pairs: 16 GB for all rows of Adult.
    "pyod COF": {"peer": "pyod", "most_rows": 5000},
    "pyod COF on codes": {"peer": "pyod", "most_rows": 5000, "codes": True},
}


def measured(asked: Asked) -> dict[str, Any]:
    """Measure one peer; `asked.chain` is its name."""
    frame = rows_of_adult(asked.rows)
    table = asked.table(asked.rows)
    with tempfile.TemporaryDirectory() as folder:
        rows, out = Path(folder) / "adult.csv", Path(folder) / "published.csv"
        frame.to_csv(rows, index=False)
        question = {
            **PEERS[asked.chain],
            "table": str(rows),
            "out": str(out),
            "k": asked.k,
            "quasi": list(QUASI),
            "sensitive": SENSITIVE,
            "hierarchies": {axis.name: _levels(axis) for axis in table.axes},
        }
        message = run([str(environment(REQUIRED)), str(CALLS), json.dumps(question)])
        figures: dict[str, Any] = json.loads(message.splitlines()[-1])
        if out.is_file():
            result = pd.read_csv(out, dtype=dict.fromkeys(QUASI, str))
            score = _of_classes if "class" in result else _of_cells
            figures |= score(table, result, asked.k)
    return {"calls": 1, **figures}


def _levels(axis: Axis) -> list[list[str]]:
    """Labels of a hierarchy, one list per level."""
    assert axis.hierarchy is not None
    return [[axis.hierarchy.labels[node] for node in level] for level in axis.hierarchy.ancestors]


def _of_classes(table: Table, found: pd.DataFrame, k: int) -> dict[str, float]:
    labels = found.sort_values("row")["class"].to_numpy(np.int64)
    return judged(table, Classes.from_labels(labels), k)


def _of_cells(table: Table, found: pd.DataFrame, k: int) -> dict[str, float]:
    """Score published cells; rows that are absent have lost everything."""
    dropped = len(table) - len(found)
    axes = table.with_reader(NotationReader).axes
    lost = [_lost(axis, found[axis.name]) + dropped for axis in axes]
    labels, _ = pd.factorize(pd.MultiIndex.from_frame(found[list(QUASI)]))
    labels = labels.astype(np.int64)
    division = by_label(labels, dropped)
    return {
        "gcp": sum(lost) / (len(lost) * len(table)),
        "gcp_sets": set_valued_gcp(table, found["row"].to_numpy(np.int64), labels, dropped),
        "cavg": division.cavg(k),
        "dm": division.discernibility(),
        "classes": len(division.sizes),
        "smallest": int(division.sizes.min()),
        "suppressed": dropped,
    }


def _lost(axis: Axis, cells: "pd.Series[str]") -> float:
    total = 0.0
    for cell, count in cells.value_counts().items():
        cover = axis.read(str(cell))
        total += count * (1.0 if cover is None else axis.cover_loss(cover))
    return total
