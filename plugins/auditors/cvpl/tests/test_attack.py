"""The attacks on the one scale: a copy is found, strangers are not, and columns are weighed."""

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom.findings import AttackResult
from anonloom_cvpl import strongest_link
from anonloom_cvpl.auditor import Cvpl
from anonloom_cvpl.ensemble import Ensemble
from anonloom_cvpl.inference import inference
from anonloom_cvpl.kept_columns import KeptColumns
from anonloom_cvpl.progressive import Progressive
from anonloom_cvpl.strongest_link import Link
from anonloom_cvpl.variants import Variants
from anonloom_risk import NearestRows, align_evidence, right_rows
from anonloom_risk.nearest_rows import ORIGINAL, RELEASE

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="job", role="quasi"),
        Column(name="income", role="other", type="number"),
        Column(name="illness", role="sensitive"),
        Column(name="dose", role="sensitive", type="number"),
    )
)


def people(rows, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows).astype(float),
            "town": rng.choice([f"t{k}" for k in range(9)], rows).astype(object),
            "job": rng.choice([f"j{k}" for k in range(6)], rows).astype(object),
            "income": rng.normal(2000, 600, rows).round(),
            "illness": rng.choice([f"i{k}" for k in range(20)], rows).astype(object),
            "dose": rng.normal(10, 3, rows).round(2),
        }
    )


def published(frame):
    release = Release.as_it_is(Table.build(frame.reset_index(drop=True), SCHEMA))
    return attrs.evolve(release, origin=None)


def noisy(frame, seed, keep=0.8, noise=0.2, shuffled=()):
    """Add noise to numbers, draw categories again, and shuffle whole columns."""
    rng = np.random.default_rng(seed)
    result = frame.copy()
    for name in ("age", "income"):
        result[name] = frame[name] + rng.normal(0, noise * frame[name].std(), len(frame))
    for name in ("town", "job"):
        again = rng.random(len(frame)) > keep
        result.loc[again, name] = rng.permutation(frame[name].to_numpy())[again]
    for name in shuffled:
        result[name] = rng.permutation(frame[name].to_numpy())
    return result


def evidence(original, release, control=None, **more):
    control = None if control is None else Table.build(control, SCHEMA)
    return AuditInput(published(release), Table.build(original, SCHEMA), control=control, **more)


def attacks(case, method=None, seed=1):
    found = (method or Cvpl()).assess(case, StageContext(stage="audit", seed=seed))
    return {attack.name: attack for attack in found.attacks}, found


# --- the scale -----------------------------------------------------------------------------------


def test_a_copy_is_found_with_its_secrets_and_an_independent_table_is_not():
    original = people(600, 1)

    copy, _ = attacks(evidence(original, original, people(600, 2)))
    other, found = attacks(evidence(original, people(600, 3), people(600, 2)))

    assert ["linkage", "inference.illness", "inference.dose"] == list(copy)
    for name, attack in copy.items():
        assert (name, "") == (name, attack.reason)
        assert attack.risk > 0.95
        assert other[name].copy > 0.95
        low, high = other[name].interval(1 - 0.05 / len(copy))  # of all attacks together
        assert low <= 0 <= high
    assert ["linkability", "inference", "inference"] == [a.question for a in copy.values()]
    assert () == found.private


def test_rows_that_were_leaked_are_found_and_shown_to_the_steward():
    original = people(1_000, 1)
    leaked = pd.concat([people(900, 7), original.iloc[:100]])

    results, found = attacks(evidence(original, leaked, people(1_000, 2)))

    low, _ = results["linkage"].interval()
    assert 0 < low < 0.1
    rows = next(item.rows for item in found.private if item.name == "linkage_exposed")
    assert np.mean(np.isin(np.arange(100), rows)) > 0.4


def test_without_a_control_a_copy_is_still_found():
    original = people(600, 1)

    results, _ = attacks(evidence(original, original))

    assert "leave-one-out" == results["linkage"].baseline_kind
    assert results["linkage"].risk > 0.95


def test_no_column_to_compare_names_nobody():
    frame = people(100, 1)[["illness"]]
    schema = Schema((SCHEMA["illness"],))
    table = Table.build(frame, schema)
    case = AuditInput(attrs.evolve(Release.as_it_is(table), origin=None), table)

    results, _ = attacks(case)

    assert "not assessable" == results["linkage"].findings()[0].status


def test_columns_that_the_attacker_does_not_know_are_not_attacked():
    original = people(400, 1)
    case = evidence(original, original, people(400, 2))

    (answers, *_) = Cvpl(columns=("age", "town")).attack(case, case.original, StageContext())

    assert ("age", "town") == answers.columns


@pytest.mark.parametrize("method", [Progressive(), Variants(), Ensemble(draw=2)])
def test_the_other_auditors_attack_as_they_are_configured(method):
    original = people(400, 1)

    copy, _ = attacks(evidence(original, original, people(400, 2)), method)
    other, _ = attacks(evidence(original, people(400, 3), people(400, 2)), method)

    names = ["attacker_1", "attacker_2"] if isinstance(method, Ensemble) else ["linkage"]
    assert names == list(copy) == list(other)
    for name in names:
        assert isinstance(copy[name], AttackResult)
        assert copy[name].reason or copy[name].risk > 0.9
        low, _ = other[name].interval()
        assert other[name].reason or low <= 0.02


# --- the strongest link --------------------------------------------------------------------------


def aligned(original, release, control=None):
    case = evidence(original, release, control)
    return case, align_evidence(case, case.original)


def test_columns_are_weighed_by_what_the_release_kept():
    original = people(1_500, 1)
    release = noisy(original, 2, keep=0.9, noise=0.1)
    _, columns = aligned(original, release)

    kept = KeptColumns.learn(columns, np.random.default_rng(1))

    learnt = {model.part.name: model.parameter for model in kept.models}
    assert 0.1 == pytest.approx(learnt["age"], abs=0.03)
    assert 0.1 == pytest.approx(learnt["income"], abs=0.03)
    assert 0.9 == pytest.approx(learnt["town"], abs=0.1)
    assert 0.9 == pytest.approx(learnt["job"], abs=0.1)

    shuffled = noisy(original, 2, keep=0.9, noise=0.1, shuffled=("job",))
    kept = KeptColumns.learn(aligned(original, shuffled)[1], np.random.default_rng(1))
    assert {m.part.name: m.parameter for m in kept.models}["job"] < 0.4


def test_a_column_that_misleads_is_given_up():
    original = people(1_500, 1)
    release = noisy(original, 2, keep=0.9, noise=0.05, shuffled=("job",))
    _, columns = aligned(original, release, people(1_500, 3))

    nearest = NearestRows.of(columns)
    link = strongest_link.strongest_link(columns, np.random.default_rng(1))

    everybody = np.arange(1_500)
    plain, weighed = (np.mean(row == everybody) for row in (nearest.row, link.row))
    assert weighed > plain + 0.14


def test_evidence_is_the_logarithm_of_a_likelihood_ratio():
    """A dot product of vectors, beside the sum over columns."""
    original = people(60, 1)
    _, columns = aligned(original, noisy(original, 2))
    kept = KeptColumns.learn(columns, np.random.default_rng(1))

    fast = kept.records(ORIGINAL) @ kept.candidates(RELEASE).T
    fast = fast + kept.constants(ORIGINAL)[:, None]

    slow = np.zeros((60, 60))
    by_name = {column.name: column for column in columns}
    for model in kept.models:
        column, t = by_name[model.part.name], model.parameter
        own, other = (column.sides[side] for side in (ORIGINAL, RELEASE))
        if column.is_ordered:
            places = np.concatenate([column.lo[own], column.lo[other]])
            x, y = (column.lo[own] / places.std(), column.lo[other] / places.std())
            near = (np.abs(y[:, None] - y[None]) <= t).sum(axis=1)
            slow += -((x[:, None] - y[None]) ** 2) / (2 * t**2) + np.log(60 / near)[None]
        else:
            share = np.array([np.mean(other == cell) for cell in other])
            agree = own[:, None] == other[None]
            slow += np.log1p(-t) + np.where(agree, np.log1p(t / ((1 - t) * share))[None], 0)
    np.testing.assert_allclose(slow, fast, rtol=1e-3, atol=2e-2)


def test_of_a_generalized_release_a_row_that_covers_is_named():
    original = people(400, 1)
    release = published(original)
    cells = release.frame.astype(object).copy()
    decade = (original["age"] // 10 * 10).astype(int)
    cells["age"] = [f"[{low}, {low + 9}]" for low in decade]
    case = AuditInput(
        Release(release.schema, cells, None, None, True),
        Table.build(original, SCHEMA),
        control=Table.build(people(400, 2), SCHEMA),
    )
    columns = align_evidence(case, case.original)

    link = strongest_link.strongest_link(columns, np.random.default_rng(1))

    right = right_rows(case, columns, link.row, np.random.default_rng(1))
    assert right.mean() > 0.95


def test_answers_are_on_the_scale_of_what_people_of_the_population_score():
    usual = np.arange(101.0)

    result = strongest_link._beyond_usual(np.array([50.0, 99.0, -np.inf]), usual)

    assert [0.0, 1.0, -np.inf] == result.tolist()
    assert [3.0] == strongest_link._beyond_usual(np.array([3.0]), np.array([-np.inf])).tolist()


# --- inference -----------------------------------------------------------------------------------


def test_secrets_that_were_shuffled_are_learnt_by_chance_alone():
    original = people(800, 1)
    release = noisy(original, 2, keep=1.0, noise=0.0, shuffled=("illness", "dose"))

    results, _ = attacks(evidence(original, release, people(800, 2)))

    # One of twenty illnesses is right by chance, and of the doses within a tenth of a deviation.
    assert results["inference.illness"].risk < 0.1
    assert results["inference.dose"].risk < 0.12


def test_what_people_who_are_alike_differ_in_cannot_be_learnt_from_a_copy():
    """Pairs of twins with two illnesses: one of them is right, and nobody attains more."""
    twins = pd.concat([people(300, 1), people(300, 1)], ignore_index=True)
    twins.loc[300:, "illness"] = "other"
    case = evidence(twins, twins, people(600, 2))

    _, illness, dose = Cvpl().attack(case, case.original, StageContext(seed=1))

    assert illness.right.tolist() == illness.attainable.tolist()
    assert 0.5 == pytest.approx(illness.right.mean())
    assert 1.0 == dose.attainable.mean()


def test_the_most_frequent_value_of_the_rows_that_equal_the_named_one_is_guessed():
    original = people(5, 1)
    rows = original.iloc[[0, 0, 0, 1]].reset_index(drop=True)
    rows["illness"] = ["i1", "i2", "i2", "i3"]
    original["illness"] = ["i2", "i3", "i3", "i1", "i1"]
    case, columns = aligned(original, rows)
    link = Link(np.array([0, 3, 0, -1, 2]), np.zeros(5))

    illness, dose = inference(case, case.original, columns, link)

    assert [1.0, 1.0, 0.0, 0.0, 0.0] == illness.right.tolist()
    assert ["inference.illness", "inference.dose"] == [illness.name, dose.name]


def test_a_value_that_people_outside_do_not_show_is_no_risk_and_no_safety():
    original = people(600, 1)
    control = Table.build(
        people(600, 2).drop(columns="dose"), Schema(tuple(c for c in SCHEMA if c.name != "dose"))
    )
    case = attrs.evolve(evidence(original, original), control=control)

    results, _ = attacks(case)

    assert "" == results["inference.illness"].reason
    assert "100% of the people who are not in the release are found as well" in (
        results["inference.dose"].reason
    )
