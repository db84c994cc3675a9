"""What a release says about a target, in a few numbers."""

import numpy as np

from anonloom import Release, Table
from anonloom.typing import FloatArray
from anonloom_linkage.aligned_columns import align_columns, shared_columns
from anonloom_linkage.features import Encoding
from anonloom_linkage.vectors import Vectors
from anonloom_membership.shadow.plan import ROLES, ShadowPlan
from anonloom_risk.coverage import covered

__all__ = ["STATISTICS", "target_statistics"]

ORIGINAL, RELEASE, TARGETS = 0, 1, 2
#: Names of the numbers, in their order.
STATISTICS = ("nearest", "near five", "nearer than anybody", "covering rows", "values")
NEIGHBOURS = 5
#: Added to a squared distance before its logarithm is taken.
NEAR = 1e-3
#: Squared distance that stands for that of rows that are not there.
NOWHERE = 1e6


def target_statistics(table: Table, release: Release, plan: ShadowPlan) -> FloatArray:
    """Return (targets x statistics).

    The squared distances of the nearest row and of the nearest five, how many rows are nearer than
    any other person of the table, how many cover the target, all as logarithms; and how frequent
    the target's single values are, summed over columns. Numbers are scaled by the whole table,
    which the shadow releases are drawn from, so that all releases are measured alike.
    """
    others: list[Release | Table] = [release, table.take(plan.targets)]
    names = shared_columns(table, others, ROLES)
    columns = align_columns(table, others, names)
    result = np.zeros((len(plan.targets), len(STATISTICS)))
    if not columns:
        return result
    vectors = Vectors.of(columns, Encoding(), (ORIGINAL,))
    offset, _ = vectors.moments(ORIGINAL) if vectors.parts else (np.zeros(0), None)
    identity = np.eye(vectors.width)
    rows, people = (vectors.project(side, identity, offset) for side in (RELEASE, TARGETS))
    lengths = np.einsum("ij,ij->i", rows, rows)
    frequency = [
        np.log(np.bincount(column.sides[RELEASE], minlength=len(column)) + 0.5)
        for column in columns
    ]
    published = [column.sides[RELEASE] for column in columns]
    for index, person in enumerate(people):
        distances = np.maximum(lengths - 2 * (rows @ person) + person @ person, 0.0).astype(float)
        distances = np.append(distances, np.full(NEIGHBOURS, NOWHERE))
        nearest = np.sort(np.partition(distances, NEIGHBOURS)[:NEIGHBOURS])
        own = [column.sides[TARGETS][index : index + 1] for column in columns]
        result[index] = (
            np.log(nearest[0] + NEAR),
            np.log(nearest + NEAR).mean(),
            np.log1p((distances < plan.isolation[index]).sum()),
            np.log(covered(columns, published, own).sum() + 0.5),
            sum(float(share[cell[0]]) for share, cell in zip(frequency, own, strict=True)),
        )
    return result
