"""What a collector cannot know, and a seal cannot find, is refused before the run."""

from pathlib import Path

import pytest

from anonloom._spec.document import read_text
from anonloom._spec.pipeline import build_pipeline
from anonloom.api import Method, hookimpl
from anonloom.errors import SpecError

PIPELINE = """\
version: 1
data:
  source: csv
  with: {path: a.csv}
  columns:
    age: {role: quasi, type: number}
    job: {role: sensitive}
    ill: {role: label}
    who: {role: person}
privacy:
  - crowd: {k: 10}
collect: ballot
stages:
  - partitioner: cut
  - generalizer: blur
"""


def _method(name, cls, *reads):
    return Method(name=name, target=f"anonloom_toys:{cls}", summary="A toy.", reads=reads)


class Ballots:
    """A collector that makes classes of what is known by then, and what would look at more."""

    ANONLOOM_API = 2

    @hookimpl
    def anonloom_register_collectors(self):
        return [_method("ballot", "Ballot", "quasi")]

    @hookimpl
    def anonloom_register_privacy_models(self):
        return [
            _method("mix", "Variety", "sensitive", "person"),
            _method("mix-all", "Variety", "quasi", "sensitive", "label"),
        ]

    @hookimpl
    def anonloom_register_partitioners(self):
        return [_method("peek", "Cut", "quasi", "label"), _method("household", "Cut", "person")]

    @hookimpl
    def anonloom_register_outlier_handlers(self):
        return [_method("spot", "Trim", "quasi", "other")]

    @hookimpl
    def anonloom_register_generalizers(self):
        return [_method("gloss", "Blur", "quasi", "sensitive")]


@pytest.fixture
def ballots(registry):
    assert registry.register(Ballots(), distribution="anonloom-ballots", version="1")
    return registry


def build(text, registry):
    return build_pipeline(read_text(text, "p.yaml"), registry, folder=Path("/data"))


def refused(registry, old, new, text=PIPELINE):
    assert old in text
    with pytest.raises(SpecError) as caught:
        build(text.replace(old, new), registry)
    return str(caught.value)


def at(line, what, hint):
    return f"p.yaml:{line}:10: collect: {what}\n    collect: ballot\n             ^\n    {hint}"


SAMPLE = (
    "demand k-anonymity and add a sampler, which leaves open whose values are published, or write "
    "collect: curator"
)
ANOTHER = "use another method, or write collect: curator"
BEFORE = "with collector 'ballot' classes are made before anybody has sent columns of the role "


def test_what_is_known_while_classes_are_made_may_be_looked_at(ballots):
    assert "ballot" == build(PIPELINE, ballots).collect.name
    build(PIPELINE.replace("partitioner: cut", "partitioner: household"), ballots)


def test_a_privacy_model_of_sensitive_values(ballots):
    result = refused(ballots, "crowd: {k: 10}", "mix: {of: job}")
    assert at(12, BEFORE + "'sensitive', by which mix judges them", SAMPLE) == result


def test_all_roles_that_are_not_known_are_named(ballots):
    result = refused(ballots, "crowd: {k: 10}", "mix-all: {of: job}")
    assert (
        at(12, BEFORE + "'label' and 'sensitive', by which mix-all judges them", SAMPLE) == result
    )


def test_a_partitioner_that_reads_the_label(ballots):
    result = refused(ballots, "partitioner: cut", "partitioner: peek")
    assert at(12, BEFORE + "'label', which 'peek' reads", ANOTHER) == result


def test_an_outlier_handler_that_reads_other_columns(ballots):
    result = refused(ballots, "partitioner: cut\n", "partitioner: cut\n  - outliers: spot\n")
    assert at(12, BEFORE + "'other', which 'spot' reads", ANOTHER) == result


def test_a_generalizer_that_reads_sensitive_values(ballots):
    result = refused(ballots, "generalizer: blur", "generalizer: gloss")
    assert at(12, BEFORE + "'sensitive', which 'gloss' reads", ANOTHER) == result


def test_a_mechanism_that_would_change_whole_rows(ballots):
    result = refused(
        ballots,
        "  - partitioner: cut\n",
        "  - mechanism: noise\n    with: {scale: 1}\n  - partitioner: cut\n",
    )
    assert (
        at(
            12,
            "with collector 'ballot' no server ever holds a whole row, which mechanism 'noise' "
            "would change",
            "leave it out, or write collect: curator",
        )
        == result
    )


def test_stages_that_make_no_classes(ballots):
    result = refused(
        ballots,
        "  - partitioner: cut\n  - generalizer: blur\n",
        "  - sampler: share\n    with: {share: 0.5}\n",
        PIPELINE.replace("privacy:\n  - crowd: {k: 10}\n", "privacy: none\n"),
    )
    assert (
        at(
            11,
            "collector 'ballot' opens records class by class, and no stage makes classes",
            "add a partitioner and a generalizer",
        )
        == result
    )


def test_every_problem_is_told_at_once(ballots):
    result = refused(
        ballots,
        "partitioner: cut",
        "partitioner: peek",
        PIPELINE.replace("crowd: {k: 10}", "mix: {of: job}"),
    )
    assert 2 == result.count("p.yaml:12:10: collect: ")


def test_a_collector_that_holds_whole_rows_lets_all_look(ballots):
    text = PIPELINE.replace("collect: ballot\n", "").replace("crowd: {k: 10}", "mix: {of: job}")
    assert (
        "curator"
        == build(text.replace("partitioner: cut", "partitioner: peek"), ballots).collect.name
    )


SEALED = PIPELINE.replace("collect: ballot\n", "") + (
    "publish:\n  to: out\n  integrity: {integrity: wax, with: {over: [who]}}\n"
)


def test_a_seal_of_a_column_that_is_not_published(registry):
    assert (
        "p.yaml:17:14: publish.integrity: column 'who' has role 'person' and is not "
        "published; published are: 'age', 'job', 'ill'\n"
        "    integrity: {integrity: wax, with: {over: [who]}}\n"
        "               ^"
    ) == refused(registry, "[who]", "[who]", SEALED)
    assert build(SEALED.replace("[who]", "[ill]"), registry).publish.integrity is not None


def test_a_seal_is_not_judged_by_columns_that_a_mechanism_may_change(registry):
    text = SEALED.replace(
        "stages:\n", "stages:\n  - {mechanism: noise, with: {scale: 1, columns: [age]}}\n"
    )
    assert build(text, registry).publish.integrity is not None
