"""Every partitioner with every outlier handler, swapped by one word, on tables of every shape.

What is released is recounted with dictionaries, which know nothing of how it was made.
"""

import random
from collections import defaultdict
from datetime import date, datetime, timedelta

import pandas as pd
import pytest
import yaml

from anonloom import Pipeline
from anonloom.errors import PrivacyError
from anonloom_catalog import first_party_folders
from anonloom_cli import main

PARTITIONERS = sorted(name for kind, name in first_party_folders() if kind == "partitioner")
HANDLERS = sorted(name for kind, name in first_party_folders() if kind == "outliers")
K, L = 4, 2

PLACES = {"north": ["a", "b", "c"], "south": {"coast": ["d", "e"], "hills": ["f"]}}
WIDTHS = {"build": "widths", "widths": [5, 20]}

# One column of every type and form; wider tables repeat them.
COLUMNS = {
    "age": {"type": "number"},
    "height": {"type": "number", "hierarchy": WIDTHS, "publish": "nodes"},
    "place": {"hierarchy": {"build": "tree", "tree": PLACES}},
    "sex": {},
    "team": {"publish": "set"},
    "born": {"type": "date"},
    "seen": {"type": "time"},
    "rooms": {"type": "number", "publish": "set"},
}


OTHERS = {"illness": "sensitive", "outcome": "label"}


def value_of(column, rng):
    kind = column.rstrip("0123456789")
    if kind == "born":
        return (date(1980, 1, 1) + timedelta(days=rng.randrange(4000))).isoformat()
    if kind == "seen":
        return str(datetime(2024, 1, 1) + timedelta(seconds=rng.randrange(10**7)))
    numbers = {"age": (18, 90), "height": (150, 200), "rooms": (1, 9)}
    if kind in numbers:
        return rng.randint(*numbers[kind])
    return rng.choice({"place": "abcdef", "sex": "fm", "team": "rgby"}[kind])


def table(n, columns=tuple(COLUMNS), seed=1, pool=None, gaps=0.0, constant=()):
    """Draw a table: `pool` distinct rows at most, a share of missing cells, constant columns."""
    rng = random.Random(seed)
    rows = [{name: value_of(name, rng) for name in columns} for _ in range(pool or n)]
    rows = [dict(rng.choice(rows) if pool else rows[index]) for index in range(n)]
    for row in rows:
        row |= {name: rows[0][name] for name in constant}
        row |= {name: None for name in columns if rng.random() < gaps}
    # Both illnesses are there as soon as two rows are.
    for index, row in enumerate(rows):
        row["illness"] = "xyz"[index % 3] if index > 1 else "xy"[index]
        # What some partitioners look at, and all leave as it is.
        row["outcome"] = "good" if index % 5 else "bad"
    return pd.DataFrame(rows)


SHAPES = {
    "k rows": table(K),
    "2k-1 rows": table(2 * K - 1),
    "2k rows": table(2 * K),
    "mixed": table(60),
    "ties": table(60, pool=5),
    "all rows equal": table(30, pool=1),
    "missing values": table(60, list(COLUMNS)[:5], gaps=0.15),
    "nothing but missing values": table(20, gaps=1.0),
    "constant columns": table(60, constant=("age", "place", "team")),
    "one column of numbers": table(40, ("age",)),
    "one column of categories": table(40, ("place",)),
    "30 columns": table(30, [f"{name}{index}" for index in range(5) for name in list(COLUMNS)[:6]]),
}

# Every pair meets these; the other shapes meet every partitioner with one handler in turn.
TELLING = ("2k-1 rows", "mixed", "ties", "missing values")
CASES = [
    (shape, partitioner, handler)
    for index, shape in enumerate(SHAPES)
    for which, partitioner in enumerate(PARTITIONERS)
    for turn, handler in enumerate(HANDLERS)
    if shape in TELLING or (index + which) % len(HANDLERS) == turn
]


def pipeline(folder, frame, partitioner, handler):
    """Write a pipeline in which two words are left open."""
    quasi = {
        name: {"role": "quasi", **COLUMNS[name.rstrip("0123456789")]}
        for name in frame
        if name not in OTHERS
    }
    spec = {
        "version": 1,
        "seed": 5,
        "data": {
            "source": "csv",
            "with": {"path": "people.csv"},
            "columns": {**quasi, **{name: {"role": role} for name, role in OTHERS.items()}},
        },
        "privacy": [{"k-anonymity": {"k": K}}, {"l-diversity": {"l": L, "of": "illness"}}],
        "suppression": {"at_most": 1},
        "stages": [
            {"partitioner": partitioner},
            {"outliers": handler},
            {"generalizer": "hierarchy"},
        ],
        "audit": ["utility"],
        "publish": {"to": "out", "reporters": []},
    }
    frame.to_csv(folder / "people.csv", index=False)
    (folder / "p.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    return folder / "p.yaml"


def broken_classes(release):
    """Return the published classes that are too small or tell too much, suppressed ones aside."""
    classes = defaultdict(list)
    for row in release.astype(object).where(release.notna(), None).to_dict("records"):
        illness, _ = row.pop("illness"), row.pop("outcome")
        if set(row.values()) != {"*"}:
            classes[tuple(row.values())].append(illness)
    return [cells for cells, ill in classes.items() if len(ill) < K or len(set(ill)) < L]


@pytest.mark.parametrize(("shape", "partitioner", "handler"), CASES)
def test_every_pair_publishes_what_was_demanded(shape, partitioner, handler, tmp_path):
    frame = SHAPES[shape]
    outcome = Pipeline.load(pipeline(tmp_path, frame, partitioner, handler)).run()

    release = outcome.release.frame
    assert list(range(len(frame))) == sorted(outcome.release.origin.tolist())
    quasi = [name for name in release if name not in OTHERS]
    starred = (release[quasi] == "*").all(axis=1)
    own = frame[list(OTHERS)].iloc[outcome.release.origin].reset_index(drop=True)
    # A starred row has lost everything, every other row has its own values.
    assert 0 == release.loc[starred, list(OTHERS)].count().sum()
    published = release.loc[~starred, list(OTHERS)].astype(object)
    assert own.loc[~starred].to_numpy().tolist() == published.to_numpy().tolist()
    assert [] == broken_classes(release)
    cavg = outcome.findings["utility"]["cavg"]
    assert cavg.value is None or cavg.assumptions[0] == f"k = {K}, as the declared privacy demands"


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_fewer_rows_than_k_are_refused_before_the_first_stage(partitioner, tmp_path):
    with pytest.raises(PrivacyError) as refused:
        Pipeline.load(pipeline(tmp_path, table(K - 1), partitioner, "none")).run()
    assert (
        "the whole table does not satisfy k-anonymity: it has 3 usable rows, and k: 3 would pass\n"
        "    Nothing was written. No partition can satisfy what the whole table does not."
    ) == str(refused.value)


def test_the_command_ends_with_3_and_leaves_nothing(tmp_path, capsys):
    file = pipeline(tmp_path, table(K - 1), "level-order", "regroup")
    assert 3 == main(["run", str(file), "--quiet"])
    assert not (tmp_path / "out").exists()


def test_the_words_can_be_swapped_from_the_command_line(tmp_path, capsys):
    file = str(pipeline(tmp_path, table(60), "mondrian", "none"))
    swap = ["--set", "stages.partitioner=vp-tree", "--set", "stages.outliers=cof"]
    assert 0 == main(["run", file, "--quiet", *swap])
    assert [] == broken_classes(pd.read_csv(tmp_path / "out/public/release.csv", dtype=str))
