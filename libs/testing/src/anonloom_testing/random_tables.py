"""Random tables for property tests: numbers and categories in every form of publishing."""

import numpy as np
import pandas as pd

from anonloom import Column, Schema, Table
from anonloom.data import Form
from anonloom.hierarchies import Tree

#: The hierarchy of every category.
TREE = {"north": ["a", "b"], "south": ["c", "d", "e"]}


def mixed_table(
    rows: int, columns: int, seed: int, missing: bool = False, constant: bool = False
) -> Table:
    """Return a table of quasi-identifiers `q0`, `q1`, ..., numbers and categories in turn.

    Few values, so that there are ties. Numbers are published as intervals and as sets, categories
    as nodes and as sets.

    Parameters
    ----------
    missing
        Whether one cell in five is missing.
    constant
        Whether every column has a single value.
    """
    rng = np.random.default_rng(seed)
    frame, schema = pd.DataFrame(index=range(rows)), []
    for index in range(columns):
        name = f"q{index}"
        if index % 2 == 0:
            cells = pd.Series(rng.integers(0, 1 if constant else 9, rows).astype(float))
            form: Form = "set" if index % 4 else "interval"
            schema.append(Column(name=name, role="quasi", type="number", publish=form))
        else:
            cells = pd.Series(rng.choice(list("a" if constant else "abcde"), rows), dtype=object)
            form = "set" if index % 3 == 2 else "nodes"
            schema.append(Column(name=name, role="quasi", hierarchy=Tree(tree=TREE), publish=form))
        if missing:
            cells[rng.random(rows) < 0.2] = None
        frame[name] = cells
    return Table.build(frame, Schema(schema))
