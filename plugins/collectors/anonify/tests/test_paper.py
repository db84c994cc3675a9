"""The worked example of figures 4 and 5: six donors, two classes, one record of each erased."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from anonify_play import Sampled, installed, real, transports

from anonloom import Column, Guard, Pipeline, Release, Schema, StageContext, Table
from anonloom.hierarchies import LeafTable
from anonloom_anonify.collector import Anonify
from anonloom_anonify.registration import Registrations
from anonloom_anonify.study import PID_BYTES
from anonloom_testing.transport import Carrier

#: Figure 4 (a), with the test results of figure 5 (a).
DONORS = pd.DataFrame(
    {
        "pid": [3, 5, 8, 9, 12, 16],
        "sex": ["F", "F", "M", "M", "M", "F"],
        "age": ["32", "26", "45", "37", "42", "28"],
        "result": ["Positive", "Negative", "Negative", "Negative", "Negative", "Positive"],
    }
)

#: The paper's ranges share an end: 35-45 holds 45.
RANGES = tuple(
    (str(age), "25-35" if age < 35 else "35-45", "*") for age in sorted(map(int, DONORS["age"]))
)

SCHEMA = Schema(
    [
        Column(name="sex", role="quasi"),
        Column(name="age", role="quasi", publish="nodes", hierarchy=LeafTable(rows=RANGES)),
        Column(name="result", role="sensitive"),
    ]
)

CELLS = {("F", "25-35"): {3, 5, 16}, ("M", "35-45"): {8, 9, 12}}


class Threes(Sampled):
    """Classes of three in the order of sex and age, of which one is erased each."""

    size = 3


def played(transport, **more):
    collector = Anonify(transport=transport, min_batch=6, min_leave=1, traced=True, **more)
    table = Table.build(DONORS, SCHEMA, np.arange(6))
    campaign, donor_data = collector.campaign(table, Threes(), Guard(()), StageContext(seed=1))
    return campaign, donor_data, campaign.run()


def rows_of(release: Release) -> Counter:
    shown = release.frame[["sex", "age", "result"]].astype(str)
    return Counter(shown.itertuples(index=False, name=None))


def possible() -> list[Counter]:
    """What may be published: of each class all but one record."""
    ways = []
    for men in range(3):
        for women in range(3):
            left = DONORS.drop(
                [DONORS.index[DONORS["sex"] == "M"][men], DONORS.index[DONORS["sex"] == "F"][women]]
            )
            cells = [
                ("F", "25-35", row.result) if row.sex == "F" else ("M", "35-45", row.result)
                for row in left.itertuples()
            ]
            ways.append(Counter(cells))
    return ways


@pytest.fixture(scope="module", params=["carrier", *transports()])
def example(request):
    """The example, over each transport."""
    return played(Carrier() if request.param == "carrier" else real(request.param))


def test_the_servers_hold_what_donors_registered(example):
    """Figure 4 (a): identifiers with quasi-identifiers, in an order that says nothing."""
    campaign, donor_data, _ = example
    (trace,) = [entry.trace for entry in campaign.ledger.entries if entry.name == "registration 1"]
    result = Registrations.of(trace.published, donor_data.layouts.registration.size)
    sent = trace.sent
    whose = {message[:PID_BYTES]: donor for donor, message in sent.items()}
    assert set(range(6)) == set(whose.values())
    records = [donor_data.records[whose[pid]].tobytes() for pid in result.pids]
    assert records == [record.tobytes() for record in result.records]
    assert sorted(records) == records
    assert 0 == result.repeated


def test_the_broadcast_names_the_members_of_each_class(example):
    """Figure 4 (b): classes with their ranges, and the identifiers of who is in each."""
    campaign, _, _ = example
    (sent,) = [
        entry.trace.sent for entry in campaign.ledger.entries if entry.name == "registration 1"
    ]
    called = {message[:PID_BYTES]: int(DONORS["pid"][index]) for index, message in sent.items()}
    classes = campaign.servers[0].classes
    results = {
        cells: {called[pid] for pid in members}
        for cells, members in zip(classes.cells, classes.members, strict=True)
    }
    assert {("*", "*"): set(), **CELLS} == results


def test_every_donor_finds_her_class(example):
    campaign, _, _ = example
    assert [1, 1, 2, 2, 2, 1] == campaign.numbers


def test_one_record_of_each_class_is_erased(example):
    """Figure 5: two of three records are published of each class, all servers alike."""
    campaign, donor_data, recipient = example
    assert {(6, 2)} == {(server.reserved, server.erased) for server in campaign.servers}
    opened = recipient.opened[1]
    assert [1, 1, 2, 2] == opened.numbers.tolist()
    assert {1: ("F", "25-35"), 2: ("M", "35-45")} == opened.classes
    assert rows_of(donor_data.release(campaign, recipient)) in possible()


def test_published_records_are_their_owners(example):
    campaign, donor_data, recipient = example
    release = donor_data.release(campaign, recipient)
    assert release.origin.tolist() == campaign.owners[1].tolist()
    assert list(DONORS["result"][release.origin]) == release.frame["result"].astype(str).tolist()


YAML = """
version: 1
name: figures 4 and 5
data:
  source: frame
  columns:
    sex: {role: quasi}
    age: {role: quasi, publish: nodes, hierarchy: {build: tree, tree: ROWS}}
    result: {role: sensitive}
privacy:
  - k-anonymity: {k: 2}
collect:
  collector: anonify
  with: {transport: NAME, min_batch: 6, min_leave: 1}
stages:
  - partitioner: mondrian
  - generalizer: hierarchy
  - sampler: stratified
    with: {remove: 1}
publish: {}
"""


@pytest.mark.skipif(
    not installed(
        partitioner="mondrian", generalizer="hierarchy", sampler="stratified", privacy="k-anonymity"
    ),
    reason="the anonymizers are not installed",
)
@pytest.mark.parametrize("transport", transports())
def test_the_same_from_a_pipeline_file(tmp_path, transport):
    rows = "{'*': {25-35: ['26', '28', '32'], 35-45: ['37', '42', '45']}}"
    text = YAML.replace("ROWS", rows).replace("NAME", transport)
    (tmp_path / "pipeline.yaml").write_text(text)
    outcome = Pipeline.load(tmp_path / "pipeline.yaml").run(DONORS.drop(columns="pid"))
    assert rows_of(outcome.release) in possible()
    assert 6 == len(outcome.collection.sampling.before)
