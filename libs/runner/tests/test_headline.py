"""The headline is the worst attack that says anything, and never a small number where none does."""

from hypothesis import given
from runner_attack_results import attack, some_attacks

from anonloom import Finding, Findings
from anonloom_runner.headline import (
    attack_data,
    attacks_of,
    headline_findings,
    headline_of,
    question_headlines,
    say_not_self_tested,
    simultaneous_level,
)


@given(some_attacks())
def test_the_headline_is_never_below_any_attack_that_says_anything(attacks):
    data = headline_of(attacks)
    able = [one.result for one in attacks if one.result.assessable]
    if not able:
        assert ("not assessable", None, None) == (data["status"], data["risk"], data["interval"])
        assert data["reasons"]
        return
    assert all(data["risk"] >= min(result.risk, 1.0) for result in able)
    low, high = data["interval"]
    assert 0 <= low <= data["risk"] <= high <= 1


@given(some_attacks())
def test_the_worst_of_every_question_is_not_above_the_headline(attacks):
    whole = headline_of(attacks)["risk"]
    for data in question_headlines(attacks, {}):
        assert data["risk"] is None or data["risk"] <= whole


def test_the_interval_is_wider_the_more_attacks_were_tried():
    alone, among = headline_of([attack()]), headline_of([attack(), attack("b", 0.2)])
    assert ("linking.nearest", 0.95) == (alone["attack"], alone["level"])
    assert ("linking.nearest", 0.975) == (among["attack"], among["level"])
    assert among["interval"][0] < alone["interval"][0] < alone["interval"][1] < among["interval"][1]
    assert 0.99 == simultaneous_level(5)


def test_an_attack_that_says_nothing_widens_the_interval_and_makes_no_headline():
    data = headline_of([attack(success=0.3), attack("b", 0.99, reason="it missed")])
    assert ("linking.nearest", 2) == (data["attack"], data["tried"])
    assert {"status": "not assessable", "risk": None, "interval": None, "exposed": None} == {
        key: attack_data(attack("b", 0.99, reason="it missed"), 0.95)[key]
        for key in ("status", "risk", "interval", "exposed")
    }


def test_a_headline_says_what_it_was_compared_with_in_words():
    assert (
        "people of the control, who are not in the release" == headline_of([attack()])["baseline"]
    )
    weaker = headline_of([attack(baseline_kind="leave-one-out")])["baseline"]
    assert (
        "people of the original who were taken out of the release: a weaker baseline than people "
        "who never were in it" == weaker
    )


def test_without_an_attack_there_are_reasons():
    assert ["no auditor tried an attack"] == headline_of([])["reasons"]
    silent = [attack(reason="it missed"), attack("b", reason="it is blind")]
    assert ["linking.nearest: it missed", "linking.b: it is blind"] == headline_of(silent)[
        "reasons"
    ]


def test_every_question_has_its_worst_attack_or_the_reason_why_there_is_none():
    attacks = [attack(), attack("b", reason="it missed", question="membership")]
    result = question_headlines(attacks, {"inference": "no column is declared as sensitive"})
    assert [
        ("singling out", "not asked", ["no auditor that was run tries such an attack"], False),
        ("linkability", "measured", [], False),
        ("inference", "not asked", ["no column is declared as sensitive"], True),
        ("membership", "not assessable", ["linking.b: it missed"], False),
    ] == [(q["question"], q["status"], q["reasons"], q["settled"]) for q in result]


def test_a_condition_on_a_headline_without_a_risk_cannot_be_judged():
    measured = headline_findings(headline_of([attack(success=0.5, baseline=0.0)]))
    assert (0.5, 300) == (measured["risk"].value, measured["exposed"].value)
    assert measured["upper"].value > 0.5
    nothing = headline_findings(headline_of([]))
    assert [False] * 3 == [finding.assessable for finding in nothing]


def test_figures_of_an_auditor_of_risks_that_tried_no_attack_say_so():
    finding = Finding(name="k", value=5, meaning="It is.", assumptions=("a",))
    text = (
        "not self-tested: this auditor did not try itself on a copy of the original and on "
        "strangers, so that its figures make no headline"
    )
    assert ("a", text) == say_not_self_tested(Findings.of(finding), "risk")["k"].assumptions
    assert ("a",) == say_not_self_tested(Findings.of(finding), "utility")["k"].assumptions
    tried = Findings.of(finding, attack().result)
    assert ("a",) == say_not_self_tested(tried, "risk")["k"].assumptions


def test_attacks_are_named_by_their_auditor():
    found = {"one": Findings.of(attack().result), "two": Findings.of(attack("b").result)}
    assert ["one.nearest", "two.b"] == [item.name for item in attacks_of(found)]
