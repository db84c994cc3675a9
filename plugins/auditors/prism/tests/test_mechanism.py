"""The projection: what is published, what is dropped, and what is said about it."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Findings, Schema, StageContext, Table
from anonloom.errors import UsageError
from anonloom_prism.admissible import Rule
from anonloom_prism.cover import largest
from anonloom_prism.mechanism import PrismProjection
from anonloom_testing import MechanismConformance, tables

ROLES = {
    "age": "quasi",
    "town": "quasi",
    "job": "other",
    "illness": "sensitive",
    "country": "other",
    "risk": "label",
}


class TestPrismProjection(MechanismConformance):
    method = PrismProjection
    tables = (tables.clinic, tables.one_row, tables.all_equal, tables.missing_values)


class TestPrismProjectionByList(MechanismConformance):
    method = PrismProjection
    params = {"correlations": [["age", "note"]], "max_attributes": 2}
    tables = (tables.clinic, tables.missing_values)


def people(rows=300, **cells):
    """Illness shows in the parity of two columns, which alone say nothing of it."""
    rng = np.random.default_rng(3)
    town, job = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
    age = rng.integers(18, 90, rows).astype(float)
    frame = pd.DataFrame(
        {
            "age": age,
            "town": np.where(town == 1, "a", "b"),
            "job": np.where(job == 1, "x", "y"),
            "illness": np.where(town ^ job == 1, "gout", "flu"),
            "country": "here",
            "risk": np.where((age > 50) & (town == 1), "yes", "no"),
        }
    )
    return frame.assign(**cells)


def table(frame, roles=ROLES):
    columns = [
        Column(name=name, role=role, type="number" if name == "age" else "category")
        for name, role in roles.items()
    ]
    return Table.build(frame, Schema(columns))


def test_of_a_planted_pair_the_attribute_goes_that_the_label_needs_less():
    context = StageContext()

    result = PrismProjection(critical=("gout",)).protect(table(people()), context)

    assert ("age", "town", "country", "risk") == result.schema.names
    assert ["age", "town", "country", "risk"] == list(result.frame)
    assert ["age", "town"] == [axis.name for axis in result.axes]
    dropped, correlations, gap = context.found[:3]
    assert (
        "they were found in the very rows that are published: what is dropped depends on the data, "
        "and tells a little about them",
        "labels are published and belong to no set",
    ) == correlations.assumptions
    assert (2, 1, 0.0) == (dropped.value, correlations.value, round(gap.value, 5))
    assert (
        "Columns that are not published. 'illness': sensitive; "
        "'job': gives critical values of 'illness' away together with 'town'." == dropped.meaning
    )
    assert [
        ["illness", "no", "sensitive"],
        ["age", "yes", ""],
        ["town", "yes", ""],
        ["job", "no", "gives critical values of 'illness' away together with 'town'"],
        ["country", "yes", ""],
    ] == context.found[3].data["rows"]


def test_what_is_published_depends_on_the_table_and_on_no_seed():
    """A sample of 20 rows decides; another one would decide otherwise."""
    frame = people(400)
    published = {
        PrismProjection(max_attributes=2, rows=20)
        .protect(table(frame.sample(frac=1, random_state=seed)), StageContext(seed=seed))
        .schema.names
        for seed in range(8)
    }

    assert 1 == len(published)


def test_a_choice_that_was_not_proved_is_warned_of():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 24)), columns=[f"n{index}" for index in range(24)])
    noise = 6 * rng.normal(size=150)
    frame = frame.assign(
        risk=np.where(frame.sum(axis=1) + noise > 0, "yes", "no"), illness=["flu", "gout"] * 75
    )
    columns = [Column(name=name, role="other", type="number") for name in frame.columns[:24]]
    columns += [Column(name="risk", role="label"), Column(name="illness", role="sensitive")]
    given = Table.build(frame, Schema(columns))
    context = StageContext()

    PrismProjection(max_attributes=10, correlations=(), node_limit=1).protect(given, context)
    greedy = StageContext()
    PrismProjection(max_attributes=10, correlations=(), solver="greedy").protect(given, greedy)

    gap = Findings.of(context.found)["gap"].value
    assert [
        "The published attributes are admissible but were not proved to be the best ones for the "
        "label: the exact search ended at its limit of 1 nodes ('node_limit'). The loss of a "
        f"linear classifier may be up to {gap:.2g} of it above the least one."
    ] == [notice.text for notice in Findings.of(context.found).notices]
    assert () == Findings.of(greedy.found).notices


def test_correlations_can_be_listed():
    context = StageContext()

    result = PrismProjection(correlations=(("age",), ("job", "country"))).protect(
        table(people()), context
    )

    assert {"town", "risk"} < set(result.schema.names)
    assert {"age", "illness"}.isdisjoint(result.schema.names)
    assert not {"job", "country"} <= set(result.schema.names)
    assert "they were named in the pipeline" == context.found[1].assumptions[0]


def test_numbers_that_are_missing_are_no_obstacle():
    frame = people()
    frame.loc[::7, "age"] = np.nan
    frame.loc[::5, "risk"] = None

    result = PrismProjection(max_attributes=1, rows=60).protect(table(frame), StageContext())

    assert ("age", "risk") == result.schema.names or ("town", "risk") == result.schema.names


def test_without_a_label_as_few_as_possible_are_dropped():
    roles = {name: role for name, role in ROLES.items() if name != "risk"}
    context = StageContext()

    result = PrismProjection(correlations=(("age", "town"), ("town", "job"))).protect(
        table(people(), roles), context
    )

    assert ("age", "job", "country") == result.schema.names
    assert ("dropped", "correlations") == tuple(item.name for item in context.found[:2])
    assert (
        "no label says which attributes are worth more: as few as possible are dropped",
    ) == context.found[0].assumptions


def test_where_everybody_has_the_same_value_only_the_sensitive_column_goes():
    result = PrismProjection().protect(table(people(illness="flu")), StageContext())

    assert ("age", "town", "job", "country", "risk") == result.schema.names


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (
            {"sensitive": "zip"},
            "prism-projection: column 'zip' is not declared; published are: 'age', 'town', 'job', 'illness', 'country', 'risk'",
        ),
        (
            {"sensitive": "risk"},
            "prism-projection: column 'risk' is the label: it cannot be published and protected",
        ),
        (
            {"correlations": (("risk", "age"),)},
            "prism-projection: column 'risk' is a label: it stays, and breaks up no correlation",
        ),
        (
            {"critical": ("plague",)},
            "prism-projection: 'critical' must name values that occur in 'illness'. Got 'plague' instead.",
        ),
    ],
)
def test_what_does_not_fit_the_table_is_refused(parameters, expected):
    with pytest.raises(UsageError) as caught:
        PrismProjection(**parameters).protect(table(people()), StageContext())

    assert expected == str(caught.value)


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ({"illness": "other"}, "no column is sensitive: name the one to protect with 'sensitive'"),
        (
            {"job": "sensitive"},
            "the role 'sensitive' has 'job', 'illness': name the one to protect with 'sensitive'",
        ),
        (
            {"job": "label"},
            "the role 'label' has 'job', 'risk': name the one to learn with 'label'",
        ),
    ],
)
def test_a_pipeline_is_told_before_any_data_are_read(roles, expected):
    assert expected == PrismProjection().problem(table(people(), ROLES | roles).schema)


def test_the_largest_admissible_set():
    rule = Rule.of(range(5), (), [(0, 1), (0, 2), (0, 3)])

    assert frozenset({1, 2, 3, 4}) == largest(rule)
    assert 2 == len(largest(Rule.of(range(5), (), [(0, 1)], 2)))
