"""Shadow releases: a planted copy of unusual people is found, an independent mechanism is not."""

import json
import shutil
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from membership_population import frame, in_classes, published, table
from membership_toy_mechanisms import draw

from anonloom import Column, Schema, Table
from anonloom.errors import DataError, UsageError
from anonloom.findings import FindingBuilder
from anonloom_cli import main
from anonloom_membership.shadow.judgement import Judgement
from anonloom_membership.shadow.likelihood_ratio import likelihood_ratios
from anonloom_membership.shadow.plan import ShadowPlan
from anonloom_membership.shadow.releases import seed_of_pipeline
from anonloom_membership.shadow.statistics import STATISTICS, target_statistics
from anonloom_membership.shadow.study import ShadowStudy, run_study
from anonloom_testing.toy_registry import toy_registry

PIPELINE = """
version: 1
seed: 5
data:
  source: csv
  with: {{path: people.csv}}
  columns:
    age: {{role: quasi, type: number}}
    rent: {{role: quasi, type: number}}
    area: {{role: quasi}}
privacy: none
stages:
  - mechanism: ./toys.py:{mechanism}
publish: {{to: out}}
"""


@pytest.fixture
def make_study(tmp_path):
    """Return a study of one of the toy mechanisms."""
    shutil.copy(Path(__file__).with_name("toy_mechanisms.py"), tmp_path / "toys.py")
    draw(300, np.random.default_rng(3)).to_csv(tmp_path / "people.csv", index=False)

    def make(mechanism, targets=14, releases=32, **options):
        file = tmp_path / f"{mechanism}.yaml"
        file.write_text(PIPELINE.format(mechanism=mechanism))
        return ShadowStudy(
            file, allow_local_code=True, targets=targets, releases=releases, **options
        )

    return make


def run(study, folder, **options):
    reports = []
    report = run_study(
        study,
        toy_registry("anonloom-membership"),
        folder,
        tell=lambda number, status: reports.append((number, status)),
        **options,
    )
    return {finding["name"]: finding for finding in report["findings"]}, reports


# --- what it finds -------------------------------------------------------------------------------


def test_an_overfitted_mechanism_is_found(make_study, tmp_path):
    findings, _ = run(make_study("Overfitted"), tmp_path / "study")

    assert findings["shadow_auc"]["interval"][0] > 0.65
    assert findings["shadow_worst_tenth_auc"]["value"] > 0.95
    assert findings["shadow_tpr_1"]["value"] > 0.2
    assert findings["shadow_epsilon"]["value"] > 1
    targets = pd.read_csv(tmp_path / "study" / "private" / "targets.csv")
    people = pd.read_csv(tmp_path / "people.csv")
    unusual = (people["rent"] - people["rent"].mean()).abs()[targets["row"]]
    assert unusual.iloc[0] > people["rent"].std()
    assert targets["auc"].iloc[0] > 0.95


def test_an_independent_mechanism_is_at_chance(make_study, tmp_path):
    findings, _ = run(make_study("Independent"), tmp_path / "study")

    low, high = findings["shadow_auc"]["interval"]
    assert low <= 0.5 <= high
    assert findings["shadow_epsilon"]["value"] < 0.2
    assert 32 == findings["shadow_releases"]["value"]
    assert findings["shadow_cpu_seconds"]["value"] > 0


def test_releases_that_are_refused_are_counted_and_not_judged(make_study, tmp_path):
    findings, reports = run(make_study("Refusing"), tmp_path / "study")

    refused = findings["shadow_refused"]["value"]
    assert refused == sum(status == "refused" for _, status in reports)
    assert 8 < refused < 32
    assert (
        f"{32 - refused} of 32 shadow releases were published: too few with or without a target"
    ) == findings["shadow_auc"]["assumptions"][0]
    assert "not assessable" == findings["shadow_auc"]["status"]


# --- how it runs ---------------------------------------------------------------------------------


def test_a_study_goes_on_where_it_stopped(make_study, tmp_path):
    study, folder = make_study("Independent", releases=16), tmp_path / "study"
    first, _ = run(study, folder)
    (folder / "public" / "shadow.json").unlink()
    for number in (2, 5):
        (folder / "private" / "releases" / f"{number:04d}.json").unlink()

    again, reports = run(study, folder)

    done = [number for number, status in reports if status == "done before"]
    assert [0, 1, 3, 4, *range(6, 16)] == done
    assert [(2, "published"), (5, "published")] == reports[14:]
    for name in first.keys() - {"shadow_cpu_seconds"}:
        assert first[name] == again[name]


def test_what_was_done_with_other_options_is_done_again(make_study, tmp_path):
    folder = tmp_path / "study"
    run(make_study("Independent", releases=16), folder)
    (folder / "public" / "shadow.json").unlink()

    _, reports = run(make_study("Independent", releases=16, share=0.75), folder)

    assert ["published"] * 16 == [status for _, status in reports]


def test_a_finished_study_is_kept_unless_it_is_replaced(make_study, tmp_path):
    study, folder = make_study("Independent", releases=16), tmp_path / "study"
    run(study, folder)

    with pytest.raises(UsageError) as caught:
        run(study, folder)
    _, reports = run(study, folder, replace=True)

    assert f"'{folder}' exists already" == caught.value.what
    assert ["published"] * 16 == [status for _, status in reports]


def test_a_folder_of_somebody_else_is_left_as_it_is(make_study, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("mine")

    with pytest.raises(UsageError) as caught:
        run(make_study("Independent"), tmp_path / "thesis", replace=True)

    assert (
        f"'{tmp_path / 'thesis'}' is no study of shadow releases and is left as it is"
        == caught.value.what
    )
    assert "mine" == (tmp_path / "thesis" / "chapter.txt").read_text()


def test_what_is_about_single_people_is_private(make_study, tmp_path):
    folder = tmp_path / "study"
    run(make_study("Independent", releases=16), folder)

    assert 0o700 == stat.S_IMODE((folder / "private").stat().st_mode)
    assert ["shadow.json"] == [path.name for path in (folder / "public").iterdir()]
    report = json.loads((folder / "public" / "shadow.json").read_text())
    assert {"format", "kind", "created", "anonloom", "share", "findings", "charts"} == set(report)


def test_an_experiment_is_refused(make_study, tmp_path):
    study = make_study("Independent")
    study.file.write_text(study.file.read_text() + "vary:\n  seed: [1, 2]\n")

    with pytest.raises(UsageError) as caught:
        run(study, tmp_path / "study")

    assert "the pipeline is an experiment of 2 runs" == caught.value.what


@pytest.mark.long
def test_several_processes_find_the_same(make_study, tmp_path):
    study = make_study("Overfitted", releases=16)

    alone, _ = run(study, tmp_path / "alone")
    together, _ = run(study, tmp_path / "together", jobs=2)

    assert alone["shadow_auc"] == together["shadow_auc"]


def test_the_command_prints_what_it_found(make_study, tmp_path, capsys):
    study = make_study("Independent")

    code = main(
        ["shadow", str(study.file), "--allow-local-code", "--to", str(tmp_path / "study"),
         "--targets", "4", "--releases", "16"]
    )  # fmt: skip

    printed = capsys.readouterr()
    assert 0 == code
    assert "shadow release 16 of 16: published" in printed.err
    assert "shadow_auc: " in printed.out
    assert "shadow.json" in printed.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--targets", "1"], "argument --targets: must be at least 2. Got '1' instead."),
        (["--releases", "x"], "argument --releases: must be at least 16. Got 'x' instead."),
        (["--share", "0"], "argument --share: must be above 0, and at most 1. Got '0' instead."),
        (["--share", "x"], "argument --share: must be above 0, and at most 1. Got 'x' instead."),
    ],
)
def test_arguments_out_of_range_are_refused(words, message, capsys):
    assert 2 == main(["shadow", "p.yaml", "--to", "out", *words])

    assert message in capsys.readouterr().err


# --- its parts -----------------------------------------------------------------------------------


def test_every_target_is_in_one_half_of_the_releases_and_nobody_else_depends_on_it():
    people = table(frame(200, 1))

    plan = ShadowPlan.of(people, 10, 16, 0.5, seed=3)

    assert [8] * 10 == plan.inside.sum(axis=0).tolist()
    for release in range(16):
        rows = set(plan.rows_of(release).tolist())
        there = [row in rows for row in plan.targets.tolist()]
        assert plan.inside[release].tolist() == there
        assert 95 == len(rows - set(plan.targets.tolist()))


def test_one_half_of_the_targets_are_the_most_isolated():
    people = frame(200, 1)
    people.loc[[17, 44], ["age", "rent"]] = [[150, 9000], [1, 5000]]

    plan = ShadowPlan.of(table(people), 4, 8, 0.5, seed=3)

    assert {17, 44} == set(plan.targets[:2].tolist())
    assert (plan.isolation[:2] > plan.isolation[2:].max()).all()


def test_seeds_are_all_different_and_none_is_the_release_s_own(make_study):
    spec = make_study("Independent").spec(toy_registry("anonloom-membership"))
    seed = seed_of_pipeline(spec, drawn=9)
    plan = ShadowPlan.of(table(frame(50, 1)), 4, 64, 0.5, seed)

    seeds = {plan.seed_of(release) for release in range(64)}

    assert 64 == len(seeds - {seed, spec.seed})


def test_a_person_is_in_with_all_rows_or_with_none():
    visits = pd.concat([frame(120, 1)] * 2, ignore_index=True)
    visits["name"] = [f"p{number % 120}" for number in range(240)]
    schema = Schema(
        (
            Column(name="age", role="quasi", type="number"),
            Column(name="rent", role="quasi", type="number"),
            Column(name="name", role="person"),
        )
    )

    plan = ShadowPlan.of(Table.build(visits, schema), 6, 8, 0.5, seed=3)

    assert 6 == len({row % 120 for row in plan.targets.tolist()})
    for release in range(8):
        rows = plan.rows_of(release)
        assert [2] * (len(rows) // 2) == np.unique(rows % 120, return_counts=True)[1].tolist()


def test_too_few_people_are_refused():
    with pytest.raises(DataError) as caught:
        ShadowPlan.of(table(frame(15, 1)), 10, 8, 0.5, seed=3)

    assert (
        "shadow releases with 10 targets take at least 20 complete persons; there are 15"
        == caught.value.what
    )


def test_statistics_are_those_of_all_pairs():
    original, release = frame(80, 1), frame(50, 2)
    release.iloc[0] = original.iloc[0].to_numpy()
    release = release.astype(original.dtypes.to_dict())
    plan = ShadowPlan.of(table(original), 6, 8, 0.5, seed=3)

    result = target_statistics(table(original), published(release), plan)

    def points(people):
        numbers = people[["age", "rent"]].astype(float)
        own = original[["age", "rent"]].astype(float)
        scaled = ((numbers - own.mean()) / own.std(ddof=0)).to_numpy()
        marks = [people[n] == v for n in ("area", "illness") for v in sorted(set(original[n]))]
        return np.column_stack([scaled, *marks])

    everybody = points(original)
    for index, row in enumerate(plan.targets.tolist()):
        squared = np.sort(((points(release) - everybody[row]) ** 2).sum(axis=1))
        others = ((np.delete(everybody, row, axis=0) - everybody[row]) ** 2).sum(axis=1)
        equal = (release == original.iloc[row]).all(axis=1).sum()
        shares = [np.log((release[n] == original[n].iloc[row]).sum() + 0.5) for n in release]
        expected = [
            np.log(squared[0] + 1e-3),
            np.log(squared[:5] + 1e-3).mean(),
            np.log1p((squared < others.min()).sum()),
            np.log(equal + 0.5),
            sum(shares),
        ]
        np.testing.assert_allclose(result[index], expected, atol=2e-2)
    assert len(STATISTICS) == result.shape[1]


def test_rows_that_cover_a_target_are_counted():
    people = frame(80, 1)
    plan = ShadowPlan.of(table(people), 6, 8, 0.5, seed=3)

    result = target_statistics(table(people), in_classes(people, 10), plan)

    covering = np.exp(result[:, STATISTICS.index("covering rows")]) - 0.5
    assert (covering.round(6) >= 1).all()


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_likelihood_ratios_are_those_of_a_slow_loop(seed):
    rng = np.random.default_rng(seed)
    releases, targets = 16, 3
    statistics = rng.normal(size=(releases, targets, 2))
    inside = rng.permuted(np.tile(np.arange(16) % 4 < 2, (targets, 1)), axis=1).T
    inside[:4] = np.array([[True], [True], [False], [False]])
    half = np.arange(16) % 2 == 0

    result = likelihood_ratios(statistics, inside, half)

    others = [index for index in range(16) if half[index]]
    for judged, release in enumerate(index for index in range(16) if not half[index]):
        scatters, means = [], []
        for target in range(targets):
            groups = [
                statistics[[i for i in others if inside[i, target] == side], target]
                for side in (True, False)
            ]
            means.append([group.mean(axis=0) for group in groups])
            scatters.append(sum(np.outer(r, r) for g in groups for r in g - g.mean(axis=0)))
        shared = sum(scatters) / targets / 6
        for target in range(targets):
            covariance = (scatters[target] + 10 * shared) / 16 + 1e-6 * np.eye(2)
            away = [statistics[release, target] - mean for mean in means[target]]
            density = [-(a @ np.linalg.inv(covariance) @ a) / 2 for a in away]
            assert result[judged, target] == pytest.approx(density[0] - density[1], abs=1e-6)


def test_of_statistics_that_know_nothing_the_intervals_hold():
    right, bounds, worst = 0, [], []
    plan = ShadowPlan.of(table(frame(100, 1)), 12, 24, 0.5, seed=3)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        results = [
            {"status": "published", "statistics": rng.normal(size=(12, 5)).tolist()}
            for _ in range(24)
        ]
        findings = Judgement.of(plan, results).separation.findings("x", FindingBuilder(), rng)
        low, high = findings["x_auc"].interval
        right += low <= 0.5 <= high
        bounds.append(findings["x_epsilon"].value)
        worst.append(findings["x_worst_tenth_auc"].value)

    assert right >= 91
    assert sum(bound > 0 for bound in bounds) <= 10
    assert np.mean(worst) == pytest.approx(0.5, abs=0.05)
