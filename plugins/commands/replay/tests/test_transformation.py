"""Replaying regions on new rows, under the same final check."""

import json
from collections import Counter

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Classes, Column, Schema, Table
from anonloom.data import Regions
from anonloom.errors import DataError, PrivacyError
from anonloom.hierarchies import Tree
from anonloom.spec import Suppression
from anonloom_replay import regions
from anonloom_replay.publish import apply_file
from anonloom_replay.transformation import Transformation
from anonloom_runner.transformation import describe_axis


@pytest.fixture
def published(clinic):
    clinic.pipeline().publish()
    return clinic


def replay(clinic, frame, **options):
    path = clinic.folder / "new.csv"
    frame.to_csv(path, index=False)
    return apply_file(
        clinic.out / "private" / "transformation.json",
        path,
        clinic.folder / "applied",
        clinic.registry,
        **options,
    )


def test_the_same_rows_get_the_same_cells(published):
    replay(published, pd.read_csv(published.folder / "clinic.csv"))

    first = pd.read_csv(published.out / "public" / "release.csv")
    second = pd.read_csv(published.folder / "applied" / "public" / "release.csv")
    names = list(first.columns)
    assert sorted(first[names].to_numpy().tolist()) == sorted(second[names].to_numpy().tolist())


@pytest.mark.parametrize("type_", ["date", "time"])
@pytest.mark.parametrize("publish", ["interval", "nodes", "set"])
def test_the_same_moments_get_the_same_cells(clinic, type_, publish):
    frame = pd.read_csv(clinic.folder / "clinic.csv")
    seen = pd.Timestamp("1969-05-01 14:05:00") + pd.to_timedelta(frame["age"] * 617, unit="s")
    frame["seen"] = seen.dt.strftime("%d.%m.%Y %H:%M:%S")
    # A class of its own.
    frame.loc[frame["age"] >= 48, "seen"] = None
    frame.to_csv(clinic.folder / "clinic.csv", index=False)
    options = f"type: {type_}, publish: {publish}, format: '%d.%m.%Y %H:%M:%S'"
    clinic.change("age: {role: quasi, type: number}", f"seen: {{role: quasi, {options}}}")
    clinic.change("partitioner: runs", "partitioner: runs\n    with: {divides: true}")
    clinic.pipeline().publish()
    report = replay(clinic, frame)

    first = pd.read_csv(clinic.out / "public" / "release.csv")
    second = pd.read_csv(clinic.folder / "applied" / "public" / "release.csv")
    assert 0 == report["summary"]["suppressed"]
    assert sorted(map(repr, first.to_numpy().tolist())) == sorted(
        map(repr, second[list(first.columns)].to_numpy().tolist())
    )


@pytest.mark.parametrize("divides", [False, True])
def test_a_row_outside_every_region_is_published_in_the_nearest_class(clinic, divides):
    """The outermost regions reach to the ends; what lies between two goes to the nearer one."""
    options = f"with: {{divides: {str(divides).lower()}}}"
    clinic.change("partitioner: runs", f"partitioner: runs\n    {options}")
    clinic.pipeline().publish()
    frame = pd.read_csv(clinic.folder / "clinic.csv")
    new = frame[frame["sex"] == "f"].iloc[[0, 0, 0]].assign(age=[99, 46, 7])
    report = replay(clinic, pd.concat([frame, new]))

    release = pd.read_csv(clinic.folder / "applied" / "public" / "release.csv")
    assert 3 == report["replay"]["rows_outside"]
    assert (15, 15, 0) == tuple(
        report["summary"][name] for name in ("rows_in", "rows_out", "suppressed")
    )
    assert {"[7, 31]": 5, "[33, 46]": 5, "[48, 99]": 5} == Counter(release["age"])


def test_too_few_new_rows_are_refused_and_nothing_is_written(published):
    frame = pd.read_csv(published.folder / "clinic.csv").iloc[:2]
    with pytest.raises(PrivacyError) as refused:
        replay(published, frame)

    assert (
        "the whole table does not satisfy size: it has 2 usable rows, and k: 2 would pass\n"
        "    Nothing was written. No partition can satisfy what the whole table does not."
        == str(refused.value)
    )
    assert not (published.folder / "applied").exists()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("[", "cannot be read as JSON"),
        ("{}", "this is no transformation of format 2"),
        ('{"format": 1}', "this is no transformation of format 2"),
        (
            '{"format": 2, "columns": [{}], "regions": {}, "privacy": [], "suppression": {}}',
            "the transformation is damaged (InvalidValue)",
        ),
        (
            '{"format": 2, "columns": [], "regions": {}, "privacy": [], '
            '"suppression": {"at_most": 0, "rows": "star", "keep": []}}',
            "the transformation is damaged: it has no quasi-identifier",
        ),
    ],
)
def test_a_damaged_file_is_refused(clinic, content, what):
    path = clinic.folder / "transformation.json"
    path.write_text(content)
    with pytest.raises(DataError) as refused:
        apply_file(path, clinic.folder / "clinic.csv", clinic.out, clinic.registry)

    assert f"{path}: {what}" == str(refused.value)


def test_a_missing_file_is_refused(clinic):
    path = clinic.folder / "transformation.json"
    with pytest.raises(DataError) as refused:
        apply_file(path, clinic.folder / "clinic.csv", clinic.out, clinic.registry)

    assert f"{path}: there is no such file" == str(refused.value)


def test_hierarchies_travel_with_the_transformation(clinic):
    (clinic.folder / "sex.csv").write_text("f;known;*\nm;known;*\nx;other;*\n")
    clinic.change("sex: {role: quasi}", "sex: {role: quasi, hierarchy: sex.csv}")
    clinic.change(
        "age: {role: quasi, type: number}",
        "age: {role: quasi, type: number, hierarchy: {build: quantiles, groups: [4, 2]}}",
    )
    clinic.change("illness: {role: sensitive}", "illness: {role: sensitive}")
    clinic.pipeline().publish()
    (clinic.folder / "sex.csv").unlink()
    report = replay(clinic, pd.read_csv(clinic.folder / "clinic.csv"))

    assert 12 == report["summary"]["rows_out"]
    saved = json.loads((clinic.out / "private" / "transformation.json").read_text())
    assert ["breaks", "rows"] == [c["hierarchy"]["build"] for c in saved["columns"][:2]]


BOXES = st.tuples(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted),
    st.tuples(st.integers(0, 4), st.integers(0, 4)).map(sorted),
)


@given(
    st.lists(BOXES, min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=30),
    st.sampled_from([1, 256]),
)
def test_a_row_belongs_to_the_first_region_that_holds_it(boxes, points, few):
    """Against trying every region in order, also when the space is divided."""

    def holds(box, point):
        return all(lo <= place <= hi for (lo, hi), place in zip(box, point, strict=True))

    expected = [
        next((index for index, box in enumerate(boxes) if holds(box, point)), -1)
        for point in points
    ]
    ends = [
        (np.array([box[axis][0] for box in boxes]), np.array([box[axis][1] for box in boxes]))
        for axis in (0, 1)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions, "_FEW", few)
        assert expected == regions.first_regions(np.array(points, np.int32).T, ends).tolist()


def test_many_regions_are_matched_without_trying_every_pair():
    """Ten thousand disjoint regions and as many points: each point finds its own."""
    places = np.arange(10_000)
    result = regions.first_regions(places[None, :].astype(np.int32), [(places[::-1], places[::-1])])

    assert places[::-1].tolist() == result.tolist()


def test_a_new_row_inside_a_region_widens_what_its_class_publishes(clinic):
    """Regions reach further than the cells that were published; cells stay true."""
    clinic.pipeline().publish()
    frame = pd.read_csv(clinic.folder / "clinic.csv")
    # Twenty-three lies between the youngest two of the first class.
    frame = pd.concat([frame, frame[frame["age"] == 22].assign(age=23)])
    report = replay(clinic, frame)

    release = pd.read_csv(clinic.folder / "applied" / "public" / "release.csv")
    assert 0 == report["summary"]["suppressed"]
    assert 5 == (release["age"] == "[22, 31]").sum()


def test_regions_that_a_method_assigned_hold_new_rows_between_classes(clinic):
    """A region is wider than the class in it; the class publishes its extent, then the new row."""
    schema = Schema((Column(name="n", role="quasi", type="number"),))
    old = Table.build(pd.DataFrame({"n": [1, 2, 8, 9]}), schema)
    classes = Classes.from_labels(np.array([0, 0, 1, 1]))
    classes = attrs.evolve(
        classes, regions=Regions(np.array([[0], [2]], np.int32), np.array([[1], [3]], np.int32))
    )
    data = describe_axis(old.axes[0], 0, old, classes)
    replayed = Transformation(schema, {"n": data}, [], Suppression())
    new = Table.build(pd.DataFrame({"n": [1, 8.5, 5.5, 9]}), schema)
    result = replayed.apply(new)

    assert ["[1, 2]", "[5.5, 9]", "[5.5, 9]", "[5.5, 9]"] == result.release.frame["n"].tolist()
    assert 1 == result.outside


def test_a_global_recoding_holds_leaves_that_never_occurred(clinic):
    """A region that is a node of the hierarchy holds every leaf under it."""
    tree = Tree(tree={"north": ["a", "b"], "south": ["c", "d"]})
    schema = Schema((Column(name="place", role="quasi", hierarchy=tree),))
    old = Table.build(pd.DataFrame({"place": ["a", "c"]}), schema)
    level = np.array([[1], [1]], np.int32)
    ends = np.array([[0], [1]], np.int32)
    classes = attrs.evolve(
        Classes.from_labels(np.array([0, 1])),
        regions=Regions(ends, ends, level),
        global_recoding=True,
    )
    data = describe_axis(old.axes[0], 0, old, classes)
    replayed = Transformation(schema, {"place": data}, [], Suppression())
    result = replayed.apply(Table.build(pd.DataFrame({"place": ["b", "d", "a"]}), schema))

    assert ["north", "south", "north"] == result.release.frame["place"].tolist()
    assert 0 == result.outside


def test_sets_keep_the_members_of_the_earlier_release(clinic):
    clinic.change("sex: {role: quasi}", "sex: {role: quasi, publish: set}")
    clinic.pipeline().publish()
    replay(clinic, pd.read_csv(clinic.folder / "clinic.csv"))

    first = pd.read_csv(clinic.out / "public" / "release.csv")
    second = pd.read_csv(clinic.folder / "applied" / "public" / "release.csv")
    assert sorted(first["sex"]) == sorted(second["sex"])
    assert '{"f", "m"}' in set(second["sex"])


def test_sets_of_a_global_recoding_keep_the_whole_region():
    """The region is published as a set of all its values, though the class has only one of them."""
    schema = Schema((Column(name="place", role="quasi", publish="set"),))
    old = Table.build(pd.DataFrame({"place": ["a", "b", "c"]}), schema)
    lo, hi = np.array([[0], [2]], np.int32), np.array([[1], [2]], np.int32)
    classes = attrs.evolve(
        Classes.from_labels(np.array([0, -1, 1])), regions=Regions(lo, hi), global_recoding=True
    )
    data = describe_axis(old.axes[0], 0, old, classes)
    replayed = Transformation(schema, {"place": data}, [], Suppression())
    result = replayed.apply(Table.build(pd.DataFrame({"place": ["a", "c"]}), schema))

    assert ['{"a", "b"}', "c"] == result.release.frame["place"].tolist()


def test_classes_that_few_new_rows_reach_are_merged_with_the_nearest(published):
    """Their cells are the hull of what both published, and of the new rows."""
    frame = pd.read_csv(published.folder / "clinic.csv").sort_values("age").iloc[:6]
    report = replay(published, frame)

    release = pd.read_csv(published.folder / "applied" / "public" / "release.csv")
    assert (0, 6) == (report["summary"]["suppressed"], report["summary"]["smallest_class"])
    assert {
        "regions": 3,
        "regions_reached": 2,
        "classes": 1,
        "rows_outside": 0,
        "rows_joined": 6,
    } == report["replay"]
    assert {"[22, 45]": 6} == Counter(release["age"])


@pytest.mark.parametrize("place", [-1, 99, "0", None])
def test_places_outside_the_list_of_values_are_refused(published, place):
    path = published.out / "private" / "transformation.json"
    saved = json.loads(path.read_text())
    saved["regions"]["age"]["least"][0] = place
    path.write_text(json.dumps(saved))
    with pytest.raises(DataError) as refused:
        replay(published, pd.read_csv(published.folder / "clinic.csv"))

    assert f"{path}: the transformation is damaged (ValueError)" == str(refused.value)


def test_the_digest_of_the_transformation_stays_private(published):
    replay(published, pd.read_csv(published.folder / "clinic.csv"))
    folder = published.folder / "applied"
    digest = json.loads((folder / "private" / "run.json").read_text())["transformation_digest"]

    assert all(digest not in path.read_text() for path in (folder / "public").glob("*.json"))
