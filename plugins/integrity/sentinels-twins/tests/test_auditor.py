"""The auditor `outsourcing`: its promises, its parameters, and workers with a cheap model."""

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom.errors import ParameterError
from anonloom_sentinels_twins import accusations, formulas
from anonloom_sentinels_twins.auditor import ALL, Outsourcing
from anonloom_sentinels_twins.simulation import Share
from anonloom_sentinels_twins.work_check import Campaign
from anonloom_testing import AuditorConformance, tables

SMALL = {"workers": 3, "lazy": 1, "budget": 12, "campaigns": 20, "judged": 4}
ZIPF = {"classes": 4, "alpha": 1}


class TestOutsourcing(AuditorConformance):
    method = Outsourcing
    params = SMALL | {"figures": ["campaign", "classes", "extremes", "crossing"]}


class TestOutsourcingWithAllExperiments(AuditorConformance):
    method = Outsourcing
    params = SMALL
    tables = (tables.clinic, tables.missing_values, tables.dates_and_bins)


class TestOutsourcingByZipfsLaw(AuditorConformance):
    method = Outsourcing
    params = SMALL | {"zipf": ZIPF, "label": "illness"}
    tables = (tables.one_row, tables.persons_with_many_rows)


def table_of(rows=1200, classes=3, seed=5, noise=0.05):
    """A label that follows one number, but for a few rows."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, rows).round(3)
    kind = np.minimum((x**2 * classes).astype(int), classes - 1)
    kind = np.where(rng.random(rows) < noise, rng.integers(classes, size=rows), kind)
    frame = pd.DataFrame(
        {"x": x, "sex": rng.choice(["f", "m"], rows), "kind": np.array(list("abcdef"))[kind]}
    )
    return Table.build(
        frame,
        Schema(
            (
                Column(name="x", role="quasi", type="number"),
                Column(name="sex", role="quasi"),
                Column(name="kind", role="label"),
            )
        ),
    )


def audited(table=None, seed=1, **params):
    table = table or table_of()
    return Outsourcing(**params).audit(
        AuditInput(Release.as_it_is(table), table), StageContext(seed=seed)
    )


def test_classes_and_their_shares_come_from_the_label():
    result = audited(figures=("classes",), campaigns=50)
    shares = table_of().column("kind").value_counts(normalize=True)
    assert shares.max() == pytest.approx(result["guessed_like_data"].value)
    assert 1 / 3 == pytest.approx(result["guessed_uniform"].value)


def test_zipfs_law_can_stand_in_for_them():
    result = audited(figures=("classes", "crossing"), campaigns=50, zipf=ZIPF)
    assert 0.48 == pytest.approx(result["guessed_like_data"].value)
    assert 0.598 == pytest.approx(result["crossing"].value, abs=5e-4)


def test_leaving_an_experiment_out_changes_no_other():
    both = audited(figures=("replicas", "crossing"), campaigns=100)
    one = audited(figures=("crossing",), campaigns=100)
    assert both["crossing"] == one["crossing"]


def test_the_declared_campaign_is_stated_and_simulated():
    result = audited(
        figures=("campaign",), campaigns=4000, judged=40, zipf=ZIPF, workers=5, lazy=2, budget=40
    )
    stated, simulated = result["detection_stated"], result["detection_simulated"]
    assert "bound" == stated.status
    assert simulated.interval[1] >= stated.value
    assert 40 == result["sentinels"].value + result["twins"].value
    assert 0.0 == result["honest_campaign_accused"].value
    assert result["honest_accused"].value <= 0.05
    assert 0 < result["lazy_accused"].value < 1


def test_the_controls_that_are_judged_notice_as_often_as_the_formula_says():
    campaign = Campaign(jobs=1000, workers=5, lazy=2, omission=0.2, classes=(0.6, 0.4), budget=20)
    lazy = np.tile(np.arange(5) < 2, (4000, 1))
    counts = accusations.counts(campaign, 8, 12, lazy, np.random.default_rng(3))
    assert 8.0 == (counts.failed + counts.passed).sum() / 4000
    assert 24.0 == (counts.different + counts.same).sum() / 4000
    assert (counts.different == counts.different.transpose(0, 2, 1)).all()
    assert 0 == counts.failed[:, 2:].sum() == counts.different[:, 2:, 2:].sum()
    passed = (counts.failed.sum(axis=1) == 0) & (counts.different.sum(axis=(1, 2)) == 0)
    bound = float(formulas.undetected_probability(campaign, 8, 12))
    assert Share(int(passed.sum()), 4000).interval(4)[0] <= bound
    # Even dealing is somewhat better than its bound, not much.
    assert bound == pytest.approx(passed.mean(), rel=0.15)


def test_a_colluding_majority_gets_no_honest_worker_accused():
    result = audited(
        figures=("collusion",), campaigns=20, judged=60, zipf=ZIPF, workers=7, lazy=2, budget=100
    )
    accused = result["majority_honest_accused"]
    assert 0.0 == accused.value
    assert "4 of 7 workers collude; the plan expects 2 who do not." in accused.meaning
    assert 0 < result["majority_disputed"].value <= 1


def test_a_budget_without_a_sentinel_for_every_worker_is_not_assessable():
    result = audited(figures=("campaign", "collusion"), campaigns=5, workers=9, budget=8)
    for name in ("detection_stated", "lazy_accused", "majority_honest_accused"):
        assert "not assessable" == result[name].status
        assert "the budget leaves some workers without a sentinel" in result[name].meaning


@pytest.mark.parametrize("budget", [1, 6])
def test_small_budgets_and_many_workers_are_no_trouble(budget):
    figures = tuple(item for item in ALL if item not in ("proxies", "campaign"))
    result = audited(workers=100, lazy=100, budget=budget, campaigns=5, figures=figures)
    assert result["largest_deviation"].value < 6


@pytest.fixture(scope="module")
def proxies():
    return audited(
        figures=("proxies",), workers=4, lazy=2, budget=60, judged=60, table=table_of(2000)
    )


def test_workers_with_a_cheap_model_are_noticed_less_often_than_the_formulas_say(proxies):
    assert 0.3 < proxies["proxy_omitted"].value < 1
    assert proxies["proxy_right"].value > 0.85
    for control in ("sentinel", "twin"):
        measured = proxies[f"proxy_per_{control}"]
        assert measured.interval[1] < proxies[f"blind_per_{control}"].value
        assert any("Not blind" in message for message in measured.assumptions)
    assert proxies["proxy_undetected"].value > proxies["blind_undetected"].value


def test_blind_workers_on_the_same_rows_are_noticed_as_the_formulas_say(proxies):
    bars = proxies.charts[0].data
    for formula, played in zip(bars["blind, formula"], bars["blind, played"], strict=True):
        # 360 controls of each sort.
        assert formula == pytest.approx(played, abs=4 * (formula * (1 - formula) / 360) ** 0.5)


def test_a_model_that_is_sure_of_nothing_is_not_assessable():
    noise = table_of(400, classes=6, noise=1.0)
    result = audited(noise, figures=("proxies",), judged=10, workers=3, lazy=1)
    assert "not assessable" == result["proxy_omitted"].status
    assert "sure of no row" in result["proxy_omitted"].meaning


def test_a_rare_class_leaves_too_few_rows():
    table = table_of(60)
    result = audited(table.take(np.arange(12)), figures=("proxies",), judged=10, workers=3, lazy=1)
    assert "not assessable" == result["proxy_omitted"].status
    assert "too few rows of some class" in result["proxy_omitted"].meaning


@pytest.mark.parametrize(
    ("params", "columns", "problem"),
    [
        ({}, {"a": "other"}, "no column has the role 'label': name one with 'label', or give "
         "'zipf'"),
        ({"zipf": ZIPF}, {"a": "other"}, None),
        ({}, {"a": "label"}, None),
        ({}, {"a": "label", "b": "label"}, "the role 'label' has 'a', 'b': name the one that "
         "workers are to find"),
        ({"label": "b"}, {"a": "label", "b": "sensitive"}, None),
        ({"label": "c"}, {"a": "label"}, "column 'c' is not declared; published are: 'a'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_label_is_said_before_any_data_are_read(params, columns, problem):
    schema = Schema(tuple(Column(name=name, role=role) for name, role in columns.items()))
    assert problem == Outsourcing(**params).problem(schema)


def test_nothing_is_assessable_without_two_classes():
    table = table_of()
    frame = table.frame.assign(kind="a")
    result = audited(Table.build(frame, table.schema), figures=("crossing", "campaign"))
    assert {"not assessable"} == {finding.status for finding in result}
    assert () == result.charts


@pytest.mark.parametrize("roles", [("other", "other"), ("label", "label")])
def test_nothing_is_assessable_without_one_label(roles):
    schema = Schema(tuple(Column(name=n, role=r) for n, r in zip("ab", roles, strict=True)))
    table = Table.build(pd.DataFrame({"a": list("xyxy"), "b": list("xxyy")}), schema)
    result = audited(table, figures=("crossing",))
    assert {"not assessable"} == {finding.status for finding in result}
    assert all(finding.meaning.endswith("Not assessable: there is no label.") for finding in result)


def test_a_table_of_labels_alone_teaches_no_cheap_model():
    table = table_of()
    labels = table.frame[["kind"]]
    result = audited(
        Table.build(labels, Schema((table.schema["kind"],))), figures=("proxies",), judged=10
    )
    assert "not assessable" == result["proxy_omitted"].status
    assert result["proxy_omitted"].meaning.endswith(
        "Not assessable: there is no column to learn from."
    )


@pytest.mark.parametrize(
    "zipf",
    [{"classes": 4}, {"classes": 1, "alpha": 1}, {"classes": 2.5, "alpha": 1},
     {"classes": 4, "alpha": -1}, {"classes": 4, "alpha": 11}, {"classes": 4, "alpha": 1, "beta": 2}],
)  # fmt: skip
def test_zipfs_law_has_two_numbers(zipf):
    with pytest.raises(ParameterError, match=r"with 'classes'.*and 'alpha'"):
        Outsourcing(zipf=zipf)


def test_more_lazy_workers_than_workers_are_refused():
    with pytest.raises(ValueError, match=r"^11 of 10 workers cannot be lazy$"):
        Outsourcing(lazy=11)


def test_all_experiments_run_where_everybody_is_lazy():
    result = audited(workers=3, lazy=3, omission=1.0, budget=10, campaigns=20, judged=4)
    assert "sentinels" == result["better_control"].value
    assert 0.0 == result["crossing"].value
    assert set(ALL) == set(attrs.fields_dict(Outsourcing)["figures"].default)
