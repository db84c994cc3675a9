"""New rows in the classes of an earlier release: every row in one, true cells, models that hold.

The oracle reads raw rows and published texts: it knows no axis, no code and no class.
"""

import json
import re

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, PrivacyModel, Release, Schema, Table
from anonloom.data import Regions
from anonloom.errors import DataError
from anonloom.hierarchies import Calendar, Prefix, Quantiles, Tree, Widths
from anonloom_cli import main
from anonloom_loss import nearest_to_rows
from anonloom_replay.transformation import Transformation
from anonloom_runner.published_cells import describe_cells
from anonloom_runner.transformation import describe_axis, describe_column

TOWNS = {"north": {"coast": ["a", "b"], "hills": ["c"]}, "south": ["d", "e"]}
GROUPS = {
    "coast": "ab", "hills": "c", "north": "abc", "south": "de", "*": "abcdefg",
    **{leaf: leaf for leaf in "abcdefg"},
}  # fmt: skip


@attrs.frozen
class AtLeast(PrivacyModel):
    """At least k rows, and two illnesses."""

    k: int
    monotone = True

    @property
    def min_size(self):
        return self.k

    def admits(self, table, rows, starts, stops):
        ill = table.encode_column("ill").codes
        return np.array(
            [
                b - a >= self.k and len(set(ill[rows[a:b]].tolist())) > 1
                for a, b in zip(starts, stops, strict=True)
            ],
            bool,
        )

    def would_pass(self, table, rows, starts, stops):
        return "less"


def schema(number_form: str, town_form: str) -> Schema:
    widths = None if number_form == "interval" else Widths(widths=(5, 10))
    return Schema(
        (
            Column(name="age", role="quasi", type="number", publish=number_form, hierarchy=widths),
            Column(
                name="town",
                role="quasi",
                publish=town_form,
                hierarchy=Tree(tree=TOWNS),
                unknown="own-leaf",
            ),
            Column(name="ill", role="sensitive"),
        )
    )


ROWS = st.tuples(
    st.one_of(st.none(), st.integers(0, 30), st.sampled_from([7.5, 18.25])),
    st.sampled_from("abcdefg"),
    st.sampled_from("xyz"),
)


def built(rows, columns) -> Table:
    frame = pd.DataFrame(rows, columns=["age", "town", "ill"])
    return Table.build(frame.astype({"age": float}), columns)


def partitioned(table: Table, length: int, divides: bool) -> Classes:
    """Runs along the age; with regions, cuts of its codes that leave gaps between values."""
    order = np.argsort(table.codes[0], kind="stable")
    labels = np.empty(len(table), np.int64)
    if divides:
        labels[:] = table.codes[0] // length
    else:
        labels[order] = np.arange(len(table)) // length
    classes = Classes.from_labels(labels)
    if not divides:
        return classes
    cuts = np.unique(labels)
    lo = np.stack([cuts * length, np.zeros(len(cuts), np.int64)], axis=1)
    hi = np.stack(
        [
            np.minimum(cuts * length + length, table.axes[0].size) - 1,
            np.full(len(cuts), table.axes[1].size - 1),
        ],
        axis=1,
    )
    return attrs.evolve(classes, regions=Regions(lo.astype(np.int32), hi.astype(np.int32)))


def released(table: Table, classes: Classes) -> Release:
    lo, hi = classes.extents(table.codes)
    cells = []
    for index, axis in enumerate(table.axes):
        if axis.form == "set":
            some = [np.unique(table.codes[index][classes.members(c)]) for c in range(len(classes))]
            cells.append(axis.publish_sets(some))
        else:
            cells.append(axis.publish(lo[:, index], hi[:, index]))
    return Release.from_cells(table, classes, cells, truthful=True)


def described(table: Table, classes: Classes, public: bool) -> dict | None:
    if public:
        regions = describe_cells(table, released(table, classes))
        if regions is None:
            return None
    else:
        regions = {
            axis.name: describe_axis(axis, index, table, classes)
            for index, axis in enumerate(table.axes)
        }
    return {
        "format": 2,
        "columns": [describe_column(column, table, None) for column in table.schema],
        "privacy": [],
        "suppression": {"at_most": 1.0, "rows": "star", "keep": []},
        "regions": regions,
    }


def covers(cell, value) -> bool:
    """Whether a published text stands for a raw value, read by somebody who knows the tree."""
    missing = isinstance(value, float) and np.isnan(value)
    if isinstance(cell, float) or missing:
        return cell == "*" or (isinstance(cell, float) and missing)
    if cell == "*":
        return True
    if isinstance(value, str):
        members = json.loads(f"[{cell[1:-1]}]") if cell.startswith("{") else GROUPS[cell]
        return value in members
    interval = re.fullmatch(r"\[(.+), (.+)([\])])", cell)
    if interval is None:
        return float(cell) == value
    lo, hi = float(interval[1]), float(interval[2])
    return lo <= value < hi or (value == hi and interval[3] == "]")


@settings(max_examples=60, deadline=None)
@given(
    old=st.lists(ROWS, min_size=4, max_size=30),
    new=st.lists(ROWS, min_size=1, max_size=30),
    length=st.integers(2, 6),
    divides=st.booleans(),
    public=st.booleans(),
    forms=st.tuples(st.sampled_from(["interval", "nodes"]), st.sampled_from(["nodes", "set"])),
    k=st.integers(1, 6),
)
def test_every_new_row_has_a_class_a_true_cell_and_company(
    old, new, length, divides, public, forms, k
):
    columns = schema(*forms)
    table = built(old, columns)
    data = described(table, partitioned(table, length, divides), public)
    # Where every class shows nothing but `*`, nothing is described in public.
    assume(data is not None)
    replay = Transformation.read(json.loads(json.dumps(data)))
    rows = built(new, columns)
    result = replay.apply(rows, Guard((AtLeast(k),)))
    release = result.release

    possible = len(new) >= k and len({ill for _, _, ill in new}) > 1
    assert len(new) == len(release)
    assert [possible] * len(new) == (release.classes >= 0).tolist()
    raw = rows.frame[["age", "town"]].to_numpy(object).tolist()
    cells = release.frame[["age", "town"]].astype(object).to_numpy().tolist()
    for person, published in zip(raw, cells, strict=True):
        assert [True, True] == [covers(c, v) for c, v in zip(published, person, strict=True)]
    seen: dict[tuple, list[str]] = {}
    for published, (_, _, ill) in zip(cells, new, strict=True):
        if published != ["*", "*"]:
            seen.setdefault(tuple(map(str, published)), []).append(ill)
    assert all(len(ills) >= k and len(set(ills)) > 1 for ills in seen.values())


@settings(max_examples=25, deadline=None)
@given(
    old=st.lists(ROWS, min_size=4, max_size=30),
    length=st.integers(2, 6),
    forms=st.tuples(st.sampled_from(["interval", "nodes"]), st.sampled_from(["nodes", "set"])),
)
def test_the_same_rows_in_regions_get_the_same_cells(old, length, forms):
    columns = schema(*forms)
    table = built(old, columns)
    classes = partitioned(table, length, divides=True)
    replay = Transformation.read(json.loads(json.dumps(described(table, classes, public=False))))
    result = replay.apply(built(old, columns))

    first, again = (
        release.frame[["age", "town"]].astype(object).map(str).to_numpy().tolist()
        for release in (released(table, classes), result.release)
    )
    assert first == again
    assert 0 == result.outside


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 150),
    company=st.sampled_from([1, 5, 10]),
    form=st.sampled_from(["nodes", "set"]),
)
def test_a_row_joins_the_class_that_it_extends_least(seed, count, company, form):
    """Against the cost of every class, also where most blocks stay closed."""
    rng = np.random.default_rng(seed)
    rows = [
        (None if rng.random() < 0.1 else int(rng.integers(0, 40)), rng.choice(list("abcdefg")), "x")
        for _ in range(count + 60)
    ]
    table = built(rows, schema("interval", form))
    pairs = rng.integers(0, len(table), (2, count))
    lo, hi = table.codes[:, pairs].min(axis=1), table.codes[:, pairs].max(axis=1)
    codes = table.codes[:, :20]
    result = nearest_to_rows(table.axes, codes, lo, hi, company)

    def losses(first, last):
        of_axes = zip(table.axes, first, last, strict=True)
        return sum(axis.loss(*ends) for axis, *ends in of_axes)

    for row, chosen in zip(codes.T[:, :, None], result, strict=True):
        joined = losses(np.minimum(row, lo), np.maximum(row, hi))
        costs = joined + company * (joined - losses(lo, hi))
        assert costs[chosen] <= costs.min() + 1e-9


BUILDERS = {
    "widths": (Widths(widths=(10, 50)), "number", [123.25, 127.5, 131.75, 160.5, 171.25, 188.5]),
    "quantiles": (Quantiles(groups=(4, 2)), "number", [123.25, 127.5, 131.75, 160.5, 171.25, 188.5]),
    "calendar": (
        Calendar(),
        "time",
        ["2021-03-04 05:06:07", "2021-03-09 11:12:13", "2021-04-30 21:22:23",
         "2022-11-12 13:14:15", "2022-11-13 23:24:25", "2022-12-14 01:02:03"],
    ),
    "prefix": (Prefix(keep=(3, 2)), "category", ["12345", "12367", "12399", "45678", "45612", "45699"]),
    "tree": (
        Tree(tree={"g": ["p1", "zz1", "zz2", "zz3"], "h": ["p2", "zz4", "zz5", "zz6"]}),
        "category",
        ["zz1", "zz2", "zz3", "zz4", "zz5", "zz6"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BUILDERS)
def test_a_public_transformation_holds_no_value_that_the_release_does_not_show(
    clinic, monkeypatch, name
):
    """Two classes of three, published as groups: none of the six values is in the file."""
    source, type_, values = BUILDERS[name]
    columns = Schema(
        (
            Column(name="it", role="quasi", type=type_, publish="nodes", hierarchy=source),
            Column(name="ill", role="sensitive"),
        )
    )
    table = Table.build(pd.DataFrame({"it": values, "ill": list("xyxyxy")}), columns)
    classes = Classes.from_labels(np.array([0, 0, 0, 1, 1, 1]))
    classes = attrs.evolve(
        classes,
        regions=Regions(np.array([[0], [3]], np.int32), np.array([[2], [5]], np.int32)),
    )
    release = released(table, classes)
    regions = describe_cells(table, release)
    column = describe_column(columns["it"], table, release)
    text = json.dumps({"regions": regions, "column": column})
    if name == "tree":
        # Leaves are the tree's: the pipeline file holds them. The classes do not.
        text = json.dumps(regions)
        assert '"p1"' in text

    shown = set(release.frame["it"])
    assert [] == [value for value in values if str(value) in text and str(value) not in shown]
    data = {
        "format": 2,
        "columns": [column, describe_column(columns["ill"], table, release)],
        "privacy": [],
        "suppression": {"at_most": 0.0, "rows": "star", "keep": []},
        "regions": regions,
    }
    replay = Transformation.read(json.loads(json.dumps(data)))
    again = replay.apply(Table.build(pd.DataFrame({"it": values, "ill": "x"}), replay.schema))
    assert release.frame["it"].tolist() == again.release.frame["it"].tolist()


@pytest.fixture
def shop(shop):
    """The clinic, where rows without a sex are suppressed."""
    shop.change("sex: {role: quasi}", "sex: {role: quasi, missing: suppress}")
    return shop


def apply(frame, *options):
    frame.to_csv("new.csv", index=False)
    return main(["apply", "out/private/transformation.json", "new.csv", "--to", "again", *options])


def thousand(clinic) -> pd.DataFrame:
    """Ten people of the clinic, and 990 of whom a quasi-identifier is missing."""
    frame = pd.read_csv(clinic.folder / "clinic.csv").iloc[:10]
    return pd.concat([frame, *[frame.assign(sex=None)] * 99])


def test_apply_says_what_became_of_every_row(shop, capsys):
    shop.change("privacy:", "suppression: {at_most: 0.995}\nprivacy:")
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    frame = thousand(shop)
    frame.iloc[0, frame.columns.get_loc("age")] = 99

    assert 0 == apply(frame)
    assert (
        "again: 10 of 1000 rows published\n"
        "  verdict: green\n"
        "  size (k: 3) holds in 3 classes\n"
        "  not covered: Columns that are published as they are: 'bill'.\n"
        "  not covered: Sensitive values of which no privacy model speaks: 'illness'. A group may "
        "share one.\n"
        "  not covered: What somebody knows besides the quasi-identifiers, and whether the roles of "
        "the columns were chosen rightly.\n"
        "  not covered: Other releases about the same persons: two of them can be intersected.\n"
        "  suppressed 990 rows (99.00%): 990 starred, 0 dropped\n"
        "  new rows reached 3 of 3 regions, which gave 3 classes\n"
        "  outside every region: 1 row, published in the nearest class\n"
        "  loss (GCP) 0.9965\n"
        "release: again/public\n" == capsys.readouterr().out
    )
    report = json.loads((shop.folder / "again/public/report.json").read_text())
    assert (1000, 10, 990, 0) == tuple(
        report["summary"][name] for name in ("rows_in", "rows_out", "suppressed", "dropped")
    )
    release = pd.read_csv(shop.folder / "again/public/release.csv", dtype=str)
    starred = release[release["age"] == "*"]
    assert 990 == len(starred)
    assert [0, 0] == starred[["illness", "bill"]].count().tolist()


def test_apply_refuses_above_the_declared_limit_and_writes_nothing(shop, capsys):
    shop.change("privacy:", "suppression: {at_most: 0.02}\nprivacy:")
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()

    assert 3 == apply(thousand(shop))
    assert (
        "anonloom: the release is not published: 990 of 1000 rows are suppressed (99.00%), more "
        "than 'suppression: at_most' allows (2.00%)\n"
        "    Nothing was written. 'suppression: {at_most: 0.99}' would pass.\n"
        == capsys.readouterr().err
    )
    assert ["clinic.csv", "new.csv", "out", "pipeline.yaml"] == shop.file_names()
    assert 0 == apply(thousand(shop), "--suppress-at-most", "0.99")


def test_apply_follows_the_earlier_rule_for_starred_rows(shop, capsys):
    """What a starred row keeps, and whether it is there at all, is declared once."""
    shop.change("privacy:", "suppression: {at_most: 1, keep: [bill]}\nprivacy:")
    main(["run", "pipeline.yaml", "--quiet"])
    assert 0 == apply(thousand(shop))
    release = pd.read_csv(shop.folder / "again/public/release.csv", dtype=str)
    starred = release[release["age"] == "*"]
    assert [0, 990] == starred[["illness", "bill"]].count().tolist()

    shop.change("keep: [bill]", "rows: drop")
    main(["run", "pipeline.yaml", "--quiet", "--replace"])
    capsys.readouterr()
    assert 0 == apply(thousand(shop), "--replace")
    assert "  suppressed 990 rows (99.00%): 0 starred, 990 dropped\n" in capsys.readouterr().out
    assert 10 == len(pd.read_csv(shop.folder / "again/public/release.csv"))


@pytest.mark.parametrize(
    "values", [[{}], [[1]], ["x"], [True], [1e400], [float("nan")], None, 7, [10**400]]
)
def test_odd_values_of_a_region_are_refused(clinic, values):
    clinic.pipeline().publish()
    saved = json.loads((clinic.out / "private" / "transformation.json").read_text())
    saved["regions"]["age"]["values"] = values if not isinstance(values, list) else values * 9
    with pytest.raises(DataError) as refused:
        Transformation.read(saved)

    assert str(refused.value).startswith("the transformation is damaged (")


def test_a_file_whose_starred_rows_keep_what_is_judged_is_refused(shop, capsys):
    shop.change("  - size: {k: 3}\n", "  - two-values: {of: bill}\n")
    main(["run", "pipeline.yaml", "--quiet"])
    path = shop.out / "private" / "transformation.json"
    saved = json.loads(path.read_text())
    saved["suppression"]["keep"] = ["bill"]
    path.write_text(json.dumps(saved))
    capsys.readouterr()

    assert 4 == apply(pd.read_csv("clinic.csv"))
    assert (
        "anonloom: the transformation is damaged: starred rows would keep what is judged\n"
        == capsys.readouterr().err
    )
