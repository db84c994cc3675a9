"""Filled positions are counted when layers are peeled; what is in them stays sealed until the opening."""

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom.errors import TransportError
from anonloom_testing.transport import adversaries
from anonloom_transport import Envelope, Party

COUNTED = {"counted": True}
GROUPS = [[0, 1, 2], [3, 4, 5]]


def settled(begin, filled=(0, 1, 3), decoys=3, **more):
    begun = begin("deposit", 6, more=COUNTED, **more)
    begun.deposit(dict(zip(filled, begun.texts(6), strict=False)))
    begun.driver.decoy(decoys)
    begun.driver.close()
    begun.driver.settle()
    return begun


@pytest.mark.parametrize("suite", ["x25519", "mlkem768-x25519"])
@pytest.mark.parametrize("servers", [2, 3])
def test_traps_and_decoys_count_nowhere(begin, servers, suite):
    begun = settled(begin, servers=servers, suite=suite)
    assert (2, 1) == begun.driver.count(GROUPS)
    assert {"named", "peel"} == begun.opened_by
    begun.driver.open()
    first, second, third = begun.texts(3)
    assert [first, second, None, third, None, None] == list(begun.driver.result())


@given(filled=st.sets(st.integers(0, 5)), extra=st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_counts_are_the_numbers_of_filled_positions(begin, filled, extra):
    more = {**COUNTED, "capacity": 9}
    begun = begin("deposit", 6, more=more)
    begun.deposit(dict(zip(sorted(filled), begun.texts(6), strict=False)))
    begun.driver.decoy(extra)
    begun.driver.close()
    begun.driver.settle()
    assert tuple(len(filled & {*group}) for group in GROUPS) == begun.driver.count(GROUPS)


def test_what_was_counted_can_still_be_erased(begin):
    begun = settled(begin)
    begun.driver.count(GROUPS)
    begun.driver.erase([3, 4, 5])
    begun.driver.open()
    assert [*begun.texts(2), None, None, None, None] == list(begun.driver.result())


def test_two_packets_for_one_position_count_once(begin):
    begun = settled(begin, filled=(0, 1), decoys=1)
    again = begin("deposit", 6, more=COUNTED)
    for text in again.texts(2):
        again.driver.deposit([(again.secrets[2], text)])
    again.driver.close()
    again.driver.settle()
    assert (2, 0) == begun.driver.count(GROUPS)
    assert (1, 0) == again.driver.count(GROUPS)
    again.driver.open()
    assert [None] * 6 == list(again.driver.result())  # contested


def test_who_misses_a_packet_says_so_before_the_count(begin):
    begun = settled(begin)
    begun.driver.count(GROUPS)
    claim = Envelope(
        sender=Party("client", 0),
        receiver=Party("server", 0),
        step="missing",
        round=begun.driver.round.digest,
        body=b"a claim",
    )
    begun.driver.inject(claim)
    assert {"not the time for objections": 1} == dict(begun.driver.count_refusals())


def test_a_server_that_counts_otherwise_is_noticed(begin):
    lie = adversaries.miscomputes("counted", adversaries.flip)
    begun = settled(begin, corrupted={1: lie})
    with pytest.raises(TransportError) as caught:
        begun.driver.count(GROUPS)
    assert (
        "the round has stopped: the servers do not count the same: one of them deviates"
    ) == str(caught.value)


def test_a_lost_packet_is_noticed_before_anything_is_counted(begin, monkeypatch):
    """The last hop drops one: its sender says so, and the count stops without a layer peeled."""
    from anonloom_mixnet.cascade import Batch
    from anonloom_mixnet.mix_phase import MixPhase

    opened = MixPhase._open_batch

    def replacing(self):
        batch = opened(self)
        if self.index != 1:
            return batch
        other = bytes(len(batch.outputs[0]))
        return attrs.evolve(batch, outputs=(other, *batch.outputs[1:]))

    monkeypatch.setattr(MixPhase, "_open_batch", replacing)
    begun = settled(begin)
    assert isinstance(begun.driver.servers[0].strategy.mix.batch, Batch)
    with pytest.raises(TransportError) as caught:
        begun.driver.count(GROUPS)
    assert "the round has stopped: server 1 did not pass on a packet that it was given" == str(
        caught.value
    )
    assert set() == begun.opened_by
