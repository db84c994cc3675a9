"""A release holds opened records with the cells of their classes, and its recipient checks it."""

import json

import attrs
import numpy as np
import pytest
from anonify_play import FIRSTS, ByFirstByte, played, refusal, study
from hypothesis import given
from hypothesis import strategies as st

from anonloom_anonify.recipient import Recipient
from anonloom_anonify.registration import Classes
from anonloom_anonify.release import JOIN_BYTES, IterationRelease, assemble, join_key
from anonloom_anonify.reservation import Choice, PublicationAttempt, Reservations, write_reservation
from anonloom_transport import Signer, SlotKey, pack, unpack, write_signed

UNREADABLE = "the release cannot be read"
STUDY = study()


def opened(rows, iteration=1, classes=None):
    """A release of (class, join, answer)."""
    numbers = [number for number, _, _ in rows]
    return IterationRelease(
        iteration,
        {number: (f"class {number}", None) for number in numbers} if classes is None else classes,
        np.array(numbers, np.int64),
        tuple(bytes([join]) * JOIN_BYTES for _, join, _ in rows),
        np.array([[answer] * 3 for *_, answer in rows], np.uint8).reshape(len(rows), 3),
    )


def same(one, other):
    return (
        (one.iteration, one.classes, one.joins) == (other.iteration, other.classes, other.joins)
        and np.array_equal(one.numbers, other.numbers)
        and np.array_equal(one.answers, other.answers)
    )


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 255), st.integers(0, 255))),
    st.integers(1, 9),
)
def test_a_release_reads_back_as_it_was_written(rows, iteration):
    one = opened(rows, iteration)
    assert same(one, IterationRelease.decode(one.encode(STUDY), STUDY))
    assert len(rows) == len(one)


def test_a_release_of_another_study_is_refused():
    written = opened([(1, 1, 1)]).encode(study(id="another"))
    assert UNREADABLE == refusal(lambda: IterationRelease.decode(written, STUDY))


@given(st.binary(max_size=100))
def test_bytes_that_are_no_release_are_refused(data):
    assert UNREADABLE == refusal(lambda: IterationRelease.decode(data, STUDY))


def _changed(head=None, rows=None, title=None):
    first, digest, fields, listed = unpack(opened([(1, 1, 1), (1, 2, 2)]).encode(STUDY))
    return pack(
        first if title is None else title,
        digest,
        fields if head is None else head,
        listed if rows is None else rows,
    )


def _head(**changes):
    return json.dumps({"iteration": 1, "classes": [[1, ["a", None]]], **changes}).encode()


@pytest.mark.parametrize(
    "data",
    [
        _changed(title=b"anonloom release 2"),
        _changed(rows=b"x"),
        _changed(head=b"[]"),
        _changed(head=b"{}"),
        _changed(head=b"[" * 100_000),
        _changed(head=_head(iteration=None)),
        _changed(head=_head(iteration=float("inf"))),
        _changed(head=_head(classes=5)),
        _changed(head=_head(classes=[[1]])),
        _changed(head=_head(classes=[[1, 5]])),
        _changed(head=_head(classes=[["x", []]])),
        _changed(head=_head(classes=[])),
        _changed(head=_head(classes=[[2, ["a", None]]])),
    ],
)
def test_hostile_releases_are_refused(data):
    assert UNREADABLE == refusal(lambda: IterationRelease.decode(data, STUDY))


def test_records_stay_out_of_the_representation():
    assert "IterationRelease(iteration=1)" == repr(opened([(1, 1, 1)]))


# --- joining --------------------------------------------------------------------------------------


def test_a_join_key_is_one_of_secret_and_rank():
    keys = {join_key(secret, rank) for secret in (b"a" * 32, b"b" * 32) for rank in range(50)}
    assert 100 == len(keys)
    assert {JOIN_BYTES} == set(map(len, keys))
    assert join_key(b"a" * 32, 3) == join_key(b"a" * 32, 3)


# --- assembling -----------------------------------------------------------------------------------


def assembled(claims, answers, kept=None, k=2):
    """Assemble records: `answers` gives the byte of each position, None for nothing."""
    keys = [SlotKey(bytes([index]) * 16, b"h" * 16) for index in range(len(claims))]
    written = [write_reservation(key, of) for key, of in zip(keys, claims, strict=True)]
    reservations = Reservations.of(written, 4)
    place = {key.alpha[0]: rank for rank, key in enumerate(reservations.keys)}
    records: list[bytes | None] = [None] * len(claims)
    for donor, answer in enumerate(answers):
        if answer is not None:
            records[place[donor]] = bytes([answer, donor, 0])
    mask = np.ones(len(claims), bool)
    for donor in range(len(claims)):
        mask[place[donor]] = kept is None or donor in kept
    cells = tuple((f"cell {index}",) for index in range(4))
    result = assemble(
        study(k=k),
        1,
        Classes(((),) * 4, cells),
        PublicationAttempt(1, reservations, Choice(mask, {})),
        records,
        ByFirstByte(),
        b"s" * 32,
    )
    whose = {rank: donor for donor, rank in place.items()}
    return result, [whose[rank] for rank in result.ranks.tolist()]


def test_kept_records_get_the_cells_of_their_class():
    result, donors = assembled([1, 1, 1, 2, 2], [9, 8, 7, 6, 5], kept={0, 1, 3, 4})
    assert {0, 1, 3, 4} == set(donors)
    assert {1: ("cell 1",), 2: ("cell 2",)} == result.opened.classes
    assert [1, 1, 2, 2] == result.opened.numbers.tolist()
    assert donors == result.opened.answers[:, 1].tolist()
    assert {} == result.lost


def test_records_come_in_the_order_of_class_and_join_key():
    result, _ = assembled([2, 1, 2, 1, 1, 2], [1] * 6)
    listed = list(zip(result.opened.numbers.tolist(), result.opened.joins, strict=True))
    assert sorted(listed) == listed
    assert tuple(join_key(b"s" * 32, rank) for rank in result.ranks.tolist()) == result.opened.joins


def test_what_is_lost_is_counted_by_reason():
    result, donors = assembled([1, 1, 1, 1, 2, 2, 2], [9, 9, None, 255, 9, None, 255])
    assert {0, 1} == set(donors)
    assert {
        "nothing there, or contested": 2,
        "not readable": 2,
        "classes with too few records": 1,
    } == result.lost
    assert {1} == set(result.opened.classes)


def test_suppressed_records_need_no_company():
    result, donors = assembled([0, 1, 1], [1, 1, 1])
    assert {0, 1, 2} == set(donors)
    assert [0, 1, 1] == result.opened.numbers.tolist()


def test_nothing_at_all_is_a_release_without_records():
    result, donors = assembled([1, 1], [None, None])
    assert (0, []) == (len(result.opened), donors)
    assert same(result.opened, IterationRelease.decode(result.opened.encode(STUDY), STUDY))


# --- the recipient --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def over():
    """A study of two iterations that is over."""
    campaign = played(FIRSTS, iterations=2)
    campaign.run()
    return campaign


@pytest.fixture
def recipient(over):
    return Recipient(over.servers[0].notice, over.pins)


NOT_SIGNED = "the release is not signed by all servers of the study"
BREAKS = "the release breaks what the study promises"


def test_a_release_that_all_have_signed_is_taken(over, recipient):
    for iteration in (1, 2):
        release = over.servers[1].releases[iteration]
        assert same(over.recipient.opened[iteration], recipient.take(iteration, release))
    assert {1, 2} == set(recipient.opened)


def test_a_release_of_another_iteration_is_refused(over, recipient):
    assert NOT_SIGNED == refusal(lambda: recipient.take(2, over.servers[0].releases[1]))
    assert {} == recipient.opened


@given(st.data())
def test_a_changed_release_is_refused(over, data):
    recipient = Recipient(over.servers[0].notice, over.pins)
    release = over.servers[0].releases[1]
    index = data.draw(st.integers(0, len(release) - 1))
    flipped = bytes([release[index] ^ 1 << data.draw(st.integers(0, 7))])
    assert NOT_SIGNED == refusal(
        lambda: recipient.take(1, release[:index] + flipped + release[index + 1 :])
    )


def test_a_release_that_one_server_has_not_signed_is_refused(over, recipient):
    document, first, second = unpack(over.servers[0].releases[1])
    for signatures in ([first], [first, first], [second, first], [first, second, second]):
        signed = write_signed(document, signatures)
        assert NOT_SIGNED == refusal(lambda signed=signed: recipient.take(1, signed))


def signed_by_all(over, one, kind="release 1"):
    """What it would be if all servers had conspired."""
    document = one.encode(over.study)
    bound = over.servers[0].agreement.channel.binding
    signatures = [Signer(identity).sign(kind, bound, document) for identity in over.identities]
    return write_signed(document, signatures)


def test_a_release_below_k_is_refused_whoever_signed_it(over, recipient):
    small = opened([(1, 1, 1), (1, 2, 2), (2, 3, 3)])
    assert BREAKS == refusal(lambda: recipient.take(1, signed_by_all(over, small)))
    enough = opened([(0, 9, 9), (1, 1, 1), (1, 2, 2)])
    assert same(enough, recipient.take(1, signed_by_all(over, enough)))


def test_a_release_that_says_another_iteration_is_refused_whoever_signed_it(over, recipient):
    late = attrs.evolve(opened([(1, 1, 1), (1, 2, 2)]), iteration=2)
    assert BREAKS == refusal(lambda: recipient.take(1, signed_by_all(over, late)))


def test_a_join_key_that_comes_twice_is_refused_whoever_signed_it(over, recipient):
    twice = opened([(1, 1, 1), (1, 1, 2)])
    assert BREAKS == refusal(lambda: recipient.take(1, signed_by_all(over, twice)))


def test_a_class_number_beyond_all_memory_is_only_a_number(over, recipient):
    far = opened([(2**32 - 2, 1, 1), (2**32 - 2, 2, 2)])
    assert same(far, recipient.take(1, signed_by_all(over, far)))


def test_a_recipient_needs_a_study_that_all_have_signed(over):
    document, first, _ = unpack(over.servers[0].notice)
    whole = "the study is not signed by all servers whose keys are known"
    for notice, pins in (
        (write_signed(document, [first]), over.pins),
        (write_signed(document, [first, first]), over.pins),
        (over.servers[0].notice, over.pins[::-1]),
        (over.servers[0].notice, over.pins[:1]),
    ):
        assert whole == refusal(lambda n=notice, p=pins: Recipient(n, p))
    for notice in (b"", b"x", pack(b"x"), pack(pack(b"another head", b"", b"")), pack(b"", b"")):
        assert "the study cannot be read" == refusal(lambda n=notice: Recipient(n, over.pins))
