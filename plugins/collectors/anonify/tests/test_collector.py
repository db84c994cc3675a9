"""Rows become donors and donors a release; what is refused, promised, planned and found."""

import re

import attrs
import numpy as np
import pandas as pd
import pytest
from anonify_play import Sampled, installed, played, real, refusal
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Guard, Release, Schema, StageContext, Table
from anonloom.errors import DataError, PluginError
from anonloom.kinds import SamplingRecord
from anonloom_anonify.collector import Anonify
from anonloom_anonify.donor_data import DonorData
from anonloom_anonify.pipeline_work import PipelineWork, cells_of, spread
from anonloom_anonify.planning import Layouts
from anonloom_anonify.recipient import Recipient
from anonloom_anonify.simulation import Behaviour, Simulation
from anonloom_testing.collector import PlainStages
from anonloom_testing.privacy_cases import Demand
from anonloom_testing.transport import GUARANTEES, Carrier, PricedCarrier

AGE = Column(name="age", role="quasi", type="number")
TOWN = Column(name="town", role="quasi")
DOSE = Column(name="dose", role="sensitive", type="number")
ILL = Column(name="ill", role="label")
WHO = Column(name="who", role="person")
CODE = Column(name="code", role="identifier", pseudonymize=True)
NAME = Column(name="name", role="identifier")

SCHEMA = Schema([NAME, AGE, TOWN, DOSE, ILL])
PERSONS = Schema([CODE, AGE, TOWN, DOSE, ILL, WHO])


def people(rows, schema=SCHEMA, persons=None):
    return Table.build(
        pd.DataFrame(
            {
                "name": [f"person {index}" for index in range(rows)],
                "code": [f"code {index}" for index in range(rows)],
                "age": [20 + index * 7 % 50 for index in range(rows)],
                "town": [["Ulm", "Bonn", None][index % 3] for index in range(rows)],
                "dose": [index * 1.5 for index in range(rows)],
                "ill": [["yes", "no"][index % 2] for index in range(rows)],
                "who": range(rows) if persons is None else persons,
            }
        )[list(schema.names)],
        schema,
        np.arange(rows) + 100,
    )


def collected(*args, **parameters):
    collection, run = collection_of(*args, **parameters)
    return collection.release, run


def collection_of(table=None, stages=None, seed=1, k=1, **parameters):
    stages, run = stages or Sampled(), StageContext(seed=seed)
    table = people(30) if table is None else table
    asked = {"transport": Carrier(), "min_batch": 5, "min_leave": 1, **parameters}
    return Anonify(**asked).collect(table, stages, Demand(k=k).guard(), run), run


def figures(run):
    return {item.name: item.value for item in run.found if hasattr(item, "value")}


def chart(run, name):
    (results,) = [item for item in run.found if item.name == name]
    return results.data["rows"]


# --- what is published ----------------------------------------------------------------------------


def test_every_published_row_is_a_row_of_the_table():
    table = people(30)
    release, _ = collected(table)
    rows = release.rows_in(table)
    assert 24 == len(release) == len(set(rows.tolist()))
    assert ["age", "town", "dose", "ill"] == list(release.frame)
    for name in ("dose", "ill"):
        assert table.frame[name].take(rows).tolist() == release.frame[name].tolist()


def test_cells_are_those_of_the_class():
    table = people(30)
    release, _ = collected(table)
    for index, row in enumerate(release.rows_in(table).tolist()):
        low, high = (float(end) for end in release.frame["age"][index].strip("[]").split(", "))
        assert low <= float(table.frame["age"][row]) <= high
    assert {4} == set(np.bincount(release.classes).tolist())


def test_rows_that_are_nobodys_stay_so():
    release, _ = collected(attrs.evolve(people(30), origin=None))
    assert release.origin is None


def test_the_account_before_sampling_is_of_everybody():
    class Watched(Sampled):
        before = among = None

        def record_sampling(self, before, among=None):
            Watched.before, Watched.among = before, among
            return SamplingRecord(before)

    table = people(30)
    collection, _ = collection_of(table, Watched())
    release = collection.release
    assert collection.sampling.before is Watched.before
    assert set(range(100, 130)) == set(Watched.before.origin.tolist())
    assert list(range(100, 130)) == Watched.among.tolist()
    both = pd.concat([Watched.before.frame.assign(row=Watched.before.origin)]).set_index("row")
    for index, row in enumerate(release.origin.tolist()):
        assert release.frame.iloc[index].tolist() == both.loc[row].tolist()


def test_keys_come_from_the_systems_randomness_with_a_seed_too():
    sent = [collection_of(traced=True)[0].trace.traces[0].sent for _ in range(2)]
    assert set(sent[0].values()).isdisjoint(sent[1].values())


def test_identifiers_and_persons_are_never_sent():
    # Texts that no other bytes hold by chance.
    table = people(20, PERSONS, [f"somebody {index}" for index in range(20)])
    rounds = collection_of(table, iterations=2, traced=True)[0].trace
    seen = b"".join(sight.envelope.body for trace in rounds.traces for sight in trace.network)
    assert b"Bonn" in seen
    assert b"somebody" not in seen
    assert b"code 1" not in seen


# --- persons and iterations -----------------------------------------------------------------------


def test_the_rows_of_a_person_are_answers_one_after_the_other():
    layouts = Layouts.of(PERSONS, text_bytes=8, answer_bytes=0)
    table = people(6, PERSONS, ["b", "a", "b", "c", "a", "b"])
    donor_data = DonorData.of(table, 3, layouts)
    assert [[0, 2, 5], [1, 4, -1], [3, -1, -1]] == sorted(donor_data.rows.T.tolist())
    assert 3 == donor_data.donors
    assert [3, 2, 1] == [int(answered.sum()) for _, answered in donor_data.answers]


def test_without_persons_every_row_is_a_donor_with_one_answer():
    donor_data = DonorData.of(people(4), 2, Layouts.of(SCHEMA, text_bytes=8, answer_bytes=0))
    assert [[0, 1, 2, 3], [-1, -1, -1, -1]] == donor_data.rows.tolist()


def test_of_what_a_recipient_has_not_opened_there_is_no_release():
    campaign = played()
    campaign.run()
    newcomer = Recipient(campaign.servers[0].notice, campaign.pins)
    donor_data = DonorData.of(people(4), 1, Layouts.of(SCHEMA, text_bytes=8, answer_bytes=0))
    assert "no iteration was opened: there is nothing to publish" == refusal(
        lambda: donor_data.release(campaign, newcomer), DataError
    )


@pytest.mark.parametrize(
    ("iterations", "text"),
    [
        (1, "a person has up to 3 rows, and donors answer 1 time: "),
        (2, "a person has up to 3 rows, and donors answer 2 times: "),
    ],
)
def test_a_person_with_more_rows_than_iterations_is_refused(iterations, text):
    table = people(20, PERSONS, [index // 3 for index in range(20)])
    assert text + "set 'iterations', or keep one row each" == refusal(
        lambda: collected(table, iterations=iterations), DataError
    )


@pytest.mark.parametrize(("gaps", "text"), [(1, "1 row has"), (3, "3 rows have")])
def test_rows_whose_person_is_not_known_cannot_donate(gaps, text):
    known = attrs.evolve(WHO, missing="suppress")
    table = people(20, Schema([AGE, TOWN, DOSE, known]), [None] * gaps + [*range(gaps, 20)])
    expected = (
        f"{text} no person, and whoever is not known cannot donate\n"
        "    Leave these rows out of the table."
    )
    assert expected == refusal(lambda: collected(table), DataError)


def test_a_pseudonym_joins_the_answers_of_a_person():
    persons = [f"p{index % 15}" for index in range(30)]
    table = people(30, PERSONS, persons)
    release, _ = collected(table, iterations=2)
    whose = [persons[row] for row in release.rows_in(table)]
    joined = dict(zip(whose, release.frame["code"].astype(str), strict=True))
    # Two answers of each published person, under one key that nobody else has.
    assert [2] == sorted(set(pd.Series(whose).value_counts()))
    assert [joined[who] for who in whose] == release.frame["code"].astype(str).tolist()
    assert len(joined) == len(set(joined.values()))
    again, _ = collected(table, iterations=2)
    assert set(release.frame["code"]).isdisjoint(again.frame["code"])
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in joined.values())


def test_who_misses_an_iteration_is_published_in_the_others():
    table = people(30, PERSONS, [index % 15 for index in range(30)])
    release, run = collected(
        table, iterations=2, missing="blank", simulate=Simulation(absent=0.3), seed=3
    )
    result = figures(run)
    assert 0 < result["absences"]
    assert len(release) < 24
    assert 0 == result["withheld_iterations"]
    assert 1 <= result["smallest_blank_pattern"] <= 4


def test_with_nobody_opened_there_is_nothing_to_publish():
    """Every iteration but the first may be withheld; the first stops the study."""
    table = people(30, PERSONS, [index % 15 for index in range(30)])
    release, run = collected(table, iterations=2, simulate=Simulation(absent=0.3), seed=3)
    assert 1 == figures(run)["withheld_iterations"]
    assert 12 == len(release)


# --- drop-outs ------------------------------------------------------------------------------------


class ByGuard(PlainStages):
    """Classes as small as the guard admits."""

    def partition(self, table, guard):
        self.size = guard.min_size
        return super().partition(table, guard)


@pytest.mark.parametrize(
    ("k", "tolerated", "size"), [(3, 0.0, 3), (3, 0.25, 4), (5, 0.5, 10), (7, 0.3, 10)]
)
def test_classes_are_so_large_that_k_is_left(k, tolerated, size):
    release, _ = collected(people(size * 3), ByGuard(), k=k, tolerated=tolerated)
    assert [size] * 3 == np.bincount(release.classes).tolist()


def test_classes_are_so_large_that_k_is_left_after_sampling_too():
    asked = Anonify(transport=Carrier(), tolerated=0.2)
    half = Guard(Demand(k=4).guard().models, lambda sizes: -(-np.asarray(sizes) // 2))
    planned = asked._guard_with_dropouts(half)
    # Of nine, seven are left, and four are drawn of them.
    assert 9 == planned.min_size
    assert [3, 4, 4] == planned.least_kept(np.array([8, 9, 10])).tolist()


def test_tolerated_drop_outs_leave_valid_classes():
    release, run = collected(
        people(60),
        ByGuard(),
        k=3,
        tolerated=0.5,
        simulate=Simulation(leaving=0.1),
        min_leave=2,
        seed=5,
    )
    result = figures(run)
    assert (60, 54, 0) == (result["donors"], result["reserved"], result["withheld_classes"])
    assert 54 == len(release)


def test_too_many_drop_outs_withhold_classes():
    release, run = collected(
        people(60), ByGuard(), k=3, simulate=Simulation(leaving=0.2), min_leave=2, seed=5
    )
    result = figures(run)
    assert 0 < result["withheld_classes"]
    assert {3} == set(np.bincount(release.classes).tolist()) - {0}
    assert ["too few reservations", result["withheld_classes"]] in chart(run, "losses")


def test_one_who_leaves_alone_is_held():
    assert "the study has stopped: given up 2 times: 3 of 30 are missing" == refusal(
        lambda: collected(simulate=Simulation(leaving=0.1), min_leave=10)
    )


def test_liars_withhold_what_they_claim():
    release, run = collected(people(30), simulate=Simulation(lying=0.1), seed=2)
    assert 0 < figures(run)["withheld_classes"]
    assert len(release) < 24


def test_who_withdraws_is_left_out():
    release, run = collected(
        people(30), withdrawals=True, simulate=Simulation(withdrawing=0.2), seed=2
    )
    assert len(release) < 24
    assert 1.0 > figures(run)["delivered"] == len(release) / 24


# --- findings -------------------------------------------------------------------------------------


def test_what_is_found_of_an_honest_study():
    _, run = collected(people(30), servers=3)
    result = figures(run)
    assert {
        "delivered": 1.0,
        "donors": 30,
        "classed": 30,
        "left_out": 0,
        "reserved": 30,
        "erased": 6,
        "answers": 30,
        "published": 24,
        "restarts": 0,
        "withheld_classes": 0,
        "withheld_iterations": 0,
        "absences": 0,
        "refused": 0,
        "anonymity_set": 30,
        "counted": "yes",
        "miscounted": 0,
        "simulated": "no",
    } == {
        name: value
        for name, value in result.items()
        if "cpu" not in name and name not in ("upload", "download", "between_servers")
    }
    assert "delivered" == next(iter(result))
    assert [
        f"{name}-{phase}"
        for name in ("registration 1", "reservation 1", "publishing 1.1")
        for phase in ("begin", "upload", "close", "settle", "count", "open")
        if phase != "count" or name.startswith("publishing")
    ] == [row[0] for row in chart(run, "costs")]


def test_what_spoils_records_is_found():
    _, run = collected(people(30), transport=Carrier(withholds=True, spoils=True, counts=False))
    result = figures(run)
    assert "no" == result["counted"]
    # The first and the last position may have been erased anyway.
    assert result["published"] in (24, 23, 22)
    assert result["published"] / 24 == result["delivered"]


def test_who_has_nothing_to_say_is_not_a_loss():
    """Of fifteen persons ten answer twice, and five once: whatever was not erased is delivered."""
    table = people(25, PERSONS, [index % 15 for index in range(25)])
    release, run = collected(table, iterations=2)
    result = figures(run)
    assert (1.0, 25) == (result["delivered"], result["answers"])
    assert len(release) == result["published"] < 24


def test_a_trace_is_kept_only_if_it_is_asked_for():
    assert collection_of()[0].trace is None
    rounds = collection_of(traced=True)[0].trace
    assert (2, 3) == (rounds.servers, len(rounds.traces))


# --- refusals -------------------------------------------------------------------------------------


def test_too_few_donors_are_refused():
    assert (
        "a round never closes with fewer than 31 donors, and there are 30; collect more, or lower "
        "'min_batch'"
    ) == refusal(lambda: collected(min_batch=31))


def test_a_text_that_is_too_long_is_refused_before_anything_is_sent():
    assert (
        "column 'town': 10 of 30 rows hold text of more than 3 bytes, the most that a record "
        "carries; shorten the values, raise 'text_bytes', or list the values in a 'hierarchy'"
    ) == refusal(lambda: collected(text_bytes=3), DataError)


def test_a_round_that_the_transport_cannot_carry_is_refused_at_once():
    with pytest.raises(ValueError, match=r"^the carrier has three horses$"):
        Anonify(transport=Carrier(), servers=4)


def test_nobody_withdraws_who_is_not_asked():
    with pytest.raises(
        ValueError,
        match=r"^'withdrawing' needs 'withdrawals: true': nobody is asked otherwise$",
    ):
        Anonify(transport=Carrier(), simulate=Simulation(withdrawing=0.1))


NEEDS_JOIN = (
    "column 'code' is published as a pseudonym, and identifiers are never sent: leave the column "
    "out; with several iterations and a column of the role 'person' it joins the records of one "
    "donor"
)


@pytest.mark.parametrize(
    ("schema", "iterations", "expected"),
    [
        (SCHEMA, 1, None),
        (PERSONS, 2, None),
        (PERSONS, 1, NEEDS_JOIN),
        (Schema([CODE, AGE, DOSE]), 2, NEEDS_JOIN),
        (
            Schema([NAME, AGE, TOWN]),
            1,
            "donors would have nothing to donate: every published column is a quasi-identifier",
        ),
    ],
)
def test_what_donors_cannot_send_is_refused(schema, iterations, expected):
    assert expected == Anonify(transport=Carrier(), iterations=iterations).problem(schema)


# --- promises and plans ---------------------------------------------------------------------------


def test_what_holds_in_all_rounds_is_promised():
    promised = Anonify(transport=Carrier(), min_batch=20, credentials="none").guarantees
    assert ("follows", 1, 0) == (
        promised.server_behaviour,
        promised.honest_senders_min,
        promised.colluding_servers,
    )
    own = (
        "a false claim of class: only an excess over those who registered is seen; that class is "
        "then withheld, and nobody is named",
        "that every record of a class is somebody else's: k counts records",
        "a donor who is kept away while somebody who was not there before comes in her place: from "
        "one phase to the next donors without invitations are counted, not recognised",
    )
    assert ("losses", "anonymity", *own) == promised.not_covered[:5]
    assert GUARANTEES.erasure_condition == promised.erasure_condition


def test_what_is_not_covered_depends_on_what_is_asked_for():
    def uncovered(**asked):
        return set(
            Anonify(transport=Carrier(**asked.pop("carrier", {})), **asked).guarantees.not_covered
        )

    plain = uncovered()
    assert {
        "servers that see fewer than the demanded number of records of a class: with this "
        "transport they cannot count before they open; such a class is not published"
    } == uncovered(carrier={"counts": False}) - plain
    assert {
        "a donor who is missing from an iteration, or kept away from it by a server or on the way: "
        "what is absent shows which records are hers, of all iterations"
    } == uncovered(missing="blank", iterations=2) - plain
    assert {
        "a donor who is kept away while somebody who was not there before comes in her place: from "
        "one phase to the next donors without invitations are counted, not recognised"
    } == uncovered(credentials="none") - plain


@pytest.mark.skipif(not installed(transport="direct"), reason="anonloom-direct is not installed")
def test_donors_are_invited_unless_the_study_says_otherwise():
    def told(**asked):
        return Anonify(transport=real("direct"), **asked).guarantees.eligibility

    assert "one upload per invitation of the study" == told()
    assert "none: Sybils not excluded" == told(credentials="none")


def test_the_plan_says_what_the_rounds_are_and_what_they_hide():
    asked = Anonify(transport=Carrier(), min_batch=1000)
    assert (
        "donors register with 41 bytes, reserve a position and deposit one answer of 41 bytes, "
        "with 2 servers and at least 1,000 donors",
        "one process plays all parties and sees every record, which protects nobody from whoever "
        "runs it; deployed with each party on a machine of its own:",
        "honest senders among whom a message hides: at least 1",
        "servers that may collude: 0",
        "what that costs the transport cannot say before a run",
    ) == asked.plan(5000, SCHEMA)


@pytest.mark.parametrize(
    ("rows", "parameters", "sentences"),
    [
        (
            None,
            {},
            (
                "with 10,000 donors in 3 rounds, each donor sends 1.34 MB, receives 10 kB and "
                "computes for about 3 s",
                "each server sends 6 bytes to the others, computes for about 16 days on one core "
                "like this machine's, and holds about 570 kB",
            ),
        ),
        (
            50,
            {"min_batch": 100, "iterations": 2, "withdrawals": True, "answer_bytes": 64},
            (
                "with 100 donors in 6 rounds, each donor sends 28.5 kB, receives 200 bytes and "
                "computes for about 6 s",
                "each server sends 12 bytes to the others, computes for about 7.9 h on one core "
                "like this machine's, and holds about 6.4 kB",
            ),
        ),
    ],
)
def test_the_plan_says_what_all_rounds_cost(rows, parameters, sentences):
    """The memory is that of the largest round."""
    asked = Anonify(**{"transport": PricedCarrier(), "min_batch": 10, **parameters})
    assert sentences == asked.plan(rows, SCHEMA)[4:]


def test_the_plan_knows_how_often_donors_answer():
    asked = Anonify(transport=Carrier(), iterations=5)
    assert "deposit 5 answers of" in asked.plan(100, SCHEMA)[0]


# --- what servers compute with --------------------------------------------------------------------


def work(stages=None, first=True):
    layouts = Layouts.of(SCHEMA, text_bytes=8, answer_bytes=0)
    table = people(20)
    made = PipelineWork(
        layouts.registration, layouts.answer, Demand(k=3).guard(), stages or PlainStages(), first
    )
    return made, layouts.registration.encode(table), layouts.answer.encode(table)


def test_every_record_gets_the_class_that_the_stages_found():
    made, records, _ = work()
    result = made.classify(records, 1)
    assert [5] * 4 == np.bincount(result.numbers)[1:].tolist()
    assert ("*", "*") == result.cells[0]
    assert {} == result.refused


def test_records_that_nobody_writes_are_in_no_class():
    made, records, _ = work()
    records[3] = 255
    result = made.classify(records, 1)
    assert [3] == np.flatnonzero(result.numbers < 0).tolist()
    assert {"column 'age': no number": 1} == result.refused


def test_when_nothing_can_be_read_nothing_is_classified():
    made, records, _ = work()
    records[:] = 255
    assert "nobody registered with anything that can be read" == refusal(
        lambda: made.classify(records, 1)
    )


class Thinned(PlainStages):
    """Stages with a sampler before there are classes."""

    def prepare(self, table):
        return table.take(np.arange(0, len(table), 2))


def test_who_was_not_drawn_before_there_were_classes_is_in_none():
    made, records, _ = work(Thinned())
    result = made.classify(records, 1)
    assert list(range(1, 20, 2)) == np.flatnonzero(result.numbers < 0).tolist()
    assert {"left out by a sampler before classes were made": 10} == result.refused


def test_only_the_first_server_speaks_of_its_stages():
    class Asked(PlainStages):
        def __init__(self):
            self.asked = []

        def with_seed(self, seed):
            self.asked.append(("with_seed", seed))
            return PlainStages()

        def for_server(self, seed):
            self.asked.append(("for_server", seed))
            return PlainStages()

    for first, expected in ((True, "with_seed"), (False, "for_server")):
        stages = Asked()
        made, records, _ = work(stages, first)
        made.classify(records, 7)
        made.draw(np.array([1, 1, 0]), 8)
        assert [(expected, 7), (expected, 8)] == stages.asked


def test_suppressed_positions_are_drawn_as_such():
    class Seen(PlainStages):
        def sample_mask(self, labels):
            Seen.labels = labels
            return labels >= 0

    made, _, _ = work(Seen())
    assert [True, False, True] == made.draw(np.array([2, 0, 1]), 1).tolist()
    assert [1, -1, 0] == Seen.labels.tolist()


def test_answers_that_nobody_writes_are_not_readable():
    made, _, answers = work()
    answers[2] = 255
    assert [2] == np.flatnonzero(~made.readable(answers)).tolist()


def test_stages_that_do_not_say_the_class_are_refused():
    class Silent(PlainStages):
        def generalize(self, table, classes):
            return Release.as_it_is(table)

    made, records, _ = work(Silent())
    assert "the stages do not say which class a record is in" == refusal(
        lambda: made.classify(records, 1), PluginError
    )


def test_a_class_that_is_published_in_different_ways_is_refused():
    table = people(10)
    release = PlainStages().generalize(table, PlainStages().partition(table, Guard(())))
    frame = release.frame.copy()
    frame["town"] = pd.Categorical([f"town {index}" for index in range(10)])
    assert (
        "the generalizer publishes column 'town' of one class in different ways, and donors are "
        "told by class only"
    ) == refusal(lambda: cells_of(attrs.evolve(release, frame=frame)), PluginError)


CELL = st.none() | st.sampled_from(["a", "b", "[1, 2]"])


@given(st.lists(CELL, min_size=1, max_size=6), st.data())
def test_cells_are_spread_by_class(cells, data):
    numbers = data.draw(st.lists(st.integers(0, len(cells) - 1), max_size=10))
    result = spread(tuple((cell,) for cell in cells), 0, np.array(numbers, np.int64))
    shown = [None if pd.isna(cell) else cell for cell in result]
    assert [cells[number] for number in numbers] == shown


# --- simulated donors -----------------------------------------------------------------------------


def test_shares_are_exact_and_chances_are_chances():
    drawn = Behaviour.sample(
        1000, 3, np.random.default_rng(1), leaving=0.1, absent=0.2, lying=0.05, withdrawing=0.01
    )
    assert (100, 50) == (drawn.leaving.sum(), drawn.lying.sum())
    assert (3, 1000) == drawn.absent.shape == drawn.withdrawing.shape
    assert 500 < drawn.absent.sum() < 700
    assert 10 < drawn.withdrawing.sum() < 60


def test_honest_donors_do_what_they_are_asked_for():
    honest = Behaviour.honest(5, 2)
    for mask in (honest.leaving, honest.absent, honest.lying, honest.withdrawing):
        assert not mask.any()


def test_nobody_is_absent_from_the_first_answer():
    asked = Anonify(transport=Carrier(), iterations=3, simulate=Simulation(absent=1.0))
    behaviour = asked.simulate.behaviour(10, 3, np.random.default_rng(1))
    assert [0, 10, 10] == behaviour.absent.sum(axis=1).tolist()


def test_a_seed_repeats_who_does_what():
    asked = Anonify(transport=Carrier(), iterations=2, simulate=Simulation(absent=0.5, leaving=0.2))
    one, same = (asked.simulate.behaviour(50, 2, StageContext(seed=4).rng) for _ in range(2))
    assert np.array_equal(one.absent, same.absent)
    assert np.array_equal(one.leaving, same.leaving)
