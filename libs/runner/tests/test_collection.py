"""What a collection guarantees depends on where its parties ran."""

import pytest

from anonloom import Collector
from anonloom.findings import Notice
from anonloom.kinds._collector import ONE_PROCESS
from anonloom_runner.collection import declared_guarantees, guarantee_facts, notices
from anonloom_testing.sample_guarantees import guarantees

DECLARED = guarantees(honest_senders_min=97)
PLAYED = Notice(ONE_PROCESS, privacy=True)
SEEDED = Notice("Keys or coins came from a seeded source: this is a simulation.", privacy=True)


class Toy(Collector):
    """Collects nothing."""

    declared = DECLARED

    def collect(self, table, stages, guard, context):
        raise AssertionError("nobody asks")

    @property
    def guarantees(self):
        return self.declared


def toy(**facts):
    return type("Other", (Toy,), facts)()


def test_who_sends_nothing_guarantees_nothing_and_is_not_asked_where_parties_ran():
    curator = toy(declared=None)
    assert {"guarantees": None, "simulated": False} == guarantee_facts(curator)
    assert [] == notices(curator)


def test_whoever_does_not_say_otherwise_played_all_parties():
    result = guarantee_facts(toy())
    assert {
        "guarantees": {},
        "guarantees_if_deployed": DECLARED.as_dict(),
        "entropy": "system",
        "parties": "one-process",
        "simulated": False,
    } == result
    assert DECLARED.as_dict() == declared_guarantees(result)
    assert [PLAYED] == notices(toy())


def test_on_machines_of_their_own_what_is_declared_is_guaranteed():
    network = toy(parties="network")
    result = guarantee_facts(network)
    assert {
        "guarantees": DECLARED.as_dict(),
        "entropy": "system",
        "parties": "network",
        "simulated": False,
    } == result
    assert DECLARED.as_dict() == declared_guarantees(result)
    assert [] == notices(network)


@pytest.mark.parametrize(
    ("parties", "expected"), [("one-process", [PLAYED, SEEDED]), ("network", [SEEDED])]
)
def test_a_seeded_source_is_a_simulation_wherever_parties_ran(parties, expected):
    seeded = toy(parties=parties, entropy="seeded")
    result = guarantee_facts(seeded)
    assert ("seeded", parties, True) == (result["entropy"], result["parties"], result["simulated"])
    assert expected == notices(seeded)
