"""Two releases, each 10-anonymous and 4-diverse, and what plain Python finds in the files of both.

The oracle reads the CSV files alone: loops over people, releases and rows.
"""

import csv
import json
from collections import Counter

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


def tightened(first, second, shared):
    """How many people of a group of both releases have a value at most, by the sums of counts."""
    people = dict(shared)
    for number, release in enumerate((first, second)):
        for cells, counts in release.classes.items():
            inside = sum(size for pair, size in shared.items() if pair[number] == cells)
            people[(cells, None) if number == 0 else (None, cells)] = counts.total() - inside
    sums, upper, lower = {}, {}, Counter()
    for group, size in people.items():
        known = [
            (number, cells, release.classes[cells])
            for number, (release, cells) in enumerate(zip((first, second), group, strict=True))
            if cells
        ]
        for value in set.intersection(*(set(counts) for _, _, counts in known)):
            upper[group, value] = min(size, *(counts[value] for _, _, counts in known))
            sums.setdefault(group, (size, []))[1].append((group, value))
            for number, cells, counts in known:
                parts = sums.setdefault((number, cells, value), (counts[value], []))[1]
                parts.append((group, value))
    changed = True
    while changed:
        changed = False
        for total, parts in sums.values():
            most, least = sum(upper[part] for part in parts), sum(lower[part] for part in parts)
            for part in parts:
                low = max(lower[part], total - (most - upper[part]))
                high = min(upper[part], total - (least - lower[part]))
                changed |= (low, high) != (lower[part], upper[part])
                most, least = most - upper[part] + high, least - lower[part] + low
                lower[part], upper[part] = low, high
    left = {}
    for (group, value), most in upper.items():
        left.setdefault(group, Counter())[value] = most
    return left


def left_by_register(people, earlier, later):
    """What is left for everybody in both releases, and for who is new."""
    regions = {
        one["person"]: (earlier.covering(one), later.covering(one))
        for one in people
        if one["person"] in earlier.persons & later.persons
    }
    # Whose class cannot be told may be anywhere.
    certain = {
        person: (old[0], new[0])
        for person, (old, new) in regions.items()
        if len(old) == len(new) == 1
    }
    left = tightened(earlier, later, Counter(certain.values()))

    def rest(classes, number):
        groups = [(cells, None) if number == 0 else (None, cells) for cells in classes]
        return sum((+left.get(group, Counter()) for group in groups), Counter())

    both = {
        person: +left[certain[person]] if person in certain else rest(old, 0) & rest(new, 1)
        for person, (old, new) in regions.items()
    }
    new = {
        one["person"]: rest(later.covering(one), 1)
        for one in people
        if one["person"] in later.persons - earlier.persons
    }
    return both, new


@pytest.fixture(scope="module")
def expected(folder):
    people = table(folder / "people.csv")
    earlier, later = (Published(folder / f"{name}.csv") for name in ("earlier", "later"))
    both = [one for one in people if one["person"] in earlier.persons & later.persons]
    left = {one["person"]: earlier.counts(one) & later.counts(one) for one in both}
    register, newcomers = left_by_register(people, earlier, later)
    own = {one["person"]: one[SENSITIVE] for one in people}

    def named(results, few):
        return {person for person, counts in results.items() if counts[own[person]] and few(counts)}

    results = {"people_below_k": named(left, lambda counts: counts.total() < K)}
    for group, of_group in (("people", left), ("register", register), ("newcomers", newcomers)):
        results[f"{group}_disclosed"] = named(of_group, lambda counts: len(counts) == 1)
        results[f"{group}_below_l"] = named(of_group, lambda counts: len(counts) < L)
    return results


def test_each_release_keeps_what_it_promises_and_both_together_do_not(folder, expected, capsys):
    words = ["audit", str(folder / "people.csv"), str(folder / "later.csv")]
    words += ["--also", str(folder / "earlier.csv"), "--pipeline", str(folder / "audit.yaml")]
    assert 0 == main([*words, "--json", "--quiet"])
    (release,) = json.loads(capsys.readouterr().out)["releases"]
    figures = {item["name"]: item["value"] for item in release["audits"][0]["findings"]}
    assert BEFORE == figures["people_attacked"]
    assert {name: len(people) for name, people in expected.items()} == {
        name: figures[f"{name}.{SENSITIVE}"] for name in expected
    }
    assert [0] * 7 == [figures[f"{name}_single.{SENSITIVE}"] for name in expected]
    assert 0 < len(expected["people_below_l"]) < len(expected["register_below_l"])
    assert 0 < len(expected["newcomers_below_l"])


def test_a_pipeline_names_the_people_in_its_private_output(folder, expected):
    assert 0 == main(["run", str(folder / "run.yaml"), "--quiet", "--to", str(folder / "out")])
    for name in ("below_l", "below_k", "register_below_l", "newcomers_below_l"):
        file = folder / "out/private" / f"intersection-{name}.{SENSITIVE}.csv"
        key = name if name in expected else f"people_{name}"
        # Rows of a file are counted from 1.
        assert expected[key] == {f"p{int(row['row']) - 1}" for row in table(file)}
    report = json.loads((folder / "out/public/report.json").read_text())
    assert "amber" == report["verdict"]["tone"]
