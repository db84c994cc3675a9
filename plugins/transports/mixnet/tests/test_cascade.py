"""One hop over a batch: orders are even, and a layer counts once."""

import math
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_mixnet.cascade import mix, peel, sealed_list
from anonloom_mixnet.shuffling import random_order
from anonloom_mixnet.suites import SUITES
from anonloom_testing.transport import SeededEntropy

# The value that a chi-square of 23 degrees of freedom (24 orders of 4) exceeds once in 1000 times.
LIMIT = 49.728


def chi_square(draw, trials=24_000):
    """Compare how often each order of four things is drawn with even odds."""
    counts = Counter(tuple(draw()) for _ in range(trials))
    expected = trials / math.factorial(4)
    return sum((counts[order] - expected) ** 2 / expected for order in permutations(range(4)))


def test_all_orders_are_equally_likely():
    entropy = SeededEntropy("orders")

    assert chi_square(lambda: random_order(4, entropy)) < LIMIT


def test_the_test_of_orders_finds_no_shuffle():
    assert chi_square(lambda: range(4)) > LIMIT


def test_the_test_of_orders_finds_a_shuffle_that_swaps_with_any_place():
    """The well-known mistake: 4^4 equally likely draws do not divide evenly among 24 orders."""
    entropy = SeededEntropy("naive")

    def naive():
        order = list(range(4))
        for place, word in enumerate(entropy.bytes(4)):
            other = word % 4
            order[place], order[other] = order[other], order[place]
        return order

    assert chi_square(naive) > LIMIT


@given(n=st.integers(0, 300), seed=st.integers(0, 5))
def test_an_order_has_everything_once_and_depends_on_entropy_alone(n, seed):
    order = random_order(n, SeededEntropy(seed))

    assert list(range(n)) == sorted(order)
    assert order == random_order(n, SeededEntropy(seed))


def test_words_that_would_favour_small_numbers_are_drawn_again(monkeypatch):
    words = iter([2**64 - 1, 2**64 - 1, 0, 1])
    monkeypatch.setattr("anonloom_mixnet.shuffling._words", lambda seed: words)

    # 2^64 - 1 is the one word too many for a choice among three: 2^64 = 1 modulo 3.
    assert [2, 1, 0] == random_order(3, SeededEntropy())


@settings(max_examples=25, deadline=None)
@given(suite=st.sampled_from(sorted(SUITES)), number=st.integers(0, 6))
def test_a_batch_knows_where_its_outputs_came_from(cascade, suite, number):
    hop = cascade(suite, 1, 2)
    packets = hop.pack([bytes([n, 7]) for n in range(number)])
    batch = mix(
        [p.sealed for p in packets],
        hop.route.packet_size(),
        hop.opener("mix", 0),
        set(),
        hop.entropy,
    )

    assert [packets[origin].core for origin in batch.origins] == list(batch.outputs)
    assert sorted(batch.origins) == list(range(number)) == sorted(batch.keys)
    assert {} == batch.failures


def test_mixing_changes_the_order_and_peeling_does_not(cascade):
    hop = cascade("x25519", 1, 1)
    packets = hop.pack([bytes([n]) for n in range(20)])
    arguments = [p.sealed for p in packets], hop.route.packet_size(), hop.opener("mix", 0)

    assert tuple(range(20)) == peel(*arguments, set()).origins
    assert tuple(range(20)) != mix(*arguments, set(), hop.entropy).origins


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_a_layer_counts_once_in_a_batch_and_in_later_ones(cascade, suite):
    hop = cascade(suite, 1, 3)
    first, second = (packet.sealed for packet in hop.pack([b"one", b"two"]))
    seen = set()
    size, opener = hop.route.packet_size(), hop.opener("mix", 0)

    assert {1: "replay"} == peel([first, first], size, opener, seen).failures
    assert {0: "replay"} == peel([first, second], size, opener, seen).failures
    assert 2 == len(seen)


def test_a_copied_head_before_rubbish_does_not_displace_the_packet(cascade):
    hop = cascade("x25519", 1, 3)
    packet = hop.pack([b"one"])[0]
    rubbish = packet.sealed[:32] + bytes(len(packet.sealed) - 32)
    batch = peel(
        [rubbish, packet.sealed, rubbish], hop.route.packet_size(), hop.opener("mix", 0), set()
    )

    assert (packet.core,) == batch.outputs
    assert {0: "unopened", 2: "unopened"} == batch.failures


def test_other_sizes_are_refused(cascade):
    hop = cascade("x25519", 1, 3)
    packet = hop.pack([b"one"])[0].sealed
    wrong = [b"", packet[:-1], packet + b"\0", packet[:31]]
    batch = peel(wrong, hop.route.packet_size(), hop.opener("mix", 0), set())

    assert dict.fromkeys(range(4), "size") == batch.failures


@given(st.binary(min_size=131, max_size=131))
def test_nothing_that_arrives_makes_a_hop_fail(cascade, rubbish):
    hop = cascade("x25519", 1, 3)
    batch = peel([rubbish], hop.route.packet_size(), hop.opener("mix", 0), set())

    assert {0: "unopened"} == batch.failures


def test_the_signed_list_holds_every_core_once_in_an_order_nobody_chose():
    assert (b"a", b"b", b"c") == sealed_list([b"c", b"a", b"b", b"a"])
