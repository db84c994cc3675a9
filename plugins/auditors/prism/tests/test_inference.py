"""Attribute inference: planted knowledge is found, chance is not blamed, nobody is judged twice."""

import attrs
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom.errors import ParameterError
from anonloom_prism.attack import People, Plan, infer, judges, told_apart
from anonloom_prism.inference import AttributeInference
from anonloom_prism.knowledge import Cells, Outputs, readable
from anonloom_prism.mechanism import PrismProjection
from anonloom_prism.svc import PrismSVC
from anonloom_prism.targets import Targets
from anonloom_testing import AuditorConformance, tables

QUICK = {"attackers": ("logistic-regression",), "repeats": 2, "deals": 1}


class TestAttributeInference(AuditorConformance):
    """Every promise of the kind."""

    method = AttributeInference
    params = {"attackers": ["logistic-regression"], "repeats": 2, "deals": 1}
    risk_finding = "trees_risk"
    tables = (tables.missing_values, tables.one_row)


def people(rows=300, strength=0.9, seed=1):
    """Gout lives in town a; the label depends on age and illness."""
    rng = np.random.default_rng(seed)
    town, age = rng.choice(list("abcd"), rows), rng.integers(18, 90, rows)
    other = rng.choice(["flu", "gout"], rows, p=[0.8, 0.2])
    illness = np.where((town == "a") & (rng.random(rows) < strength), "gout", other)
    risk = np.where((age > 60) | (illness == "gout") & (age > 30), "yes", "no")
    frame = pd.DataFrame({"age": age, "town": town, "illness": illness, "risk": risk})
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="illness", role="sensitive"),
        Column(name="risk", role="label"),
    ]
    return Table.build(frame, Schema(columns))


def audited(release, original, **parameters):
    method = AttributeInference(critical=("gout",), **(QUICK | parameters))
    return method.audit(AuditInput(release, original=original), StageContext(seed=3))


def test_what_a_projection_drops_can_no_longer_be_inferred():
    original = people()
    projected = PrismProjection(critical=("gout",)).protect(original, StageContext())

    before = audited(Release.as_it_is(original), original)
    after = audited(Release.as_it_is(projected), original)

    assert ("age", "risk") == projected.schema.names
    assert before["advantage.published"].value > 0.4
    assert before["advantage.before"].value == before["advantage.published"].value
    assert abs(after["advantage.published"].value) < 0.25
    assert after["advantage.before"].value == before["advantage.before"].value
    assert after["removed"].value > 0.2
    assert 0.0 == before["removed"].value


def test_a_model_that_used_the_sensitive_column_gives_it_away_by_its_answers():
    """Town says nothing here, and age neither: the answers do."""
    original = people(strength=0.0)

    result = audited(Release.as_it_is(original), original)

    assert abs(result["advantage.published"].value) < 0.25
    assert result["advantage.outputs"].value > 0.25
    assert result["advantage.both"].value > 0.8
    assert "none detected" == result["excess"].status
    assert "measured" == result["excess.both"].status


@pytest.mark.parametrize("seed", range(4))
def test_independent_values_are_not_blamed(seed):
    original = people(1000, strength=0.0, seed=seed)
    release = Release.as_it_is(PrismProjection(correlations=()).protect(original, StageContext()))
    # The answers of a model for a label that has to do with the illness tell of it.
    release = attrs.evolve(release, frame=release.frame.drop(columns="risk"))

    result = audited(release, original, repeats=3, deals=2)

    assert result["excess"].value < 0.2
    assert "none detected" == result["excess"].status
    assert "not assessable" == result["excess.outputs"].status


def test_both_attackers_see_what_only_one_can():
    """The illness is a parity, which is no sum."""
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2, (300, 2))
    classes = (bits[:, 0] ^ bits[:, 1]).astype(np.int64)
    crowd = People(Targets.of(classes, ["x"], others=True), np.arange(300))
    plan = Plan(attackers=("logistic-regression", "random-forest"), repeats=2, deals=1, share=0.3)

    result = infer({"bits": Cells(bits.astype(float))}, crowd, plan, np.random.default_rng(0))[
        "bits"
    ]

    means = result.advantage.mean(axis=0)[:, 0]
    assert abs(means[0]) < 0.3
    assert 1.0 == means[1]
    assert (1, 0) == result.best


def test_the_rows_of_a_person_are_on_one_side():
    persons = np.repeat(np.arange(30), 3)
    crowd = People(Targets.of(np.tile([0, 1, 1], 30), ["x"], others=True), persons)

    learn, judge = crowd.split_rows(judges(crowd, 0.3, np.random.default_rng(0)))

    assert 90 == len(learn) + len(judge)
    assert set(persons[learn]).isdisjoint(persons[judge])
    assert 27 == len(judge)


def test_advantage_is_twice_the_area_under_the_curve_less_one():
    rng = np.random.default_rng(0)
    score, true = rng.integers(0, 5, 50).astype(float), rng.random(50) < 0.4

    assert 2 * roc_auc_score(true, score) - 1 == pytest.approx(told_apart(score, true))
    assert np.isnan(told_apart(score, np.zeros(50, bool)))


def test_people_are_answered_by_models_that_have_not_seen_them():
    seen = []

    class Spy:
        def fit(self, rows, labels):
            self.known = set(rows[:, 0].tolist())
            self.classes_ = np.array([0, 1])
            return self

        def predict_proba(self, rows):
            seen.append(self.known & set(rows[:, 0].tolist()))
            return np.zeros((len(rows), 2))

    rows = np.arange(40.0)[:, None]
    outputs = Outputs(Spy, rows, (np.arange(40) % 2).astype(np.int64))
    known, judged = outputs(np.arange(30), np.arange(30, 40), np.random.default_rng(0))

    assert [set(), set(), set()] == seen
    assert ((30, 2), (10, 2)) == (known.shape, judged.shape)


def test_a_model_over_a_frame_answers_too():
    frame = people().frame
    labels = (frame["risk"] == "yes").to_numpy().astype(np.int64)
    outputs = Outputs(lambda: PrismSVC(sensitive="illness"), frame[["age", "illness"]], labels)

    known, judged = outputs(np.arange(200), np.arange(200, 300), np.random.default_rng(0))

    assert (known[:, 0] == -known[:, 1]).all()
    assert (100, 2) == judged.shape


def test_published_cells_are_read_as_what_they_cover():
    frame = pd.DataFrame({"age": ["[20, 40]", "50", "*"], "town": ["a", "*", None]})

    result = readable(frame, ["age", "town"], {"age": "number", "town": "category"})

    assert [30.0, 50.0, 40.0] == result["age"].tolist()
    assert [0.0, 0.0, 1.0] == result["age\0missing"].tolist()
    assert ["a", "*"] == result["town"].tolist()[:2]


def test_rows_of_nobody_are_judged_by_their_own_values():
    original = people()
    strangers = attrs.evolve(Release.as_it_is(people(seed=5)), origin=None)
    silent = attrs.evolve(strangers, frame=strangers.frame.drop(columns="illness"))

    assert audited(strangers, original)["excess"].value > 0.3
    assert (
        "published rows correspond to no known person, and the release lacks 'illness'",
    ) == audited(silent, original)["excess"].assumptions


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"critical": ("plague",)}, "'critical' must name values that occur in 'illness'. Got 'plague' instead."),
        ({"label": "illness"}, "column 'illness' is the label: it is predicted by everybody"),
        ({"sensitive": "zip"}, "column 'zip' is not declared; published are: 'age', 'town', 'illness', 'risk'"),
    ],
)  # fmt: skip
def test_what_cannot_be_inferred_is_said(parameters, expected):
    original = people(60)
    method = AttributeInference(**(QUICK | parameters))

    result = method.details(
        AuditInput(Release.as_it_is(original), original=original), StageContext()
    )

    assert {(None, "not assessable", (expected,))} == {
        (item.value, item.status, item.assumptions) for item in result
    }


def test_a_correlation_in_the_population_does_not_call_strangers_risky():
    """Gout lives in town a, whoever is published: the release adds nothing about these people."""
    original, others, control = (people(600, seed=seed) for seed in (1, 2, 3))
    release = attrs.evolve(Release.as_it_is(others), origin=None)
    method = AttributeInference(critical=("gout",), **QUICK)

    result = method.audit(
        AuditInput(release, original=original, control=control), StageContext(seed=3)
    )

    low, high = result.attacks[0].interval()
    assert result["excess"].value > 0.3
    assert "neither" == result["excess"].better
    assert low < 0 < high
    assert 0 == result.attacks[0].exposed


def test_a_copy_gives_away_who_is_in_it():
    """Illness has nothing to do with age or town, so that only a person's own row tells it."""
    original, control = (people(600, strength=0.0, seed=seed) for seed in (1, 3))
    method = AttributeInference(critical=("gout",), **QUICK)

    result = method.assess(
        AuditInput(Release.as_it_is(original), original=original, control=control),
        StageContext(seed=3),
    )

    attack = result.attacks[0]
    assert ("trees", "inference", "") == (attack.name, attack.question, attack.reason)
    assert attack.interval()[0] > 0.3


def test_a_release_without_the_sensitive_column_gives_no_answer():
    original = people(200)
    release = Release.as_it_is(original)
    release = attrs.evolve(release, frame=release.frame.drop(columns="illness"))

    result = audited(release, original)

    assert "not assessable" == result["trees_risk"].status


def test_values_that_nobody_named_are_not_shown():
    original = people(150)
    method = AttributeInference(**QUICK)

    result = method.audit(AuditInput(Release.as_it_is(original), original=original), StageContext())

    assert ["advantage"] == [chart.name for chart in result.charts]
    assert "gout" not in str(result)


@pytest.mark.parametrize("name", ["repeats", "deals"])
def test_repetitions_that_nobody_waits_for_are_refused(name):
    for count in (0, 1001, 2**62):
        with pytest.raises(ParameterError) as refused:
            AttributeInference(**{name: count})
        assert (
            f"The '{name}' parameter of AttributeInference must be an integer from 1 to 1000. "
            f"Got {count} instead." == str(refused.value)
        )
