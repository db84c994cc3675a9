"""Every figure against loops over people, releases and rows, on random releases that overlap."""

from collections import Counter
from itertools import combinations

import attrs
import pandas as pd
from hypothesis import assume, given
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


def region_counts(rows):
    """By region rows that may have each value, rows that surely do, and how many rows there are."""
    results = {}
    for row in rows:
        if not row.suppressed:
            may, does, sizes = results.setdefault(row.region, (Counter(), Counter(), Counter()))
            may.update(row.illnesses)
            does.update(row.illnesses if len(row.illnesses) == 1 else ())
            sizes["rows"] += 1
    return results


def certain_regions(rows, people, numbers):
    """The region of everybody whom one alone covers, and that has as many rows as people."""
    regions = {number: only_region(rows, people[number]) for number in numbers}
    taken = Counter(regions.values())
    sizes = Counter(row.region for row in rows if not row.suppressed)
    return {
        number: region if region and taken[region] <= sizes[region] else None
        for number, region in regions.items()
    }


def upper_bounds(first, second, shared):
    """Tighten, one after another, how many people of a group of both releases have a value."""
    tables = region_counts(first), region_counts(second)
    people = dict(shared)
    for number, table in enumerate(tables):
        for region, (_, _, sizes) in table.items():
            inside = sum(size for pair, size in shared.items() if pair[number] == region)
            people[(region, None) if number == 0 else (None, region)] = sizes["rows"] - inside
    complete = all(row.illnesses for row in (*first, *second) if not row.suppressed)
    entries = [(group, value) for group in people for value in ILLNESSES]
    lower, upper = dict.fromkeys(entries, 0), {}
    sums = []
    for group, size in people.items():
        inside = [table[region] for table, region in zip(tables, group, strict=True) if region]
        for value in ILLNESSES:
            upper[group, value] = min(size, *(may[value] for may, _, _ in inside))
        own = [(group, value) for value in ILLNESSES]
        sums.append((own, size if complete else 0, size))
    for number, table in enumerate(tables):
        for region, (may, does, _) in table.items():
            for value in ILLNESSES:
                parts = [(group, value) for group in people if group[number] == region]
                sums.append((parts, does[value], may[value]))
    plain, before = dict(upper), None
    while before != (lower, upper):
        before = dict(lower), dict(upper)
        for parts, least, most in sums:
            for entry in parts:
                others = [other for other in parts if other != entry]
                lower[entry] = max(lower[entry], least - sum(upper[other] for other in others))
                upper[entry] = min(upper[entry], most - sum(lower[other] for other in others))
                if lower[entry] > upper[entry]:
                    return plain
    return upper


def left_by_register(population, pair):
    """What two releases leave possible for everybody in one of them, or in both."""
    people = population.people
    releases = [population.releases[number] for number in pair]
    inside = [members(population, number) for number in pair]
    both = inside[0] & inside[1]
    regions = [certain_regions(rows, people, both) for rows in releases]
    of_both = {number: (regions[0][number], regions[1][number]) for number in both}
    certain = {number: group for number, group in of_both.items() if all(group)}
    upper = upper_bounds(*releases, Counter(certain.values()))

    def rest(number, release):
        counts = Counter()
        for region in {row.region for row in releases[release] if covers(row, people[number])}:
            group = (region, None) if release == 0 else (None, region)
            counts += Counter({value: upper[group, value] for value in ILLNESSES})
        return counts

    left = {}
    for number in both:
        if number in certain:
            group = certain[number]
            left[number] = +Counter({value: upper[group, value] for value in ILLNESSES})
        else:
            left[number] = rest(number, 0) & rest(number, 1)
    apart = {number: rest(number, 0) for number in inside[0] - both}
    apart |= {number: rest(number, 1) for number in inside[1] - both}
    return left, apart


def named_by_register(population, least):
    """People of whom too few values are left: in both releases of a pair, and in one alone."""
    results = {"register": None, "newcomers": None}
    for pair in combinations(range(len(population.releases)), 2):
        if not all(population.known[number] for number in pair):
            continue
        for name, left in zip(results, left_by_register(population, pair), strict=True):
            few = {
                number
                for number, counts in left.items()
                if counts[population.people[number][2]] > 0 and len(counts) < least
            }
            if left:
                results[name] = (results[name] or set()) | few
    return results


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
def test_a_register_leaves_what_bounds_leave_that_are_tightened_one_by_one(population, least):
    findings = Intersection(l=least).audit(population.case(), StageContext())
    few, disclosed = named_by_register(population, least), named_by_register(population, 2)
    for name, people in few.items():
        assert (None if people is None else len(people)) == findings[
            f"{name}_below_l.illness"
        ].value
        assert (None if people is None else len(disclosed[name])) == findings[
            f"{name}_disclosed.illness"
        ].value
        assert (people or set()) == rows_named(findings, f"{name}_below_l.illness")


@given(populations())
def test_without_suppression_a_register_never_leaves_more_than_the_intersection(population):
    releases = [[row for row in rows if not row.suppressed] for rows in population.releases[:2]]
    assume(all(releases))
    population = attrs.evolve(population, releases=releases, known=[True, True])
    findings = Intersection().audit(population.case(), StageContext())
    assert rows_named(findings, "below_l.illness") <= rows_named(
        findings, "register_below_l.illness"
    )
