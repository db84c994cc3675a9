"""Whether a control is what it should be: people of the same population who are not in the table.

A control that holds people of the original, or changed copies of them, is found as they are, which
would make the release look safe; one of another population is not found, which would make it look
risky. People of the same population are as near to the original as its people are to each other:
some rows equal rows of the original, about as often as the original's own rows have a twin.
"""

import math

import numpy as np

from anonloom import Table
from anonloom.lazy import pd
from anonloom.typing import BoolArray, FloatArray
from anonloom_linkage.aligned_columns import align_columns, shared_columns
from anonloom_linkage.features import Encoding
from anonloom_linkage.vectors import Vectors
from anonloom_risk.left_out import join_people, some_of
from anonloom_risk.nearest_rows import KNOWN, nearest_two

#: By so much more often than twins explain, beyond so many standard errors, rows may be equal.
MORE_THAN_TWINS, ERRORS = 0.02, 4.0
#: Of so many people on either side it is asked how near the original is.
ASKED = 1_000
#: By so much, beyond so many standard errors, the chance to be nearer may differ from a half.
UNLIKE = 0.05


def control_problem(
    original: Table, control: Table, rng: np.random.Generator, workers: int = 1
) -> str:
    """Say why people cannot be compared with a control; nothing when they can."""
    return shared_people(original, control) or unlike_people(original, control, rng, workers)


def shared_people(original: Table, control: Table) -> str:
    """Say that the control holds people of the original; nothing if twins explain what it shares.

    Who is a person is said by the column with that role, where both tables have it.
    """
    # Whoever attacks may not read the column; whom a control holds is no part of the attack.
    ours, theirs = (table.with_all_columns().frame for table in (original, control))
    for name in original.schema.names_with_role("person"):
        if name in ours.columns and name in theirs.columns:
            known = theirs[name].isin(ours[name].dropna())
            if known.any():
                return f"{int(known.sum())} rows of the control are of persons of the original"
    together = join_people(original, control)
    if not len(together.frame.columns):
        return ""
    keys = pd.util.hash_pandas_object(together.frame, index=False).to_numpy()
    own, others = keys[: len(original)], keys[len(original) :]
    distinct, counts = np.unique(own, return_counts=True)
    place = np.searchsorted(distinct, others).clip(0, len(distinct) - 1)
    equal: BoolArray = distinct[place] == others
    twins = float(counts[counts > 1].sum()) / len(own)
    share = float(equal.mean())
    error = math.sqrt(max(twins * (1 - twins), 1 / len(others)) / len(others))
    if share <= twins + MORE_THAN_TWINS + ERRORS * error:
        return ""
    return (
        f"{int(equal.sum())} of {len(others)} rows of the control equal rows of the original, more "
        "than twins explain"
    )


def unlike_people(
    original: Table, control: Table, rng: np.random.Generator, workers: int = 1
) -> str:
    """Say that a control is nearer to the original, or farther, than its own people are."""
    own = original.take(some_of(np.arange(len(original)), ASKED, rng))
    held = control.take(some_of(np.arange(len(control)), ASKED, rng))
    names = shared_columns(original, [control], KNOWN | {"sensitive"})
    columns = align_columns(original, [own, held], names)
    vectors = Vectors.of(columns, Encoding(), (0,), workers)
    if not vectors.parts:
        return ""
    identity, (offset, _) = np.eye(vectors.width), vectors.moments(0)
    asked, of_own, of_held = (vectors.project(side, identity, offset) for side in range(3))
    # Whoever is of the original is nearest to herself.
    _, _, to_others = nearest_two(of_own, asked, workers)
    _, from_outside, _ = nearest_two(of_held, asked, workers)
    nearer = chance_to_be_less(from_outside, to_others)
    error = math.sqrt((len(own) + len(held) + 1) / (12 * len(own) * len(held)))
    if abs(nearer - 0.5) <= UNLIKE + ERRORS * error:
        return ""
    what, because = (
        ("nearer to", "copies of them, perhaps changed ones")
        if nearer > 0.5
        else ("farther from", "of another population")
    )
    return (
        f"people of the control are {what} people of the original than these are to each other "
        f"(chance {nearer:.2f} to be nearer): they are {because}"
    )


def chance_to_be_less(first: FloatArray, second: FloatArray) -> float:
    """Return the chance that one of the first is less than one of the second, ties by half."""
    ordered = np.sort(second)
    below = np.searchsorted(ordered, first, side="left")
    equal = np.searchsorted(ordered, first, side="right") - below
    return float((len(second) - below - equal / 2).mean() / len(second))
