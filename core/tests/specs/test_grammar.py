"""A whole pipeline is read into exactly what it says."""

import pickle
from pathlib import Path

import pytest

from anonloom._spec.document import read_text
from anonloom._spec.model import Condition
from anonloom._spec.pipeline import build_pipeline, load_pipeline
from anonloom.api import Method, hookimpl
from anonloom.errors import SpecError, UsageError

SHORT = """\
version: 1
data:
  source: csv
  with: {path: a.csv}
  columns:
    age: {role: quasi, type: number}
    job: {role: sensitive}
privacy:
  - crowd: {k: 10}
stages:
  - partitioner: cut
  - generalizer: blur
"""


def build(text, registry, *settings, **options):
    return build_pipeline(
        read_text(text, "p.yaml"), registry, folder=Path("/data"), settings=settings, **options
    )


def refused(text, registry, *settings, **options):
    with pytest.raises(SpecError) as caught:
        build(text, registry, *settings, **options)
    return str(caught.value)


@pytest.fixture
def whole(registry, folder):
    return load_pipeline(folder / "good.yaml", registry)


def test_simple_values_are_read(whole):
    assert ("whole-grammar", 42, 1) == (whole.name, whole.seed, whole.version)
    assert 0.25 == whole.data.holdout
    assert (0.01, "drop") == (whole.suppression.at_most, whole.suppression.rows)


def test_every_method_is_built_with_its_parameters(whole, toys):
    assert [toys.Crowd(k=10), toys.Variety(of="job")] == [use.method for use in whole.privacy]
    expected = [
        toys.Noise(scale=1.0),
        toys.Grow(size=3, weights={"age": 2.0}),
        toys.Cut(),
        toys.Trim(recovery=toys.Grow(shape="box")),
        toys.Blur(),
        toys.Share(share=0.7),
    ]
    assert expected == [use.method for use in whole.stages]
    assert toys.Donate(transport=toys.Pipe()) == whole.collect.method
    assert toys.Wax() == whole.publish.integrity
    assert (toys.Poster(),) == whole.publish.reporters


def test_ids_are_those_written_or_the_kind_with_a_number(whole):
    expected = ["mechanism", "first", "partitioner", "outliers", "generalizer", "sampler"]
    assert expected == [use.id for use in whole.stages]
    assert ["meter", "meter-2", "attack"] == [use.id for use in whole.audit]


def test_a_default_id_never_takes_one_that_is_written_later(registry):
    text = SHORT.replace(
        "  - generalizer: blur\n",
        "  - partitioner: cut\n    id: partitioner\n  - generalizer: blur\n",
    )
    assert ["partitioner-2", "partitioner", "generalizer"] == [
        use.id for use in build(text, registry).stages
    ]


def test_columns_become_a_schema_in_their_order(whole):
    schema = whole.data.schema
    assert ("age", "zip", "born", "height", "town") == schema.quasi
    assert 2.0 == schema["age"].weight
    assert (3, 2) == schema["zip"].hierarchy.keep
    assert "own-leaf" == schema["town"].unknown


def test_paths_are_relative_to_the_file(whole, folder):
    assert folder / "people.csv" == whole.data.source.method.path
    assert folder / "towns.csv" == whole.data.schema["town"].hierarchy.path
    assert folder / "out/people" == whole.publish.to
    assert folder / "lookup.csv" == whole.audit[0].method.lookup


def test_conditions_are_parsed(whole):
    assert (Condition("loss", ">", 0.05), Condition("classes", "<=", 1.0)) == whole.audit[0].fail_if


@pytest.mark.parametrize(
    ("comparison", "value", "fails"),
    [
        (">", 0.06, True),
        (">", 0.05, False),
        (">=", 0.05, True),
        ("<", 0.04, True),
        ("<=", 0.05, True),
        ("==", 0.05, True),
        ("!=", 0.05, False),
        (">", None, True),
        ("<", None, True),
        (">", float("nan"), True),
        ("!=", float("nan"), True),
    ],
)
def test_a_condition_fails_also_on_a_figure_that_is_missing(comparison, value, fails):
    assert fails == Condition("figure", comparison, 0.05).fails(value)


def test_defaults(registry):
    spec = build(SHORT, registry)
    assert "pipeline" == spec.name
    assert spec.seed is None
    assert "curator" == spec.collect.name
    assert (0.0, "star") == (spec.suppression.at_most, spec.suppression.rows)
    assert (None, ("csv",), None, (), True, False, "cells") == (
        spec.publish.to,
        spec.publish.formats,
        spec.publish.integrity,
        spec.publish.reporters,
        spec.publish.shuffle,
        spec.publish.transformation,
        spec.publish.intervals,
    )


def test_the_name_is_that_of_the_file_unless_it_says_one(registry, tmp_path):
    file = tmp_path / "census.yaml"
    file.write_text(SHORT)
    assert "census" == load_pipeline(file, registry).name


def test_a_checked_pipeline_can_cross_a_process_border(whole):
    copy = pickle.loads(pickle.dumps(whole))
    assert [use.method for use in whole.stages] == [use.method for use in copy.stages]
    assert whole.as_written() == copy.as_written()


def test_privacy_none_is_an_empty_list_of_models(registry):
    text = SHORT.replace("privacy:\n  - crowd: {k: 10}\n", "privacy: none\n")
    assert () == build(text, registry).privacy


def test_all_problems_are_told_at_once_in_the_order_of_their_places(registry):
    text = SHORT.replace("k: 10", "k: 1").replace("blur", "blurr").replace("quasi", "quasy")
    assert """\
p.yaml:6:17: data.columns.age.role: must be one of 'identifier', 'quasi', 'sensitive', 'label', 'other', 'person', 'group', 'truth'. Got 'quasy' instead.
    age: {role: quasy, type: number}
                ^
    did you mean 'quasi'?

p.yaml:9:16: privacy[0].crowd.k: must be an integer of at least 2. Got 1 instead.
    - crowd: {k: 1}
                 ^
    Least number of rows.

p.yaml:12:18: stages[1].generalizer: no generalizer is named 'blurr'
    - generalizer: blurr
                   ^
    did you mean 'blur'?
    installed: blur""" == refused(text, registry)


def test_a_missing_file_is_a_usage_error(registry, tmp_path):
    with pytest.raises(UsageError) as caught:
        load_pipeline(tmp_path / "no.yaml", registry)
    assert f"{tmp_path / 'no.yaml'}: there is no such file" == str(caught.value)


LOCAL = """\
from attrs import frozen
from anonloom import Partitioner

@frozen
class Mine(Partitioner):
    def partition(self, table, classes, guard, run):
        return classes
"""


def test_local_code_runs_only_when_it_is_allowed(registry, tmp_path):
    (tmp_path / "mine.py").write_text(LOCAL)
    (tmp_path / "p.yaml").write_text(SHORT.replace("cut", "./mine.py:Mine"))
    with pytest.raises(SpecError) as caught:
        load_pipeline(tmp_path / "p.yaml", registry)
    assert f"""\
{tmp_path}/p.yaml:11:18: stages[0].partitioner: './mine.py:Mine' is local code, which runs only with --allow-local-code
    - partitioner: ./mine.py:Mine
                   ^
    it is run as it is, with your rights: read it first""" == str(caught.value)
    spec = load_pipeline(tmp_path / "p.yaml", registry, allow_local_code=True)
    assert spec.local_code
    assert ("mine", "Mine", tmp_path / "mine.py") == (
        spec.stages[0].name,
        type(spec.stages[0].method).__name__,
        spec.stages[0].entry.file,
    )
    assert not load_pipeline_of(SHORT, registry, tmp_path).local_code


def load_pipeline_of(text, registry, folder):
    (folder / "plain.yaml").write_text(text)
    return load_pipeline(folder / "plain.yaml", registry, allow_local_code=True)


def test_a_secret_is_neither_in_the_message_nor_in_the_source_line(registry):
    text = SHORT + "audit:\n  - auditor: meter\n    with: {token: 1234}\n"
    assert (
        "p.yaml:15:19: audit[0].with.token: must be text or null. "
        "What it got is not shown: the parameter is private.\n    A secret."
    ) == refused(text, registry)


def test_an_auditor_says_what_evidence_it_misses(registry):
    assert """\
p.yaml:14:14: audit[0].auditor: auditor 'rival' needs a sampler after the generalizer
    - auditor: rival
               ^
    add one, or leave the auditor out

p.yaml:14:14: audit[0].auditor: auditor 'rival' needs rows that are held out
    - auditor: rival
               ^
    write data.holdout: 0.25

p.yaml:14:14: audit[0].auditor: auditor 'rival' needs a column with the role 'group'
    - auditor: rival
               ^
    declare one in data.columns""" == refused(SHORT + "audit:\n  - auditor: rival\n", registry)


class Plugin:
    """A plugin that offers what it is given."""

    ANONLOOM_API = 2

    def __init__(self, **offers):
        for hook, methods in offers.items():
            setattr(self, hook, hookimpl(lambda methods=methods: methods))


def method(name, target, **more):
    return Method(name=name, target=target, summary="Something.", **more)


def test_other_releases_are_files_beside_the_pipeline_and_evidence_for_auditors(registry):
    historian = [method("historian", "anonloom_toys:Historian")]
    assert registry.register(
        Plugin(anonloom_register_auditors=historian), distribution="anonloom-past", version="1"
    )
    text = SHORT + "audit: [historian]\n"
    assert """\
p.yaml:13:9: audit[0]: auditor 'historian' needs other releases of the same population
    audit: [historian]
            ^
    write data.other_releases: [earlier.csv]""" == refused(text, registry)

    # Whoever reads the file may have them from elsewhere, as `anonloom audit --also` has.
    assert () == build(text, registry, evidence={"other_releases"}).data.other_releases

    given = text.replace("data:\n", "data:\n  other_releases: [2019.csv, /old/2018.parquet]\n")
    releases = build(given, registry).data.other_releases
    assert (Path("/data/2019.csv"), Path("/old/2018.parquet")) == releases


def test_a_default_reporter_is_used_where_it_is_installed(registry, toys):
    page = Plugin(
        anonloom_register_reporters=[method("page", "anonloom_toys:Poster", default=True)]
    )
    assert registry.register(page, distribution="anonloom-page", version="1")
    assert (toys.Poster(),) == build(SHORT, registry).publish.reporters
    assert () == build(SHORT + "publish: {reporters: []}\n", registry).publish.reporters


def test_a_page_that_cannot_be_used_is_not_silently_left_out(registry):
    page = Plugin(anonloom_register_reporters=[method("page", "nowhere:Page", default=True)])
    assert registry.register(page, distribution="anonloom-page", version="1")
    assert """\
p.yaml:1:1: publish: reporter 'page' of anonloom-page 1 cannot be imported
    version: 1
    ^
    ModuleNotFoundError: No module named 'nowhere'""" == refused(SHORT, registry)


def test_a_method_that_is_declared_wrongly_is_its_authors_mistake(registry, tmp_path):
    (tmp_path / "mine.py").write_text(
        LOCAL.replace("class Mine(Partitioner):", "class Mine(Partitioner):\n    k: int = 3")
    )
    (tmp_path / "p.yaml").write_text(SHORT.replace("cut", "./mine.py:Mine"))
    with pytest.raises(SpecError) as caught:
        load_pipeline(tmp_path / "p.yaml", registry, allow_local_code=True)
    assert f"""\
{tmp_path}/p.yaml:11:18: stages[0].partitioner: partitioner 'mine' of {tmp_path}/mine.py is broken
    - partitioner: ./mine.py:Mine
                   ^
    Mine.k must be declared with param()""" == str(caught.value)


def test_two_plugins_with_one_name_are_told_apart_by_their_owner(registry, toys):
    other = Plugin(anonloom_register_partitioners=[method("cut", "anonloom_toys:Grow")])
    assert registry.register(other, distribution="acme-anon", version="2")
    assert """\
p.yaml:11:18: stages[0].partitioner: partitioner 'cut' is provided by acme-anon 2 and anonloom-toys 1.0
    - partitioner: cut
                   ^
    write 'acme-anon:cut' or 'anonloom-toys:cut', or uninstall one""" == refused(SHORT, registry)
    spec = build(SHORT.replace("cut", "acme-anon:cut"), registry)
    assert toys.Grow() == spec.stages[0].method


WEIGHED = SHORT.replace("cut\n", "grow\n    with: {weights: {age: 1}}\n")


def test_a_partitioner_is_not_asked_about_what_a_mechanism_may_change(registry):
    text = WEIGHED.replace("age: 1", "job: 1")
    assert "stages[0].with: no quasi-identifiers: job" in refused(text, registry)
    noise = "  - mechanism: noise\n    with: {scale: 1}\n  - partitioner"
    assert 3 == len(build(text.replace("  - partitioner", noise), registry).stages)


def test_a_partitioner_is_asked_about_the_columns_that_privacy_speaks_of(registry):
    narrow = Plugin(anonloom_register_privacy_models=[method("narrow", "anonloom_toys:Narrow")])
    assert registry.register(narrow, distribution="acme-anon", version="2")
    assert 2 == len(build(WEIGHED, registry).stages)
    # The model looks at all quasi-identifiers but the first: age is published as it is.
    assert "stages[0].with: no quasi-identifiers: age" in refused(
        WEIGHED.replace("crowd", "narrow"), registry
    )
