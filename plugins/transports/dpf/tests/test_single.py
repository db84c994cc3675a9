"""The paper's placement delivers the share of messages that meet nobody, and says what it lost."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_dpf.single import SingleSlot, slots_for, success_rate
from anonloom_testing.transport import SeededEntropy


def written(placement, records, slots):
    """The open table after all records were written."""
    table = np.zeros((placement.tables[0], placement.record_size), np.uint8)
    for record, place in zip(records, slots[:, 0], strict=True):
        table[place] ^= record
    return [table]


def messages_of(count, size):
    drawn = SeededEntropy("messages").bytes(count * size)
    return [drawn[index * size : (index + 1) * size] for index in range(count)]


def test_the_paper_s_example_has_ten_slots_for_each_of_100_000_senders():
    assert (1_000_000,) == SingleSlot(capacity=100_000, message_size=8, salt=b"").tables
    assert 947_214 == slots_for(100_000, 0.9)
    assert 0.905 == success_rate(100_000, 1_000_000)


@given(messages=st.integers(1, 10**6), rate=st.integers(500, 999))
@settings(deadline=None)
def test_the_table_is_the_smallest_that_the_formula_allows(messages, rate):
    slots = slots_for(messages, rate / 1000)
    assert success_rate(messages, slots) >= rate / 1000 - 1e-12
    assert slots == messages or success_rate(messages, slots - 1) < rate / 1000


@pytest.mark.long
@pytest.mark.parametrize(
    ("ratio", "exact", "formula"),
    [(2.7, 0.6905, 0.6982), (5, 0.8187, 0.8200), (10, 0.9048, 0.9050), (20, 0.9512, 0.9512)],
)
def test_measured_success_is_that_of_the_exact_formula(ratio, exact, formula):
    """100,000 messages: the 99 % binomial interval around e^(-R/N) holds what was measured.

    Losses come in pairs, which makes the true interval up to 1.4 times as wide: not made use of.
    """
    count = 100_000
    slots = round(ratio * count)
    placement = SingleSlot(capacity=count, message_size=4, table=slots, salt=b"a salt")
    table = written(placement, *placement.place(messages_of(count, 4), SeededEntropy(ratio)))

    decoded = placement.decode(table, expected=count)

    assert exact == round(math.exp(-count / slots), 4)
    assert formula == pytest.approx(success_rate(count, slots), abs=6e-5)
    half = 2.576 * math.sqrt(exact * (1 - exact) / count)
    assert abs(decoded.delivered_count / count - (1 - 1 / slots) ** (count - 1)) < half
    if ratio < 4:  # the paper's formula is an expansion, and here it shows
        assert abs(decoded.delivered_count / count - formula) > half
    assert set(messages_of(count, 4)).issuperset(decoded.messages)
    assert count - decoded.delivered_count == decoded.lost_count
    # 2 to 3 messages in each slot that could not be read, and as many as were sent.
    assert 2 * decoded.undelivered_slots <= decoded.lost_count < 3 * decoded.undelivered_slots
    assert placement.estimate(decoded) == pytest.approx(decoded.lost_count, rel=0.1)


@given(
    messages=st.lists(st.binary(min_size=2, max_size=2), max_size=40),
    seed=st.integers(0, 2**32),
    slots=st.integers(1, 200),
    leaf=st.integers(1, 5),
)
@settings(deadline=None)
def test_exactly_the_messages_alone_in_their_slot_are_delivered(messages, seed, slots, leaf):
    placement = SingleSlot(
        capacity=max(1, len(messages)), message_size=2, table=slots, slots_per_leaf=leaf, salt=b""
    )
    records, places = placement.place(messages, SeededEntropy(seed))
    crowd = Counter(places[:, 0].tolist())
    alone = {
        bytes(record[:16]): message
        for record, place, message in zip(records, places[:, 0].tolist(), messages, strict=True)
        if crowd[place] == 1
    }

    decoded = placement.decode(written(placement, records, places), expected=len(messages))

    assert sorted(alone) == decoded.tags
    assert [alone[tag] for tag in sorted(alone)] == decoded.messages
    assert sum(count > 1 for count in crowd.values()) == decoded.undelivered_slots
    assert len(messages) - len(alone) == decoded.lost_count
    assert 0 == placement.tables[0] % leaf


def test_garbage_is_recognised_and_a_full_table_has_no_estimate():
    placement = SingleSlot(capacity=4, message_size=4, table=8, salt=b"")
    drawn = SeededEntropy(0).bytes(8 * placement.record_size)

    decoded = placement.decode([np.frombuffer(drawn, np.uint8).reshape(8, -1)])

    assert ([], 8, 0) == (decoded.messages, decoded.undelivered_slots, decoded.lost_count)
    assert math.inf == placement.estimate(decoded)


@pytest.mark.parametrize("rate", [0.49, 1, 1.5])
def test_a_rate_that_no_table_has_is_refused(rate):
    with pytest.raises(
        ValueError,
        match=rf"^the success rate must be at least 0\.5 and below 1\. Got {rate} instead\.$",
    ):
        SingleSlot(capacity=4, message_size=4, success_rate=rate, salt=b"")
