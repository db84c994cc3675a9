"""The answer follows from one rule; what is not known never makes it a green one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_attack_results import attack, some_attacks

from anonloom.findings import percent
from anonloom_runner.hand_over import decide, rule_texts
from anonloom_runner.headline import (
    QUESTIONS,
    attack_data,
    headline_of,
    question_headlines,
    simultaneous_level,
)


def answer(attacks, settled=None, **more):
    questions = question_headlines(attacks, settled or {})
    data = [attack_data(item, simultaneous_level(len(attacks))) for item in attacks]
    return decide(headline_of(attacks), questions, data, **more)


def harmless(**more):
    return [
        attack(question, success=0.1, question=question, exposed=0, people=5000, **more)
        for question in QUESTIONS
    ]


def test_a_risk_above_the_limit_is_not_handed_over():
    result = answer([attack(success=0.649)])
    assert ("no", "refused") == (result.answer, result.data()["tone"])
    assert (
        "Do not hand this over: 61 % of the people attacked can be found again because of it, "
        "beyond chance." == result.sentence
    )


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("singling out", "61 % of the people attacked can be singled out because of it"),
        (
            "inference",
            "attackers can tell something sensitive about 61 % of the people attacked",
        ),
        ("membership", "attackers can tell that 61 % of the people attacked are in it"),
    ],
)
def test_every_question_has_its_sentence(question, words):
    result = answer([attack(success=0.649, question=question)])
    assert f"Do not hand this over: {words}, beyond chance." == result.sentence


def test_where_every_question_is_answered_and_nobody_is_found_nothing_speaks_against_it():
    result = answer(harmless())
    assert ("nothing against it", "green") == (result.answer, result.data()["tone"])
    assert ("Other attackers may know more: this is no proof.",) == result.reasons
    assert (
        "Nothing found speaks against handing this over: no attack tried finds more people than "
        "it finds among strangers, beyond chance." == result.sentence
    )


def test_people_who_are_found_below_the_limit_are_looked_at_first():
    found = [*harmless(), attack("leak", success=0.155, people=50_000, strangers=50_000)]
    result = answer(found)
    assert "not yet" == result.answer
    assert (
        "Do not hand this over yet: 6.1 % of the people attacked can be found again because of it, "
        "beyond chance (the limit is 9 %)." == result.sentence
    )


def test_a_wide_interval_is_no_safety():
    result = answer([*harmless(), attack("few", success=0.1, people=30, strangers=30)])
    assert result.sentence.startswith("Do not hand this over yet: the risk may be as high as ")


def test_what_may_be_chance_is_no_finding():
    doubtful = attack("few", success=0.3, people=30, strangers=30)
    data = attack_data(doubtful, simultaneous_level(1))
    assert data["risk"] > 0.09
    assert 0 == data["interval"][0]
    result = answer([*harmless(), doubtful])
    assert "not yet" == result.answer
    assert result.sentence.startswith("Do not hand this over yet: the risk may be as high as ")


def test_an_objection_stands_whatever_attacks_find():
    result = answer(harmless(), objections=("The release has it", "And more"))
    expected = ("no", "Do not hand this over: the release has it.", ("And more",))
    assert expected == (result.answer, result.sentence, result.reasons)
    beside = answer([attack()], objections=("The release has it",))
    assert ("The release has it",) == beside.reasons


def test_without_an_attack_there_is_no_safety():
    result = answer([attack(reason="it missed")], doubts=("Roles were guessed",))
    assert (
        "Do not hand this over yet: no attack says anything, and that is no evidence of safety."
        == result.sentence
    )
    assert ("linking.nearest: it missed", "Roles were guessed") == result.reasons


@pytest.mark.parametrize("lacking", QUESTIONS)
def test_a_question_without_an_answer_is_a_reason_and_one_that_is_settled_is_none(lacking):
    rest = [item for item in harmless() if item.result.question != lacking]
    asked = answer(rest)
    assert "not yet" == asked.answer
    assert (
        f"Do not hand this over yet: nothing is known of {lacking} (no auditor that was run tries "
        "such an attack)." == asked.sentence
    )
    settled = answer(rest, {lacking: "no column is declared as sensitive"})
    assert "nothing against it" == settled.answer


def test_a_weaker_baseline_is_a_reason():
    result = answer(harmless(baseline_kind="leave-one-out"))
    assert (
        "Do not hand this over yet: there is no control: attacks were compared with people who "
        "were taken out of the release, which is weaker." == result.sentence
    )


def _lies_above(item, limit, attacks):
    low, _ = item.result.interval(simultaneous_level(len(attacks)))
    return item.result.risk > limit and low > 0


@given(some_attacks(), st.floats(0, 0.5))
def test_green_means_that_all_was_asked_and_all_is_low(attacks, limit):
    result = answer(attacks, limit=limit)
    data = headline_of(attacks)
    if data["risk"] is None:
        assert "not yet" == result.answer
    elif data["risk"] > limit:
        # Never green: refused where it is no chance, doubtful where it may be.
        sure = [a for a in attacks if a.result.assessable and _lies_above(a, limit, attacks)]
        assert ("no" if sure else "not yet") == result.answer
    if result.answer == "nothing against it":
        assert data["interval"][0] == 0
        assert data["interval"][1] <= limit
        assert set(QUESTIONS) == {a.result.question for a in attacks if a.result.assessable}


def test_the_rule_is_said_with_its_limit_and_where_that_comes_from():
    own, other = rule_texts()[0], rule_texts(0.2)[0]
    assert (
        "Do not hand over: an attack finds people beyond chance, with a risk above 9 %, the "
        "threshold of the European Medicines Agency (Policy 0070) and of Health Canada for public "
        "releases; or the release is a copy of the original, or holds its identifiers." == own
    )
    assert other.startswith(
        "Do not hand over: an attack finds people beyond chance, with a risk above 20 %, chosen "
        "with --limit; or "
    )


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"), (0.0004, "< 0.1 %"), (0.0449, "4.5 %"), (0.0994, "9.9 %"),
        (0.0996, "10 %"), (0.614, "61 %"), (0.9961, "99.6 %"), (1, "100 %"),
    ],
)  # fmt: skip
def test_shares_are_written_with_two_digits_that_matter(share, text):
    assert text == percent(share)
