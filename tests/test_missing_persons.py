"""Nothing that is published breaks a model, whoever the persons are that nobody knows.

Random tables in which some ids are missing, random models; what is published is read back and judged
by code that shares nothing with the product: dictionaries, and every way in which the missing ids
can be resolved.
"""

import csv
import itertools
import math
import shutil
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from anonloom import Pipeline
from anonloom.errors import DataError, PrivacyError

EXAMPLES = 60

ILLNESSES = ["flu", "cold", "gout"]

MODELS = st.one_of(
    st.integers(2, 4).map(lambda k: {"k-anonymity": {"k": k}}),
    st.integers(2, 3).map(lambda least: {"l-diversity": {"l": least, "of": "illness"}}),
    st.sampled_from([1.5, 2.2]).map(
        lambda least: {"l-diversity": {"l": least, "of": "illness", "kind": "entropy"}}
    ),
    st.sampled_from([1.0, 2.5]).map(
        lambda c: {"l-diversity": {"l": 2, "c": c, "of": "illness", "kind": "recursive"}}
    ),
    st.sampled_from([0.2, 0.4]).map(lambda t: {"t-closeness": {"t": t, "of": "illness"}}),
)


@st.composite
def cases(draw):
    """Return rows with an owner or none, and the pipeline for them."""
    n, persons = draw(st.integers(8, 40)), draw(st.integers(3, 12))
    blank = draw(st.sampled_from(["", "  "]))
    rows = [
        {
            "row": str(number),
            "who": blank if draw(st.integers(0, 5)) == 0 else f"p{draw(st.integers(1, persons))}",
            "age": str(draw(st.integers(20, 60))),
            "sex": draw(st.sampled_from(["f", "m"])),
            "illness": draw(st.sampled_from([*ILLNESSES, "flu", "flu"])),
        }
        for number in range(n)
    ]
    missing = draw(st.sampled_from(["own", "suppress", "suppress", "suppress"]))
    pipeline = {
        "version": 1,
        "seed": draw(st.integers(0, 100)),
        "data": {
            "source": "csv",
            "with": {"path": "table.csv"},
            "columns": {
                # For the judge alone: it says which row of the table was published.
                "row": {"role": "other"},
                "who": {"role": "person", "missing": missing},
                "age": {"role": "quasi", "type": "number"},
                "sex": {"role": "quasi"},
                "illness": {"role": "sensitive"},
            },
        },
        "privacy": draw(
            st.lists(MODELS, min_size=1, max_size=2, unique_by=lambda m: next(iter(m)))
        ),
        "suppression": {"at_most": 1, "rows": draw(st.sampled_from(["star", "drop"]))},
        "stages": [{"partitioner": "mondrian"}, {"generalizer": "hierarchy"}],
        "publish": {"to": "out", "reporters": []},
    }
    return rows, pipeline


# --- the judge ------------------------------------------------------------------------------------


def resolutions(owners):
    """Yield every way to say whose the rows of a class are that name nobody.

    Each may be a person of the class, one who is not in it, or the same stranger as another.
    """
    unknown = [index for index, owner in enumerate(owners) if owner is None]
    known = sorted({owner for owner in owners if owner is not None})
    strangers = [f"stranger {index}" for index in range(len(unknown))]
    for chosen in itertools.product([*known, *strangers], repeat=len(unknown)):
        resolved = list(owners)
        for index, owner in zip(unknown, chosen, strict=True):
            resolved[index] = owner
        yield resolved


def counts(members):
    """Count every person once per value."""
    return Counter(value for _, value in {(owner, value) for owner, value in members if value})


def holds(model, owners, values, overall):
    ((name, given),) = model.items()
    if name == "k-anonymity":
        return len(set(owners)) >= given["k"]
    result = counts(zip(owners, values, strict=True))
    total = sum(result.values())
    if not total:
        return False
    shares = {value: count / total for value, count in result.items()}
    if name == "t-closeness":
        whole = sum(overall.values())
        distance = sum(abs(shares.get(v, 0) - overall[v] / whole) for v in overall) / 2
        return distance <= given["t"] + 1e-9
    if given.get("kind") == "entropy":
        return -sum(s * math.log(s) for s in shares.values()) >= math.log(given["l"]) - 1e-9
    if given.get("kind") == "recursive":
        ordered = sorted(result.values(), reverse=True)
        return ordered[0] < given["c"] * sum(ordered[given["l"] - 1 :])
    return len(result) >= given["l"]


def broken(release, rows, models):
    """Return the models that some class breaks in some resolution."""
    owner = {row["row"]: row["who"].strip() or None for row in rows}
    classes = defaultdict(list)
    for row in release:
        cells = (row["age"], row["sex"])
        if cells != ("*", "*"):
            classes[cells].append(row)
    unstarred = [row for members in classes.values() for row in members]
    known = [(owner[row["row"]], row["illness"]) for row in unstarred if owner[row["row"]]]
    wrong = []
    for members in classes.values():
        values = [row["illness"] for row in members]
        for owners in resolutions([owner[row["row"]] for row in members]):
            # What is spread over the whole table is spread over those who are known.
            wrong += [next(iter(m)) for m in models if not holds(m, owners, values, counts(known))]
    return wrong


def published(rows, pipeline):
    """Run the pipeline in a folder of its own and read the release back."""
    folder = Path(tempfile.mkdtemp(prefix="persons-"))
    try:
        with (folder / "table.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        (folder / "pipeline.yaml").write_text(yaml.safe_dump(pipeline, sort_keys=False))
        Pipeline.load(folder / "pipeline.yaml").publish()
        with (folder / "out" / "public" / "release.csv").open(newline="") as file:
            return list(csv.DictReader(file))
    finally:
        shutil.rmtree(folder)


# --- what must hold -------------------------------------------------------------------------------


def test_no_model_is_broken_however_missing_persons_are_resolved():
    ended = Counter()

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(cases())
    def every_case(case):
        rows, pipeline = case
        gaps = any(not row["who"].strip() for row in rows)
        refuses = gaps and pipeline["data"]["columns"]["who"]["missing"] == "own"
        try:
            release = published(rows, pipeline)
        except DataError:
            assert refuses
            ended["refused for its gaps"] += 1
            return
        except PrivacyError:
            ended["refused"] += 1
            return
        assert not refuses
        ended["published with gaps" if gaps else "published"] += 1
        assert [] == broken(release, rows, pipeline["privacy"])

    every_case()
    # Every way to end was met often enough to say something.
    assert ended["published with gaps"] >= EXAMPLES / 4, ended
    assert ended["refused for its gaps"] >= EXAMPLES / 20, ended


@pytest.mark.parametrize(
    "model",
    [
        {"l-diversity": {"l": 1.8, "of": "illness", "kind": "entropy"}},
        {"l-diversity": {"l": 2, "c": 2, "of": "illness", "kind": "recursive"}},
        {"t-closeness": {"t": 0.1, "of": "illness"}},
    ],
)
def test_one_illness_of_nearly_all_is_not_hidden_by_missing_persons(model):
    """As one person, 49 rows of one illness would count once, beside one of each other."""
    rows = [
        {"row": str(index), "who": "", "age": "30", "sex": "f", "illness": "flu"}
        for index in range(49)
    ]
    rows += [
        {"row": str(49 + index), "who": f"p{index}", "age": "30", "sex": "f", "illness": illness}
        for index, illness in enumerate(["cold", "gout"])
    ]
    pipeline = {
        "version": 1,
        "data": {
            "source": "csv",
            "with": {"path": "table.csv"},
            "columns": {
                "who": {"role": "person"},
                "age": {"role": "quasi", "type": "number"},
                "sex": {"role": "quasi"},
                "illness": {"role": "sensitive"},
            },
        },
        "privacy": [model],
        "stages": [{"partitioner": "mondrian"}, {"generalizer": "hierarchy"}],
        "publish": {"to": "out", "reporters": []},
    }
    with pytest.raises(DataError) as caught:
        published(rows, pipeline)
    assert (
        "column 'who': 49 cells are missing (rows 1, 2, 3, 4, 5, ...); persons cannot be counted "
        "when some of them are not known"
    ) == caught.value.what


def test_the_judge_finds_what_missing_persons_hide():
    """Four rows of one class, of which one names nobody: she may be any of the others."""
    rows = [
        {"row": str(index), "who": who, "age": "30", "sex": "f", "illness": illness}
        for index, (who, illness) in enumerate(
            [("p1", "flu"), ("p2", "cold"), ("", "gout"), ("p1", "gout")]
        )
    ]
    assert [] == broken(rows, rows, [{"k-anonymity": {"k": 2}}])
    assert {"k-anonymity"} == set(broken(rows, rows, [{"k-anonymity": {"k": 3}}]))
    entropy = {"l-diversity": {"l": 2.9, "of": "illness", "kind": "entropy"}}
    assert {"l-diversity"} == set(broken(rows, rows, [entropy]))
