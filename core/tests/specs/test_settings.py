"""`--set` and `vary` address any node, and a bare name replaces a method with its parameters."""

from pathlib import Path

import pytest

from anonloom import Registry
from anonloom._spec.document import read_text
from anonloom._spec.pipeline import build_pipeline
from anonloom._spec.settings import from_command_line, steps_of
from anonloom.errors import SpecError

PIPELINE = """\
version: 1
seed: 1
data:
  source: csv
  with: {path: a.csv, separator: ';'}
  columns:
    age: {role: quasi, type: number}
    marital status: {role: quasi}
    job: {role: sensitive}
privacy:
  - crowd: {k: 10}
  - privacy: variety
    with: {of: job}
stages:
  - partitioner: grow
    with: {size: 3}
    id: first
  - partitioner: cut
  - outliers: trim
    with: {recovery: cut}
  - generalizer: blur
audit:
  - auditor: meter
    with: {columns: [age]}
  - auditor: meter
    id: second
publish: {to: out, integrity: wax}
"""


def changed(*settings, text=PIPELINE):
    document = read_text(text, "p.yaml")
    for setting in settings:
        document = from_command_line(setting).apply(document, Registry.empty().kinds)
    return document.plain()


def refused(*settings):
    with pytest.raises(SpecError) as caught:
        changed(*settings)
    return str(caught.value)


def build(text, registry, *settings):
    return build_pipeline(
        read_text(text, "p.yaml"), registry, folder=Path("/data"), settings=settings
    )


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("seed", ("seed",)),
        ("stages[0].with.k", ("stages", 0, "with", "k")),
        ("data.columns['marital status'].role", ("data", "columns", "marital status", "role")),
        ('data.columns["a.b"].role', ("data", "columns", "a.b", "role")),
        ("privacy.k-anonymity.k", ("privacy", "k-anonymity", "k")),
        ("data.columns.marital status.role", ("data", "columns", "marital status", "role")),
    ],
)
def test_a_path_has_steps(path, steps):
    assert steps == steps_of(path)


def test_values_are_yaml():
    assert 7 == changed("seed=7")["seed"]
    assert ["csv", "parquet"] == changed("publish.formats=[csv, parquet]")["publish"]["formats"]
    assert "a=b" == changed("name=a=b")["name"]
    assert changed("seed=")["seed"] is None


def test_what_is_not_there_is_made():
    document = changed("suppression.at_most=0.1", "stages[1].with.depth=2", "name=x")
    assert {"at_most": 0.1} == document["suppression"]
    assert {"partitioner": "cut", "with": {"depth": 2}} == document["stages"][1]
    assert "x" == document["name"]


def test_a_privacy_model_is_addressed_by_its_name_in_both_forms():
    assert {"crowd": {"k": 5}} == changed("privacy.crowd.k=5")["privacy"][0]
    assert {"privacy": "variety", "with": {"of": "age"}} == changed("privacy.variety.of=age")[
        "privacy"
    ][1]
    assert {"privacy": "variety", "with": {"of": "age"}} == changed("privacy.variety.with.of=age")[
        "privacy"
    ][1]
    assert ["crowd"] == changed("privacy=[crowd]")["privacy"]


def test_a_model_given_by_its_name_alone_gets_its_first_parameter():
    text = PIPELINE.replace("crowd: {k: 10}", "crowd")
    assert {"crowd": {"k": 5}} == changed("privacy.crowd.k=5", text=text)["privacy"][0]


def test_a_model_can_be_replaced_as_a_whole():
    assert "variety" == changed("privacy.crowd=variety")["privacy"][0]
    assert {"crowd": {"k": 3}} == changed("privacy.crowd={k: 3}")["privacy"][0]


def test_a_stage_is_addressed_by_id_by_kind_and_by_index():
    assert {"size": 9} == changed("stages.first.size=9")["stages"][0]["with"]
    assert {"size": 9} == changed("stages.first.with.size=9")["stages"][0]["with"]
    assert {"size": 9} == changed("stages[0].with.size=9")["stages"][0]["with"]
    assert {"size": 9} == changed("stages.0.with.size=9")["stages"][0]["with"]
    assert {"recovery": "cut", "low": 0.5} == changed("stages.outliers.low=0.5")["stages"][2][
        "with"
    ]


def test_a_bare_name_replaces_method_and_parameters_and_keeps_the_id():
    assert {"partitioner": "cut", "id": "first"} == changed("stages.first=cut")["stages"][0]
    assert {"partitioner": "cut", "id": "first"} == changed("stages[0].partitioner=cut")["stages"][
        0
    ]
    assert {"outliers": "none"} == changed("stages.outliers=none")["stages"][2]
    data = changed("data.source=parquet")["data"]
    assert ("parquet", False) == (data["source"], "with" in data)
    assert "columns" in data
    assert {"auditor": "rival", "id": "second"} == changed("audit.second=rival")["audit"][1]


def test_a_mapping_replaces_method_and_parameters_too():
    new = "{partitioner: grow, with: {size: 8}}"
    assert {"partitioner": "grow", "with": {"size": 8}, "id": "first"} == changed(
        f"stages.first={new}"
    )["stages"][0]


def test_a_nested_method_and_a_method_given_by_name_can_be_changed():
    assert {"recovery": "grow"} == changed("stages.outliers.recovery=grow")["stages"][2]["with"]
    assert {"integrity": "wax", "with": {"bits": 9}} == changed("publish.integrity.bits=9")[
        "publish"
    ]["integrity"]
    assert "tar" == changed("publish.integrity=tar")["publish"]["integrity"]


def test_a_bare_name_in_audit_reporters_and_collect_gets_parameters():
    text = PIPELINE.replace("  - auditor: meter\n    id: second\n", "  - rival\n")
    text += "collect: curator\n"
    document = changed("audit.rival.deep=1", "collect.with.fee=2", text=text)
    assert {"auditor": "rival", "with": {"deep": 1}} == document["audit"][1]
    assert {"collector": "curator", "with": {"fee": 2}} == document["collect"]
    document = changed("publish.reporters=[page]", "publish.reporters.page.dark=true")
    expected = [{"reporter": "page", "with": {"dark": True}}]
    assert expected == document["publish"]["reporters"]


def test_the_rest_of_the_document_stays_as_it_is():
    before = read_text(PIPELINE, "p.yaml").plain()
    after = changed("privacy.crowd.k=5")
    before["privacy"][0]["crowd"]["k"] = 5
    assert before == after


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "seed",
            "--set:1:1: must read path=value\n    seed\n    ^\n    seed=7",
        ),
        (
            "stages.partitioner=cut",
            "--set:1:1: 'partitioner' names 2 elements of the list\n    stages.partitioner=cut\n"
            "    ^\n    write [0], or give the elements an id",
        ),
        (
            "stages.frist=cut",
            "--set:1:1: no element of the list is called 'frist'\n    stages.frist=cut\n    ^\n"
            "    did you mean 'first'?",
        ),
        (
            "stages[9]=cut",
            "--set:1:1: there is no element [9]: the list has 4\n    stages[9]=cut\n    ^",
        ),
        (
            "seed.x=1",
            "--set:1:1: there is nothing below 'seed' that could be 'x'\n    seed.x=1\n    ^",
        ),
        (
            "a..b=1",
            "--set:1:1: 'a..b' is not a path\n    a..b=1\n    ^\n    a path reads stages[0].with.k",
        ),
        (
            "seed=[1",
            "--set:1:8: this is not YAML: while parsing a flow sequence: expected ',' or ']', but "
            "got '<stream end>'\n    seed=[1\n           ^",
        ),
    ],
)
def test_a_setting_that_leads_nowhere_says_so(setting, message):
    assert message == refused(setting)


def test_a_wrong_value_points_into_the_setting(registry):
    with pytest.raises(SpecError) as caught:
        build(PIPELINE, registry, "privacy.crowd.k=1")
    assert """\
--set:1:17: privacy[0].crowd.k: must be an integer of at least 2. Got 1 instead.
    privacy.crowd.k=1
                    ^
    Least number of rows.""" == str(caught.value)


# -- vary -------------------------------------------------------------------------------------


def test_a_product_has_one_run_per_combination(registry, toys):
    text = PIPELINE + "vary:\n  privacy.crowd.k: [5, 10]\n  stages.first: [cut, grow]\n"
    spec = build(text, registry)
    assert [
        "privacy.crowd.k=5, stages.first=cut",
        "privacy.crowd.k=5, stages.first=grow",
        "privacy.crowd.k=10, stages.first=cut",
        "privacy.crowd.k=10, stages.first=grow",
    ] == [case.label for case in spec.grid]
    assert {"privacy.crowd.k": 10, "stages.first": "cut"} == spec.grid[2].values
    assert [(toys.Crowd(k=10), toys.Cut()), (toys.Crowd(k=10), toys.Grow())] == [
        (case.spec.privacy[0].method, case.spec.stages[0].method) for case in spec.grid[2:]
    ]
    assert [()] * 4 == [case.spec.grid for case in spec.grid]


def test_a_pipeline_that_varies_is_its_first_run(registry):
    text = PIPELINE + "vary: {seed: [7, 8]}\n"
    spec = build(text, registry)
    assert 7 == spec.seed
    assert {"seed": [7, 8]} == spec.as_written()["vary"]
    assert "vary" not in spec.grid[0].spec.as_written()


def test_cases_have_labels_and_may_change_several_nodes(registry, toys):
    text = PIPELINE + (
        "vary:\n"
        "  - {label: small, set: {seed: 3, privacy.crowd.k: 2}}\n"
        "  - label: raw\n"
        "    set:\n"
        "      stages: [{mechanism: noise, with: {scale: 2}}]\n"
    )
    small, raw = build(text, registry).grid
    assert ("small", 3, toys.Crowd(k=2)) == (
        small.label,
        small.spec.seed,
        small.spec.privacy[0].method,
    )
    assert ("raw", 1, [toys.Noise(scale=2.0)]) == (
        raw.label,
        raw.spec.seed,
        [use.method for use in raw.spec.stages],
    )


def test_cases_are_crossed_with_a_product(registry, toys):
    text = PIPELINE + (
        "vary:\n"
        "  cases:\n"
        "    - {label: small, set: {privacy.crowd.k: 2}}\n"
        "    - {label: large, set: {privacy.crowd.k: 9}}\n"
        "  seed: [7, 8]\n"
    )
    grid = build(text, registry).grid
    assert [
        ("small, seed=7", {"case": "small", "privacy.crowd.k": 2, "seed": 7}, 2, 7),
        ("small, seed=8", {"case": "small", "privacy.crowd.k": 2, "seed": 8}, 2, 8),
        ("large, seed=7", {"case": "large", "privacy.crowd.k": 9, "seed": 7}, 9, 7),
        ("large, seed=8", {"case": "large", "privacy.crowd.k": 9, "seed": 8}, 9, 8),
    ] == [(item.label, item.values, item.spec.privacy[0].method.k, item.spec.seed) for item in grid]


def test_cases_alone_may_stand_under_their_name(registry):
    text = PIPELINE + "vary: {cases: [{label: small, set: {privacy.crowd.k: 2}}]}\n"
    (small,) = build(text, registry).grid
    assert ("small", {"privacy.crowd.k": 2}) == (small.label, small.values)


def test_what_every_run_gives_need_not_be_written_in_the_base(registry):
    text = PIPELINE.replace("crowd: {k: 10}", "crowd") + "vary: {privacy.crowd.k: [2, 3]}\n"
    assert [2, 3] == [case.spec.privacy[0].method.k for case in build(text, registry).grid]


def test_settings_come_before_the_experiment(registry):
    text = PIPELINE + "vary: {privacy.crowd.k: [2, 3]}\n"
    spec = build(text, registry, "vary.seed=[5, 6]", "publish.to=elsewhere")
    assert 4 == len(spec.grid)
    assert {Path("/data/elsewhere")} == {case.spec.publish.to for case in spec.grid}


def test_one_mistake_in_many_runs_is_one_problem(registry):
    text = PIPELINE.replace("cut", "cutt") + "vary: {seed: [1, 2, 3, 4, 5, 6, 7, 8]}\n"
    with pytest.raises(SpecError) as caught:
        build(text, registry)
    assert 2 == len(caught.value.problems)
