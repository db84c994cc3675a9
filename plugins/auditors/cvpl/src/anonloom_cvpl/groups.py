"""Households and other groups: linked through any member, and recognized by the vote of all."""

import numpy as np
from numpy.typing import NDArray

from anonloom import AuditInput, Finding
from anonloom.findings import FindingBuilder
from anonloom.typing import FloatArray, IntArray
from anonloom_cvpl.evidence import Evidence


def group_linkage(
    finding: FindingBuilder, case: AuditInput, evidence: Evidence, threshold: float, no_truth: str
) -> list[Finding]:
    """Judge groups by the links of their members."""
    if case.groups is None:
        return []
    _, group = np.unique(case.groups, return_inverse=True)
    sizes = np.bincount(group)
    linked = np.bincount(group, evidence.best >= threshold)
    about = (f"{len(sizes):,} groups of {sizes.mean():.1f} records on average",)
    right = None if case.truth is None else recognition_chance(group, evidence.row, case.truth)
    return [
        finding("group_linkage_rate", float((linked > 0).mean()),
                "Share of the groups of which at least one member is linked.", assumptions=about),
        finding("group_linkage_rate_all", float((linked == sizes).mean()),
                "Share of the groups all of whose members are linked.", assumptions=about),
        finding("group_precision", None if right is None else float(right.mean()),
                "Share of the groups that are recognized: most of their members' best candidates "
                "belong to them, ties drawn by lot.",
                lacking=no_truth if right is None else "", assumptions=about),
    ]  # fmt: skip


def recognition_chance(group: NDArray[np.integer], row: IntArray, truth: IntArray) -> FloatArray:
    """Chance of every group to win the vote of its members.

    Parameters
    ----------
    group
        Group of every record of the original.
    row
        Best candidate of every record; -1 for none.
    truth
        Record of every row of the release; -1 for none.
    """
    number = int(group.max(initial=-1)) + 1
    owner = np.where(row >= 0, truth[np.maximum(row, 0)] if len(truth) else -1, -1)
    votes = owner >= 0
    ballot = group[votes].astype(np.int64) * number + group[owner[votes]]
    pairs, count = np.unique(ballot, return_counts=True)
    voter, voted = pairs // number, pairs % number
    most = np.zeros(number, np.int64)
    np.maximum.at(most, voter, count)
    winners = np.bincount(voter, count == most[voter], minlength=number)
    chance = np.zeros(number)
    own = (voted == voter) & (count == most[voter])
    chance[voter[own]] = 1.0 / winners[voter[own]]
    return chance
