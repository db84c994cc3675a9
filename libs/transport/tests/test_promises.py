"""What all rounds promise is said in the same words, and follows from the round."""

from anonloom_transport.promises import delivery_guarantee, shared_guarantees, uncovered_cases
from anonloom_transport.rounds import Round


def plan(**more):
    described = {"id": "r", "operation": "post", "servers": 2, "message_size": 4, "min_batch": 3}
    return Round(**(described | {"capacity": 9} | more))


def test_what_is_shared_follows_from_the_round():
    plain = shared_guarantees(plan())
    assert plain | {"post_quantum": True} == shared_guarantees(plan(suite="mlkem768-x25519"))
    invited = {"eligibility": "one upload per invitation of the study"}
    assert plain | invited == shared_guarantees(plan(authority=bytes(32)))


def test_delivery_names_what_is_excepted():
    assert (
        "every message that all servers confirmed, once, unless the round stops"
        == delivery_guarantee(plan())
    )
    assert (
        "every message that all servers confirmed, once, unless it is lost, it is late or the "
        "round stops"
    ) == delivery_guarantee(plan(), "it is lost", "it is late")


def test_an_erased_record_is_not_delivered():
    deposit = plan(operation="deposit", slots=(bytes(32),), min_batch=1)
    assert (
        "every record that all servers confirmed, once, unless it is erased or the round stops"
        == delivery_guarantee(deposit)
    )


def test_what_no_transport_covers_stands_behind_what_one_names():
    named = uncovered_cases(plan(), "rain")
    later = "traffic that is recorded now and opened with a quantum computer later"
    assert ("rain", later) == (named[0], named[-1])
    assert named[:-1] == uncovered_cases(plan(suite="mlkem768-x25519"), "rain")
    found_out = "prevention: a server that deviates is found out, not kept from it"
    assert {found_out} == set(named) - set(uncovered_cases(plan(servers=1), "rain"))
