"""What holds for every table: rows, missing cells, ranges, precision, frequencies."""

from collections import Counter

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, StageContext, Table
from anonloom_perturbation.perturb import Perturb

CELLS = {
    "whole": st.integers(-50, 50).map(float),
    "price": st.integers(0, 999).map(lambda cents: cents / 100),
    "weight": st.floats(-1e300, 1e300, allow_nan=False),
    "town": st.sampled_from(["a", "b", "c"]),
    "born": st.integers(-9000, 9000).map(
        lambda day: pd.Timestamp("1990-01-01") + pd.Timedelta(days=day)
    ),
}
TYPES = {"whole": "number", "price": "number", "weight": "number", "born": "date"}


@st.composite
def tables(draw):
    """Draw mixed columns of all roles: ties, gaps, constant columns, all missing, one row."""
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5, unique=True))
    count = draw(st.integers(1, 25))
    frame, columns = {}, []
    for name in names:
        cells = CELLS[name]
        shape = draw(st.sampled_from(["plain", "gaps", "constant", "missing"]))
        if shape == "constant":
            cells = st.just(draw(cells))
        elif shape == "gaps":
            cells = st.one_of(cells, st.none())
        elif shape == "missing":
            cells = st.none()
        frame[name] = pd.Series(
            draw(st.lists(cells, min_size=count, max_size=count)),
            dtype="datetime64[s]" if name == "born" else object if name == "town" else float,
        )
        role = draw(st.sampled_from(["quasi", "other"]))
        columns.append(Column(name=name, role=role, type=TYPES.get(name, "category")))
    frame["illness"] = draw(st.lists(st.sampled_from("xyz"), min_size=count, max_size=count))
    columns.append(Column(name="illness", role="sensitive"))
    origin = np.arange(count, dtype=np.int64) * 3 + 5
    return Table.build(pd.DataFrame(frame), Schema(columns), origin=origin)


METHODS = st.builds(
    Perturb,
    level=st.sampled_from(["low", "medium", "high"]),
    swap=st.one_of(st.none(), st.floats(0, 1)),
    swapping=st.sampled_from(["permute", "redraw"]),
    clip=st.booleans(),
)


@given(table=tables(), method=METHODS, seed=st.integers(0, 9))
@settings(deadline=None, max_examples=200)
def test_a_perturbed_table_is_plausible(table, method, seed):
    result = method.protect(table, StageContext(seed=seed))

    assert table.origin.tolist() == result.origin.tolist()
    assert table.schema == result.schema
    for column in table.schema:
        before, after = table.column(column.name), result.column(column.name)
        assert before.dtype == after.dtype
        # Missing stays missing, and nothing else becomes it.
        assert before.isna().tolist() == after.isna().tolist()
        old, new = before.dropna(), after.dropna()
        if column.type == "category":
            assert set(new) <= set(old)
            if method.swapping == "permute":
                assert Counter(old) == Counter(new)
            continue
        if method.clip and len(old):
            assert old.min() <= new.min()
            assert new.max() <= old.max()
        if column.name == "whole":
            assert (new == new.round()).all()
        elif column.name == "price":
            assert (new == new.round(2)).all()
        elif column.type == "date":
            assert (new == new.dt.normalize()).all()
    # Sensitive values are perturbed only when they are named.
    assert table.column("illness").tolist() == result.column("illness").tolist()
    # What is coded is what is in the frame.
    again = Table.build(result.frame, result.schema)
    assert again.codes.tolist() == result.codes.tolist()


@given(
    cells=st.lists(st.one_of(st.none(), st.sampled_from("abcd")), min_size=1, max_size=60),
    share=st.floats(0, 1),
    seed=st.integers(0, 9),
)
@settings(deadline=None)
def test_no_more_cells_change_than_are_swapped(cells, share, seed):
    table = Table.build(
        pd.DataFrame({"town": pd.Series(cells, dtype=object)}),
        Schema([Column(name="town", role="quasi")]),
    )
    present = sum(cell is not None for cell in cells)

    result = Perturb(swap=share).protect(table, StageContext(seed=seed)).column("town").tolist()

    changed = sum(a is not None and a != b for a, b in zip(cells, result, strict=True))
    assert changed <= max(2, round(share * present))
