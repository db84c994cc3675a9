"""A donor acts only on what all servers of her study have signed, and never twice."""

from types import SimpleNamespace

import attrs
import pytest
from anonify_play import FIRSTS, played, refusal, study
from hypothesis import given
from hypothesis import strategies as st

from anonloom_anonify.donor import Donor
from anonloom_anonify.reservation import NO_CLASS
from anonloom_anonify.study import CID_BYTES, PID_BYTES, WITHDRAWAL_BYTES
from anonloom_testing.transport import SeededEntropy
from anonloom_transport import SlotKey, chain, unpack, write_signed

FOREIGN = "the round is not one of this study: nothing is sent"
UNSIGNED = "the classes are not signed by all servers of the study"


@pytest.fixture(scope="module")
def over():
    """A study of three iterations that is over, with all its rounds."""
    campaign, rounds = played(FIRSTS, iterations=3), {}

    def note(campaign, step):
        if campaign.driver is not None:
            name = campaign.driver.round.id.removeprefix("s ")
            rounds[name] = campaign.driver.round

    campaign.after = note
    campaign.run()
    return campaign, rounds


class Scripted:
    """Draws what it is told, then zeros."""

    def __init__(self, *drawn):
        self.drawn = list(drawn)

    def bytes(self, n):
        return self.drawn.pop(0) if self.drawn else bytes(n)


@pytest.fixture
def newcomer(over):
    """Returns a donor of that study who draws what she is told."""
    campaign, rounds = over

    def made(*drawn):
        return Donor(campaign.servers[0].notice, campaign.pins, Scripted(*drawn))

    return made, rounds, campaign


@pytest.fixture
def classed(newcomer):
    """A donor who draws the identifier of the first donor of the campaign, and knows her class."""
    made, rounds, campaign = newcomer
    pid = campaign.servers[0].classes.members[2][0]
    donor = made(pid, b"a" * 16, b"s" * 16)
    donor.registration(rounds["registration 1"], b"xy")
    donor.look_up(campaign.servers[0].broadcast)
    return donor


def test_she_registers_with_a_new_identifier_each_time(newcomer):
    made, rounds, _ = newcomer
    donor = made(b"1" * PID_BYTES, b"2" * PID_BYTES)
    round = rounds["registration 1"]
    assert b"1" * PID_BYTES + b"xy" == donor.registration(round, b"xy")
    assert b"2" * PID_BYTES + b"xy" == donor.registration(round, b"xy")


def test_a_record_of_another_size_is_refused(newcomer):
    made, rounds, _ = newcomer
    assert "a registration of this study has 2 bytes. Got 3 instead." == refusal(
        lambda: made().registration(rounds["registration 1"], b"xyz")
    )


def test_a_study_that_one_server_has_not_signed_is_refused(newcomer):
    _, _, campaign = newcomer
    document, first, _ = unpack(campaign.servers[0].notice)
    forged = write_signed(document, [first, first])
    assert "the study is not signed by all servers whose keys are known" == refusal(
        lambda: Donor(forged, campaign.pins, SeededEntropy())
    )


def test_rounds_of_another_study_are_refused(classed, newcomer):
    _, rounds, _ = newcomer
    other = study(id="s", donors=99)
    assert FOREIGN == refusal(lambda: classed.registration(other.registration(1), b"xy"))
    assert FOREIGN == refusal(lambda: classed.reservation(other.reservation(1, 15, b"classes")))
    assert FOREIGN == refusal(
        lambda: classed.position(attrs.evolve(rounds["publishing 1.1"], context=b"another plan"))
    )


def test_rounds_with_other_positions_or_another_erasure_are_refused(classed, newcomer):
    """One position more, and her rank is another's."""
    _, rounds, _ = newcomer
    round = rounds["publishing 1.1"]
    for changes in (
        {"slots": (b"\0" * 32, *round.slots), "capacity": 99},
        {"slots": round.slots[1:]},
        {"erasure": b"another"},
    ):
        assert FOREIGN == refusal(lambda c=changes: classed.position(attrs.evolve(round, **c)))


def test_one_phase_is_not_taken_for_another(classed, newcomer):
    _, rounds, _ = newcomer
    assert FOREIGN == refusal(lambda: classed.reservation(rounds["registration 1"]))
    assert FOREIGN == refusal(lambda: classed.registration(rounds["reservation 1"], b"xy"))
    assert FOREIGN == refusal(lambda: classed.position(rounds["reservation 1"]))


def test_nothing_is_reserved_before_the_classes_are_known(newcomer):
    made, rounds, _ = newcomer
    assert FOREIGN == refusal(lambda: made().reservation(rounds["reservation 1"]))


def test_classes_that_one_server_has_not_signed_are_refused(newcomer):
    made, _, campaign = newcomer
    document, first, second = unpack(campaign.servers[0].broadcast)
    for forged in (
        write_signed(document, [first]),
        write_signed(document, [second, first]),
        write_signed(document + b"x", [first, second]),
        b"",
        b"nonsense",
    ):
        assert UNSIGNED == refusal(lambda f=forged: made().look_up(f))


@given(st.data())
def test_changed_classes_are_refused(over, data):
    campaign, _ = over
    broadcast = campaign.servers[0].broadcast
    index = data.draw(st.integers(0, len(broadcast) - 1))
    changed = broadcast[:index] + bytes([broadcast[index] ^ 255]) + broadcast[index + 1 :]
    donor = Donor(campaign.servers[0].notice, campaign.pins, SeededEntropy())
    assert UNSIGNED == refusal(lambda: donor.look_up(changed))


def test_she_reserves_for_her_class(classed, newcomer):
    _, rounds, _ = newcomer
    assert 2 == classed.number
    message = classed.reservation(rounds["reservation 1"])
    key = SlotKey.read(message[:-CID_BYTES])
    assert (b"a" * 16, chain(b"s" * 16, 3)) == (key.alpha, key.head)
    assert 2 == int.from_bytes(message[-CID_BYTES:], "big")
    assert key.slot == classed.slot


def test_who_is_in_no_class_reserves_nothing_and_looks_the_same(newcomer):
    made, rounds, campaign = newcomer
    donor = made(b"unknown".ljust(PID_BYTES))
    donor.registration(rounds["registration 1"], b"xy")
    donor.look_up(campaign.servers[0].broadcast)
    assert donor.number is None
    message = donor.reservation(rounds["reservation 1"])
    assert NO_CLASS == int.from_bytes(message[-CID_BYTES:], "big")
    assert rounds["reservation 1"].message_size == len(message)


def test_who_is_not_on_the_list_sends_a_decoy(classed, newcomer):
    _, rounds, _ = newcomer
    classed.reservation(rounds["reservation 1"])
    assert classed.position(rounds["publishing 1.1"]) is None


def test_who_is_on_the_list_gets_her_position(over):
    campaign, rounds = over
    donor = campaign.donors[0]
    donor._answered = 0
    assert donor.slot == donor.position(rounds["publishing 1.1"]).slot
    assert donor.slot in rounds["publishing 1.1"].slots


def test_no_iteration_is_answered_twice_or_backwards(classed, newcomer):
    _, rounds, _ = newcomer
    classed.reservation(rounds["reservation 1"])
    classed.position(rounds["publishing 1.2"])
    assert "iteration 2 comes after iteration 2: nothing is sent twice" == refusal(
        lambda: classed.position(rounds["publishing 1.2"])
    )
    assert "iteration 1 comes after iteration 2: nothing is sent twice" == refusal(
        lambda: classed.position(rounds["publishing 1.1"])
    )
    classed.position(rounds["publishing 1.3"])


def test_after_answers_she_reserves_anew_only_as_often_as_the_study_allows(classed, newcomer):
    """A second opening with another erased set shows what was erased in the first."""
    _, rounds, _ = newcomer
    round = rounds["reservation 1"]
    for _ in range(3):  # everybody posts again, and nobody has answered: nothing is lost
        classed.reservation(round)
    classed.position(rounds["publishing 1.1"])
    classed.reservation(round)
    classed.position(rounds["publishing 1.1"])
    assert "the reservations were made anew 1 times: nothing more is sent" == refusal(
        lambda: classed.reservation(round)
    )


def test_every_reservation_is_another_position(over):
    campaign, rounds = over
    donor = Donor(campaign.servers[0].notice, campaign.pins, SeededEntropy("fresh"))
    donor.look_up(campaign.servers[0].broadcast)
    drawn = {donor.reservation(rounds["reservation 1"]) for _ in range(5)}
    assert 5 == len(drawn)


def test_who_withdraws_proves_it_and_others_say_as_much(classed, newcomer):
    _, rounds, _ = newcomer
    classed.reservation(rounds["reservation 1"])
    deposit = rounds["publishing 1.2"]
    classed.position(deposit)
    asked = classed.study.withdrawal(1, 2, deposit.context)
    noise = classed.consent(asked)
    assert (WITHDRAWAL_BYTES, False) == (len(noise), b"a" * 16 in noise)
    classed.withdrawn = True
    assert b"a" * 16 + chain(b"s" * 16, 1) == classed.consent(asked)


def test_who_missed_a_deposit_withdraws_all_the_same(classed, newcomer):
    """Her link of an iteration before proves nothing: it has been shown."""
    _, rounds, _ = newcomer
    classed.reservation(rounds["reservation 1"])
    classed.position(rounds["publishing 1.1"])
    classed.withdrawn = True
    asked = classed.study.withdrawal(1, 2, rounds["publishing 1.1"].context)
    assert b"a" * 16 + chain(b"s" * 16, 1) == classed.consent(asked)


def test_she_withdraws_only_where_her_positions_are(classed, newcomer):
    _, rounds, _ = newcomer
    deposit = rounds["publishing 1.1"]
    asked = classed.study.withdrawal(1, 1, deposit.context)
    classed.reservation(rounds["reservation 1"])
    assert FOREIGN == refusal(lambda: classed.consent(asked))
    classed.position(deposit)
    classed.consent(asked)
    assert FOREIGN == refusal(lambda: classed.consent(deposit))
    assert FOREIGN == refusal(lambda: classed.consent(classed.study.withdrawal(1, 1, b"other")))
    classed.reservation(rounds["reservation 1"])
    assert FOREIGN == refusal(lambda: classed.consent(asked))


def test_who_was_left_out_once_sends_nothing_more(classed, newcomer):
    """Also when a later post of hers stands."""
    _, rounds, _ = newcomer
    for stands in (False, True):
        classed.learn_outcome(SimpleNamespace(stands=stands))
    for act in (
        lambda: classed.registration(rounds["registration 1"], b"xy"),
        lambda: classed.reservation(rounds["reservation 1"]),
        lambda: classed.position(rounds["publishing 1.1"]),
    ):
        assert "an earlier post was not accepted: nothing more is sent" == refusal(act)


def test_nothing_is_sent_in_a_round_that_is_bound_to_nothing(classed, newcomer):
    made, _, _ = newcomer
    assert FOREIGN == refusal(lambda: made().reservation(classed.study.reservation(1, 3, b"")))


def test_secrets_stay_out_of_the_representation(classed, newcomer):
    _, rounds, _ = newcomer
    classed.reservation(rounds["reservation 1"])
    shown = repr(classed)
    assert "aaaa" not in shown
    assert "ssss" not in shown
