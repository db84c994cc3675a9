"""What is estimated of a round is what travels in it, and keys are counted as they are evaluated."""

from collections import Counter

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_dpf import aes, deposit_table, native, slotauth
from anonloom_dpf.costs import (
    PRODUCT,
    aes_bytes,
    costs,
    deposit_work,
    evaluation_work,
    post_work,
)
from anonloom_dpf.layout import deposit_layout, post_layout
from anonloom_dpf.sqrt_dpf import Square
from anonloom_dpf.transport import Dpf
from anonloom_dpf.tree import Tree
from anonloom_testing.transport import SeededEntropy, full_round, measure_traffic, run_full_round
from anonloom_transport import Microbench

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


def same_bytes(round, **parameters):
    transport = Dpf(**parameters)
    estimate = transport.estimate(round)
    sizes = {name: getattr(estimate, name) for name in attrs.asdict(estimate) if "bytes" in name}
    return measure_traffic(run_full_round(transport, round)) == sizes


@given(
    operation=st.sampled_from(["post", "deposit"]),
    senders=st.integers(1, 40),
    servers=st.sampled_from([2, 3]),
    size=st.integers(1, 120),
    suite=st.sampled_from(SUITES),
)
@settings(max_examples=20, deadline=None)
def test_bytes_are_those_that_travel(operation, senders, servers, size, suite):
    assert same_bytes(
        full_round(operation, senders, servers=servers, message_size=size, suite=suite)
    )


@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [{"placement": "paper"}, {"slots_per_leaf": 4}, {"tolerated": 0.2}],
    ids=["paper", "slots", "tolerated"],
)
def test_parameters_change_what_travels(servers, parameters):
    assert same_bytes(full_round("post", 12, servers=servers), **parameters)


def test_four_servers_and_decoys():
    assert same_bytes(full_round("deposit", 9, decoys=2, servers=4))


@pytest.mark.parametrize("servers", [2, 3])
def test_counting_is_part_of_what_travels_where_it_can_be_had(servers):
    described = full_round("deposit", 7, servers=servers, counted=True)
    carried = Dpf().problem(described) is None
    assert same_bytes(described) if carried else Dpf().estimate(described) is None


def test_a_round_that_cannot_be_carried_has_no_estimate():
    assert Dpf().estimate(full_round("post", 3, servers=5)) is None


# --- operations ---------------------------------------------------------------------------------


@pytest.fixture
def evaluated(monkeypatch):
    """Return what counts the bytes of AES that the keys of each party stand for."""
    counted = Counter()
    for kind in (Tree, Square):

        def accumulate(self, party, keys, *given, true=kind.accumulate, **more):
            counted[party] += len(keys) * aes_bytes(self)
            return true(self, party, keys, *given, **more)

        monkeypatch.setattr(kind, "accumulate", accumulate)

    def count(self, party, keys, *given, true=Tree.count):
        counted[party] += len(keys) * aes_bytes(self)
        return true(self, party, keys, *given)

    monkeypatch.setattr(Tree, "count", count)
    return counted


def evaluations(work):
    return sum(count for operation, count in work.items() if "AES" in operation.name)


@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_every_key_is_evaluated_once_by_every_server(operation, servers, evaluated):
    described = full_round(operation, 21, servers=servers)
    run_full_round(Dpf(), described)
    work = costs(described, Dpf().settings, b"").work_of_server
    assert dict.fromkeys(range(servers), evaluations(work)) == evaluated


def test_counted_keys_are_evaluated_once_too(evaluated):
    described = full_round("deposit", 21, counted=True)
    run_full_round(Dpf(), described)
    work = costs(described, Dpf().settings, b"").work_of_server
    assert dict.fromkeys(range(2), evaluations(work)) == evaluated


@pytest.fixture
def blocks(monkeypatch):
    """Return what counts the bytes that go through AES, which numpy asks for."""
    counted = Counter()

    class Counting:
        def __init__(self, true):
            self.true = true

        def update_into(self, data, room):
            counted["bytes"] += data.size
            return self.true.update_into(data, room)

    monkeypatch.setenv(native.VARIABLE, "numpy")
    for module in ("evaluation", "columns", "key_check", "sqrt_dpf"):
        monkeypatch.setattr(
            f"anonloom_dpf.{module}.permutation",
            lambda *use: Counting(aes.permutation(*use)),
        )
    return counted


@pytest.mark.parametrize(
    "function",
    [
        Tree(1, 16),
        Tree(64, 40),
        Tree(64, 40, checked=True),
        Tree(4096, 7, checked=True),
        Square(3, 50, 24),
        Square(4, 64, 24),
    ],
    ids=str,
)
def test_bytes_of_aes_are_those_that_an_evaluation_asks_for(function, blocks):
    """Of a tree with full levels; others are a little cheaper in C than in numpy."""
    number = 5
    payloads = np.zeros((number, function.width), np.uint8)
    keys = function.keys(np.zeros(number, np.int64), payloads, SeededEntropy())[0]
    share = np.zeros((function.leaves, function.width), np.uint8)
    blocks.clear()
    checked = {"check_key": bytes(32)} if getattr(function, "checked", False) else {}
    function.accumulate(0, keys, share, **checked)
    assert number * aes_bytes(function) == blocks["bytes"]
    assert number * aes_bytes(function) == evaluations(evaluation_work([function], number, False))


@pytest.mark.parametrize("leaves", [1, 64, 4096])
def test_bytes_of_aes_hold_those_of_numbers(leaves, blocks):
    tree = Tree(leaves, 40, counted=True)
    numbers = np.ones((5, 2), np.uint64)
    payloads, places = np.zeros((5, 40), np.uint8), np.zeros(5, np.int64)
    keys = tree.keys(places, payloads, SeededEntropy(), numbers)[0]
    share, sums = np.zeros((leaves, 40), np.uint8), np.zeros(leaves, np.uint64)
    blocks.clear()
    tree.count(0, keys, share, sums, np.ones(leaves, np.uint32))
    assert 5 * aes_bytes(tree) == blocks["bytes"]


@pytest.mark.parametrize("senders", [3, 16, 37])
def test_products_and_rows_of_a_deposit_are_counted(senders, monkeypatch):
    """Every product of every server; each row once, however often a server looks at it."""
    products, rows = Counter(), set()
    claim, read_row = slotauth.claim, deposit_table.read_row

    def claiming(share, weights, tag):
        products["of both servers"] += weights.shape[0] * weights.shape[1]
        return claim(share, weights, tag)

    def reading(head, iteration, row):
        rows.add(row)
        return read_row(head, iteration, row)

    monkeypatch.setattr(slotauth, "claim", claiming)
    monkeypatch.setattr(deposit_table, "read_row", reading)
    described = full_round("deposit", senders)
    run_full_round(Dpf(), described)
    work = deposit_work(described, deposit_layout(described))
    (read,) = (count for operation, count in work.items() if operation.name.endswith("read"))
    assert {"of both servers": 2 * work[PRODUCT]} == products
    assert read == len(rows)


def test_every_message_of_a_post_is_read_once():
    described = full_round("post", 30)
    work = post_work(described, post_layout(described, Dpf().settings))
    (read,) = (count for operation, count in work.items() if "message" in operation.name)
    assert 30 == read


@pytest.mark.parametrize(
    ("operation", "servers", "counted"),
    [("post", 2, False), ("post", 3, False), ("deposit", 2, False), ("deposit", 3, False),
     ("deposit", 2, True)],
)  # fmt: skip
def test_every_operation_can_be_tried(operation, servers, counted, monkeypatch):
    """Once each: how long it takes is not asked."""
    monkeypatch.setattr("anonloom_transport.estimates._TRIED", 1e-9)
    described = full_round(operation, 8, servers=servers, message_size=1, counted=counted)
    result = costs(described, Dpf().settings, b"")
    for named in (result.server_work, result.sender_work):
        assert all(operation.measure() > 0.0 for operation in named)
