"""The paper's claims are judged by the runs alone, on made-up experiments that are known to obey."""

import json
from pathlib import Path

import attrs
import pytest

from anonloom.errors import DataError
from papers.anonify.claim_checks import GUESS
from papers.anonify.claims import CHECKS, DONATION, FOUND, GROUPS, LEARNING, LOSS, judge_claims
from papers.anonify.experiment import CURATOR, PROTOCOL, Experiment, PublishedRun
from papers.anonify.figures import chapters

CLASSIFIERS = [
    "decision-tree",
    "naive-bayes",
    "k-nearest-neighbours",
    "svm",
    "random-forest",
    "logistic-regression",
    "adaboost",
    "bagging",
]
ANONYMIZERS = {
    "mondrian": 0.5,
    "OKA": 0.6,
    "full-domain": 0.7,
    "local-recoding": 0.3,
    "level-order": 0.2,
    "local-recoding as ARX does it": 0.4,
}


def loss(name, k, value):
    return PublishedRun(f"{name}, k = {k}", {"gcp": value})


def classifier_scores(original, anonymized, sampled):
    labels = [*CLASSIFIERS, GUESS]
    series = {"original": original, "anonymized": anonymized, "sampled": sampled}
    return {"labels": labels, **{name: [value] * 9 for name, value in series.items()}}


def sampled(share, run, *, risk=0.004, size=250, alters=0.0):
    """A run of which everything the paper says is true, but for the risk that does not fall."""
    part = share / 100
    off = 1 + alters + 0.1 * (1 - part)
    diabetes = {
        "labels": ["50 to 60", "60 to 70"],
        "original": [100.0, 100.0],
        "anonymized": [100.0, 100.0],
        "sampled": [100.0, 100.0 * off],
    }
    hypertension = {
        "labels": ["Female", "Male"],
        "original": [100.0, 50.0],
        "anonymized": [100.0, 50.0],
        "sampled": [100.0, 49.0],
    }
    glucose = {
        name: {"x": [5.0, 15.0], "y": [100.0, height]}
        for name, height in (("original", 101.0), ("anonymized", 101.0), ("sampled", 100.0 + run))
    }
    charts = {
        "distribution.group.diabetes": diabetes,
        "distribution.group.hypertension": hypertension,
        "distribution.group.glucose": glucose,
        "disclosure.presence": {"certainty": [1.0, 1.0, part]},
    }
    for metric in ("accuracy", "recall", "precision", "f1"):
        charts[f"learning.{metric}"] = classifier_scores(0.9, 0.9, 0.905)
    findings = {
        "disclosure.journalist_max": risk,
        "disclosure.journalist_max_before": risk,
        "disclosure.anonymity_set_min": size,
        "disclosure.journalist_average": 0.003,
        "disclosure.journalist_average_before": 0.003,
        "disclosure.presence_certainty": part,
        "source.simulated": 0,
    }
    return PublishedRun(f"{share} % sampled, run {run}", findings, charts)


@pytest.fixture
def runs():
    results = [
        loss(name, k, value + k / 10_000) for name, value in ANONYMIZERS.items() for k in (50, 100)
    ]
    results += [sampled(share, run) for share in (90, 70, 50, 30) for run in (1, 2)]
    both = {"rows_out": 10, "gcp": 0.25}
    return [*results, PublishedRun(CURATOR, both), PublishedRun(PROTOCOL, both)]


def experiment(runs, *replaced):
    new = {run.label: run for run in replaced}
    return Experiment(tuple(new.get(run.label, run) for run in runs))


def verdicts(runs, chapter, *replaced):
    return [claim.verdict for claim in judge_claims(experiment(runs, *replaced), chapter)]


def test_losses_are_compared_at_every_k(runs):
    fair = ["holds", "holds", "does not hold", "holds", "holds", "holds"]
    assert fair == verdicts(runs, LOSS)
    once_higher = loss("local-recoding as ARX does it", 100, 0.51 + 1)
    assert "does not hold" == verdicts(runs, LOSS, once_higher)[0]
    hardly_lower = loss("local-recoding as ARX does it", 100, 0.50)
    assert ["holds", "does not hold"] == verdicts(runs, LOSS, hardly_lower)[:2]
    text = judge_claims(experiment(runs, once_higher), LOSS)[0].ours
    assert "80.2% to 296.1% of the better one's NCP at 2 values of k; not at 100" == text


def test_an_anonymizer_that_loses_less_with_a_larger_k_is_named(runs):
    falling = judge_claims(experiment(runs, loss("OKA", 100, 0.1)), LOSS)[-1]
    assert "does not hold" == falling.verdict
    assert "5 of 6 anonymizers rise with every step; OKA falls at k = 100" == falling.ours
    flat = judge_claims(experiment(runs, loss("full-domain", 100, 0.705)), LOSS)[-1]
    assert "5 of 6 anonymizers rise with every step; full-domain does not change" == flat.ours


def test_groups_are_compared_with_the_mean_of_the_samples(runs):
    result = judge_claims(experiment(runs), GROUPS)
    assert ["holds"] * 5 == [claim.verdict for claim in result]
    # The means of the runs are 101 and 102, so that their mean is off by 0.5 of 201.
    assert "0.00% anonymized, 0.25% sampled" == result[0].ours
    assert "5.00% from 60 on, 0.00% of the younger" == result[3].ours


def test_counts_that_are_off_alike_in_all_samples_are_not_blamed_on_sampling(runs):
    alike = [
        sampled(share, run, alters=0.1 * share / 100)
        for share in (90, 70, 50, 30)
        for run in (1, 2)
    ]
    result = judge_claims(experiment(runs, *alike), GROUPS)[-1]
    assert "does not hold" == result.verdict
    assert (
        "0.00% before sampling; 5.00% (90 %), 5.00% (70 %), 5.00% (50 %), 5.00% (30 %)"
        == result.ours
    )


def worse(runs, count, by):
    """Let so many classifiers lose so much accuracy on the smallest samples."""
    for run in runs:
        if run.label.startswith("30 %"):
            data = dict(run.charts["learning.accuracy"])
            data["sampled"] = [0.9 - by] * count + [0.9] * (9 - count)
            yield attrs.evolve(run, charts={**run.charts, "learning.accuracy": data})


def test_six_of_eight_classifiers_have_to_be_close(runs):
    assert ["holds"] * 5 == verdicts(runs, LEARNING)
    two = judge_claims(experiment(runs, *worse(runs, 2, 0.02)), LEARNING)
    assert ["holds", "does not hold"] == [claim.verdict for claim in two[:2]]
    assert (
        "6 of 8 on all 5 versions; not, at its worst: decision-tree -0.020, naive-bayes -0.020"
        == two[1].ours
    )
    assert (
        "6 of 8 within 0.01, 0 of them better; not: decision-tree -0.020, naive-bayes -0.020"
        == two[0].ours
    )
    assert "does not hold" == verdicts(runs, LEARNING, *worse(runs, 3, 0.02))[0]


def test_risk_is_one_in_the_class_to_the_last_digit(runs):
    results = ["holds", "holds", "does not hold", "not comparable", "holds", "holds"]
    assert results == verdicts(runs, FOUND)
    off = sampled(50, 1, risk=1 / 250 + 1e-12)
    assert "does not hold" == verdicts(runs, FOUND, off)[0]


def test_the_protocol_has_to_give_the_curators_figures(runs):
    assert ["holds"] == verdicts(runs, DONATION)
    other = PublishedRun(PROTOCOL, {"rows_out": 9, "gcp": 0.25})
    result = judge_claims(experiment(runs, other), DONATION)[0]
    assert ("does not hold", "5 of 6 figures equal; not: rows_out") == (result.verdict, result.ours)


def test_claims_without_runs_are_not_comparable_and_figures_without_runs_are_left_out():
    empty = Experiment(())
    assert {("no such runs", "not comparable")} == {
        (claim.ours, claim.verdict) for claim in (check.of(empty) for check in CHECKS)
    }
    names = [chart["name"] for chapter in chapters(empty) for chart in chapter["charts"]]
    assert ["claims"] * 5 == names


def test_all_ten_figures_are_drawn_as_plain_data(runs):
    result = chapters(experiment(runs))
    names = {chart["name"] for chapter in result for chart in chapter["charts"]}
    assert set() == {f"figure_{number}" for number in range(6, 16)} - names
    assert result == json.loads(json.dumps(result))
    message = "On the paper's table: 20 of 23 claims hold, 2 do not, 1 cannot be compared."
    assert message == result[0]["meaning"].partition(" 2 runs")[0]


def written(folder: Path, runs):
    (folder / "public").mkdir(parents=True)
    listed = [
        {"label": run.label, "status": "published", "findings": dict(run.findings)} for run in runs
    ]
    listed.append({"label": "no luck", "status": "refused", "findings": {}})
    (folder / "public" / "grid.json").write_text(json.dumps({"runs": listed}), encoding="utf-8")
    for index, run in enumerate(runs):
        public = folder / "runs" / f"{index + 1:03d}-run" / "public"
        public.mkdir(parents=True)
        audits: dict[str, list[dict[str, object]]] = {}
        for name, data in run.charts.items():
            audit, _, chart = name.partition(".")
            audits.setdefault(audit, []).append({"name": chart, "data": data})
        report = {"audits": [{"id": name, "charts": charts} for name, charts in audits.items()]}
        (public / "report.json").write_text(json.dumps(report), encoding="utf-8")


def test_a_finished_experiment_is_read_from_what_it_published(runs, tmp_path):
    written(tmp_path, runs)
    result = Experiment.read(tmp_path)
    assert chapters(experiment(runs))[1:] == chapters(result)[1:]
    assert "Not published: no luck." in chapters(result)[0]["meaning"]


def test_a_missing_report_is_named(runs, tmp_path):
    written(tmp_path, runs)
    gone = tmp_path / "runs" / "001-run" / "public" / "report.json"
    gone.unlink()
    with pytest.raises(DataError) as error:
        Experiment.read(tmp_path)
    assert f"'{gone}' cannot be read" == error.value.what
