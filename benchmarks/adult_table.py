"""Adult as an encoded table: which rows, which hierarchies, which published form."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from anonloom import Column, Schema, Table
from anonloom.hierarchies import FromFile, LeafTable

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from get_data import find_or_fetch  # noqa: E402  # the tools folder is no package

TREES = ROOT / "examples" / "hierarchies" / "adult"
SENSITIVE = "salary-class"
QUASI = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
)
UCI_ORDER = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
)
#: Complete rows of Adult.
ALL_ROWS = 30_162
#: A number that no two rows share.
CONTINUOUS = "income"

Publish = Literal["interval", "nodes"]


def adult_file(rows: int) -> Path:
    """Return the file of all complete rows, or beyond their number of jittered copies."""
    return find_or_fetch("adult", rows=rows, seed=1) if rows > ALL_ROWS else find_or_fetch("adult")


def rows_of_adult(rows: int) -> pd.DataFrame:
    """Return a sample without replacement up to all complete rows, jittered copies beyond."""
    path = adult_file(rows)
    texts = {name: "category" for name in (*QUASI, SENSITIVE) if name != "age"}
    frame = pd.read_csv(path, usecols=[*QUASI, SENSITIVE], dtype=texts)
    if rows < ALL_ROWS:
        frame = frame.sample(rows, random_state=1).reset_index(drop=True)
        # What a sample lacks is no part of its domain.
        for name in texts:
            frame[name] = frame[name].cat.remove_unused_categories()
    return frame


def encoded(
    frame: pd.DataFrame,
    hierarchies: Path = TREES,
    publish: Publish = "interval",
    by_label: bool = False,
    continuous: bool = False,
) -> Table:
    """Encode the rows.

    Parameters
    ----------
    hierarchies
        A folder with one file per column, `leaf;level;...;*` as CSV or a tree as YAML.
    publish
        Whether age is published as an interval or, like the rest, as nodes.
    by_label
        Columns in the order of the UCI file and siblings in the order of their labels. Mondrian's
        rule of the widest axis depends on both where axes are equally wide.
    continuous
        Adds a number that differs in every row.
    """
    columns = [_column(name, hierarchies, publish, by_label) for name in _names(by_label)]
    if continuous:
        numbers = np.random.default_rng(1).normal(size=len(frame))
        frame = frame.assign(**{CONTINUOUS: numbers})
        columns.append(Column(name=CONTINUOUS, role="quasi", type="number"))
    return Table.build(frame, Schema((*columns, Column(name=SENSITIVE, role="sensitive"))))


def hierarchy_file(name: str, folder: Path) -> Path:
    """Return the file of a column's hierarchy, whatever its format."""
    files = [folder / f"{name}{suffix}" for suffix in (".csv", ".yaml", ".yml")]
    for file in files:
        if file.is_file():
            return file
    raise SystemExit(f"{folder} holds no hierarchy of '{name}' ({name}.csv or {name}.yaml)")


def _names(by_label: bool) -> Sequence[str]:
    return UCI_ORDER if by_label else QUASI


def _column(name: str, folder: Path, publish: Publish, by_label: bool) -> Column:
    file = FromFile(path=hierarchy_file(name, folder))
    source: FromFile | LeafTable = file
    if by_label:
        rows = sorted(file.table().rows, key=lambda row: row[::-1])
        source = LeafTable.from_rows(rows, name)
    if name == "age":
        return Column(name=name, role="quasi", type="number", publish=publish, hierarchy=source)
    return Column(name=name, role="quasi", hierarchy=source)
