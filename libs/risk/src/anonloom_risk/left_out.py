"""People who are not in a release: halves of a table, and a release from which people are taken."""

import attrs
import numpy as np

from anonloom import AuditInput, Release, Schema, Table
from anonloom.lazy import pd
from anonloom.typing import BoolArray, IntArray
from anonloom_linkage.aligned_columns import align_columns, shared_columns
from anonloom_risk.coverage import covered, is_generalized

#: Pairs of people and published classes that are compared at a time.
CHUNK = 1 << 20


def halves(original: Table, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Divide the complete rows at random into halves that share no person, each in no order."""
    rows = rng.permutation(np.flatnonzero(~original.incomplete))
    # Whoever attacks may not read the column; who shares a half is no part of the attack.
    persons = original.with_all_columns().persons
    if persons is None:
        return rows[: len(rows) // 2], rows[len(rows) // 2 :]
    side = rng.permutation(int(persons.max(initial=0)) + 1) % 2 == 0
    first = side[persons[rows]]
    return rows[first], rows[~first]


def some_of(rows: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """Draw so many of the rows, in their order; all where there are fewer."""
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


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


def truth_is_known(case: AuditInput) -> bool:
    """Whether anything says whose rows of the release are."""
    return case.truth is not None and bool((case.truth >= 0).any())


def generalizes(case: AuditInput) -> bool:
    """Whether the release publishes cells that stand for several values of the original."""
    assert case.original is not None
    names = shared_columns(case.original, [case.release], frozenset({"quasi"}))
    return is_generalized(align_columns(case.original, [case.release], names), release=1)


def leave_out(
    case: AuditInput, rows: IntArray, rng: np.random.Generator
) -> tuple[AuditInput, IntArray]:
    """Return the evidence about a release that lacks people of the original, and who they are.

    Where it is known whose a row is, their own rows are taken out. A generalized release loses, for
    each of them, a row that covers them. Otherwise nobody knows which row to take out: one half of
    the original is published as it is instead, and the people are of the other half, strangers to
    it. That says what is found of them in a release that changes nothing and does not have them.

    Parameters
    ----------
    rows
        People of the original who may be taken out.
    """
    assert case.original is not None
    if not truth_is_known(case) and not generalizes(case):
        return _publish_half(case, len(rows), rng)
    others = np.setdiff1d(np.arange(len(case.original)), rows)
    truth = None
    if truth_is_known(case):
        assert case.truth is not None
        number = np.full(len(case.original), -1, np.int64)
        number[others] = np.arange(len(others))
        kept = ~np.isin(case.truth, rows)
        truth = np.where(case.truth[kept] >= 0, number[case.truth[kept]], -1)
    else:
        kept = ~_covering_rows(case, rows)
    without = attrs.evolve(
        case,
        release=case.release.take(kept),
        original=case.original.take(others),
        truth=truth,
        groups=None if case.groups is None else case.groups[others],
        control=None,
    )
    return without, rows


def _publish_half(
    case: AuditInput, number: int, rng: np.random.Generator
) -> tuple[AuditInput, IntArray]:
    assert case.original is not None
    published, strangers = halves(case.original, rng)
    release = publish_as(case.release, case.original.take(published))
    without = attrs.evolve(
        case,
        release=attrs.evolve(release, origin=None),
        original=case.original.take(strangers),
        truth=None,
        groups=None if case.groups is None else case.groups[strangers],
        control=None,
    )
    return without, strangers[:number]


def _covering_rows(case: AuditInput, people: IntArray) -> BoolArray:
    """Mark, for each of these people, one row that covers them, as long as there are any."""
    assert case.original is not None
    names = shared_columns(case.original, [case.release], frozenset({"quasi"}))
    columns = align_columns(case.original, [case.release], names)
    groups = case.release.groups(names)
    members, first = np.argsort(groups, kind="stable"), np.unique(groups, return_index=True)[1]
    starts = np.searchsorted(groups[members], np.arange(len(first) + 1))
    sizes, taken = np.diff(starts), np.zeros(len(first), np.int64)
    cells = [column.sides[1][first][None, :] for column in columns]
    step = max(CHUNK // max(len(first), 1), 1)
    for begin in range(0, len(people), step):
        some = people[begin : begin + step]
        own = [column.sides[0][some][:, None] for column in columns]
        for covers in covered(columns, cells, own):
            free = np.flatnonzero(covers & (taken < sizes))
            taken[free[:1]] += 1
    marked = np.zeros(len(case.release), bool)
    within = np.arange(len(members)) - np.repeat(starts[:-1], sizes)
    marked[members] = within < np.repeat(taken, sizes)
    return marked
