"""Who is compared with whom: exactly the pairs that a cell and a record's bins allow."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Release, Schema, Table
from anonloom.errors import UsageError
from anonloom.hierarchies import Tree
from anonloom_linkage import blocking
from anonloom_linkage.aligned_columns import align_columns
from anonloom_linkage.blocking import Scheme, guess_scheme, guess_schemes, key_of, scheme
from anonloom_testing.auditor import in_classes, publish_suppressed
from anonloom_testing.random_tables import TREE, mixed_table
from anonloom_testing.strategies import samples


def half_suppressed(table):
    """Publish classes, and every third row as stars."""
    release = in_classes(table, 3)
    frame = release.frame.copy()
    for name in table.schema.quasi:
        frame[name] = frame[name].astype(object)
        frame.loc[::3, name] = "*"
    return Release(schema=table.schema, frame=frame, origin=release.origin)


RELEASES = st.sampled_from(
    [
        Release.as_it_is,
        publish_suppressed,
        in_classes,
        lambda table: in_classes(table, 2),
        half_suppressed,
    ]
)
TABLES = st.one_of(
    samples(max_rows=15).map(lambda sample: sample.table()),
    st.builds(mixed_table, st.integers(1, 20), st.just(4), st.integers(0, 99), st.booleans()),
)


def table_of(cells, type_="number", **how):
    schema = Schema([Column(name="x", role="quasi", type=type_, **how)])
    return Table.build(pd.DataFrame({"x": cells}), schema)


def paired(table, cells, *more):
    release = Release(schema=table.schema, frame=pd.DataFrame({"x": cells}))
    return align_columns(table, [release, *more], ["x"])[0]


def pairs_of(blocks):
    """All pairs of some blocks, each as often as it occurs."""
    results = []
    for block in blocks:
        for index in range(len(block)):
            rows = block.records.members[slice(*block.records.starts[index : index + 2])]
            among = block.candidates.members[slice(*block.candidates.starts[index : index + 2])]
            results += itertools.product(rows.tolist(), among.tolist())
    return sorted(results)


def bins_of_cell(column, cell, how):
    """Bins that a cell covers, told from the definition; None for all."""
    if column.open[cell]:
        return None
    if column.missing[cell]:
        return {"missing"}
    if column.is_ordered:
        if how == "exact":
            return lambda place: column.lo[cell] <= place <= column.hi[cell]
        width = how * (86_400 if column.type == "time" else 1)
        first, last = column.lo[cell] // width, column.hi[cell] // width
        return lambda place: first <= place // width <= last
    leaves = np.flatnonzero(column.covers[[cell]].toarray().ravel())
    return {bin_of_leaf(column, leaf, how) for leaf in leaves}


def bin_of_leaf(column, leaf, how):
    if leaf >= column.axis.value_count:
        return "missing" if column.missing[leaf] else f"leaf {leaf}"
    hierarchy = column.axis.hierarchy
    level = 0 if how == "exact" else min(how, hierarchy.depth - 1)
    return hierarchy.labels[hierarchy.ancestors[level, leaf]]


def brute_force(columns, asked, attacked=0, published=1):
    """Pairs whose record lies in a bin that the cell covers, for every key."""
    results = []
    for row in range(len(columns[0].sides[attacked])):
        for other in range(len(columns[0].sides[published])):
            if all(
                agrees(column, column.sides[attacked][row], column.sides[published][other], how)
                for column in columns
                if (how := asked.get(column.name)) is not None
            ):
                results.append((row, other))
    return results


def agrees(column, code, cell, how):
    bins = bins_of_cell(column, cell, how)
    if bins is None:
        return True
    if callable(bins):
        return not column.missing[code] and bool(bins(column.lo[code]))
    if column.is_ordered:
        return bool(column.missing[code])
    return bin_of_leaf(column, code, how) in bins


def granularities(column):
    return st.sampled_from(["exact", 1, 3, 1000.0] if column.is_ordered else ["exact", 0, 1, 2])


@st.composite
def cases(draw):
    table = draw(TABLES)
    release = draw(RELEASES)(table)
    columns = align_columns(table, [release], table.schema.quasi)
    asked = {column.name: draw(granularities(column)) for column in columns if draw(st.booleans())}
    return table, release, columns, asked


# --- pairs ---------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(cases())
def test_blocks_hold_every_allowed_pair_once(case):
    table, release, columns, asked = case
    result = scheme(columns, asked)
    pairs = pairs_of(result.blocks(len(table), len(release)))
    assert brute_force(columns, asked) == pairs
    every = np.array(list(itertools.product(range(len(table)), range(len(release)))))
    assert pairs == [tuple(pair) for pair in every[result.meet(*every.T)].tolist()]


@settings(deadline=None, max_examples=60)
@given(cases())
def test_the_true_pair_of_a_truthful_release_is_never_lost(case):
    _, release, columns, asked = case
    rows = np.arange(len(release))
    assert scheme(columns, asked).meet(release.origin, rows).all()


@settings(deadline=None, max_examples=60)
@given(cases(), st.data())
def test_a_relaxed_scheme_compares_every_pair_that_it_did(case, data):
    table, release, columns, asked = case
    before = set(pairs_of(scheme(columns, asked).blocks(len(table), len(release))))
    for name in list(asked):
        less = {key: how for key, how in asked.items() if key != name}
        assert before <= set(pairs_of(scheme(columns, less).blocks(len(table), len(release))))
        wider = {**asked, name: data.draw(st.sampled_from(wider_than(asked[name], columns, name)))}
        assert before <= set(pairs_of(scheme(columns, wider).blocks(len(table), len(release))))


def wider_than(how, columns, name):
    """Bins that are made of whole bins of this kind."""
    (column,) = (item for item in columns if item.name == name)
    if not column.is_ordered:
        return [level for level in (0, 1, 2) if how == "exact" or level >= how]
    return [1, 7] if how == "exact" else [how, how * 2, how * 10]


@settings(deadline=None, max_examples=60)
@given(cases(), st.integers(1, 40))
def test_with_too_many_entries_more_is_compared_and_never_less(case, most):
    table, release, columns, asked = case
    result = scheme(columns, asked)
    exact = set(pairs_of(result.blocks(len(table), len(release))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocking, "MOST_ENTRIES", most)
        blocks = result.blocks(len(table), len(release))
        every = np.array(list(itertools.product(range(len(table)), range(len(release)))))
        meeting = [tuple(pair) for pair in every[result.meet(*every.T)].tolist()]
    pairs = pairs_of(blocks)
    assert len(set(pairs)) == len(pairs)
    assert exact <= set(pairs)
    assert pairs == meeting
    entries = sum(len(block.candidates.members) for block in blocks)
    assert entries <= max(most, len(release))


@settings(deadline=None, max_examples=40)
@given(cases())
def test_chunks_and_tables_of_labels_change_nothing(case):
    table, release, columns, asked = case
    result = scheme(columns, asked)
    want = pairs_of(result.blocks(len(table), len(release)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocking, "CHUNK", 3)
        patch.setattr(blocking, "MOST_LABELS", 0)
        assert want == pairs_of(result.blocks(len(table), len(release)))


def test_very_many_keys_do_not_overflow():
    rng = np.random.default_rng(1)
    names = [f"q{index}" for index in range(70)]
    frame = pd.DataFrame({name: rng.permutation(12) for name in names})
    frame.iloc[6:] = frame.iloc[:6].to_numpy()
    schema = Schema([Column(name=name, role="quasi", type="number") for name in names])
    table = Table.build(frame, schema)
    for release in (Release.as_it_is(table), in_classes(table, 3), half_suppressed(table)):
        columns = align_columns(table, [release], names)
        asked = dict.fromkeys(names, "exact")
        pairs = pairs_of(scheme(columns, asked).blocks(12, 12))
        assert brute_force(columns, asked) == pairs
    assert 6 == len(scheme(columns, asked).sizes())


def test_a_control_table_is_attacked_in_bins_of_its_own():
    table, control = table_of([5, 50, 95]), table_of([5, 33, 200])
    column = paired(table, ["[30, 60]", "34", "*"], control)
    blocks = scheme([column], {"x": 10}).blocks(3, 3, attacked=2)
    # 33 is in a bin that the original lacks; 200 is covered by nothing but the star.
    assert [(0, 2), (1, 0), (1, 1), (1, 2), (2, 2)] == pairs_of(blocks)
    assert brute_force([column], {"x": 10}, attacked=2) == pairs_of(blocks)


def test_without_keys_everybody_is_compared():
    table = mixed_table(4, 2, seed=0)
    release = in_classes(table).take(np.arange(3))
    columns = align_columns(table, [release], table.schema.quasi)
    for none in (scheme(columns, []), Scheme(())):
        assert "none: all pairs are compared" == none.words
        (blocks,) = none.blocks(4, 3)
        assert list(itertools.product(range(4), range(3))) == pairs_of([blocks])
        assert none.meet(np.arange(3), np.arange(3)).all()
    assert [0, 0, 0, 0] == scheme(columns, []).labels().tolist()
    assert [4] == scheme(columns, []).sizes().tolist()


def test_an_empty_release_is_in_no_block():
    table = mixed_table(5, 2, seed=0)
    release = in_classes(table).take(np.empty(0, np.int64))
    columns = align_columns(table, [release], table.schema.quasi)
    for asked in ([], ["q0"], ["q0", "q1"]):
        result = scheme(columns, asked)
        assert [] == pairs_of(result.blocks(5, 0))
        assert 5 == result.sizes().sum()


# --- bins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([18, 80], "x by 10"),
        ([0, 1], "x by 0.2"),
        ([0, 8000], "x by 1000"),
        ([0, 8001], "x by 2000"),
        ([-1e300, 1e300], "x by 5e+299"),
        ([7, 7], "x exactly"),
        ([None, None], "x exactly"),
    ],
)
def test_bins_have_widths_that_people_use(cells, words):
    key = key_of(paired(table_of(cells), [None]), "auto")
    assert words == key.words


def test_there_are_at_most_nine_bins_of_values():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        cells = rng.normal(rng.normal(), 10.0 ** rng.integers(-5, 5), 500)
        key = key_of(paired(table_of(cells), [None]), "auto")
        assert 4 <= len(np.unique(key.of_records())) <= blocking.BINS + 1


def test_widths_of_moments_are_days():
    days = paired(table_of(["2020-01-01", "2020-01-07", "2020-01-20"], "date"), ["*"])
    assert "x by 10 days" == key_of(days, 10).words
    times = paired(
        table_of(["1970-01-01 23:00:00", "1970-01-02 01:00:00", "1970-01-02 09:00:00"], "time"),
        ["*"],
    )
    key = key_of(times, 1)
    assert "x by 1 days" == key.words
    assert [0, 1, 1] == key.of_records().tolist()


def test_bins_must_have_a_width():
    with pytest.raises(ValueError, match="bins must be wider than 0, not 0"):
        key_of(paired(table_of([1, 2]), ["1"]), 0)


def test_bins_must_not_be_narrower_than_numbers_lie_apart():
    column = paired(table_of([1, 2**52]), ["1"])
    assert 2 == len(set(key_of(column, 1).of_records().tolist()))
    for width in (0.5, 5e-324):
        with pytest.raises(UsageError) as refused:
            key_of(column, width)
        assert f"bins of width {width:g} are too narrow for the values of column 'x'" == str(
            refused.value
        )


def test_levels_of_a_hierarchy_are_bins():
    table = table_of([*"abcde", None], "category", hierarchy=Tree(tree=TREE))
    column = paired(table, ["north", "c", '{"b", "c"}', None])
    auto, leaves, all_ = (key_of(column, how) for how in ("auto", "exact", 9))
    assert ["x at level 1", "x", "x at level 2"] == [key.words for key in (auto, leaves, all_)]
    assert [0, 0, 1, 1, 1, 2] == auto.of_records().tolist()
    assert [3, 6, 2] == [key.bins for key in (auto, leaves, all_)]
    flat = key_of(paired(table_of(list("ab"), "category"), ["a"]), "auto")
    assert ("x", 2) == (flat.words, flat.bins)


def test_labels_are_blocks_of_equal_bins():
    table = mixed_table(40, 4, seed=3, missing=True)
    columns = align_columns(table, [Release.as_it_is(table)], table.schema.quasi)
    result = scheme(columns, {"q0": 3, "q1": 1, "q2": "exact"})
    bins = np.stack([key.of_records() for key in result.keys])
    same = (bins[:, :, None] == bins[:, None, :]).all(axis=0)
    labels = result.labels()
    np.testing.assert_array_equal(same, labels[:, None] == labels)
    assert sorted(np.unique(labels, return_counts=True)[1]) == sorted(result.sizes())


# --- a guessed scheme ----------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(TABLES, st.integers(1, 12))
def test_a_guessed_scheme_takes_keys_while_records_keep_candidates(table, candidates):
    columns = align_columns(table, [Release.as_it_is(table)], table.schema.quasi)
    taken = []
    for column in columns:
        keys = [*taken, key_of(column, "auto")]
        bins = np.stack([key.of_records() for key in keys])
        mates = (bins[:, :, None] == bins[:, None, :]).all(axis=0).sum(axis=1)
        if len(column.axis.values) > 1 and mates.mean() >= candidates:
            taken = keys
    result = guess_scheme(columns, table.schema.quasi, candidates=candidates)
    assert [key.words for key in taken] == [key.words for key in result.keys]
    assert len(table) == result.sizes().sum()
    assert () == guess_scheme(columns, [], candidates=candidates).keys


@given(table=st.builds(mixed_table, st.integers(20, 60), st.just(6), st.integers(0, 99)))
def test_guessed_schemes_share_no_column_while_there_are_others(table):
    release = Release.as_it_is(table)
    columns = align_columns(table, [release], [c.name for c in table.schema])

    first, *more = guess_schemes(columns, table.schema.quasi, candidates=3)

    alone = guess_scheme(columns, table.schema.quasi, candidates=3)
    assert alone.words == first.words
    names = [{key.column.name for key in scheme.keys} for scheme in (first, *more)]
    for one, other in itertools.combinations(names, 2):
        assert set() == one & other


def test_a_further_scheme_with_too_many_candidates_is_none():
    table = mixed_table(60, 6, 1)
    columns = align_columns(table, [Release.as_it_is(table)], [c.name for c in table.schema])

    assert 1 == len(guess_schemes(columns, table.schema.quasi, candidates=3, most=1))
