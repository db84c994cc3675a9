"""Peeling delivers what honest senders wrote, whatever others wrote beside it."""

import hashlib
import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonloom_dpf.peeling import PeelingPlacement, factor_for, lost_share, slots_per_table
from anonloom_dpf.placement import CHECKSUM_BYTES, TAG_BYTES
from anonloom_testing.transport import SeededEntropy


def written(placement, records, slots, tables=None):
    """The open tables after all records were written, one by one."""
    if tables is None:
        tables = [np.zeros((size, placement.record_size), np.uint8) for size in placement.tables]
    for record, places in zip(records, slots, strict=True):
        for table, place in zip(tables, places, strict=True):
            table[place] ^= record
    return tables


def keyed(salt, use, said, size):
    key = hashlib.blake2b(salt, digest_size=32, person=b"anonloom salt").digest()
    return hashlib.blake2b(said, key=key, digest_size=size, person=use).digest()


def peeled_slowly(placement, tables):
    """Records one after the other, from a dictionary of slots; also what is left in it."""
    rest = {
        (number, slot): bytes(row)
        for number, table in enumerate(tables)
        for slot, row in enumerate(table)
        if row.any()
    }

    def places(record):
        drawn = keyed(placement.salt, b"slots", record[:TAG_BYTES], 24)
        return [
            (number, int.from_bytes(drawn[8 * number : 8 * number + 8], "little") % size)
            for number, size in enumerate(placement.tables)
        ]

    def whole(record):
        checksum = keyed(placement.salt, b"checksum", record[:-CHECKSUM_BYTES], CHECKSUM_BYTES)
        return record[-CHECKSUM_BYTES:] == checksum

    results = {}
    while True:
        alone = next(
            (
                record
                for place, record in sorted(rest.items())
                if whole(record) and place in places(record) and record not in results.values()
            ),
            None,
        )
        if alone is None:
            return results, rest
        results[alone[:TAG_BYTES]] = alone
        for place in places(alone):
            left = bytes(
                a ^ b for a, b in zip(rest.pop(place, bytes(len(alone))), alone, strict=True)
            )
            if any(left):
                rest[place] = left


def messages_of(count, size, seed=0):
    drawn = SeededEntropy(("messages", seed)).bytes(count * size)
    return [drawn[index * size : (index + 1) * size] for index in range(count)]


def placement_of(count, size=5, **options):
    return PeelingPlacement(capacity=count, message_size=size, salt=b"a salt", **options)


@given(
    messages=st.lists(st.binary(min_size=3, max_size=3), max_size=60),
    seed=st.integers(0, 2**32),
    leaf=st.integers(1, 8),
)
@settings(max_examples=150, deadline=None)
def test_what_was_sent_is_delivered_equal_messages_too(messages, seed, leaf):
    placement = placement_of(max(1, len(messages)), 3, slots_per_leaf=leaf)
    records, slots = placement.place(messages, SeededEntropy(seed))
    # Nothing can tell two records that share all slots apart; the size makes that rare.
    assume(len({tuple(places) for places in slots}) == len(slots))

    decoded = placement.decode(written(placement, records, slots), expected=len(messages))

    assert Counter(messages) == Counter(decoded.messages)
    assert decoded.complete
    assert (0, 0, 0, 0, 0) == (
        decoded.lost_count,
        decoded.excess,
        decoded.refused,
        decoded.damaged,
        decoded.undelivered_slots,
    )


@given(
    count=st.integers(0, 40),
    crowd=st.integers(1, 20),
    seed=st.integers(0, 2**32),
    garbled=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 10**6)), max_size=8),
)
@settings(max_examples=150, deadline=None)
def test_tables_too_small_or_garbled_give_what_a_slow_decoder_finds(count, crowd, seed, garbled):
    placement = placement_of(crowd, 4)
    # Crowded tables, so that peeling often stops half-way.
    records, slots = placement.place(messages_of(count, 4, seed), SeededEntropy(seed))
    tables = written(placement, records, slots)
    for number, place in garbled:
        row = np.frombuffer(SeededEntropy((seed, place)).bytes(placement.record_size), np.uint8)
        tables[number][place % placement.tables[number]] ^= row

    decoded = placement.decode(tables)

    result, rest = peeled_slowly(placement, tables)
    confirmed = {
        tag: record
        for tag, record in result.items()
        if any(
            (index, place) not in rest for index, place in enumerate(place_of(placement, record))
        )
    }
    assert sorted(confirmed) == decoded.tags
    assert [confirmed[tag][TAG_BYTES:-CHECKSUM_BYTES] for tag in sorted(confirmed)] == (
        decoded.messages
    )
    assert len(rest) == decoded.undelivered_slots


def place_of(placement, record):
    return [int(slot) for slot in placement.slots(np.frombuffer(record, np.uint8)[np.newaxis])[0]]


def test_messages_come_in_the_order_of_their_tags_whoever_wrote_first():
    placement = placement_of(50)
    messages = messages_of(50, 5)
    records, slots = placement.place(messages, SeededEntropy(1))
    turned = placement.decode(written(placement, records[::-1], slots[::-1]))
    decoded = placement.decode(written(placement, records, slots))
    order = sorted(range(50), key=lambda at: bytes(records[at, :TAG_BYTES]))

    assert [messages[index] for index in order] == decoded.messages
    assert turned == decoded
    assert sorted(decoded.tags) == decoded.tags


def test_garbage_in_two_of_three_copies_is_tolerated():
    placement = placement_of(30)
    records, slots = placement.place(messages_of(30, 5), SeededEntropy(2))
    tables = written(placement, records, slots)
    tables[0][slots[7, 0]] ^= 0xA5
    tables[2][slots[7, 2]] ^= 0x5A

    decoded = placement.decode(tables, expected=30)

    assert sorted(messages_of(30, 5)) == sorted(decoded.messages)
    assert (2, 1, 0) == (decoded.undelivered_slots, decoded.damaged, decoded.refused)
    assert not decoded.complete


@pytest.mark.parametrize("copies", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)])
def test_a_record_with_missing_copies_is_refused_counted_and_harms_nobody(copies):
    placement = placement_of(200)
    records, slots = placement.place(messages_of(200, 5), SeededEntropy(3))
    tables = written(placement, records[1:], slots[1:])
    for copy in copies:
        tables[copy][slots[0, copy]] ^= records[0]

    decoded = placement.decode(tables, expected=200)

    assert sorted(messages_of(200, 5)[1:]) == sorted(decoded.messages)
    assert (1, 1, 0) == (decoded.refused, decoded.lost_count, decoded.undelivered_slots)
    assert 0 == decoded.damaged


def test_a_record_in_one_table_and_nothing_else_does_not_run_for_ever():
    placement = placement_of(1)
    records, slots = placement.place(messages_of(1, 5), SeededEntropy(4))
    tables = [np.zeros((size, placement.record_size), np.uint8) for size in placement.tables]
    tables[1][slots[0, 1]] = records[0]

    decoded = placement.decode(tables)

    assert ([], 1, 0) == (decoded.messages, decoded.refused, decoded.undelivered_slots)


def test_many_records_with_missing_copies_leave_the_others_alone():
    placement = placement_of(1000)
    records, slots = placement.place(messages_of(1000, 5), SeededEntropy(5))
    tables = written(placement, records[300:], slots[300:])
    for index in range(300):
        tables[index % 3][slots[index, index % 3]] ^= records[index]

    decoded = placement.decode(tables, expected=1000)

    assert sorted(messages_of(1000, 5)[300:]) == sorted(decoded.messages)
    assert 300 == decoded.lost_count
    # The others met one another in the one slot they were written to, and were never seen.
    assert 269 == decoded.refused


def test_a_record_is_accepted_only_where_its_tag_says():
    placement = placement_of(20)
    records, slots = placement.place(messages_of(20, 5), SeededEntropy(6))
    wrong = (slots + 1) % np.array(placement.tables)

    decoded = placement.decode(written(placement, records, wrong), expected=20)

    assert ([], 20, 0) == (decoded.messages, decoded.lost_count, decoded.refused)


def test_one_tag_counts_once_whatever_is_written_with_it():
    placement = placement_of(4)
    records, slots = placement.place([b"first", b"other"], SeededEntropy(7))
    records[1, :TAG_BYTES] = records[0, :TAG_BYTES]
    records[1, -CHECKSUM_BYTES:] = placement.checksums(records)[1]
    tables = written(placement, records[:1], slots[:1])
    tables[2][slots[0, 2]] = records[1]

    decoded = placement.decode(tables)

    assert [b"first"] == decoded.messages
    assert (1, 1) == (decoded.damaged, decoded.undelivered_slots)


def test_three_senders_with_one_another_s_slots_deliver_nothing_and_stop():
    """Three records, one in each slot of a place that all three share, confirm each other never."""
    placement = placement_of(1)
    records, slots = placement.place(messages_of(3, 5), SeededEntropy(8))
    assert [[0, 0, 0]] * 3 == slots.tolist()
    tables = [record[np.newaxis].copy() for record in records]

    decoded = placement.decode(tables, expected=1)

    assert [] == decoded.messages
    assert 3 == decoded.refused


@pytest.mark.parametrize("garbage", [False, True])
def test_one_slot_of_each_table_gives_one_message_whatever_is_written_there(garbage):
    """All sums of three things in all three slots of a sender: three records, or two and noise."""
    placement = placement_of(1)
    things, _ = placement.place(messages_of(3, 5), SeededEntropy(12))
    if garbage:
        things[2] = np.frombuffer(SeededEntropy(13).bytes(placement.record_size), np.uint8)
    sums = [
        np.bitwise_xor.reduce(things * np.array(chosen, np.uint8)[:, np.newaxis], axis=0)
        for chosen in itertools.product((0, 1), repeat=3)
    ]

    delivered = Counter(
        placement.decode([row[np.newaxis] for row in rows]).delivered_count
        for rows in itertools.product(sums, repeat=3)
    )

    assert {0, 1} == set(delivered)


def test_the_xor_of_three_records_is_none():
    placement = placement_of(300)
    records, _ = placement.place(messages_of(300, 5), SeededEntropy(9))
    sums = records[0::3] ^ records[1::3] ^ records[2::3]

    assert not (placement.checksums(sums) == sums[:, -CHECKSUM_BYTES:]).all(axis=1).any()


@pytest.mark.parametrize("seed", range(3))
def test_garbage_everywhere_ends_after_one_look_at_every_slot(seed, monkeypatch):
    placement = placement_of(500)
    looked = []
    recognise = PeelingPlacement.recognise
    monkeypatch.setattr(
        PeelingPlacement,
        "recognise",
        lambda self, rows, *where: looked.append(len(rows)) or recognise(self, rows, *where),
    )
    tables = [
        np.frombuffer(
            SeededEntropy((seed, index)).bytes(size * placement.record_size), np.uint8
        ).reshape(size, -1)
        for index, size in enumerate(placement.tables)
    ]

    decoded = placement.decode(tables)

    assert ([], sum(placement.tables)) == (decoded.messages, decoded.undelivered_slots)
    assert [sum(placement.tables)] == looked


@given(seed=st.integers(0, 2**32), count=st.integers(1, 60), crowd=st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_true_records_at_random_slots_of_random_tables_end_in_linear_time(seed, count, crowd):
    """The worst that can be written without searching for tags: valid pieces of everything."""
    placement = placement_of(crowd, 2)
    records, slots = placement.place(messages_of(count, 2, seed), SeededEntropy(seed))
    coins = np.random.default_rng(seed).random((count, 3)) < 0.5
    tables = [np.zeros((size, placement.record_size), np.uint8) for size in placement.tables]
    for index, number in zip(*np.nonzero(coins), strict=True):
        tables[number][slots[index, number]] ^= records[index]
    looked = []
    recognise = PeelingPlacement.recognise
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            PeelingPlacement,
            "recognise",
            lambda self, rows, *where: looked.append(len(rows)) or recognise(self, rows, *where),
        )
        decoded = placement.decode(tables)

    # Every slot once, then three for each slot that gave a record, taken, put back, cleared.
    assert sum(looked) <= (1 + 3 + 3 + 3) * sum(placement.tables)
    sent = {bytes(record[:TAG_BYTES]) for record in records}
    assert sent.issuperset(decoded.tags)
    assert len(set(decoded.tags)) == len(decoded.tags)


def test_another_salt_places_the_same_tag_elsewhere_and_refuses_its_checksum():
    here = placement_of(1000)
    there = PeelingPlacement(capacity=1000, message_size=5, salt=b"another")
    records, slots = here.place(messages_of(100, 5), SeededEntropy(10))

    assert (slots != there.slots(records)).any(axis=1).all()
    assert [] == there.decode(written(here, records, slots)).messages


@pytest.mark.parametrize(
    ("capacity", "slots"),
    [(1, 1), (2, 22), (5, 47), (10, 77), (50, 231), (100, 368), (1000, 1710), (100_000, 45_000)],
)
def test_two_senders_meet_in_all_tables_in_one_of_ten_thousand_rounds(capacity, slots):
    assert slots == slots_per_table(capacity, 0)
    assert capacity * (capacity - 1) / 2 / slots**3 <= 1e-4


def test_tables_are_whole_leaves_and_grow_with_what_malicious_senders_may_garble():
    sizes = [
        placement_of(100_000, slots_per_leaf=leaf, tolerated=share).tables
        for leaf, share in ((1, 0), (1, 0.01), (2, 0.01), (4, 0.01), (32, 0.01))
    ]

    assert all(size % leaf == 0 for size, leaf in zip(sizes[-1], (32, 32, 32), strict=True))
    assert sizes == sorted(sizes)
    assert all(lost_share(factor_for(10**5, g), g) <= 1e-3 for g in (0, 0.01, 0.05, 0.2, 1.6))


def test_ten_thousand_senders_of_whom_one_in_a_hundred_writes_garbage():
    """Measured loss stays within the loss that the size was computed for."""
    placement = placement_of(10_000, slots_per_leaf=2, tolerated=0.01)
    records, slots = placement.place(messages_of(9_900, 5), SeededEntropy(11))
    tables = written(placement, records, slots)
    rng = np.random.default_rng(11)
    for table in tables:
        for leaf in rng.integers(0, len(table) // 2, 100):
            table[2 * leaf : 2 * leaf + 2] ^= rng.integers(
                0, 256, (2, placement.record_size), np.uint8
            )

    decoded = placement.decode(tables, expected=10_000)

    assert set(messages_of(9_900, 5)).issuperset(decoded.messages)
    assert 9_900 - decoded.delivered_count <= 9_900 * 1e-3


def test_wrong_sizes_are_told():
    placement = placement_of(2)
    with pytest.raises(ValueError, match=r"^a message must have 5 bytes\. Got 4 instead\.$"):
        placement.place([b"1234"], SeededEntropy(0))
    with pytest.raises(
        ValueError,
        match=r"^tables must have the shapes \[\(22, 29\), \(22, 29\), \(22, 29\)\]\. Got \[\] instead\.$",
    ):
        placement.decode([])


def test_nothing_that_was_sent_is_in_a_repr():
    placement = placement_of(1)
    decoded = placement.decode(
        written(placement, *placement.place([b"abcde"], SeededEntropy(0))), expected=1
    )

    assert ("DecodedTables(undelivered_slots=0, refused=0, damaged=0, expected=1)") == repr(decoded)
