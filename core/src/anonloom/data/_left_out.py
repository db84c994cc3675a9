"""People who are not in a release: halves of a table, and a release from which people are taken."""

import attrs
import numpy as np

from anonloom.data._audit_input import AuditInput
from anonloom.data._release import Release
from anonloom.data._schema import Schema
from anonloom.data._table import Table
from anonloom.lazy import pd
from anonloom.typing import BoolArray, IntArray

#: A release is generalized when so many of its rows have a cell that stands for several values.
GENERALIZED = 0.01
#: Pairs of people and published classes that are compared at a time.
CHUNK = 1 << 22


def publish_as(release: Release, table: Table) -> Release:
    """Publish a table as it is, in the columns that a release has."""
    raw = Release.as_it_is(table)
    names = [name for name in raw.frame.columns if name in release.frame.columns]
    schema = Schema(tuple(raw.schema[name] for name in names))
    return attrs.evolve(raw, schema=schema, frame=raw.frame[names])


def join_people(first: Table, second: Table) -> Table:
    """Return the people of two raw tables as one, with the columns that both show."""
    shared = [
        column
        for column in first.schema
        if column.role != "identifier"
        and column.name in first.frame.columns
        and column.name in second.frame.columns
    ]
    names = [column.name for column in shared]
    frame = pd.concat([first.frame[names], second.frame[names]], ignore_index=True)
    # Both tables were admitted with what they lack.
    return Table.build(frame, Schema(tuple(attrs.evolve(c, missing="own") for c in shared)))


def is_generalized(release: Release, original: Table) -> bool:
    """Whether cells of a release stand for several values of the original."""
    wide = np.zeros(len(release), bool)
    for name, covers in _covers(release, original).items():
        several = np.append(covers.sum(axis=1) > 1, False)
        wide |= several[release.frame[name].cat.codes.to_numpy()]
    return bool(wide.mean() > GENERALIZED) if len(wide) else False


def leave_out(case: AuditInput, rows: IntArray) -> AuditInput:
    """Return the evidence about a release that lacks these rows of the original.

    Where it is known whose a row is, their own rows are taken out. A generalized release loses, for
    each of them, a row that covers them. Otherwise the original's other people are published as
    they are: that says what is found of somebody who is not there, in a release that changes
    nothing.
    """
    assert case.original is not None
    others = np.setdiff1d(np.arange(len(case.original)), rows)
    original = case.original.take(others)
    number = np.full(len(case.original), -1, np.int64)
    number[others] = np.arange(len(others))
    truth = None
    if case.truth is not None and (case.truth >= 0).any():
        kept = ~np.isin(case.truth, rows)
        release = case.release.take(kept)
        truth = np.where(case.truth[kept] >= 0, number[case.truth[kept]], -1)
    elif is_generalized(case.release, case.original):
        release = case.release.take(~_covering_rows(case.release, case.original, rows))
    else:
        release = attrs.evolve(publish_as(case.release, original), origin=None)
    return attrs.evolve(case, release=release, original=original, truth=truth, control=None)


def _covers(release: Release, original: Table) -> dict[str, BoolArray]:
    """By quasi-identifier, (cells x codes): which values of the original each cell stands for."""
    results = {}
    for axis in original.axes:
        column = release.frame.get(axis.name)
        if column is None or not isinstance(column.dtype, pd.CategoricalDtype):
            continue
        covers = np.zeros((len(column.cat.categories), axis.size), bool)
        for index, cell in enumerate(column.cat.categories):
            cover = axis.read(str(cell))
            if cover is not None:
                covers[index, cover.codes] = True
        results[axis.name] = covers
    return results


def _covering_rows(release: Release, original: Table, rows: IntArray) -> BoolArray:
    """Mark, for each of these people, one row that covers them, as long as there are any."""
    covers = _covers(release, original)
    groups = release.groups(tuple(covers))
    first, members = np.unique(groups, return_index=True)[1], np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[members], np.arange(len(first) + 1))
    axes = [(index, axis.name) for index, axis in enumerate(original.axes) if axis.name in covers]
    taken = np.zeros(len(first), np.int64)
    step = max(CHUNK // max(len(first), 1), 1)
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        fits = np.ones((len(some), len(first)), bool)
        for index, name in axes:
            cells = release.frame[name].cat.codes.to_numpy()[first]
            known = np.where(cells < 0, 0, cells)
            fits &= covers[name][known][:, original.codes[index, some]].T & (cells >= 0)
        for of_person in fits:
            free = np.flatnonzero(of_person & (taken < np.diff(starts)))
            taken[free[:1]] += 1
    marked = np.zeros(len(release), bool)
    within = np.arange(len(members)) - np.repeat(starts[:-1], np.diff(starts))
    marked[members] = within < np.repeat(taken, np.diff(starts))
    return marked
