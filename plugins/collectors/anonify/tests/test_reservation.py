"""Positions come from reservations alone, and what is withheld is withheld whole."""

from collections import Counter

import numpy as np
import pytest
from anonify_play import ByFirstByte
from hypothesis import given
from hypothesis import strategies as st

from anonloom_anonify.reservation import (
    NO_CLASS,
    Choice,
    Plan,
    Reservations,
    plan_document,
    write_reservation,
)
from anonloom_anonify.study import RESERVATION_BYTES
from anonloom_transport import SlotKey, SlotSecret


def key(number):
    return SlotKey(number.to_bytes(16, "big"), (1000 + number).to_bytes(16, "big"))


def message(number, of):
    return write_reservation(key(number), of)


def test_a_reservation_has_one_size():
    assert {RESERVATION_BYTES} == {len(message(1, of)) for of in (0, 5, NO_CLASS)}


NUMBERED = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), max_size=20)


@given(NUMBERED, st.randoms(use_true_random=False))
def test_the_order_of_messages_decides_nothing(found, random):
    messages = [message(number, of) for number, of in found]
    mixed = list(messages)
    random.shuffle(mixed)
    one, other = Reservations.of(messages, 4), Reservations.of(mixed, 4)
    assert one.keys == other.keys
    assert (one.slots, one.digest, one.refused) == (other.slots, other.digest, other.refused)
    assert sorted(one.slots) == list(one.slots)
    assert len(messages) == len(one.keys) + one.refused.total()


def test_keys_keep_their_classes():
    result = Reservations.of([message(index, index % 3) for index in range(9)], 3)
    assert [
        int.from_bytes(item.alpha, "big") % 3 for item in result.keys
    ] == result.numbers.tolist()


def test_what_reserves_nothing_is_counted_by_reason():
    result = Reservations.of(
        [
            message(1, 1),
            message(2, NO_CLASS),
            message(3, 3),
            message(4, 1),
            message(4, 2),
            message(5, NO_CLASS),
        ],
        3,
    )
    assert (key(1),) == result.keys
    assert {
        "without a class": 2,
        "a class that there is not": 1,
        "a position that was reserved more than once": 2,
    } == result.refused


def test_one_alpha_with_two_heads_is_one_position():
    """Whoever knows an alpha cannot take the position, only destroy it."""
    stolen = SlotKey(key(1).alpha, b"h" * 16)
    result = Reservations.of([message(1, 1), write_reservation(stolen, 1)], 2)
    assert ((), Counter({"a position that was reserved more than once": 2})) == (
        result.keys,
        result.refused,
    )


def test_the_digest_tells_keys_and_classes():
    one = Reservations.of([message(1, 1), message(2, 2)], 3)
    other = Reservations.of([message(1, 2), message(2, 1)], 3)
    assert one.slots == other.slots
    assert one.digest != other.digest


def test_the_plan_binds_classes_positions_and_what_is_erased():
    slots = (b"a" * 32, b"b" * 32)
    documents = {
        plan_document(b"classes", slots, b"erased"),
        plan_document(b"others", slots, b"erased"),
        plan_document(b"classes", slots[:1], b"erased"),
        plan_document(b"classes", slots, b"another"),
    }
    assert 4 == len(documents)


# --- the choice -----------------------------------------------------------------------------------


def chosen(claims, sizes, k=2, erased=1, seed=1):
    messages = [message(index, of) for index, of in enumerate(claims)]
    reservations = Reservations.of(messages, len(sizes))
    choice = Choice.of(reservations, sizes, k, ByFirstByte(erased=erased), seed)
    left = np.bincount(reservations.numbers[choice.kept], minlength=len(sizes))
    return choice, left.tolist()


def test_every_class_loses_what_the_sampler_leaves_out():
    choice, left = chosen([1, 1, 1, 2, 2, 2, 2], [0, 3, 4])
    assert [0, 2, 3] == left
    assert {} == choice.withheld


def test_a_class_that_more_claim_than_registered_is_withheld_whole():
    choice, left = chosen([1, 1, 1, 1, 2, 2, 2], [0, 3, 3])
    assert [0, 0, 2] == left
    assert {"claimed by more donors than registered": (1,)} == choice.withheld


def test_a_class_with_too_few_reservations_is_withheld_whole():
    choice, left = chosen([1, 1, 1, 2, 2], [0, 3, 3])
    assert [0, 2, 0] == left
    assert {"too few reservations": (2,)} == choice.withheld


def test_a_class_has_one_reason_only():
    choice, left = chosen([1, 1], [0, 1], k=5)
    assert [0, 0] == left
    assert {"claimed by more donors than registered": (1,)} == choice.withheld


def test_a_class_that_nobody_claims_is_not_withheld():
    choice, left = chosen([1, 1, 1], [0, 3, 3])
    assert ([0, 2, 0], {}) == (left, choice.withheld)


def test_k_is_not_about_suppressed_records():
    choice, left = chosen([0, 0, 1, 1, 1], [2, 3])
    assert ([1, 2], {}) == (left, choice.withheld)


def test_more_suppressed_claims_than_registered_are_withheld_too():
    """Whoever claims that nothing of her is published hides a record among the suppressed."""
    choice, left = chosen([0, 0, 0, 1, 1, 1], [2, 3])
    assert [0, 2] == left
    assert {"claimed by more donors than registered": (0,)} == choice.withheld


@given(
    st.lists(st.integers(0, 3), max_size=30),
    st.lists(st.integers(0, 8), min_size=4, max_size=4),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(0, 99),
)
def test_whatever_is_claimed_no_published_class_is_too_small_or_too_large(
    claims, sizes, k, erased, seed
):
    choice, left = chosen(claims, sizes, k, erased, seed)
    for of, count in enumerate(left):
        assert count <= sizes[of]
        assert count == 0 or count >= (k if of else 1)
    again, _ = chosen(claims, sizes, k, erased, seed)
    assert choice.kept.tolist() == again.kept.tolist()


@pytest.mark.parametrize("salt", [b"a" * 32, b"b" * 32])
def test_what_will_be_erased_is_the_rest(salt):
    choice, _ = chosen([1, 1, 1, 2, 2], [0, 3, 3])
    erasure = choice.erasure(salt)
    assert set(np.flatnonzero(~choice.kept).tolist()) == erasure.positions
    assert 3 == len(erasure.positions)


# --- withdrawing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("iteration", [1, 2, 3])
def test_only_who_knows_the_link_of_an_iteration_withdraws_a_position(iteration):
    """Servers know every alpha, every head, and the links that were shown in iterations before."""
    donors = [SlotSecret(bytes([number]) * 16, bytes([100 + number]) * 16) for number in range(4)]
    reservations = Reservations.of(
        [write_reservation(donor.key(iterations=3), 1) for donor in donors], 2
    )
    choice = Choice.of(reservations, [0, 4], 2, ByFirstByte(erased=0), 1)
    plan = Plan(1, reservations, choice, choice.erasure(b"salt" * 8), cohort=4, digest=b"plan")
    owner, other = donors[:2]

    known = [bytes(16), owner.key(iterations=3).head, other.link(iteration, 3)]
    known += [owner.link(earlier, 3) for earlier in range(1, iteration)]

    assert [] == plan.withdrawn(iteration, [owner.alpha + link for link in known])
    withdrawn = plan.withdrawn(iteration, [owner.alpha + owner.link(iteration, 3)])
    assert [owner.alpha] == [reservations.keys[rank].alpha for rank in withdrawn]
