"""Every figure against loops over people, releases and rows, on random releases that overlap."""

from collections import Counter
from itertools import permutations

import attrs
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom_intersection.auditor import Intersection

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number", missing="own"),
        Column(name="city", role="quasi", missing="own"),
        Column(name="illness", role="sensitive", missing="own"),
    )
)
CITIES = ("Ahaus", "Borken", "Coesfeld")
ILLNESSES = ("asthma", "flu", "gout", "angina")


@attrs.frozen
class Row:
    """A published row; None for a cell that says nothing, an empty set for a missing value."""

    person: int
    age: tuple[float, float] | None
    cities: frozenset | None
    illnesses: frozenset

    @property
    def suppressed(self):
        return self.age is None and self.cities is None

    @property
    def region(self):
        return self.age, self.cities


@attrs.frozen
class Population:
    """People as (age, city, illness), rows of every release, and whether origins are known."""

    people: list
    releases: list
    known: list

    def original(self):
        return Table.build(pd.DataFrame(self.people, columns=SCHEMA.names), SCHEMA)

    def case(self, **evidence):
        table = self.original()
        release, *others = (
            release_of(rows, known, table)
            for rows, known in zip(self.releases, self.known, strict=True)
        )
        return AuditInput(release=release, original=table, other_releases=tuple(others), **evidence)


def interval(age):
    return "*" if age is None else f"[{age[0]}, {age[1]}]" if age[0] < age[1] else str(age[0])


def named(members):
    if members is None:
        return "*"
    texts = sorted(members)
    return texts[0] if len(texts) == 1 else "{" + ", ".join(f'"{text}"' for text in texts) + "}"


def release_of(rows, known, table):
    frame = pd.DataFrame(
        {
            "age": pd.Categorical([interval(row.age) for row in rows]),
            "city": pd.Categorical([named(row.cities) for row in rows]),
            "illness": [named(row.illnesses) if row.illnesses else None for row in rows],
        }
    )
    origin = table.origin[[row.person for row in rows]] if known else None
    return Release(schema=SCHEMA, frame=frame, origin=origin)


@st.composite
def populations(draw):
    """A few people with few values; rows covered by intervals and sets that overlap."""
    person = st.tuples(
        st.integers(0, 6), st.sampled_from(CITIES), st.sampled_from((*ILLNESSES, None))
    )
    people = draw(st.lists(person, min_size=1, max_size=14))
    releases = []
    for _ in range(draw(st.integers(2, 3))):
        members = [number for number in range(len(people)) if draw(st.integers(0, 4))]
        releases.append([draw(published(people, number)) for number in members or [0]])
    return Population(people, releases, [draw(st.booleans()) for _ in releases])


@st.composite
def published(draw, people, number):
    age, city, illness = people[number]
    if not draw(st.integers(0, 9)):
        return Row(number, None, None, frozenset())
    # Few widths, so that rows share regions.
    low = age - age % draw(st.sampled_from((1, 3, 7)))
    high = max(age, low + draw(st.sampled_from((0, 2, 6))))
    cities = draw(st.sampled_from((frozenset([city]), frozenset([city, "Borken"]), None)))
    known = frozenset() if illness is None else frozenset([illness])
    if known and not draw(st.integers(0, 5)):
        # Values that the original lacks cannot be read.
        known |= {draw(st.sampled_from(sorted(filter(None, {value for *_, value in people}))))}
    return Row(number, (low, high), cities, known)


def covers(row, person):
    age, city, _ = person
    return (
        not row.suppressed
        and (row.age is None or row.age[0] <= age <= row.age[1])
        and (row.cities is None or city in row.cities)
    )


def rows_by_value(rows, person):
    """Rows that may be the person's, by the values that they may stand for."""
    counts = Counter()
    for row in rows:
        if covers(row, person):
            counts.update(row.illnesses)
    return counts


def members(population, number):
    return {row.person for row in population.releases[number]}


def attacked(population):
    people = set(range(len(population.people)))
    for number, known in enumerate(population.known):
        if known:
            people &= members(population, number)
    return people


def exposed(population, counts_of, fewer):
    """People attacked whose own value is among too few candidates."""
    results = set()
    for number in attacked(population):
        person = population.people[number]
        counts = counts_of(person)
        if counts[person[2]] and fewer(counts):
            results.add(number)
    return results


def together(population):
    def counts_of(person):
        counts = rows_by_value(population.releases[0], person)
        for rows in population.releases[1:]:
            counts &= rows_by_value(rows, person)
        return counts

    return counts_of


def singly(population, fewer):
    results = set()
    for rows in population.releases:
        results |= exposed(population, lambda person, rows=rows: rows_by_value(rows, person), fewer)
    return results


def only_region(rows, person):
    regions = {row.region for row in rows if covers(row, person)}
    return regions.pop() if len(regions) == 1 else None


def left_for_newcomers(population, later, earlier, person):
    """What a release leaves possible for somebody new when an earlier one is taken out of it."""
    stayed = members(population, later) & members(population, earlier)
    before, after = population.releases[earlier], population.releases[later]
    left = Counter()
    for region in {row.region for row in after if covers(row, person)}:
        counts = Counter()
        for row in after:
            if row.region == region and not row.suppressed:
                counts.update(row.illnesses)
        for old in {row.region for row in before if not row.suppressed}:
            shared = sum(
                only_region(before, population.people[number]) == old
                and only_region(after, population.people[number]) == region
                for number in stayed
            )
            inside = [row for row in before if row.region == old]
            certain = Counter(
                next(iter(row.illnesses)) for row in inside if len(row.illnesses) == 1
            )
            for value, number in certain.items():
                # Of these, so many may be people who are not known to be in the later region.
                counts[value] -= max(0, number - (len(inside) - shared)) if shared else 0
        left += counts
    return left


def newcomers_below(population, least):
    results, alone, any_newcomers = set(), set(), False
    for later, earlier in permutations(range(len(population.releases)), 2):
        if not (population.known[later] and population.known[earlier]):
            continue
        for number in members(population, later) - members(population, earlier):
            any_newcomers = True
            person = population.people[number]
            left = left_for_newcomers(population, later, earlier, person)
            if left[person[2]] > 0 and len(left) < least:
                results.add(number)
            counts = rows_by_value(population.releases[later], person)
            if counts[person[2]] > 0 and len(counts) < least:
                alone.add(number)
    return (results, alone) if any_newcomers else None


def rows_named(findings, name):
    return next((set(item.rows.tolist()) for item in findings.private if item.name == name), set())


@given(populations(), st.integers(2, 4), st.integers(2, 5))
def test_every_figure_is_what_loops_over_people_releases_and_rows_count(population, least, rows):
    findings = Intersection(l=least, k=rows).audit(population.case(), StageContext())
    people = len(attacked(population))
    for name, fewer in (
        ("disclosed", lambda counts: len(counts) == 1),
        ("below_l", lambda counts: len(counts) < least),
        ("below_k", lambda counts: counts.total() < rows),
    ):
        expected = exposed(population, together(population), fewer)
        assert len(expected) == findings[f"people_{name}.illness"].value
        assert len(singly(population, fewer)) == findings[f"people_{name}_single.illness"].value
        if name == "disclosed":
            if people:
                assert len(expected) / people == findings["disclosed"].value
        else:
            assert expected == rows_named(findings, f"{name}.illness")
    assert people == findings["people_attacked"].value


@given(populations(), st.integers(2, 4))
def test_newcomers_are_those_whom_loops_find_by_difference(population, least):
    population = attrs.evolve(population, known=[True for _ in population.releases])
    findings = Intersection(l=least).audit(population.case(), StageContext())
    expected = newcomers_below(population, least)
    disclosed = newcomers_below(population, 2)
    if expected is None or disclosed is None:
        assert findings["newcomers_below_l.illness"].value is None
        return
    few, alone = expected
    assert len(few) == findings["newcomers_below_l.illness"].value
    assert len(alone) == findings["newcomers_below_l_single.illness"].value
    assert len(disclosed[0]) == findings["newcomers_disclosed.illness"].value
    assert len(disclosed[1]) == findings["newcomers_disclosed_single.illness"].value
    assert few == rows_named(findings, "newcomers_below_l.illness")
