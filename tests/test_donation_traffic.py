"""What whole donations leave on lines and servers: nothing but chance, while nobody is missing.

Few donors and few studies here, judged so strictly that chance passes; the large numbers come from
benchmarks/donation_traffic.py. Donors who miss iterations are found, and the report says so.
"""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from donations import INSTALLED, answer, play

from anonloom import Pipeline
from anonloom_anonify.donor import Donor
from anonloom_anonify.findings import smallest_pattern
from anonloom_anonify.reservation import write_reservation
from anonloom_anonify.simulation import Behaviour
from anonloom_testing.transport import SeededEntropy
from anonloom_traffic.attack import best_guess
from anonloom_traffic.iterations import over_iterations
from anonloom_traffic.observation import observe
from anonloom_traffic.round_pairs import round_pairs
from anonloom_transport import Rounds, SlotSecret

DONORS, STUDIES = 30, 3
#: Envelopes are sealed with the system's randomness: an interval of 99 % would miss now and then.
STRICT = 1 - 1e-7

HIDING = [name for name in INSTALLED if name != "direct"]
hiding = pytest.mark.parametrize("name", HIDING)


def studies(name, number=STUDIES, **more):
    """Play studies that draw differently: alike, they would be the same study several times."""
    return [
        play(
            name, donors=DONORS, traced=True, entropy=SeededEntropy(f"{name} {index}"), **more
        ).campaign
        for index in range(number)
    ]


def rounds(played, phase=""):
    return Rounds(
        [
            entry.trace
            for item in played
            for entry in item.ledger.entries
            if entry.name.startswith(phase)
        ],
        servers=2,
    )


def linked(played):
    """Guess which messages of different rounds of a study are from one donor."""
    pairs = [trace for item in played for trace in round_pairs(rounds([item])).traces]
    return best_guess(Rounds(pairs, servers=2), repeated=False, confidence=STRICT)


@hiding
def test_registration_reservation_and_publishing_are_at_chance_level(name):
    played = studies(name, iterations=5)
    for phase in ("registration", "reservation", "publishing"):
        result = best_guess(
            rounds(played, phase), repeated=phase == "publishing", confidence=STRICT
        )
        assert 1 / DONORS == pytest.approx(result.top1.chance)
        # A position is one trial, however often it is filled; some are erased.
        assert STUDIES * (DONORS - 4 * (phase == "publishing")) == result.top1.trials
        assert 0 == result.top1.excess, (phase, result.view)


@hiding
def test_phases_of_a_study_cannot_be_linked(name):
    result = linked(studies(name))
    assert 3 * STUDIES * DONORS - 2 * STUDIES * 4 == result.top1.trials
    assert 0 == result.top1.excess, result.view


def test_what_does_not_hide_is_found():
    """The control: who sent what, and what belongs together."""
    played = studies("direct", 1)
    for phase in ("registration", "reservation", "publishing"):
        assert 1.0 == best_guess(rounds(played, phase)).top1.value
    assert 1.0 == linked(played).top1.value


@hiding
def test_an_identifier_that_is_used_in_two_phases_links_them(name, monkeypatch):
    """The planted fault: she hides in each round, and what she registered is beside her answer."""

    def reservation(donor, round):
        donor._secret = SlotSecret(donor._pid, donor._entropy.bytes(16))
        return write_reservation(donor._secret.key(donor.study.iterations), donor.number)

    monkeypatch.setattr(Donor, "reservation", reservation)
    played = studies(name, 1)
    assert 0 == best_guess(rounds(played, "reservation"), confidence=STRICT).top1.excess
    pairs = round_pairs(rounds(played)).traces[:1]
    result = best_guess(Rounds(pairs, servers=2), repeated=False)
    assert (1.0, "links") == (result.top1.value, result.family)


@hiding
def test_donors_without_an_answer_look_like_all_others(name):
    """What they send leaves nothing; who was there is not told by what is there."""
    played = play(name, donors=DONORS, traced=True, iterations=3).campaign
    observed = observe(rounds([played]))
    assert observed.present.all()

    def silent(running, step):
        if step == "reservation 1: heard":
            for index, (_, answered) in enumerate(running.answers):
                answered[index * 4 : index * 4 + 6] = False

    with_decoys = play(name, donors=DONORS, traced=True, iterations=3, after=silent).campaign
    assert observe(rounds([with_decoys])).present.all()
    result = best_guess(rounds([with_decoys], "publishing"), confidence=STRICT)
    assert 1 / DONORS == pytest.approx(result.top1.chance)
    assert 0 == result.top1.excess


@hiding
def test_withdrawals_do_not_hide_that_iterations_belong_together(name):
    """Posts lie between the deposits; absence is intersected over all of them."""
    behaviour = Behaviour.honest(DONORS, 3)
    for now, who in ((1, 3), (2, 4)):
        behaviour.absent[now, who] = True
    played = play(
        name, donors=DONORS, traced=True, iterations=3, missing="blank", withdrawals=True,
        behaviour=behaviour,
    )  # fmt: skip
    steps = over_iterations(observe(rounds([played.campaign])), None, 0.99)
    shown = {donor for donor, _ in played.opened[1]}
    assert 3 == steps[-1].rounds
    assert len(shown & {3, 4}) == (steps[-1].absent.trials if steps[-1].absent else 0)


def missing_one_percent(number=12, iterations=5):
    """Return studies with donors missing as rarely as one in a hundred."""
    rng, result = np.random.default_rng(2), []
    for index in range(number):
        behaviour = Behaviour.sample(DONORS, iterations, rng, absent=0.01)
        behaviour.absent[0] = False
        result.append(
            play(
                "direct", donors=DONORS, traced=True, iterations=iterations, missing="blank",
                behaviour=behaviour, entropy=SeededEntropy(f"missing {index}"),
            ).campaign
        )  # fmt: skip
    return result


def test_whoever_misses_an_iteration_is_found_among_many():
    """Absence needs no server and no transport: it is seen on the lines and in what is published."""
    played = missing_one_percent()
    last = over_iterations(observe(rounds(played, "publishing")), None, 0.99)[-1]
    assert last.absent.interval[0] > 10 / DONORS
    assert 1 == min(filter(None, (smallest_pattern(item) for item in played)))


@pytest.mark.parametrize(("absent", "missing"), [(0.0, "stop"), (0.02, "blank")])
def test_the_report_says_whether_missing_donors_are_found(tmp_path, absent, missing):
    """From a file to the report: five answers of sixty people, a few of whom miss one."""
    people, times = 60, 5
    index = np.arange(people * times)
    pd.DataFrame(
        {
            "who": index % people,
            "age": 20 + index % people % 30,
            "mood": [answer(item % people, item // people).hex()[-8:] for item in index.tolist()],
        }
    ).to_csv(tmp_path / "moods.csv", index=False)
    spec = {
        "version": 1,
        "name": "moods",
        "seed": 3,
        "data": {
            "source": "csv",
            "with": {"path": "moods.csv"},
            "columns": {
                "who": {"role": "person"},
                "age": {"role": "quasi", "type": "number"},
                "mood": {"role": "sensitive"},
            },
        },
        "privacy": [{"k-anonymity": {"k": 3}}],
        "collect": {
            "collector": "anonify",
            "with": {
                "transport": "dpf", "min_batch": 20, "min_leave": 1, "iterations": times,
                "missing": missing, "simulate": {"absent": absent}, "traced": True,
            },
        },
        "stages": [{"partitioner": "mondrian"}, {"generalizer": "hierarchy"}],
        "audit": [{"auditor": "traffic", "with": {"confidence": 0.9999}}],
        "publish": {"to": "out", "reporters": []},
    }  # fmt: skip
    (tmp_path / "moods.yaml").write_text(yaml.safe_dump(spec))
    Pipeline.load(tmp_path / "moods.yaml").publish()
    report = json.loads((tmp_path / "out" / "public" / "report.json").read_text())
    collected = {item["name"]: item["value"] for item in report["collection"]["findings"]}
    audited = {item["name"]: item for item in report["audits"][0]["findings"]}
    assert 7 == audited["rounds"]["value"]
    assert 0 == audited["linked_excess"]["value"]
    if absent:
        assert (
            1 == collected["smallest_blank_pattern"] == audited["smallest_blank_pattern"]["value"]
        )
        assert audited["absent_success"]["interval"][0] > audited["chance"]["value"]
        assert audited["absent_success"]["value"] > 0.2
    else:
        assert "smallest_blank_pattern" not in collected
        assert "none detected" == audited["absent_success"]["status"]
        assert 0 == audited["top1_excess"]["value"]
