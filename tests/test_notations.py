"""Notations of other tools: the page is what is read, and no auditor minds which one is used."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Registry, Release, Schema, Table
from anonloom.data import Axis
from anonloom.spec import MethodUse
from anonloom_columns import NotationReader
from anonloom_runner.auditing import run_auditors
from anonloom_runner.external import release_from
from anonloom_runner.unread import unread_cells

PAGE = (Path(__file__).parents[1] / "docs" / "notations.md").read_text(encoding="utf-8")
ORIGINALS: dict[str, dict[str, object]] = {
    "Numbers": {"type": "number"},
    "Dates and times": {"type": "date"},
    "Categories": {},
}


def own_values(section: str) -> list[str]:
    """Return the values of the original that a section of the page names."""
    (line,) = re.findall(r"^Of an original that has (.*):$", section, re.MULTILINE)
    return split_values(line.removeprefix("the days "))


def split_values(text: str) -> list[str]:
    return [part.strip("`") for part in re.findall(r"`[^`]*`|[^\s,]+", text)]


def rows() -> list[tuple[str, str, str]]:
    results = []
    for section in PAGE.split("\n## ")[1:]:
        title = section.splitlines()[0]
        for line in section.splitlines():
            if line.startswith("| `"):
                cell, covers, _ = re.split(r"(?<!\\)\|", line.strip("|"))
                results.append((title, cell.strip().strip("`").replace("\\|", "|"), covers.strip()))
    return results


def axis_of(title: str, *, missing: bool) -> Axis:
    (section,) = (part for part in PAGE.split("\n## ") if part.startswith(title + "\n"))
    values = [*own_values(section), *([None] if missing else [])]
    schema = Schema([Column(name="it", role="quasi", missing="own", **ORIGINALS[title])])
    table = Table.build(pd.DataFrame({"it": pd.Series(values, dtype=object)}), schema)
    return table.with_reader(NotationReader).axes[0]


@pytest.mark.parametrize(("title", "cell", "covers"), rows())
def test_every_cell_of_the_page_covers_the_values_that_the_page_names(title, cell, covers):
    axis = axis_of(title, missing=True)
    cover = axis.read(cell)
    if covers.startswith("not read"):
        assert None is cover
        return
    assert cover is not None
    if covers == "missing":
        assert [axis.missing] == cover.codes.tolist()
        without = axis_of(title, missing=False).read(cell)
        assert without is not None
        assert without.star
    elif covers == "anything":
        assert cover.star
    else:
        assert sorted(split_values(covers)) == sorted(map(str, axis.texts(cover.codes)))


def test_the_page_has_rows_for_every_kind_of_column():
    assert ({*ORIGINALS}, True) == ({title for title, _, _ in rows()}, len(rows()) > 80)


# --- the same release, written differently ------------------------------------------------------

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="zip", role="quasi"),
        Column(name="sex", role="quasi"),
        Column(name="illness", role="sensitive"),
    ]
)


def people() -> Table:
    rng = np.random.default_rng(5)
    zips = np.array([f"{first}{last}" for first in "123" for last in "0123456789"])
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, 300),
            "zip": rng.choice(zips, 300),
            "sex": rng.choice(["f", "m"], 300),
            "illness": rng.choice(["flu", "cold", "asthma"], 300),
        }
    )
    return Table.build(frame, SCHEMA).with_reader(NotationReader)


def written(table: Table, age: str, zips: str) -> Release:
    """Publish decades of ages and the first digit of zip codes in the notation of a tool."""
    frame = table.frame.copy()
    low = (frame["age"] // 10 * 10).astype(int)
    frame["age"] = [age.format(lo=lo, hi=lo + 9, to=lo + 10, under=lo - 1) for lo in low]
    own = sorted(set(table.frame["zip"]))
    frame["zip"] = [
        zips.format(
            first=text[0],
            names=", ".join(other for other in own if other[0] == text[0]),
            bare=",".join(other for other in own if other[0] == text[0]),
            python=[other for other in own if other[0] == text[0]],
        )
        for text in frame["zip"]
    ]
    return release_from(frame, SCHEMA)


TOOLS = {
    "pandas": ("({under}.0, {hi}.0]", "{python}"),
    "pandas on the right": ("[{lo}, {to})", "{python}"),
    "ARX": ("[{lo}, {to}[", "{first}*"),
    "ARX with sets": ("[{lo}, {hi}]", "{{{names}}}"),
    "sdcMicro": ("({under},{hi}]", "{{{names}}}"),
    "Amnesia": ("{lo}-{hi}", "{first}*"),
    "anonypy": ("{lo}-{hi}", "{bare}"),
    "decades": ("{lo}s", "{bare}"),
    "by hand": ("{lo} to {hi}", "{names}"),
}


def figures(table: Table, release: Release, name: str) -> dict[str, object]:
    registry = Registry.installed()
    entry = registry.find("auditor", name)
    use = MethodUse(name, "auditor", entry, registry.load_entry(entry)())
    case = AuditInput(
        release=release,
        original=table,
        truth=np.arange(len(table)),
        unread=unread_cells(release, table),
    )
    (findings,) = run_auditors([use], case, registry, seed=3, workers=1).values()
    return {finding.name: finding.value for finding in findings}


@pytest.mark.parametrize("auditor", ["cvpl", "fellegi-sunter", "distance", "distribution"])
def test_a_figure_is_the_same_in_whichever_notation_a_release_is_written(auditor):
    table = people()
    results = {tool: figures(table, written(table, *how), auditor) for tool, how in TOOLS.items()}
    expected = results["ARX with sets"]
    assert any(value is not None for value in expected.values())
    assert dict.fromkeys(TOOLS, expected) == results


def test_a_column_that_nobody_can_read_leaves_no_figure_that_may_use_it():
    table = people()
    release = written(table, "between {lo} and {hi}", "{first}*")
    assert {"age": 300} == unread_cells(release, table)
    found = figures(table, release, "cvpl")
    kept = {name for name, value in found.items() if value is not None}
    # What the attacks reach on a copy of the original is no figure of the release.
    copies = {"linkage_copy", "inference.illness_copy"}
    assert {"configuration", "unread_cells", *copies} == kept
    assert 300 == found["unread_cells"]
