"""What changed with the transport, told from what transports declare."""

import pytest

from anonloom_experiments.transport_comparison import compare_transports, transport_comparison
from anonloom_testing.sample_guarantees import guarantees


def collection(transport, **changes):
    """A collection as a report holds it: JSON has lists, no tuples."""
    declared = guarantees(**{"post_quantum": False} | changes).as_dict()
    return {"transport": transport, "guarantees": declared}


def test_one_sentence_names_every_declared_difference():
    before, after = collection("one"), collection("two", presence_of_erased_visible=True)
    assert (
        "With two instead of one: servers see before opening which positions were filled: yes "
        "(with one: no)." == compare_transports(before, after)
    )


def test_what_one_process_played_is_told_as_what_it_would_be():
    def played(transport, **changes):
        one = collection(transport, **changes)
        declared = one.pop("guarantees")
        facts = {"parties": "one-process", "guarantees": {}}
        return {**one, **facts, "guarantees_if_deployed": declared}

    sentence = (
        "With two instead of one: what is hidden withstands a quantum computer: yes (with one: no)."
        " That is what they declare for a deployment: one process played all parties here."
    )
    after = played("two", post_quantum=True)
    assert [sentence] * 2 == [
        compare_transports(played("one"), after),
        compare_transports(collection("one"), after),
    ]


def test_lists_of_a_report_are_no_difference():
    assert "With two instead of one, no declared guarantee changes." == compare_transports(
        collection("one"), collection("two")
    )


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"transport": None, "guarantees": None},
        collection("one", colluding_servers=3),
        {"transport": "two", "guarantees": {"honest_senders_min": 3}},
        {"transport": "two", "guarantees": {"something": "else"}},
    ],
)
def test_nothing_is_said_where_nothing_can_be(other):
    assert compare_transports(collection("one"), other) is None


def test_runs_are_compared_that_differ_in_the_transport_alone():
    one, two, three = collection("one"), collection("two", post_quantum=True), collection("three")
    runs = [
        ({"collect.with.transport": "one", "collect.with.servers": 2}, one),
        ({"collect.with.transport": "one", "collect.with.servers": 3}, three),
        ({"collect.with.transport": "two", "collect.with.servers": 2}, two),
        ({"collect.with.transport": "two", "collect.with.servers": 2}, two),
        ({"collect.with.transport": "three", "collect.with.servers": 5}, three),
    ]
    assert [
        "With two instead of one: what is hidden withstands a quantum computer: yes (with one: no)."
    ] == transport_comparison(runs)


def test_an_experiment_without_transports_tells_nothing():
    assert [] == transport_comparison([({"seed": 1}, {}), ({"seed": 2}, {})])
