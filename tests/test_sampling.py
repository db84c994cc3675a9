"""Samples before the classes and after them, in one pipeline."""

import pandas as pd
import pytest
import yaml

from anonloom import Pipeline
from anonloom.errors import SpecError

ROWS = 4000
PRE = {"sampler": "pre-sample", "with": {"rows": 1000}}
POST = {"sampler": "stratified", "with": {"share": 0.5}}
CLASSES = [{"partitioner": "mondrian"}, {"generalizer": "hierarchy"}]


@pytest.fixture
def load(tmp_path):
    """Return a pipeline with these stages over four thousand people."""
    people = pd.DataFrame(
        {
            "age": [18 + 37 * index % 60 for index in range(ROWS)],
            "town": [["Ulm", "Bonn", "Kiel"][index * index % 3] for index in range(ROWS)],
            "illness": [["flu", "cold", "gout"][index % 3] for index in range(ROWS)],
        }
    )
    people.to_csv(tmp_path / "people.csv", index=False)

    def pipeline(*stages):
        spec = {
            "version": 1,
            "name": "people",
            "seed": 5,
            "data": {
                "source": "csv",
                "with": {"path": "people.csv"},
                "columns": {
                    "age": {"role": "quasi", "type": "number"},
                    "town": {"role": "quasi"},
                    "illness": {"role": "sensitive"},
                },
            },
            "privacy": [{"k-anonymity": {"k": 20}}],
            "stages": list(stages),
            "audit": [{"auditor": "disclosure"}],
            "publish": {"to": "out"},
        }
        file = tmp_path / "p.yaml"
        file.write_text(yaml.safe_dump(spec, sort_keys=False))
        return Pipeline.load(file)

    return pipeline


def test_a_sample_of_the_table_and_one_of_every_class_combine(load):
    outcome = load(PRE, *CLASSES, POST).run()
    drawn = outcome.collection.sampling.presample
    assert (ROWS, 1000, 1000) == (
        len(drawn.among),
        len(drawn.kept),
        len(outcome.collection.sampling.before),
    )
    assert set(outcome.release.origin.tolist()) < set(drawn.kept.tolist())
    before = pd.Series(outcome.collection.sampling.before.groups()).value_counts()
    assert before.min() >= 39  # ceil(0.5 n) >= 20
    expected = sorted(-(-size // 2) for size in before)
    after = pd.Series(outcome.release.groups()).value_counts()
    assert expected == sorted(after.tolist())


def test_both_samples_are_reckoned_with_in_the_audit(load):
    outcome = load(PRE, *CLASSES, POST).run()
    result = outcome.findings["disclosure"]
    sizes = pd.Series(outcome.collection.sampling.before.groups()).value_counts()
    drawn = 1000 / ROWS
    assert drawn / sizes.min() == result["journalist_max_before"].value
    assert drawn * len(sizes) / 1000 == pytest.approx(result["journalist_average_before"].value)
    assert drawn * max(-(-size // 2) / size for size in sizes) == result["rho"].value
    assert 1.0 == result["delivery"].value


@pytest.mark.parametrize("sampler", ["pre-sample", "simple-random"])
def test_a_sample_of_the_table_is_refused_after_the_classes(load, sampler):
    with pytest.raises(SpecError) as caught:
        load(*CLASSES, {"sampler": sampler, "with": {"share": 0.5}})
    (problem,) = caught.value.problems
    assert (
        f"sampler '{sampler}' guarantees no rows of a class, so that it cannot follow a partitioner"
        == problem.what
    )
    assert (
        "put it before the partitioner, or use one that keeps a share of every class"
        == problem.hint
    )


def test_a_fixed_number_left_out_of_every_class_leaves_k(load):
    outcome = load(*CLASSES, {"sampler": "stratified", "with": {"remove": 15}}).run()
    before = sorted(pd.Series(outcome.collection.sampling.before.groups()).value_counts())
    after = sorted(pd.Series(outcome.release.groups()).value_counts())
    assert before[0] >= 35
    assert [size - 15 for size in before] == after
