"""What arrives, what it costs, what is promised, and what auditors get."""

from collections import Counter

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Collection, Column, Guard, Release, Schema, StageContext, Table
from anonloom.errors import DataError, TransportError
from anonloom_delivery.collector import Delivery, Simulation
from anonloom_delivery.sending import Plan
from anonloom_testing.transport import GUARANTEES, Carrier, PricedCarrier, SeededEntropy

SCHEMA = Schema(
    [
        Column(name="name", role="identifier"),
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="seen", role="other", type="date"),
        Column(name="whose", role="person"),
        Column(name="true", role="truth"),
    ]
)


def people(rows: int) -> Table:
    return Table.build(
        pd.DataFrame(
            {
                "name": [f"person {index}" for index in range(rows)],
                "age": [index % 7 if index % 5 else None for index in range(rows)],
                "town": [["Ulm", "Bonn", None][index % 3] for index in range(rows)],
                "seen": [f"2024-01-{index % 28 + 1:02d}" for index in range(rows)],
                "whose": [index // 2 for index in range(rows)],
                "true": [f"row {index}" for index in range(rows)],
            }
        ),
        SCHEMA,
        np.arange(rows) + 100,
    )


class Watched:
    """Stages that publish the table that they are given, and remember it."""

    def run(self, table, guard):
        self.table = table
        return Collection(Release.as_it_is(table))


def collected(rows=30, seed=1, **parameters):
    stages, run = Watched(), StageContext(seed=seed)
    collector = Delivery(**{"transport": Carrier(), "min_batch": 10, **parameters})
    collection = collector.collect(people(rows), stages, Guard(()), run)
    return stages.table, collection, run


def figures(run):
    return {item.name: item.value for item in run.found if hasattr(item, "value")}


def cells(table, rows):
    shown = table.frame.astype(object).where(table.frame.notna(), None)
    return [[str(cell) for cell in shown.iloc[index]] for index in rows]


def test_every_row_arrives_with_all_its_cells_and_its_origin():
    before = people(30)
    after, collection, _ = collected()
    assert list(range(100, 130)) == sorted(after.origin.tolist())
    assert cells(before, after.origin - 100) == cells(after, range(30))
    assert before.schema == after.schema == collection.release.schema
    assert [tuple(axis.texts(np.arange(axis.size))) for axis in before.axes] == [
        tuple(axis.texts(np.arange(axis.size))) for axis in after.axes
    ]


def test_rows_that_are_nobodys_stay_so():
    stages = Watched()
    stranger = attrs.evolve(people(30), origin=None)
    collector = Delivery(transport=Carrier(), min_batch=10)
    release = collector.collect(stranger, stages, Guard(()), StageContext()).release
    assert release.origin is None


def test_the_order_of_rows_says_nothing_about_positions():
    first, _, _ = collected()
    again, _, _ = collected(seed=2)
    assert first.origin.tolist() == again.origin.tolist()
    # Nor is it the order of the source.
    assert sorted(first.origin.tolist()) != first.origin.tolist()


@given(st.integers(10, 40), st.sampled_from([0.0, 0.1, 0.5, 0.9]), st.integers(1, 3))
def test_what_is_not_erased_arrives_once(rows, erase, servers):
    after, _, run = collected(rows, erase=erase, servers=servers)
    result = figures(run)
    assert round(rows * erase) == result["erased"]
    assert rows - result["erased"] == len(after) == len(set(after.origin.tolist()))
    assert (1.0, 0) == (result["delivered"], result["lost"])


def test_a_seed_repeats_which_rows_are_erased():
    one, _, _ = collected(erase=0.5)
    same, _, _ = collected(erase=0.5)
    other, _, _ = collected(erase=0.5, seed=2)
    assert one.origin.tolist() == same.origin.tolist()
    assert sorted(one.origin.tolist()) != sorted(other.origin.tolist())


def test_every_row_is_as_likely_to_be_erased():
    kept = Counter()
    for seed in range(300):
        kept.update(collected(10, seed, erase=0.5)[0].origin.tolist())
    # 150 are expected; the standard deviation is 8.7.
    assert 10 == len(kept)
    assert all(115 < count < 185 for count in kept.values())


def test_who_is_not_heard_in_the_first_round_sends_a_decoy_in_the_second():
    after, collection, run = collected(30, transport=Carrier(loses=10), erase=0.5, traced=True)
    result = figures(run)
    assert 3 == result["without_position"]
    assert 30 == result["anonymity_set"]
    # Some of the unheard were to be erased.
    assert 27 == len(after) + result["erased"]
    assert 30 - result["erased"] - len(after) == result["lost"] == 3
    assert len(after) / (30 - result["erased"]) == result["delivered"]
    post, deposit = collection.trace.traces
    assert set(range(30)) == set(post.sent)
    assert 27 == len(deposit.sent)
    # Nobody is absent: those without a position upload too.
    assert not deposit.absent
    uploaded = {
        item.envelope.sender.index for item in deposit.network if item.envelope.step == "upload"
    }
    assert set(range(30)) == uploaded


def test_a_withheld_record_is_lost_and_a_foreign_one_refused():
    after, _, run = collected(30, transport=Carrier(withholds=True, spoils=True, grumbles=True))
    result = figures(run)
    assert 28 == len(after) == result["arrived"]
    assert (28 / 30, 2) == (result["delivered"], result["lost"])
    assert 121 == result["refused"]
    (refusals,) = [item for item in run.found if item.name == "refusals"]
    assert [["column 'age': no number", 1], ["said it too loudly", 120]] == refusals.data["rows"]


def test_sizes_and_costs_are_counted_per_sender_and_server():
    _, _, run = collected(30, servers=3, record_bytes=100)
    result = figures(run)
    assert 100 == result["record_size"]
    # A post of 32 bytes and a row of 16 + 16 + 100 + 16, each with the digest of its round.
    assert 3 * (32 + 32) + 3 * (32 + 16 + 16 + 100 + 16) == result["upload"]
    assert 30 * 32 < result["download"]
    assert 0 == result["between_servers"]
    assert "no" == result["simulated"]
    (costs,) = [item for item in run.found if item.name == "costs"]
    assert [
        f"{operation}-{phase}"
        for operation in ("post", "deposit")
        for phase in ("begin", "upload", "close", "settle", "open")
    ] == [row[0] for row in costs.data["rows"]]
    per_phase = [value for name, value in result.items() if name.startswith("server_cpu.")]
    assert sum(per_phase) == pytest.approx(result["server_cpu"])


def test_all_records_have_one_size_on_the_wire():
    _, collection, _ = collected(traced=True)
    post, deposit = collection.trace.traces
    for trace in (post, deposit):
        assert 1 == len({s.envelope.size for s in trace.network if s.envelope.step == "upload"})


def test_a_trace_is_kept_only_if_it_is_asked_for():
    assert collected()[1].trace is None
    rounds = collected(traced=True)[1].trace
    assert (2, 2) == (rounds.servers, len(rounds.traces))
    assert not Delivery(transport=Carrier()).traced
    assert Delivery(transport=Carrier(), traced=True).traced


def test_columns_that_are_never_published_are_not_sent():
    _, collection, _ = collected(traced=True)
    sent = b"".join(collection.trace.traces[1].sent.values())
    assert b"Bonn" in sent
    assert b"row 3" not in sent
    assert b"person 3" not in sent


def test_too_few_rows_are_refused():
    with pytest.raises(TransportError) as caught:
        collected(9)
    assert (
        "a round never closes with fewer than 10 senders, and the table has 9 rows; collect more, "
        "or lower 'min_batch'"
    ) == str(caught.value)


def test_too_few_that_were_heard_are_refused():
    with pytest.raises(TransportError) as caught:
        collected(12, transport=Carrier(loses=2))
    assert (
        "of 12 senders 6 were heard in the first round, and a round never closes with fewer than 10"
    ) == str(caught.value)


def test_progress_is_told():
    reports = []
    context = StageContext(report=lambda done, total: reports.append((done, total)))
    Delivery(transport=Carrier(), min_batch=10).collect(people(10), Watched(), Guard(()), context)
    assert [(1, 4), (2, 4), (3, 4), (4, 4)] == reports


def test_a_text_that_is_too_long_is_refused_before_anything_is_sent():
    with pytest.raises(DataError) as caught:
        collected(text_bytes=3)
    assert (
        "column 'town': 10 of 30 rows hold text of more than 3 bytes, the most that a record "
        "carries; shorten the values, raise 'text_bytes', or list the values in a 'hierarchy'"
    ) == str(caught.value)


def test_a_round_that_the_transport_cannot_carry_is_refused_at_once():
    with pytest.raises(ValueError, match=r"^the carrier has three horses$"):
        Delivery(transport=Carrier(), servers=4)


def test_pseudonyms_are_refused_before_the_run():
    collector = Delivery(transport=Carrier())
    assert collector.problem(SCHEMA) is None
    named = Schema([Column(name="name", role="identifier", pseudonymize=True)])
    assert (
        "column 'name' is published as a pseudonym, and identifiers are never sent: leave the "
        "column out, or use the collector 'curator'"
    ) == collector.problem(named)


def test_of_two_rounds_the_weaker_promise_holds():
    promised = Delivery(transport=Carrier(), min_batch=20).guarantees
    assert (
        attrs.evolve(
            GUARANTEES,
            server_behaviour="follows",
            delivery="in the post, most; in the deposit, as told",
            not_covered=("losses", "anonymity"),
        )
        == promised
    )


def test_the_plan_says_what_travels():
    collector = Delivery(transport=Carrier(), min_batch=1000)
    assert (
        "each of 5,000 rows travels in a record of its own to 2 servers, in two rounds of at least "
        "1,000 senders",
        "one process plays all parties and sees every record, which protects nobody from whoever "
        "runs it; deployed with each party on a machine of its own:",
        "honest senders among whom a message hides: at least 1",
        "servers that may collude: 0",
        "what that costs the transport cannot say before a run",
    ) == collector.plan(5000, SCHEMA)
    assert collector.plan(None, SCHEMA)[0].startswith("every row travels")


@pytest.mark.parametrize(
    ("rows", "parameters", "sentences"),
    [
        (
            None,
            {"record_bytes": 64},
            (
                "with 10,000 rows in records of 64 bytes, each sender sends 960 kB, receives "
                "10 kB and computes for about 2 s",
                "each server sends 4 bytes to the others, computes for about 11 days on one core "
                "like this machine's, and holds about 640 kB",
            ),
        ),
        (
            10,
            {"min_batch": 100, "record_bytes": 200, "simulate": Simulation(dishonest=0.1)},
            (
                "with 100 rows in records of 200 bytes, each sender sends 25.5 kB, receives "
                "100 bytes and computes for about 2 s",
                "each server sends 4 bytes to the others, computes for about 7.1 h on one core "
                "like this machine's, and holds about 22 kB",
            ),
        ),
    ],
)
def test_the_plan_says_what_both_rounds_cost(rows, parameters, sentences):
    """Of all senders, dishonest ones too; the memory is that of the larger round."""
    collector = Delivery(**{"transport": PricedCarrier(), "min_batch": 10, **parameters})
    assert sentences == collector.plan(rows, SCHEMA)[4:]


def test_the_plan_knows_the_size_of_records():
    """It follows from the columns, as in the run itself."""
    *_, run = collected()
    size = figures(run)["record_size"]
    cost = Delivery(transport=PricedCarrier(), min_batch=10).plan(20, SCHEMA)[4]
    assert cost.startswith(f"with 20 rows in records of {size} bytes, ")


def test_keys_come_from_the_systems_randomness_with_a_seed_too():
    sent = [collected(traced=True)[1].trace.traces[0].sent for _ in range(2)]
    assert set(sent[0].values()).isdisjoint(sent[1].values())


def test_the_second_round_knows_how_many_were_in_the_first():
    """Who spoils the first round is there in the second, and few may not be missing from it."""
    asked = {"simulate": Simulation(dishonest=0.1), "min_leave": 7, "traced": True}
    _, collection, _ = collected(30, **asked)
    for trace in collection.trace.traces:
        uploads = (item.envelope for item in trace.network if item.envelope.step == "upload")
        assert set(range(33)) == {upload.sender.index for upload in uploads}
    plan = Plan(
        transport=Carrier(),
        servers=2,
        min_batch=5,
        suite="x25519",
        entropy=SeededEntropy(),
        min_leave=7,
    )
    described = plan.deposit([bytes([index]) * 32 for index in range(9)], 1, "a name", senders=12)
    assert (12, 12, 7) == (described.cohort, described.capacity, described.min_leave)
