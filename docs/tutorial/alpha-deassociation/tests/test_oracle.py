"""Random tables: shares counted by pandas, and intervals that leave nobody out."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Schema, StageContext, Table
from anonloom_alpha_deassociation.generalizer import Rounded
from anonloom_alpha_deassociation.privacy import AlphaDeassociation
from anonloom_testing.oracle import covers, interval_ends


@st.composite
def judged_ranges(draw):
    """A table, an order of its rows and ranges of it; persons may be unknown or have many rows."""
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from([*"pqrs", None]), st.sampled_from([*"xyz", None])),
            min_size=1,
            max_size=20,
        )
    )
    frame = pd.DataFrame(rows, columns=["who", "illness"], dtype=object)
    frame["age"] = range(len(frame))
    order = np.array(draw(st.permutations(range(len(frame)))))
    ends = st.integers(0, len(frame))
    ranges = [sorted(pair) for pair in draw(st.lists(st.tuples(ends, ends), max_size=6))]
    return frame, order, ranges


def with_roles(frame, *, who):
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="illness", role="sensitive"),
        Column(name="who", role=who, missing="suppress" if who == "person" else "own"),
    ]
    return Table.build(frame, Schema(columns))


@given(
    asked=judged_ranges(), by_person=st.booleans(), alpha=st.sampled_from([0.3, 1 / 3, 0.5, 0.8])
)
@settings(deadline=None, max_examples=200)
def test_verdicts_are_those_of_pandas(asked, by_person, alpha):
    frame, order, ranges = asked
    table = with_roles(frame, who="person" if by_person else "other")
    starts, stops = np.array(ranges, np.int64).reshape(-1, 2).T
    model = AlphaDeassociation(alpha=alpha, of="illness")

    verdicts = model.admits(table, order, starts, stops).tolist()

    for (start, stop), verdict in zip(ranges, verdicts, strict=True):
        members = frame.iloc[order[start:stop]].dropna(subset=["illness"])
        person = "who" if by_person else "age"
        members = members.dropna(subset=[person])
        shares = members.groupby("illness")[person].nunique() / max(members[person].nunique(), 1)
        assert (len(members) > 0 and shares.max() <= alpha) == verdict


numbers = st.one_of(
    st.integers(-200, 200),
    st.decimals(-50, 50, places=2).map(float),
    st.floats(-1e9, 1e9, allow_nan=False),
    st.sampled_from([0.1, 0.2, 0.3, 0.6, 0.7, 1e15, 1e15 + 1, -0.3, 1e300, -1e300, 1e-300]),
)


@given(
    values=st.lists(st.one_of(st.none(), numbers), min_size=2, max_size=12).filter(any),
    steps=st.integers(1, 40),
    cut=st.integers(0, 12),
)
@settings(deadline=None, max_examples=300)
def test_intervals_cover_everybody_and_are_no_finer_than_the_grid(values, steps, cut):
    frame = pd.DataFrame({"age": pd.Series(values, dtype="float64")})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))
    classes = Classes.from_labels((np.arange(len(values)) >= cut).astype(np.int64))

    release = Rounded(steps=steps).generalize(table, classes, StageContext())

    cells = [None if pd.isna(cell) else cell for cell in release.frame["age"]]
    spread = table.axes[0].range
    for cell, value in zip(cells, frame["age"], strict=True):
        assert covers(cell, None if pd.isna(value) else float(value))
        ends = interval_ends(str(cell))
        if ends is not None:
            # The last digit of a float may be missing.
            width = float(ends[1]) - float(ends[0])
            assert width >= spread / steps * (1 - 1e-9) - 1e-15 * max(map(abs, map(float, ends)))
