"""Cells that nobody can read, and the figures that are worth nothing because of them.

What cannot be read counts as lost, and so makes a release look safer than it is.
"""

from collections.abc import Mapping

import attrs
import numpy as np

from anonloom import AuditInput, Chart, Finding, Findings, Release, Table
from anonloom.data import MOST_UNREAD, Axis
from anonloom.findings import AttackResult, Item
from anonloom.lazy import pd

__all__ = [
    "Unreadable",
    "unread_cells",
    "withhold_figures",
]


def unread_cells(release: Release, original: Table) -> dict[str, int]:
    """Count, by column, the cells of a release that state nothing of the original's values.

    `*` and missing cells are read. Of a column that is no quasi-identifier, single values may be
    new; where its numbers, dates or times came as texts, these are read as well.
    """
    results = {}
    for column in release.schema:
        if column.name not in original.schema.names or column.name not in release.frame:
            continue
        cells = release.frame[column.name]
        quasi = column.name in original.schema.quasi
        if not quasi and (column.type == "category" or not pd.api.types.is_string_dtype(cells)):
            continue
        count = _count_unread(original.encode_column(column.name).axis, cells)
        if count:
            results[column.name] = count
    return results


def _count_unread(axis: Axis, cells: object) -> int:
    entries, distinct = pd.factorize(cells)
    strange = np.array([axis.read(str(cell)) is None for cell in distinct], bool)
    # The entry of a missing cell, -1, finds the last.
    return int(np.append(strange, False)[entries].sum())


@attrs.frozen
class Unreadable:
    """Columns of which too little can be read, each with the reason.

    Attributes
    ----------
    release, others
        In the release, and in the tables that it is compared with besides the original.
    """

    release: Mapping[str, str] = attrs.field(factory=dict)
    others: Mapping[str, str] = attrs.field(factory=dict)

    @classmethod
    def of(cls, case: AuditInput) -> "Unreadable":
        """Count what cannot be read in the tables of an audit."""
        others: dict[str, str] = {}
        if case.original is not None:
            for other in case.other_releases:
                unread = unread_cells(other, case.original)
                others |= _reasons(unread, len(other), "another release")
            if case.control is not None:
                general = _generalized_cells(case.control, case.original)
                others |= _reasons(general, len(case.control), "the control")
        return cls(_reasons(case.unread, len(case.release), "the release"), others)


def _reasons(unread: Mapping[str, int], rows: int, table: str) -> dict[str, str]:
    return {
        name: f"column '{name}': {count} of {rows} cells of {table} cannot be read"
        for name, count in unread.items()
        if count > MOST_UNREAD * rows
    }


def _generalized_cells(control: Table, original: Table) -> dict[str, int]:
    """Count cells of a raw table that state several values: nobody has such a value."""
    results = {}
    for name in set(original.schema.quasi) & set(control.schema.quasi):
        if original.schema[name].type != "category":
            continue
        axis = original.encode_column(name).axis
        coded = control.encode_column(name)
        covers = [axis.read(text) for text in coded.axis.texts(np.arange(coded.axis.value_count))]
        general = [cover is not None and (cover.form is not None or cover.star) for cover in covers]
        general += [False] * (coded.axis.missing >= 0)
        count = int(np.array(general, bool)[coded.codes].sum())
        if count:
            results[name] = count
    return results


def withhold_figures(findings: Findings, unreadable: Unreadable) -> Findings:
    """Make every figure `not assessable` that is, or may be, made of a column that is not read.

    A finding that names its `columns` is judged by these; charts are left out. A risk auditor's
    attack has judged the columns of the release itself, because it knows which it uses.
    """
    if not unreadable.release and not unreadable.others:
        return findings
    attacks = {finding.name for attack in findings.attacks for finding in attack.findings()}
    items: list[Item] = []
    for item in findings.items:
        if isinstance(item, Finding):
            release = {} if item.name in attacks else unreadable.release
            items.append(_withheld(item, {**unreadable.others, **release}))
        elif isinstance(item, AttackResult) and item.assessable and unreadable.others:
            why = "; ".join(unreadable.others.values())
            items.append(attrs.evolve(item, reason=why, exposed=0))
        elif not isinstance(item, Chart):
            items.append(item)
    return Findings.of(items)


def _withheld(finding: Finding, reasons: Mapping[str, str]) -> Finding:
    used = reasons if finding.columns is None else set(finding.columns) & set(reasons)
    if not used or finding.status == "not assessable":
        return finding
    return attrs.evolve(
        finding,
        value=None,
        interval=None,
        status="not assessable",
        assumptions=(*(reasons[name] for name in sorted(used)), *finding.assumptions),
    )
