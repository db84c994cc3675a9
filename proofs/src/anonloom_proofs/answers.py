"""Answers to questions about a sealed release: rows, ranges, growth; given and checked."""

from collections.abc import Sequence

import pandas as pd

from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds.integrity import Known, Proved, Query, Verified
from anonloom_proofs.binding import BoundRows
from anonloom_proofs.condition import Condition
from anonloom_proofs.encoding import Cell, cell_text
from anonloom_proofs.head import Head
from anonloom_proofs.layout import Layout
from anonloom_proofs.proof import Growth, Proof
from anonloom_proofs.ranges import Range, check_range, prove_range
from anonloom_proofs.signed import Signed
from anonloom_proofs.structure import GrowingStructure, Structure
from anonloom_proofs.versions import read_head


def answer(signed: Signed, head: Head, rows: BoundRows, query: Query) -> Proof:
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
    if old.dataset != head.dataset or old.version > head.version or old.size > head.size:
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


def check_answer(
    proof: Proof, head: Head, structure: type[Structure], known: Known | None
) -> Proved:
    """Check what a proof shows, given its head, and say it.

    Raises
    ------
    IntegrityError
        Saying which check failed.
    """
    if proof.since is not None:
        return _grown(proof.since, head, structure, known)
    if proof.where:
        return _in_range(proof, head, structure)
    if len(proof.parts) != 1 or proof.parts[0].attribute is not None:
        raise IntegrityError("the proof does not have the parts that its rows ask for")
    cells = proof.parts[0].cells(head, structure)
    if tuple(at + 1 for at in proof.parts[0].positions) != proof.rows:
        raise IntegrityError("the proof shows other rows than it names")
    count = len(proof.rows)
    said = f"row {proof.rows[0]}" if count == 1 else f"{count} rows, by their numbers,"
    return Proved(
        verified=Verified(
            (f"that {said} of {head.size} in '{head.table}' {'is' if count == 1 else 'are'} this",)
        ),
        rows=_frame(cells, head.layout),
    )


def _in_range(proof: Proof, head: Head, structure: type[Structure]) -> Proved:
    try:
        sought = Range.of(Condition.read(proof.where), head.layout)
    except UsageError as error:
        raise IntegrityError(f"the condition of the proof makes no sense: {error}") from None
    cells = check_range(head, structure, sought, proof.parts)
    category = head.layout.type_of(sought.attribute) == "category"
    means = (
        "cells are compared as they are written: a group, a set or '*' may also stand for a value "
        "in the range"
        if category
        else "a row whose cell is an interval belongs to every range that the interval overlaps"
    )
    return Proved(
        verified=Verified(
            (
                f"that these {len(cells)} rows are all rows of {head.size} with {proof.where}; "
                f"{means}",
            ),
            ("that the publisher sorted the rows rightly: who has the release can check that",),
        ),
        rows=_frame(cells, head.layout),
    )


def _grown(growth: Growth, head: Head, structure: type[Structure], known: Known | None) -> Proved:
    _check_growth(growth, head, structure)
    covers = [
        f"that the first {growth.size} of {head.size} rows are all rows of the version with the "
        f"root {growth.root}"
    ]
    if known is not None and known.head is not None:
        old = read_head(known.head)
        if (old.size, old.orders[0].root) != (growth.size, growth.root):
            raise IntegrityError("the proof begins with another version than the known head")
        covers.append(f"that this is the known version {old.version}")
    return Proved(verified=Verified(tuple(covers)), rows=_frame([], head.layout))


def _check_growth(growth: Growth, head: Head, structure: type[Structure]) -> None:
    if not issubclass(structure, GrowingStructure):
        raise IntegrityError(f"'{head.scheme}' cannot prove that a release only grew")
    old, new = bytes.fromhex(growth.root), bytes.fromhex(head.orders[0].root)
    structure.check_growth(growth.size, old, head.size, new, growth.path)


def _frame(rows: Sequence[tuple[Cell, ...]], layout: Layout) -> pd.DataFrame:
    texts = [[cell_text(cell) for cell in cells] for cells in rows]
    return pd.DataFrame(texts, columns=list(layout.names), dtype=object)
