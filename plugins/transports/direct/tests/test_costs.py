"""What is estimated of a round is what travels in it; operations are counted, rates are not."""

from collections import Counter

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_direct.costs import server_work
from anonloom_direct.transport import Direct
from anonloom_testing.transport import SeededEntropy, full_round, measure_traffic, run_full_round
from anonloom_transport import (
    CHECK,
    LOOK,
    READ_SLOT,
    Authority,
    Microbench,
    SealingKey,
    run_microbench,
    seconds_each,
)


@pytest.fixture(autouse=True, scope="module")
def _rates():
    """Everything takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonloom_transport.estimates.seconds_each", lambda operation: 1.0)
        patch.setattr(
            "anonloom_transport.costs.run_microbench", lambda *asked: Microbench(1.0, 1.0, 1.0, 100)
        )
        yield


def sizes(estimate):
    return {name: getattr(estimate, name) for name in attrs.asdict(estimate) if "bytes" in name}


def same_bytes(round, invitations=()):
    estimate = Direct().estimate(round)
    return measure_traffic(run_full_round(Direct(), round, invitations)) == sizes(estimate)


@given(
    operation=st.sampled_from(["post", "deposit"]),
    senders=st.integers(1, 20),
    servers=st.integers(1, 3),
    size=st.integers(1, 300),
    suite=st.sampled_from(["x25519", "mlkem768-x25519"]),
)
@settings(max_examples=20, deadline=None)
def test_bytes_are_those_that_travel(operation, senders, servers, size, suite):
    assert same_bytes(
        full_round(operation, senders, servers=servers, message_size=size, suite=suite)
    )


@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_invitations_are_part_of_uploads(operation):
    authority = Authority.draw(SeededEntropy("authority"))
    invitations = [authority.invite(SeededEntropy(index)) for index in range(5)]
    assert same_bytes(full_round(operation, 5, authority=authority.public), invitations)


def test_counting_is_part_of_what_servers_say():
    assert same_bytes(full_round("deposit", 7, counted=True))


def test_decoys_cost_what_deposits_cost_but_show_no_row():
    assert same_bytes(full_round("deposit", 4, decoys=3))


def test_every_upload_is_opened_once_by_every_server(monkeypatch):
    opened = Counter()
    true = SealingKey.open

    def counted(self, *given):
        opened["uploads"] += 1
        return true(self, *given)

    monkeypatch.setattr(SealingKey, "open", counted)
    described = full_round("post", 9, servers=3)
    run_full_round(Direct(), described)
    # Words once, nine uploads, nine rows: each takes a second.
    assert 1 + 9 + 9 == Direct().estimate(described).server_cpu
    assert 9 * 3 == opened["uploads"]
    assert [9] == list(server_work(described).values())


def test_a_sender_reads_the_description_and_the_list():
    described = full_round("deposit", 6, servers=3)
    signatures, entries, slots, own = 3 * 2, 6, 6, 1
    assert signatures + entries + slots + own == Direct().estimate(described).sender_cpu
    assert 3 == len({CHECK, LOOK, READ_SLOT})


def test_a_trial_finds_what_everything_takes():
    """Figures of time are only said to be some; what is held is more than what was sealed."""
    result = run_microbench((1000, 10), "x25519", False)
    assert result is run_microbench((1000, 10), "x25519", False)
    assert min(result.words, result.upload, result.sender) >= 0.0
    assert 2 * 1000 < result.held < 2 * 1000 + 2000


def test_rates_of_this_machine_make_an_estimate(monkeypatch):
    monkeypatch.setattr("anonloom_transport.estimates.seconds_each", seconds_each)
    monkeypatch.setattr("anonloom_transport.costs.run_microbench", run_microbench)
    estimate = Direct().estimate(full_round("post", 4))
    assert min(attrs.astuple(estimate)) > 0
