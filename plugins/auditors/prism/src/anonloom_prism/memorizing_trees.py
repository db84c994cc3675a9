"""Trees that know the release by heart: what they say of people inside, more than of others.

A classifier that generalizes says of people in the release what it says of all others: what it
infers is known from the population. Trees that are grown until every leaf is of one value repeat a
person's own row, where there is one that is like her.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier

from anonloom import AuditInput, Release, StageContext, Table
from anonloom.findings import NotAssessable
from anonloom.typing import Float32Array, FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn, shared_columns
from anonloom_prism.targets import targets
from anonloom_risk import Answers, align_evidence, alike_by_value, attainable
from anonloom_risk.nearest_rows import RELEASE, TARGETS

__all__ = ["answers"]

TREES = 8
#: What an attacker knows: a label is what models predict, and no attribute.
ATTRIBUTES = frozenset({"quasi", "sensitive", "other"})
MEANING = (
    "The attacker knows the other published attributes but labels, and names the critical value "
    "of '{}' that trees say which know the release by heart."
)


def answers(
    case: AuditInput,
    people: Table,
    sensitive: str,
    critical: Sequence[str | int | float | bool] | None,
    bins: int,
    context: StageContext,
) -> Answers:
    """Say which critical value every target has, or that it has none of them.

    Where the release does not show the sensitive column, or a critical value is in neither table,
    nothing is answered.
    """
    assert case.original is not None
    others: list[Release | Table] = [case.release, people]
    others += [case.control] if case.control is not None else []
    shown = shared_columns(case.original, others, ATTRIBUTES)
    known = [name for name in shown if name != sensitive]
    columns = align_evidence(case, people, known)
    right, score = np.zeros(len(people)), np.full(len(people), -np.inf)
    at_best, otherwise = np.ones(len(people)), np.zeros(len(people))
    weight = np.ones(len(people))
    try:
        if known and sensitive in shown:
            learned, own, true = _classes(case, people, sensitive, critical, bins)
            named, score = _name(columns, learned, context)
            right = ((named == true) & (true >= 0)).astype(float)
            usual = np.bincount(own[own >= 0]).argmax() if (own >= 0).any() else -1
            otherwise = ((true == usual) & (true >= 0)).astype(float)
            weight = alike_by_value(true)
            at_best = attainable(columns, own + 1, int(own.max()) + 2)
    except NotAssessable:
        pass
    return Answers(
        name="trees",
        right=right,
        score=score,
        columns=(*known, sensitive),
        meaning=MEANING.format(sensitive),
        attainable=at_best,
        otherwise=otherwise,
        weight=weight,
    )


def _classes(
    case: AuditInput,
    people: Table,
    sensitive: str,
    critical: Sequence[str | int | float | bool] | None,
    bins: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Classes of the release's rows, of the original's people, and of the targets."""
    assert case.original is not None
    sides = [
        case.release.frame[sensitive],
        case.original.column(sensitive),
        people.column(sensitive),
    ]
    together = pd.concat([side.astype(object) for side in sides], ignore_index=True)
    kind = case.original.schema[sensitive].type
    wanted = targets(together.rename(sensitive), kind, critical, bins)
    learned, own, true = np.split(wanted.classes, np.cumsum([len(side) for side in sides])[:-1])
    return learned, own, true


def _name(
    columns: Sequence[AlignedColumn], learned: IntArray, context: StageContext
) -> tuple[IntArray, FloatArray]:
    """Return the class that most trees say, and how much more often than by the population."""
    rows = np.flatnonzero(learned >= 0)
    if not len(rows):
        raise NotAssessable("no published row has a value to learn from")
    # In threads of its own the library warns of its own filters of warnings, which race.
    forest = ExtraTreesClassifier(TREES, n_jobs=1, random_state=int(context.rng.integers(2**31)))
    forest.fit(_places(columns, RELEASE)[rows], learned[rows])
    votes = forest.predict_proba(_places(columns, TARGETS))
    best = votes.argmax(axis=1)
    usual = np.bincount(learned[rows])[forest.classes_] / len(rows)
    score = np.log(votes[np.arange(len(votes)), best] / usual[best])
    return forest.classes_[best], score


def _places(columns: Sequence[AlignedColumn], side: int) -> Float32Array:
    """(rows x columns): what trees divide, as ranks of the middles of what cells cover."""
    ranks = []
    for column in columns:
        middles = column.lo / 2 + column.hi / 2
        # Missing values are on one side of all others.
        middles[column.missing] = -np.inf
        ranks.append(np.unique(middles, return_inverse=True)[1][column.sides[side]])
    return np.stack(ranks, axis=1).astype(np.float32)
