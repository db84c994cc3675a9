"""A row whose quasi-identifiers are all `*` says nothing else, however it came to be starred."""

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, PrivacyModel, Release, Schema, Table
from anonloom._spec.model import Suppression
from anonloom.errors import PrivacyError, SpecError
from anonloom_runner import check
from anonloom_runner.suppression import settle

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number"),
        Column(name="sex", role="quasi"),
        Column(name="illness", role="sensitive", missing="refuse"),
        Column(name="bill", role="other", type="number"),
        Column(name="outcome", role="label"),
        Column(name="paid", role="other"),
        Column(name="number", role="identifier", pseudonymize=True),
    )
)


def table(count: int) -> Table:
    numbers = np.arange(count)
    frame = pd.DataFrame(
        {
            "age": 20 + numbers,
            "sex": np.where(numbers % 2, "f", "m"),
            "illness": [f"illness {number % 3}" for number in numbers],
            "bill": numbers * 10,
            "outcome": numbers % 4,
            "paid": numbers % 2 == 0,
            "number": numbers,
        }
    )
    return Table.build(frame, SCHEMA)


def published(labels: list[int]) -> Release:
    """Rows of these classes; -1 is suppressed."""
    original = table(len(labels))
    classes = Classes.from_labels(np.array(labels))
    lo, hi = classes.extents(original.codes)
    cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(original.axes)]
    return Release.from_cells(original, classes, cells, truthful=True)


def as_rows(frame: pd.DataFrame) -> list[list[str | None]]:
    """Return cells as texts, None for missing, as a file would have them."""
    return [
        [None if pd.isna(cell) else str(cell) for cell in row]
        for row in frame.astype(object).to_numpy().tolist()
    ]


@settings(max_examples=25)
@given(
    st.lists(st.integers(-1, 2), min_size=1, max_size=12),
    st.sets(st.sampled_from(["bill", "outcome", "paid"])),
)
def test_starred_rows_keep_what_is_listed_and_other_rows_keep_everything(labels, keep):
    release = published(labels)
    before, names = as_rows(release.frame), list(release.frame.columns)
    after = as_rows(settle(release, Suppression(keep=tuple(sorted(keep)))).frame)

    for old, new in zip(before, after, strict=True):
        starred = old[:2] == ["*", "*"]
        expected = [
            cell if not starred or name in {"age", "sex", *keep} else None
            for name, cell in zip(names, old, strict=True)
        ]
        assert expected == new


@settings(max_examples=25)
@given(st.lists(st.integers(-1, 1), min_size=1, max_size=8), st.data())
def test_the_final_check_refuses_a_starred_row_that_still_says_something(labels, data):
    release = settle(published(labels), Suppression())
    check.refuse_telling_stars(release, ())
    starred = np.flatnonzero(release.suppressed_rows)
    if not len(starred):
        return
    row = data.draw(st.sampled_from(starred.tolist()))
    name = data.draw(st.sampled_from(["illness", "bill", "outcome", "number"]))
    frame = release.frame.astype({name: object})
    frame.loc[row, name] = 7
    leaking = attrs.evolve(release, frame=frame)
    with pytest.raises(PrivacyError) as refused:
        check.refuse_telling_stars(leaking, ())

    assert (
        f"the release is not published: 1 suppressed row of {len(starred)} still has values of "
        f"'{name}'\n"
        "    Nothing was written. A row whose quasi-identifiers are all '*' loses every other value "
        "that 'suppression: keep' does not name." == str(refused.value)
    )
    check.refuse_telling_stars(leaking, (name,))


@settings(max_examples=50)
@given(
    st.lists(st.tuples(*[st.sampled_from(["*", "1", None])] * 3), min_size=1, max_size=8),
    st.sampled_from(["category", "str", object]),
)
def test_stars_are_found_whatever_columns_are_made_of(rows, dtype):
    release = published([0] * len(rows))
    frame = release.frame.assign(
        age=pd.Series([row[0] for row in rows], dtype=dtype),
        sex=pd.Series([row[1] for row in rows], dtype=object),
        illness=pd.Series([row[2] for row in rows], dtype=object),
    )
    release = attrs.evolve(release, frame=frame[["age", "sex", "illness"]])
    starred = [row for row in rows if row[:2] == ("*", "*")]
    telling = [row for row in starred if row[2] is not None]
    try:
        check.refuse_telling_stars(release, ())
        found = ""
    except PrivacyError as refused:
        found = str(refused).split("\n")[0]

    count, row, has = len(telling), *(("row", "has") if len(telling) == 1 else ("rows", "have"))
    expected = (
        f"the release is not published: {count} suppressed {row} of {len(starred)} still {has} "
        "values of 'illness'"
    )
    assert (expected if telling else "") == found


@attrs.frozen
class LikeTheTable(PrivacyModel):
    """Admits classes whose share of the first value is that of the table."""

    of: str
    monotone = False

    def admits(self, table, rows, starts, stops):
        first = table.encode_column(self.of).codes == 0
        return np.array(
            [
                abs(first[rows[a:b]].mean() - first.mean()) < 0.01
                for a, b in zip(starts, stops, strict=True)
            ],
            bool,
        )

    def would_pass(self, table, rows, starts, stops):
        return "nothing"


def test_classes_are_compared_with_published_rows_only():
    """Twelve rows, a third of each illness; with the starred ones the shares would differ."""
    labels = [0, 0, 0, 0, 0, 0, 1, 1, 1, -1, 1, 1, 1]
    release = published(labels)
    frame = release.frame.assign(illness=list("abcabc" + "abc" + "a" + "abc"))
    release = attrs.evolve(release, frame=frame)
    models = (("like", LikeTheTable("illness")),)

    assert [True] == [verdict.holds for verdict in check.judge_models(release, models)]
    assert [False] == [
        verdict.holds for verdict in check.judge_models(release, models, among_starred=True)
    ]


def starred_of(clinic):
    """The starred rows of the file that was published, as texts."""
    release = pd.read_csv(clinic.out / "public" / "release.csv", dtype=str, keep_default_na=False)
    return release[(release["age"] == "*") & (release["sex"] == "*")]


@pytest.fixture
def suppressing(clinic):
    clinic.change(
        "  - generalizer: as-declared\n", "  - outliers: first-out\n  - generalizer: as-declared\n"
    )
    clinic.change("privacy:", "suppression: {at_most: 0.5}\nprivacy:")
    return clinic


def test_a_run_publishes_starred_rows_without_any_value(suppressing):
    report = suppressing.pipeline().publish().report

    assert [["*", "*", "", ""]] * 4 == starred_of(suppressing).to_numpy().tolist()
    summary = report["summary"]
    assert (12, 8, 4, 0) == tuple(
        summary[name] for name in ("rows_in", "rows_out", "suppressed", "dropped")
    )
    text = (suppressing.out / "public" / "report.txt").read_text()
    assert "clinic: 8 of 12 rows published\n" in text
    assert "  suppressed 4 rows (33.33%): 4 starred, 0 dropped\n" in text


def test_a_run_keeps_what_the_pipeline_lists(suppressing):
    suppressing.change("{at_most: 0.5}", "{at_most: 0.5, keep: [bill]}")
    suppressing.pipeline().publish()
    starred = starred_of(suppressing)

    assert [""] * 4 == starred["illness"].tolist()
    assert sorted(["200", "120", "230", "100"]) == sorted(starred["bill"])


def test_dropped_rows_are_not_published_either(suppressing):
    suppressing.change("{at_most: 0.5}", "{at_most: 0.5, rows: drop}")
    report = suppressing.pipeline().publish().report

    assert (8, 0, 4) == tuple(
        report["summary"][name] for name in ("rows_out", "suppressed", "dropped")
    )
    text = (suppressing.out / "public" / "report.txt").read_text()
    assert "  suppressed 4 rows (33.33%): 0 starred, 4 dropped\n" in text


def test_a_quasi_identifier_that_no_model_speaks_of_is_lost_too(suppressing, monkeypatch):
    size = type(suppressing.pipeline().spec.privacy[0].method)
    monkeypatch.setattr(size, "combinations", lambda self, schema: (("age",),))
    suppressing.pipeline().publish()
    release = pd.read_csv(
        suppressing.out / "public" / "release.csv", dtype=str, keep_default_na=False
    )

    starred = release[release["age"] == "*"]
    assert [["*", "", "", ""]] * 4 == starred.to_numpy().tolist()


def test_a_class_that_is_withheld_after_sampling_loses_its_values(clinic):
    clinic.change(
        "  - generalizer: as-declared\n", "  - generalizer: as-declared\n  - sampler: first-half\n"
    )
    clinic.change("  - size: {k: 3}\n", "  - two-values: {of: illness}\n")
    clinic.change("privacy:", "suppression: {at_most: 0.5}\nprivacy:")
    frame = pd.read_csv(clinic.folder / "clinic.csv").sort_values("age")
    frame.assign(illness=["flu", "flu", "flu", "cold"] + ["flu", "cold"] * 4).to_csv(
        clinic.folder / "clinic.csv", index=False
    )
    report = clinic.pipeline().publish().report

    assert [["*", "*", "", ""]] * 2 == starred_of(clinic).to_numpy().tolist()
    assert (4, 2) == (report["summary"]["rows_out"], report["summary"]["suppressed"])


def test_a_collector_that_hands_over_stars_with_values_publishes_none(suppressing):
    suppressing.change("stages:\n", "collect: courier\nstages:\n")
    suppressing.pipeline().publish()

    assert [["*", "*", "", ""]] * 4 == starred_of(suppressing).to_numpy().tolist()


def test_classes_that_suppression_undid_are_withheld_within_the_limit(suppressing, monkeypatch):
    """Without the first class flu is rarer, and the second one has too much of it: no fault."""

    def a_fifth_more_at_most(self, table, rows, starts, stops):
        flu = table.column(self.of).to_numpy() == "flu"
        return np.array(
            [flu[rows[a:b]].mean() <= flu.mean() + 0.2 for a, b in zip(starts, stops, strict=True)]
        )

    model = suppressing.registry.load("privacy", "two-values")
    monkeypatch.setattr(model, "admits", a_fifth_more_at_most)
    suppressing.change("  - size: {k: 3}\n", "  - two-values: {of: illness}\n")
    frame = pd.read_csv(suppressing.folder / "clinic.csv").sort_values("age")
    ill = ["flu", "flu", "cold"] * 2 + ["flu", "cold", "cold"] * 2
    frame.assign(illness=ill).to_csv(suppressing.folder / "clinic.csv", index=False)
    report = suppressing.pipeline("stages.partitioner.length=3").publish().report

    assert (6, 6) == (report["summary"]["rows_out"], report["summary"]["suppressed"])
    suppressing.change("{at_most: 0.5}", "{at_most: 0.3}")
    with pytest.raises(PrivacyError) as refused:
        suppressing.pipeline("stages.partitioner.length=3").run()
    assert (
        "the release is not published: 6 of 12 rows are suppressed (50.00%), more than "
        "'suppression: at_most' allows (30.00%)\n"
        "    Nothing was written. 'suppression: {at_most: 0.5}' would pass." == str(refused.value)
    )


def test_what_a_model_judges_is_never_kept(suppressing):
    suppressing.change("{at_most: 0.5}", "{at_most: 0.5, keep: [bill]}")
    suppressing.change("  - size: {k: 3}\n", "  - two-values: {of: bill}\n")
    with pytest.raises(SpecError) as refused:
        suppressing.pipeline()

    assert (
        "suppression.keep[0]: a starred row cannot keep 'bill', of which two-values speaks\n"
        "    suppression: {at_most: 0.5, keep: [bill]}\n"
        "                                       ^\n"
        "    a starred row can keep: nothing" == str(refused.value).partition(": ")[2]
    )
