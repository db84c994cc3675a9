"""What is estimated of a round is what travels in it, and layers are counted as they are opened."""

from collections import Counter

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_mixnet import open_phase
from anonloom_mixnet.costs import (
    _join_operation,
    _open_operation,
    _pack_operation,
    _route,
    costs,
    server_work,
)
from anonloom_mixnet.layers import Opener, overhead
from anonloom_mixnet.packets import Route
from anonloom_mixnet.transport import Mixnet
from anonloom_testing.transport import full_round, measure_traffic, run_full_round
from anonloom_transport import Microbench, row_size

SUITES = ["x25519", "mlkem768-x25519"]


@pytest.fixture(autouse=True, scope="module")
def _rates():
    """Everything takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonloom_transport.estimates.seconds_each", lambda operation: 1.0)
        patch.setattr(
            "anonloom_transport.costs.run_microbench", lambda *asked: Microbench(1.0, 1.0, 1.0, 100)
        )
        yield


def same_bytes(round, traps=3):
    estimate = Mixnet(traps=traps).estimate(round)
    sizes = {name: getattr(estimate, name) for name in attrs.asdict(estimate) if "bytes" in name}
    return measure_traffic(run_full_round(Mixnet(traps=traps), round)) == sizes


@given(
    operation=st.sampled_from(["post", "deposit"]),
    senders=st.integers(1, 12),
    servers=st.sampled_from([2, 3]),
    size=st.integers(1, 120),
    traps=st.integers(0, 4),
    suite=st.sampled_from(SUITES),
)
@settings(max_examples=15, deadline=None)
def test_bytes_are_those_that_travel(operation, senders, servers, size, traps, suite):
    described = full_round(operation, senders, servers=servers, message_size=size, suite=suite)
    assert same_bytes(described, traps)


def test_counting_is_part_of_what_servers_say():
    assert same_bytes(full_round("deposit", 5, counted=True))


def test_decoys_show_no_share():
    assert same_bytes(full_round("deposit", 4, decoys=2, servers=3))


def test_a_round_that_cannot_be_carried_has_no_estimate():
    assert Mixnet().estimate(full_round("post", 3, servers=1)) is None


# --- operations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_layers_and_packets_are_counted(operation, servers, suite, monkeypatch):
    result = Counter()
    open_layer, pack, read_row = Opener.open, Route.pack, open_phase.read_row

    def opened(self, sealed):
        result[len(sealed)] += 1
        return open_layer(self, sealed)

    def packed(self, *given):
        result["packed"] += 1
        return pack(self, *given)

    def reading(*given):
        result["rows"] += 1
        return read_row(*given)

    monkeypatch.setattr(Opener, "open", opened)
    monkeypatch.setattr(Route, "pack", packed)
    monkeypatch.setattr(open_phase, "read_row", reading)
    senders, traps = 6, 2
    described = full_round(operation, senders, servers=servers, suite=suite)
    run_full_round(Mixnet(traps=traps), described)

    work, route = server_work(described, traps), _route(described)
    # Each hop mixes packets of its own size; the first is the one that is estimated.
    mixed = work.pop(_open_operation(suite, route.packet_size()))
    expected = Counter({route.packet_size(hop): mixed for hop in range(servers)})
    for server in range(servers):
        size = route.core_size(server)
        expected[size] += servers * work.pop(_open_operation(suite, size))
    expected["packed"] = senders + servers * work.pop(_pack_operation(described, trap=True))
    if operation == "deposit":
        share = row_size(described.message_size) + overhead(suite)
        expected[share] += servers * work.pop(_open_operation(suite, share))
        expected["rows"] = servers * work.pop(_join_operation(described))
    assert expected == result
    assert [senders + servers * traps] == list(work.values())  # packets that are passed on


@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_every_operation_can_be_tried(operation, monkeypatch):
    """Once each: how long it takes is not asked."""
    monkeypatch.setattr("anonloom_transport.estimates._TRIED", 1e-9)
    result = costs(full_round(operation, 3, servers=3, message_size=1), 2, b"")
    for named in (result.server_work, result.sender_work):
        assert all(operation.measure() > 0.0 for operation in named)
