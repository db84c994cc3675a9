"""The C of the kernels leaves the same bits everywhere as the Python text, for every table."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anonloom import Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_kernels.comparison import comparing_kernels
from anonloom_kernels.compiled import is_compiled
from anonloom_mondrian.candidates import MOST_CUTS, MOST_SEGMENTS, MOST_WALKED
from anonloom_mondrian.mondrian import Mondrian
from anonloom_testing.privacy_cases import AtLeast
from anonloom_testing.random_tables import mixed_table
from anonloom_testing.strategies import samples

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_mondrian"),
    reason="the C was not built: there is nothing to compare with",
)


def compare(table, k, **parameters):
    with comparing_kernels():
        Mondrian(**parameters).partition(
            table, table.whole(), Guard([AtLeast(k=k)]), StageContext()
        )


@given(samples(), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0]))
def test_on_random_tables(sample, k, per_bit):
    # A single row, or a class too small to be cut, needs no kernel.
    assume(len(sample.rows) >= 2 * k)
    compare(sample.table(), k, per_bit=per_bit)


@given(st.integers(2, 60), st.integers(1, 7), st.integers(0, 2**32), st.booleans())
def test_on_numbers_and_categories_in_every_form(rows, columns, seed, missing):
    compare(mixed_table(rows, columns, seed, missing), 1)


#: More codes than are walked, more leaves than a table of pairs has, more children than are tried.
WARDS = {f"land {land}": [f"w{land}-{ward}" for ward in range(25)] for land in range(30)}


@given(st.integers(0, 2**32), st.sampled_from([1, 3, 40]), st.sampled_from(["nodes", "set"]))
def test_on_axes_with_many_codes(seed, k, form):
    rng = np.random.default_rng(seed)
    names = [ward for wards in WARDS.values() for ward in wards]
    frame = pd.DataFrame(
        {
            "ward": rng.choice(names, 300).astype(object),
            "income": rng.integers(0, 10 * MOST_WALKED, 300),
            "few": rng.integers(0, 3, 300),
        }
    )
    frame.loc[rng.random(300) < 0.1, "ward"] = None
    columns = [
        Column(name="ward", role="quasi", hierarchy=Tree(tree=WARDS), publish=form),
        Column(name="income", role="quasi", type="number"),
        Column(name="few", role="quasi", type="number", publish="set"),
    ]
    compare(Table.build(frame, Schema(columns)), k)


def test_the_signature_has_room_for_as_many_cuts_and_segments_as_there_are():
    """C writes these as numbers."""
    assert (31, 65) == (MOST_CUTS, MOST_SEGMENTS + 1)
