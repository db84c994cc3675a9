"""A study reads back as it was written, and its rounds belong to it."""

from contextlib import suppress

import attrs
import pytest
from anonify_play import refusal, study
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import TransportError
from anonloom_anonify.study import PID_BYTES, RESERVATION_BYTES, WITHDRAWAL_BYTES, Study
from anonloom_transport import slot_of

UNREADABLE = "the study cannot be read"

SLOTS = tuple(sorted(slot_of(bytes([index])) for index in range(4)))

STUDIES = st.builds(
    Study,
    id=st.text(min_size=1, max_size=20),
    servers=st.integers(1, 5),
    donors=st.integers(1, 10**9),
    k=st.integers(1, 1000),
    min_batch=st.integers(1, 10**6),
    min_leave=st.integers(1, 100),
    iterations=st.integers(1, 50),
    missing=st.sampled_from(["stop", "blank"]),
    withdrawals=st.booleans(),
    counted=st.booleans(),
    repeats=st.integers(0, 5),
    restarts=st.integers(0, 5),
    suite=st.sampled_from(["x25519", "mlkem768-x25519"]),
    registration_size=st.integers(1, 10**6),
    answer_size=st.integers(1, 10**6),
    authority=st.binary(max_size=32),
    rules=st.binary(max_size=32),
    versions=st.lists(st.text(max_size=10), max_size=3).map(tuple),
)


@given(STUDIES)
def test_a_study_reads_back_as_it_was_written(one):
    again = Study.decode(one.encode())
    assert one == again
    assert one.digest == again.digest


@given(STUDIES, STUDIES)
def test_different_studies_are_written_differently(one, other):
    assert (one == other) == (one.encode() == other.encode())
    same = attrs.evolve(one, versions=()) == attrs.evolve(other, versions=())
    assert same == (one.digest == other.digest)


def test_servers_of_one_study_understand_each_other_whatever_they_run():
    one, other = study(versions=("a 1",)), study(versions=("a 2",))
    assert one.digest == other.digest
    assert one.encode() != other.encode()


@given(st.binary(max_size=200))
def test_bytes_that_are_no_study_are_refused(data):
    assert UNREADABLE == refusal(lambda: Study.decode(data))


@given(st.data())
def test_a_study_changed_anywhere_is_refused_or_another(data):
    written = study().encode()
    index = data.draw(st.integers(0, len(written) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != written[index]))
    changed = written[:index] + bytes([byte]) + written[index + 1 :]
    with suppress(TransportError):
        assert study() != Study.decode(changed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"servers": 2', b'"servers": 2.0'),
        (b'"servers": 2', b'"servers": "2"'),
        (b'"servers": 2', b'"servers": 0'),
        (b'"servers": 2', b'"servers": null'),
        (b'"servers": 2', b'"servers":  2'),
        (b'"servers": 2', b'"servers": 2, "more": 1'),
        (b'"missing": "stop"', b'"missing": "sleep"'),
        (b'"missing": "stop"', b'"missing": ["stop"]'),
        (b'"counted": false', b'"counted": 0'),
        (b'"suite": "x25519"', b'"suite": "rot13"'),
        (b'"rules": ""', b'"rules": "0"'),
        (b'"rules": ""', b'"rules": 5'),
        (b'"versions": ["toys 1"]', b'"versions": "toys 1"'),
        (b'"versions": ["toys 1"]', b'"versions": [1]'),
        (b'"anonloom study": 1', b'"anonloom study": 2'),
        (b'"anonloom study": 1, ', b""),
    ],
)
def test_a_study_is_written_in_one_way_only(old, new):
    written = study().encode()
    assert old in written
    assert UNREADABLE == refusal(lambda: Study.decode(written.replace(old, new)))


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{}", b"1", b"[" * 100_000, b"\xff"])
def test_json_that_is_no_study_is_refused(data):
    assert UNREADABLE == refusal(lambda: Study.decode(data))


def test_secrets_and_long_bytes_stay_out_of_the_representation():
    assert "a0a0" not in repr(study(authority=b"\xa0\xa0", rules=b"\xa0\xa0"))
    assert r"\xa0" not in repr(study(authority=b"\xa0\xa0", rules=b"\xa0\xa0"))


# --- its rounds -----------------------------------------------------------------------------------


def test_the_registration_is_a_post_of_identifier_and_record():
    one = study(min_leave=3)
    round = one.registration(2, 5)
    assert ("s registration 2", "post", PID_BYTES + 2, 40, 5, one.digest) == (
        round.id,
        round.operation,
        round.message_size,
        round.capacity,
        round.cohort,
        round.context,
    )


def test_the_reservation_knows_the_classes_and_who_registered():
    round = study(min_leave=3).reservation(1, 17, b"classes")
    assert ("s reservation 1", RESERVATION_BYTES, 17, 3, b"classes") == (
        round.id,
        round.message_size,
        round.cohort,
        round.min_leave,
        round.context,
    )


def test_the_withdrawal_is_a_post_of_whoever_is_left():
    round = study(withdrawals=True, iterations=4).withdrawal(2, 3, b"plan")
    assert ("s withdrawal 2.3", "post", WITHDRAWAL_BYTES, 0, b"plan", 3, 4) == (
        round.id,
        round.operation,
        round.message_size,
        round.cohort,
        round.context,
        round.iteration,
        round.iterations,
    )


@pytest.mark.parametrize(("missing", "leave"), [("stop", 41), ("blank", 3)])
def test_the_deposit_is_held_when_anybody_is_missing_unless_decoys_stand_in(missing, leave):
    one = study(missing=missing, min_leave=3, iterations=5, counted=True)
    round = one.publication(1, 4, cohort=7, slots=SLOTS, erasure=b"e", plan=b"plan")
    assert ("s publishing 1.4", "deposit", 3, 40, 7, leave, 4, 5, True, b"e", b"plan") == (
        round.id,
        round.operation,
        round.message_size,
        round.capacity,
        round.cohort,
        round.min_leave,
        round.iteration,
        round.iterations,
        round.counted,
        round.erasure,
        round.context,
    )
    assert SLOTS == round.slots


def test_every_round_says_who_may_send_and_how_it_is_sealed():
    one = study(authority=b"who", suite="mlkem768-x25519", servers=3)
    rounds = [
        one.registration(1),
        one.reservation(1, 4, b""),
        one.withdrawal(1, 1, b""),
        one.publication(1, 1, cohort=4, slots=SLOTS, erasure=b"", plan=b""),
    ]
    assert {(b"who", "mlkem768-x25519", 3, 2)} == {
        (round.authority, round.suite, round.servers, round.min_batch) for round in rounds
    }
    assert 4 == len({round.digest for round in rounds})
