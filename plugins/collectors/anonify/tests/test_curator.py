"""R' is what a trusted curator publishes with the same classes and the same erased records."""

import attrs
import numpy as np
import pandas as pd
import pytest
from anonify_play import Sampled, installed, real, transports
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Pipeline, Registry, Release, StageContext, Table
from anonloom_anonify.collector import Anonify
from anonloom_testing import tables
from anonloom_testing.auditor import publish_classes
from anonloom_testing.privacy_cases import Demand
from anonloom_testing.strategies import samples
from anonloom_testing.transport import Carrier


def drawing(share, size):
    """Return stages that keep a share of every class of this size, drawn with the given seed."""

    class Drawing(Sampled):
        seed = 0

        def with_seed(self, seed):
            other = Drawing()
            other.seed = seed
            return other

        def for_server(self, seed):
            return self.with_seed(seed)

        def sample_mask(self, labels):
            rng, kept = np.random.default_rng(self.seed), np.zeros(len(labels), bool)
            for label in np.unique(labels):
                index = np.flatnonzero(labels == label)
                kept[rng.permutation(index)[: -(-len(index) * share // 4)]] = True
            return kept

    Drawing.size = size
    return Drawing()


def curators(table: Table, labels, rows) -> Release:
    """Publish these rows, which are in these classes; -1 is suppressed."""
    labels = np.asarray(labels, np.int64)
    known = np.flatnonzero(labels >= 0)
    classes = Classes.from_labels(
        labels[known], rows=known, suppressed=np.flatnonzero(labels == -1)
    )
    return publish_classes(table, classes).take(np.asarray(rows, np.int64))


def shown(release: Release) -> list:
    """The cells of a release, row by row in the order of origin."""
    order = np.argsort(release.origin, kind="stable")
    rows = tables.plain(release.frame.take(order).reset_index(drop=True), release.schema)
    return [sorted(row.items(), key=str) for row in rows]


def played(sample, stages, transport, k=1, **more):
    table = Table.build(sample.frame, sample.schema, np.arange(len(sample)))
    asked = {"transport": transport, "min_batch": 1, "min_leave": 1, **more}
    guard = Demand(k=k).guard()
    campaign, donor_data = Anonify(**asked).campaign(table, stages, guard, StageContext(seed=1))
    recipient = campaign.run()
    return table, campaign, donor_data.release(campaign, recipient)


@settings(max_examples=25)
@given(samples(max_rows=25), st.integers(1, 4), st.integers(1, 6), st.integers(1, 3))
def test_the_release_is_the_curators_with_the_same_classes_and_erased_rows(
    sample, share, size, servers
):
    table, campaign, release = played(sample, drawing(share, size), Carrier(), servers=servers)
    numbers = np.array(campaign.numbers, np.int64)
    expected = curators(table, numbers - 1, campaign.owners[1])
    assert shown(expected) == shown(release)
    assert (numbers[campaign.owners[1]] - 1).tolist() == release.classes.tolist()
    # The share of each class, and no other rows than the table's.
    for number in np.unique(numbers):
        kept = int((numbers[campaign.owners[1]] == number).sum())
        assert -(-int((numbers == number).sum()) * share // 4) == kept


@pytest.mark.parametrize(
    "make",
    [
        tables.incomplete_rows,
        tables.missing_values,
        tables.dates_and_bins,
        tables.published_as_sets,
        tables.many_columns,
        tables.all_equal,
        tables.exactly_three,
        tables.one_row,
    ],
)
def test_the_same_of_tables_that_are_difficult(make):
    table, campaign, release = played(make(), drawing(4, 3), Carrier())
    numbers = np.array(campaign.numbers, np.int64)
    assert len(table) == len(release)
    assert shown(curators(table, numbers - 1, campaign.owners[1])) == shown(release)


@pytest.mark.long
@pytest.mark.parametrize("name", transports())
def test_the_same_over_every_transport(name):
    sample = tables.clinic(40)
    table, campaign, release = played(sample, drawing(2, 5), real(name), servers=2, k=2)
    numbers = np.array(campaign.numbers, np.int64)
    assert shown(curators(table, numbers - 1, campaign.owners[1])) == shown(release)
    assert [3] * 8 == np.bincount(release.classes).tolist()


# --- with real stages -----------------------------------------------------------------------------

YAML = """
version: 1
name: a study
seed: 3
data:
  source: frame
  columns:
    age: {role: quasi, type: number}
    town: {role: quasi}
    weight: {role: quasi, type: number, hierarchy: {build: widths, widths: [10, 20]}}
    result: {role: sensitive, type: number}
    ill: {role: label}
privacy:
  - k-anonymity: {k: 3}
suppression: {at_most: 1}
collect:
  collector: anonify
  with: {transport: direct, min_batch: 5, servers: 2}
stages:
  - partitioner: PARTITIONER
  - generalizer: hierarchy
  - sampler: stratified
    with: {SAMPLER}
publish: {}
"""

needs_stages = pytest.mark.skipif(
    not installed(
        partitioner="mondrian level-order one-pass-kmeans",
        generalizer="hierarchy",
        sampler="stratified",
        privacy="k-anonymity",
        transport="direct",
    ),
    reason="the anonymizers are not installed",
)


def clinic(rows, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], rows),
            "weight": rng.integers(50, 90, rows),
            "result": rng.random(rows).round(3),
            "ill": rng.choice(["yes", "no"], rows),
        }
    )


def outcome_of(tmp_path, frame, partitioner="mondrian", sampler="share: 0.5", **collect):
    text = YAML.replace("PARTITIONER", partitioner).replace("SAMPLER", sampler)
    asked = {"min_leave": 1, **collect}
    more = "".join(f", {name}: {value}" for name, value in asked.items())
    (tmp_path / "pipeline.yaml").write_text(text.replace(", servers: 2", more))
    return Pipeline.load(tmp_path / "pipeline.yaml").run(frame)


@needs_stages
@pytest.mark.parametrize(
    ("partitioner", "sampler"),
    [
        ("mondrian", {"share": 0.5}),
        ("mondrian", {"remove": 1}),
        ("level-order", {"share": 0.3}),
        ("one-pass-kmeans", {"share": 0.7}),
    ],
)
def test_real_stages_publish_what_a_curator_would(tmp_path, partitioner, sampler):
    written = ", ".join(f"{name}: {value}" for name, value in sampler.items())
    outcome = outcome_of(tmp_path, clinic(40, 1), partitioner, written)
    original, release = outcome.original, outcome.release
    before = outcome.collection.sampling.before
    labels = np.full(len(original), -1, np.int64)
    labels[before.rows_in(original)] = before.classes
    known = np.flatnonzero(labels >= 0)
    classes = Classes.from_labels(labels[known], rows=known, suppressed=np.flatnonzero(labels < 0))
    hierarchy = Registry.installed().load("generalizer", "hierarchy")()
    whole = hierarchy.generalize(original, classes, StageContext())
    assert 40 == len(before)
    assert shown(whole) == shown(before)
    assert shown(whole.take(release.rows_in(original))) == shown(release)
    stratified = Registry.installed().load("sampler", "stratified")(**sampler)
    kept = np.bincount(release.classes, minlength=len(classes))
    assert stratified.least_kept(classes.sizes).tolist() == kept.tolist()
    assert kept.min() >= 3


@needs_stages
def test_liars_do_not_undo_the_release_of_others(tmp_path):
    """The class that they left may be too small, the one that they claim is withheld."""
    outcome = outcome_of(tmp_path, clinic(60, 1), simulate="{lying: 0.1}")
    sizes = np.bincount(outcome.release.classes)
    assert sizes[sizes > 0].min() >= 3
    assert 0 < outcome.findings["collector"]["withheld_classes"].value


@needs_stages
def test_who_leaves_is_planned_for(tmp_path):
    outcome = outcome_of(
        tmp_path, clinic(60, 1), simulate="{leaving: 0.2}", min_leave=2, tolerated=0.4
    )
    result = outcome.findings["collector"]
    assert (60, 48) == (result["classed"].value, result["reserved"].value)
    sizes = np.bincount(outcome.release.classes)
    assert sizes[sizes > 0].min() >= 3


@needs_stages
def test_one_account_of_the_stages_is_kept(tmp_path):
    """Both servers run them; the report tells of one."""
    outcome = outcome_of(tmp_path, clinic(40, 1))
    assert ["partitioner", "generalizer", "sampler"] == [
        stage["id"] for stage in outcome.report["stages"]
    ]
    assert attrs.asdict(outcome.original.schema) == attrs.asdict(outcome.release.schema)


@needs_stages
def test_who_was_drawn_before_there_were_classes_is_known_by_rows_of_the_table(tmp_path):
    """The servers know them only by the order of what was registered."""
    frame = clinic(60, 1)
    (tmp_path / "pipeline.yaml").write_text(
        YAML.replace("PARTITIONER", "mondrian")
        .replace("SAMPLER", "remove: 1")
        .replace(
            "stages:\n", "stages:\n  - sampler: pre-sample\n    with: {rows: 20}\n    id: first\n"
        )
        .replace("servers: 2", "min_leave: 1")
    )
    outcome = Pipeline.load(tmp_path / "pipeline.yaml").run(frame)
    drawn = outcome.collection.sampling.presample
    assert list(range(60)) == drawn.among.tolist()
    assert 20 == len(set(drawn.kept.tolist()))
    assert set(outcome.release.origin.tolist()) < set(drawn.kept.tolist())
    assert sorted(drawn.kept.tolist()) == sorted(outcome.collection.sampling.before.origin.tolist())
