"""Pipelines that ask for what servers cannot know while classes are made, with real methods."""

import pytest
from anonify_play import installed

from anonloom import Pipeline
from anonloom.errors import SpecError

PIPELINE = """\
version: 1
data:
  source: frame
  columns:
    age: {role: quasi, type: number}
    job: {role: sensitive}
privacy:
  - k-anonymity: {k: 3}
collect: {collector: anonify, with: {transport: direct}}
stages:
  - partitioner: mondrian
  - generalizer: hierarchy
"""

pytestmark = pytest.mark.skipif(
    not installed(
        partitioner="mondrian",
        generalizer="hierarchy",
        mechanism="perturb",
        privacy="k-anonymity l-diversity t-closeness",
        transport="direct",
    ),
    reason="the anonymizers are not installed",
)

MODEL = (
    "with collector 'anonify' classes are made before anybody has sent columns of the role "
    "'sensitive', by which {} judges them"
)
SAMPLE = (
    "demand k-anonymity and add a sampler, which leaves open whose values are published, or write "
    "collect: curator"
)


@pytest.mark.parametrize(
    ("old", "new", "line", "what", "hint"),
    [
        (
            "  - k-anonymity: {k: 3}\n",
            "  - k-anonymity: {k: 3}\n  - l-diversity: {of: job, l: 2}\n",
            10,
            MODEL.format("l-diversity"),
            SAMPLE,
        ),
        (
            "  - k-anonymity: {k: 3}\n",
            "  - t-closeness: {of: job, t: 0.2}\n",
            9,
            MODEL.format("t-closeness"),
            SAMPLE,
        ),
        (
            "  - partitioner: mondrian\n",
            "  - mechanism: perturb\n  - partitioner: mondrian\n",
            9,
            "with collector 'anonify' no server ever holds a whole row, which mechanism 'perturb' "
            "would change",
            "leave it out, or write collect: curator",
        ),
        (
            "    job: {role: sensitive}\n",
            "",
            8,
            "donors would have nothing to donate: every published column is a quasi-identifier",
            "",
        ),
        (
            "    job: {role: sensitive}\n",
            "    job: {role: sensitive}\n    name: {role: identifier, pseudonymize: true}\n",
            10,
            "column 'name' is published as a pseudonym, and identifiers are never sent: leave the "
            "column out; with several iterations and a column of the role 'person' it joins the "
            "records of one donor",
            "",
        ),
    ],
)
def test_what_is_refused_before_the_run(tmp_path, monkeypatch, old, new, line, what, hint):
    assert old in PIPELINE
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(PIPELINE.replace(old, new))
    with pytest.raises(SpecError) as caught:
        Pipeline.load("p.yaml")
    source = "    collect: {collector: anonify, with: {transport: direct}}\n             ^"
    expected = f"p.yaml:{line}:10: collect: {what}\n{source}" + (f"\n    {hint}" if hint else "")
    assert expected == str(caught.value)


def test_what_is_not_refused(tmp_path):
    (tmp_path / "p.yaml").write_text(PIPELINE)
    assert "anonify" == Pipeline.load(tmp_path / "p.yaml").spec.collect.name
