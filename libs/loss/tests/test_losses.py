"""The loss that is read from a release is the loss that was foreseen when it was made."""

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Classes, Column, Release, Schema, Table
from anonloom.data import Regions
from anonloom.hierarchies import Tree
from anonloom_loss import (
    changed_columns,
    class_losses,
    column_losses,
    gcp,
    release_gcp,
    release_losses,
)


def publish(table: Table, classes: Classes) -> Release:
    """Publish every class as its axes say."""
    lo, hi = classes.extents(table.codes)
    cells = []
    for index, axis in enumerate(table.axes):
        if axis.form == "set":
            members = [
                np.unique(table.codes[index][classes.members(c)]) for c in range(len(classes))
            ]
            cells.append(axis.publish_sets(members))
        else:
            cells.append(axis.publish(lo[:, index], hi[:, index]))
    return Release.from_cells(table, classes, cells, truthful=True)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, Classes]:
    """Tables of a number, a flat and a deep category in any form, with missing values."""
    n = draw(st.integers(1, 30))
    numbers = st.one_of(st.none(), st.integers(-3, 9), st.just(2.5))
    letters = st.one_of(st.none(), st.sampled_from("abcd"))
    frame = pd.DataFrame(
        {
            "age": pd.Series(draw(st.lists(numbers, min_size=n, max_size=n)), dtype=float),
            "job": pd.Series(draw(st.lists(letters, min_size=n, max_size=n)), dtype=object),
            "zip": pd.Series(draw(st.lists(letters, min_size=n, max_size=n)), dtype=object),
        }
    )
    tree = Tree(tree={"x": ["a", "b"], "y": ["c", "d"]})
    weight = draw(st.sampled_from([1.0, 2.5]))
    schema = Schema(
        [
            Column(
                name="age",
                role="quasi",
                type="number",
                weight=weight,
                publish=draw(st.sampled_from(["interval", "set"])),
            ),
            Column(name="job", role="quasi", publish=draw(st.sampled_from(["nodes", "set"]))),
            Column(name="zip", role="quasi", hierarchy=tree),
        ]
    )
    labels = draw(st.lists(st.integers(-1, 4), min_size=n, max_size=n))
    return Table.build(frame, schema), Classes.from_labels(np.array(labels))


def recoded(table: Table, levels: list[int], suppressed: set[int]) -> Classes:
    """Recode every axis to one level of its hierarchy: one class per combination of nodes."""
    ends = []
    for axis, codes, level in zip(table.axes, table.codes, levels, strict=True):
        nodes = axis.hierarchy.ancestors[level] if axis.hierarchy and axis.value_count else None
        own = np.minimum(codes, max(axis.value_count - 1, 0))
        first = codes if nodes is None else axis.hierarchy.first[nodes[own]]
        last = codes if nodes is None else axis.hierarchy.last[nodes[own]]
        absent = codes == axis.missing
        ends.append((np.where(absent, codes, first), np.where(absent, codes, last)))
    boxes = np.stack([end for pair in ends for end in pair])
    labels = np.unique(boxes, axis=1, return_inverse=True)[1].reshape(-1)
    labels[sorted(suppressed)] = -1
    labels[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)[1]
    classes = Classes.from_labels(labels)
    of_class = boxes[:, classes.rows[classes.starts]].astype(np.int32)
    regions = Regions(of_class[0::2].T, of_class[1::2].T, np.tile(levels, (len(classes), 1)))
    return attrs.evolve(classes, regions=regions, global_recoding=True)


def publish_regions(table: Table, classes: Classes) -> Release:
    lo, hi, level = classes.regions.lo, classes.regions.hi, classes.regions.level
    cells = [
        axis.publish(lo[:, index], hi[:, index], level[:, index])
        for index, axis in enumerate(table.axes)
    ]
    return Release.from_cells(table, classes, cells, truthful=True)


@given(tables(), st.data())
def test_a_global_recoding_loses_what_its_regions_lose(
    case: tuple[Table, Classes], data: st.DataObject
) -> None:
    table, _ = case
    depths = [axis.hierarchy.depth if axis.hierarchy else 1 for axis in table.axes]
    levels = [data.draw(st.integers(0, depth - 1)) for depth in depths]
    out = data.draw(st.sets(st.integers(0, len(table) - 1), max_size=3))
    classes = recoded(table, levels, out)
    assert gcp(table, classes) == pytest.approx(release_gcp(table, publish_regions(table, classes)))

    some = np.array(data.draw(st.lists(st.booleans(), min_size=20, max_size=20)))
    fewer = classes.suppress(np.resize(some, len(classes)))
    assert fewer.global_recoding
    assert gcp(table, fewer) == pytest.approx(release_gcp(table, publish_regions(table, fewer)))


@given(tables())
def test_what_is_read_from_the_cells_is_what_the_classes_were_to_lose(
    case: tuple[Table, Classes],
) -> None:
    table, classes = case
    release = publish(table, classes)
    foreseen = np.ones((len(table.axes), len(table)))
    labels = classes.labels(len(table))
    kept = labels >= 0
    foreseen[:, kept] = class_losses(table, classes)[labels[kept]].T
    assert foreseen == pytest.approx(release_losses(table, release))
    assert gcp(table, classes) == pytest.approx(release_gcp(table, release))
    means = {axis.name: mean for axis, mean in zip(table.axes, foreseen.mean(axis=1), strict=True)}
    assert means == pytest.approx(column_losses(table, release))


@pytest.fixture
def clinic() -> Table:
    frame = pd.DataFrame({"age": [10, 20, 30, 60], "job": ["a", "b", "c", "d"]})
    return Table.build(
        frame,
        Schema([Column(name="age", role="quasi", type="number"), Column(name="job", role="quasi")]),
    )


def released(table: Table, **columns: list[object]) -> Release:
    return Release(schema=table.schema, frame=pd.DataFrame(columns))


def test_an_interval_loses_its_width_and_a_star_everything(clinic: Table) -> None:
    release = released(clinic, age=["[10, 20]", "[10, 20]", "30", "*"], job=["a", "*", "*", "*"])
    assert {"age": pytest.approx((0.2 + 0.2 + 0 + 1) / 4), "job": 0.75} == column_losses(
        clinic, release
    )


def test_a_row_that_is_kept_out_loses_everything(clinic: Table) -> None:
    release = attrs.evolve(released(clinic, age=["10"], job=["a"]), dropped=3)
    assert {"age": 0.75, "job": 0.75} == column_losses(clinic, release)
    assert 0.75 == release_gcp(clinic, release)


def test_a_column_that_is_not_published_loses_everything(clinic: Table) -> None:
    release = released(clinic, age=["10", "20", "30", "60"])
    assert {"age": 0.0, "job": 1.0} == column_losses(clinic, release)


def test_a_column_that_no_model_guards_loses_nothing(clinic: Table) -> None:
    frame = pd.DataFrame({"age": [10.0, 20.0, 30.0, 60.0], "job": ["*", "*", "*", "*"]})
    release = Release(schema=clinic.schema.restrict_quasi(("job",)), frame=frame)
    assert {"age": 0.0, "job": 1.0} == column_losses(clinic, release)


def test_numbers_that_a_reader_of_files_made_of_cells_are_cells(clinic: Table) -> None:
    release = released(clinic, age=[10.0, 20.0, 30.0, 60.0], job=["a", "b", "c", "d"])
    assert {"age": 0.0, "job": 0.0} == column_losses(clinic, release)


def test_a_cell_that_cannot_be_read_tells_nothing(clinic: Table) -> None:
    release = released(clinic, age=["10", "young", None, "60"], job=["a", "b", "c", "nurse"])
    assert {"age": 0.5, "job": 0.25} == column_losses(clinic, release)


def test_a_centroid_between_the_values_is_a_single_value(clinic: Table) -> None:
    release = released(clinic, age=["15", "15", "45", "45"], job=["a", "b", "c", "d"])
    assert {"age": 0.0, "job": 0.0} == column_losses(clinic, release)


def test_a_column_whose_values_were_changed_has_no_loss(clinic: Table) -> None:
    """A centroid is as narrow as what it replaces: its width would say that nothing was lost."""
    cells = released(
        clinic, age=["15", "15", "45", "45"], job=['{"a", "b"}', '{"a", "b"}', "c", "d"]
    )
    release = attrs.evolve(cells, truthful=False, origin=np.arange(4))
    assert ("age",) == changed_columns(clinic, release)
    assert {"age": None, "job": pytest.approx(0.25)} == column_losses(clinic, release)
    assert release_gcp(clinic, release) is None


def test_a_column_that_an_untruthful_method_left_alone_keeps_its_loss(clinic: Table) -> None:
    cells = released(clinic, age=["10", "[10, 20]", "*", "60"], job=["a", "b", "c", "d"])
    release = attrs.evolve(cells, truthful=False, origin=np.arange(4))
    assert () == changed_columns(clinic, release)
    assert 0.15 == pytest.approx(release_gcp(clinic, release))


@pytest.mark.parametrize(
    ("job", "changed"),
    [("b", ("job",)), ('{"b", "c"}', ("job",)), ("nurse", ("job",)), ('{"a", "b"}', ()), ("*", ())],
)
def test_a_cell_covers_the_value_that_it_replaces_or_was_changed(
    clinic: Table, job: str, changed: tuple[str, ...]
) -> None:
    cells = released(clinic, age=["10", "20", "30", "60"], job=[job, "b", "c", "d"])
    release = attrs.evolve(cells, truthful=False, origin=np.arange(4))
    assert changed == changed_columns(clinic, release)


def test_of_rows_that_are_nobodys_no_loss_is_measured(clinic: Table) -> None:
    synthetic = attrs.evolve(released(clinic, age=["10", "20"], job=["a", "b"]), truthful=False)
    assert ("age", "job") == changed_columns(clinic, synthetic)
    without = attrs.evolve(released(clinic, age=["10", "20"]), truthful=False)
    assert {"age": None, "job": 1.0} == column_losses(clinic, without)


def test_weights_weigh_columns_in_the_mean_of_all() -> None:
    frame = pd.DataFrame({"age": [0, 100], "job": ["a", "b"]})
    table = Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number", weight=3.0),
                Column(name="job", role="quasi"),
            ]
        ),
    )
    release = released(table, age=["*", "*"], job=["a", "b"])
    assert 0.75 == release_gcp(table, release)


def test_without_quasi_identifiers_nothing_is_lost() -> None:
    table = Table.build(pd.DataFrame({"job": ["a"]}), Schema([Column(name="job", role="other")]))
    assert 0.0 == release_gcp(table, Release.as_it_is(table))
    assert {} == column_losses(table, Release.as_it_is(table))
