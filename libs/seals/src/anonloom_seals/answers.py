"""Answers to questions about a sealed release: rows, ranges, growth; given and checked."""

from collections.abc import Sequence

from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds import KnownVersion, ProvedRows, Query, VerifiedScope
from anonloom.lazy import pd
from anonloom_seals.binding import BoundRows
from anonloom_seals.condition import Condition
from anonloom_seals.encoding import Cell, cell_text
from anonloom_seals.head import Head
from anonloom_seals.layout import Layout
from anonloom_seals.proof import Growth, Proof
from anonloom_seals.ranges import Range, check_range, prove_range
from anonloom_seals.signed_text import SignedText
from anonloom_seals.structure import GrowingStructure, Structure
from anonloom_seals.versions import read_head

__all__ = ["answer", "check_answer", "refuse_other"]

#: How many rows a message names by their numbers.
_NAMED = 5


def answer(signed: SignedText, head: Head, rows: BoundRows, query: Query) -> Proof:
    """Answer a question about a release whose head and rows were checked.

    Raises
    ------
    UsageError
        When the question makes no sense for it.
    """
    if query.rows:
        beyond = max(query.rows)
        if beyond > head.size:
            raise UsageError(f"there is no row {beyond}: the release has {head.size}")
        part = rows.show((None, "low"), [row - 1 for row in query.rows])
        return Proof(head=signed, rows=query.rows, parts=(part,))
    if query.where:
        condition = Condition.read(query.where)
        parts = prove_range(rows, Range.of(condition, head.layout))
        return Proof(head=signed, where=str(condition), parts=parts)
    if query.since is None:
        raise UsageError("nothing is asked: give rows, a condition or an earlier head")
    return Proof(head=signed, since=_growth(head, rows, read_head(query.since)))


def _growth(head: Head, rows: BoundRows, old: Head) -> Growth:
    structure = rows.orders[None, "low"].structure
    if not isinstance(structure, GrowingStructure):
        raise UsageError(f"'{head.scheme}' cannot prove that a release only grew")
    if not _may_begin(old, head):
        raise UsageError("the earlier head is not that of an earlier version of this release")
    growth = Growth(size=old.size, root=old.orders[0].root, path=structure.growth(old.size))
    try:
        _check_growth(growth, head, type(structure))
    except IntegrityError:
        raise UsageError(
            "the earlier version is not the beginning of this one, so its growth cannot be proved",
            hint="Seal both with 'growing: true' and publish them with 'shuffle: false'.",
        ) from None
    return growth


def _may_begin(old: Head, head: Head) -> bool:
    """Whether a version can be the beginning of another: rows mean what their columns say."""
    alike = ("scheme", "dataset", "key", "layout")
    return (
        all(getattr(old, name) == getattr(head, name) for name in alike)
        and old.version <= head.version
        and old.size <= head.size
    )


def check_answer(
    proof: Proof, head: Head, structure: type[Structure], known: KnownVersion | None
) -> ProvedRows:
    """Check what a proof shows, given its head, and say it.

    Raises
    ------
    IntegrityError
        Saying which check failed.
    """
    if proof.since is not None:
        if proof.parts:
            raise IntegrityError("the proof has rows, which a proof of growth has not")
        return _growth_result(proof.since, head, structure, known)
    if proof.where:
        return _in_range(proof, head, structure)
    if len(proof.parts) != 1 or proof.parts[0].attribute is not None:
        raise IntegrityError("the proof does not have the parts that its rows ask for")
    cells = proof.parts[0].cells(head, structure)
    if tuple(index + 1 for index in proof.parts[0].positions) != proof.rows:
        raise IntegrityError("the proof shows other rows than it names")
    return ProvedRows(
        verified=VerifiedScope(
            (f"that {_row_numbers(proof.rows)} of the {head.size} rows in '{head.table}'",)
        ),
        rows=_frame(cells, head.layout),
    )


def refuse_other(proof: Proof, head: Head, asked: Query) -> None:
    """Refuse a proof that was checked, but answers something else than was asked.

    Raises
    ------
    IntegrityError
        When it does.
    UsageError
        When what was asked makes no sense for the columns of the release.
    """
    answered = Query(rows=proof.rows, where=proof.where)
    since = None if proof.since is None else (proof.since.size, proof.since.root)
    if _canonical_query(answered, head, since) != _canonical_query(
        asked, head, _earlier_version(asked)
    ):
        raise IntegrityError("the proof answers something else than was asked")


def _earlier_version(asked: Query) -> tuple[int, str] | None:
    if asked.since is None:
        return None
    old = read_head(asked.since)
    return old.size, old.orders[0].root


def _canonical_query(query: Query, head: Head, since: tuple[int, str] | None) -> tuple[object, ...]:
    """Return what is asked, however it is spelled: 30 and 30.0 bound the same range."""
    where = Range.of(Condition.read(query.where), head.layout) if query.where else None
    return query.rows, where, since


def _row_numbers(rows: tuple[int, ...]) -> str:
    if len(rows) == 1:
        return f"this is row {rows[0]}"
    first = ", ".join(map(str, rows[:_NAMED]))
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return f"these are rows {first}{more}"


def _in_range(proof: Proof, head: Head, structure: type[Structure]) -> ProvedRows:
    try:
        condition = Condition.read(proof.where)
        sought = Range.of(condition, head.layout)
    except UsageError as error:
        raise IntegrityError(f"the condition of the proof makes no sense: {error.what}") from None
    if str(condition) != proof.where:
        raise IntegrityError("the condition of the proof is not in its one spelling")
    cells = check_range(head, structure, sought, proof.parts)
    category = head.layout.type_of(sought.attribute) == "category"
    means = (
        "cells are compared as they are written: a group, a set or '*' may also stand for a value "
        "in the range"
        if category
        else "an interval or a set lies in every range that has a part between its ends, '*' in all"
    )
    if not cells:
        these = "there is no row"
    else:
        these = "this is the only row" if len(cells) == 1 else f"these {len(cells)} are all rows"
    return ProvedRows(
        verified=VerifiedScope(
            (f"that {these} with {proof.where} among {head.size}; {means}",),
            ("that the publisher sorted the rows rightly: who has the release can check that",),
        ),
        rows=_frame(cells, head.layout),
    )


def _growth_result(
    growth: Growth, head: Head, structure: type[Structure], known: KnownVersion | None
) -> ProvedRows:
    _check_growth(growth, head, structure)
    covers = [
        f"that the first {growth.size} of {head.size} rows are all rows of the version with the "
        f"root {growth.root}"
    ]
    if known is not None and known.head is not None:
        old = read_head(known.head)
        if (old.size, old.orders[0].root) != (growth.size, growth.root):
            raise IntegrityError("the proof begins with another version than the known head")
        if not _may_begin(old, head):
            raise IntegrityError("the known head is not that of an earlier version of this release")
        covers.append(f"that this is the known version {old.version}")
        return ProvedRows(verified=VerifiedScope(tuple(covers)), rows=_frame([], head.layout))
    unknown = "which version that is, and whose: give its head with --head"
    return ProvedRows(
        verified=VerifiedScope(tuple(covers), (unknown,)), rows=_frame([], head.layout)
    )


def _check_growth(growth: Growth, head: Head, structure: type[Structure]) -> None:
    if not issubclass(structure, GrowingStructure):
        raise IntegrityError(f"'{head.scheme}' cannot prove that a release only grew")
    old, new = bytes.fromhex(growth.root), bytes.fromhex(head.orders[0].root)
    structure.check_growth(growth.size, old, head.size, new, growth.path)


def _frame(rows: Sequence[tuple[Cell, ...]], layout: Layout) -> "pd.DataFrame":
    columns = zip(*rows, strict=True) if rows else ([] for _ in layout.names)
    return pd.DataFrame(
        {
            name: pd.Series([cell_text(cell) for cell in column], dtype=object)
            for name, column in zip(layout.names, columns, strict=True)
        }
    )
