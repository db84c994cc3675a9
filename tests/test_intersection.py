"""Two releases, each 10-anonymous and 4-diverse, and what plain Python finds in the files of both.

The oracle reads the CSV files alone: loops over people, releases and rows.
"""

import csv
import json
from collections import Counter
from itertools import permutations

import pytest
import yaml

from anonloom import Pipeline, Schema, StageContext
from anonloom.data import Column
from anonloom_cli import main
from anonloom_diabetes.source import Diabetes

BEFORE, ALL = 5_000, 6_000
K, L = 10, 4
QUASI = ("age", "gender", "bmi")
SENSITIVE = "smoking_history"
COLUMNS = {
    "person": {"role": "truth"},
    "age": {"role": "quasi", "type": "number", "publish": "interval"},
    "gender": {"role": "quasi"},
    "bmi": {"role": "quasi", "type": "number", "publish": "interval"},
    SENSITIVE: {"role": "sensitive"},
}


def spec(path, **changed):
    return {
        "version": 1,
        "seed": 1,
        "data": {"source": "csv", "with": {"path": path}, "columns": COLUMNS},
        "privacy": [{"k-anonymity": {"k": K}}, {"l-diversity": {"l": L, "of": SENSITIVE}}],
        "stages": [{"partitioner": "mondrian"}, {"generalizer": "hierarchy"}],
        "publish": {"to": "out"},
        **changed,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """People, both releases with the persons of their rows, and a pipeline that audits."""
    place = tmp_path_factory.mktemp("releases")
    schema = Schema(tuple(Column(name=name, role="other") for name in (*QUASI, SENSITIVE)))
    source = Diabetes(which="simulated", rows=ALL)
    people = source.load(schema, StageContext(stage="source", seed=5)).frame
    people = people.assign(person=[f"p{number}" for number in range(ALL)])
    people.to_csv(place / "people.csv", index=False)
    for name, number in (("earlier", BEFORE), ("later", ALL)):
        people.head(number).to_csv(place / "some.csv", index=False)
        file = place / "publish.yaml"
        file.write_text(yaml.safe_dump(spec("some.csv")))
        outcome = Pipeline.load(file).run()
        rows = outcome.release.rows_in(outcome.original)
        persons = outcome.original.column("person").to_numpy()[rows]
        outcome.release.frame.assign(person=persons).to_csv(place / f"{name}.csv", index=False)
    audit = spec("people.csv", audit=["intersection"])
    (place / "audit.yaml").write_text(yaml.safe_dump(audit))
    audit["data"]["other_releases"] = ["earlier.csv"]
    (place / "run.yaml").write_text(yaml.safe_dump(audit))
    return place


def table(file):
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def covers(name, cell, value):
    if cell == "*" or name == "gender":
        return cell in ("*", value)
    ends = [float(end) for end in cell.strip("[]").split(",")]
    return ends[0] <= float(value) <= ends[-1]


class Published:
    """A release as whoever has its file sees it."""

    def __init__(self, file):
        rows = table(file)
        self.persons = {row["person"] for row in rows}
        self.classes = {}
        for row in rows:
            self.classes.setdefault(tuple(row[name] for name in QUASI), Counter())[
                row[SENSITIVE]
            ] += 1
        self._seen = {}

    def covering(self, person):
        known = tuple(person[name] for name in QUASI)
        if known not in self._seen:
            self._seen[known] = [
                cells for cells in self.classes if all(map(covers, QUASI, cells, known))
            ]
        return self._seen[known]

    def counts(self, person):
        return sum((self.classes[cells] for cells in self.covering(person)), Counter())


def left_of_later(people, earlier, later):
    """By class of the later release what is left for newcomers."""
    shared = Counter()
    for person in people:
        if person["person"] in earlier.persons & later.persons:
            old, new = earlier.covering(person), later.covering(person)
            # Whose class cannot be told may be elsewhere.
            if len(old) == len(new) == 1:
                shared[old[0], new[0]] += 1
    left = {cells: Counter(counts) for cells, counts in later.classes.items()}
    for (old, new), number in shared.items():
        elsewhere = earlier.classes[old].total() - number
        for value, count in earlier.classes[old].items():
            left[new][value] -= max(0, count - elsewhere)
    return left


@pytest.fixture(scope="module")
def expected(folder):
    people = table(folder / "people.csv")
    earlier, later = (Published(folder / f"{name}.csv") for name in ("earlier", "later"))
    both = [one for one in people if one["person"] in earlier.persons & later.persons]
    left = {one["person"]: earlier.counts(one) & later.counts(one) for one in both}
    newcomers = {}
    for first, second in permutations((earlier, later)):
        by_class = left_of_later(people, first, second)
        for one in people:
            if one["person"] in second.persons - first.persons:
                counts = (+by_class[cells] for cells in second.covering(one))
                newcomers[one["person"]] = sum(counts, Counter())

    own = {one["person"]: one[SENSITIVE] for one in people}

    def named(results, few):
        return {person for person, counts in results.items() if counts[own[person]] and few(counts)}

    return {
        "people_disclosed": named(left, lambda counts: len(counts) == 1),
        "people_below_l": named(left, lambda counts: len(counts) < L),
        "people_below_k": named(left, lambda counts: counts.total() < K),
        "newcomers_disclosed": named(newcomers, lambda counts: len(counts) == 1),
        "newcomers_below_l": named(newcomers, lambda counts: len(counts) < L),
    }


def test_each_release_keeps_what_it_promises_and_both_together_do_not(folder, expected, capsys):
    words = ["audit", str(folder / "people.csv"), str(folder / "later.csv")]
    words += ["--also", str(folder / "earlier.csv"), "--pipeline", str(folder / "audit.yaml")]
    assert 0 == main([*words, "--json", "--quiet"])
    (audit,) = json.loads(capsys.readouterr().out)["audits"]
    figures = {item["name"]: item["value"] for item in audit["findings"]}
    assert BEFORE == figures["people_attacked"]
    assert {name: len(people) for name, people in expected.items()} == {
        name: figures[f"{name}.{SENSITIVE}"] for name in expected
    }
    assert [0] * 5 == [figures[f"{name}_single.{SENSITIVE}"] for name in expected]
    assert len(expected["people_below_l"]) > 0
    assert len(expected["newcomers_below_l"]) > 0


def test_a_pipeline_names_the_people_in_its_private_output(folder, expected):
    assert 0 == main(["run", str(folder / "run.yaml"), "--quiet", "--to", str(folder / "out")])
    for name in ("below_l", "below_k", "newcomers_below_l"):
        file = folder / "out/private" / f"intersection-{name}.{SENSITIVE}.csv"
        key = name if name in expected else f"people_{name}"
        # Rows of a file are counted from 1.
        assert expected[key] == {f"p{int(row['row']) - 1}" for row in table(file)}
    report = json.loads((folder / "out/public/report.json").read_text())
    assert "amber" == report["verdict"]["tone"]
