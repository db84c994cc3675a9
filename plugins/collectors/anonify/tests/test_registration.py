"""All servers find the same order, and donors find themselves."""

import json

import numpy as np
import pytest
from anonify_play import ByFirstByte, refusal
from hypothesis import given
from hypothesis import strategies as st

from anonloom_anonify.registration import Classes, Registrations, class_of_everybody
from anonloom_anonify.study import PID_BYTES
from anonloom_anonify.work import ClassAssignment
from anonloom_transport import pack, unpack

UNREADABLE = "the classes cannot be read"


def pid(number):
    return number.to_bytes(PID_BYTES, "big")


MESSAGES = st.lists(
    st.tuples(st.integers(0, 12), st.binary(min_size=2, max_size=2)), max_size=12
).map(lambda found: [pid(number) + record for number, record in found])


@given(MESSAGES, st.randoms(use_true_random=False))
def test_the_order_of_messages_decides_nothing(messages, random):
    mixed = list(messages)
    random.shuffle(mixed)
    one, other = Registrations.of(messages, 2), Registrations.of(mixed, 2)
    assert one.pids == other.pids
    assert np.array_equal(one.records, other.records)
    assert (one.repeated, one.digest) == (other.repeated, other.digest)


@given(MESSAGES)
def test_records_come_in_the_order_of_their_bytes(messages):
    result = Registrations.of(messages, 2)
    written = [record.tobytes() for record in result.records]
    assert sorted(zip(written, result.pids, strict=True)) == list(
        zip(written, result.pids, strict=True)
    )


@given(MESSAGES)
def test_identifiers_that_come_twice_are_left_out(messages):
    result = Registrations.of(messages, 2)
    ids = [message[:PID_BYTES] for message in messages]
    assert {item for item in ids if ids.count(item) == 1} == set(result.pids)
    assert len(messages) - len(result.pids) == result.repeated
    assert (len(result.pids), 2) == result.records.shape


def test_the_digest_tells_whose_a_record_is():
    one = Registrations.of([pid(1) + b"aa", pid(2) + b"bb"], 2)
    other = Registrations.of([pid(2) + b"aa", pid(1) + b"bb"], 2)
    assert one.digest != other.digest


def classes():
    messages = [
        pid(index) + bytes([first, index]) for index, first in enumerate([1, 2, 0, 1, 9, 2, 1])
    ]
    registered = Registrations.of(messages, 2)
    return Classes.of(registered, ByFirstByte(classes=2).classify(registered.records, 1))


def test_everybody_is_in_the_class_of_the_record():
    result = classes()
    assert ((pid(2),), (pid(0), pid(3), pid(6)), (pid(1), pid(5))) == result.members
    assert (1, 3, 2) == result.sizes
    assert (("*",), ("class 1",), ("class 2",)) == result.cells


def test_a_broadcast_reads_back_as_it_was_written():
    result = classes()
    again = Classes.decode(result.encode())
    assert (result.members, result.cells) == (again.members, again.cells)


CELLS = st.none() | st.text(max_size=5)


@given(st.lists(st.tuples(st.sets(st.integers(0, 2**128 - 1), max_size=4), CELLS, CELLS)))
def test_any_broadcast_reads_back(found):
    members = tuple(tuple(sorted(map(pid, of))) for of, *_ in found)
    one = Classes(members, tuple(tuple(cells) for _, *cells in found))
    again = Classes.decode(one.encode())
    assert (one.members, one.cells) == (again.members, again.cells)


def test_every_donor_finds_her_class_and_strangers_none():
    result = class_of_everybody(classes().encode())
    assert {pid(2): 0, pid(0): 1, pid(3): 1, pid(6): 1, pid(1): 2, pid(5): 2} == result
    assert result.get(pid(4)) is None


@given(st.binary(max_size=100))
def test_bytes_that_are_no_broadcast_are_refused(data):
    assert UNREADABLE == refusal(lambda: Classes.decode(data))


def _parts(**changed):
    head, cells, *members = unpack(classes().encode())
    parts = {"head": head, "cells": cells, "members": members, **changed}
    return pack(parts["head"], parts["cells"], *parts["members"])


@pytest.mark.parametrize(
    "data",
    [
        _parts(head=b"anonloom classes 2"),
        _parts(members=[b""]),
        _parts(members=[b"", b"x" * 17, b""]),
        _parts(cells=b"5"),
        _parts(cells=b"[1, 2, 3]"),
        _parts(cells=b"not json"),
        _parts(cells=b"[" * 100_000),
        _parts(cells=json.dumps([["*"], ["a"]]).encode()),
    ],
)
def test_hostile_broadcasts_are_refused(data):
    assert UNREADABLE == refusal(lambda: Classes.decode(data))


def test_members_stay_out_of_the_representation():
    assert "members" not in repr(classes())
    assert "pids" not in repr(Registrations.of([pid(1) + b"aa"], 2))
    assert "numbers" not in repr(ClassAssignment(np.zeros(1, np.int64), (("a",),)))
