"""The auditor: what a steward reads of a search, and what is never shown."""

import json
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Findings, Release, Schema, StageContext, Table
from anonloom_prism.auditor import SensitiveCorrelations
from anonloom_testing.auditor import in_classes

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="smoker", role="other"),
        Column(name="note", role="other"),
        Column(name="illness", role="sensitive"),
        Column(name="outcome", role="label"),
    ]
)


def people(n: int = 1500, seed: int = 0) -> Table:
    """Emphysema follows from age and smoking together, from neither alone; outcome from illness."""
    rng = np.random.default_rng(seed)
    age, smoker = rng.integers(20, 80, n), rng.choice(["yes", "no"], n)
    ill = rng.random(n) < np.where((age >= 50) == (smoker == "yes"), 0.85, 0.05)
    frame = pd.DataFrame(
        {
            "age": age,
            "town": rng.choice(["Ash", "Birch", "Cedar"], n),
            "smoker": smoker,
            "note": [f"note {index}" for index in range(n)],
            "illness": np.where(ill, "Emphysema", rng.choice(["Flu", "Cold"], n)),
            "outcome": np.where(ill, "bad", "good"),
        }
    )
    return Table.build(frame, SCHEMA)


def audited(of: Table, release: Release | None = None, **options: Any) -> Findings:
    case = AuditInput(release or Release.as_it_is(of), original=of)
    return SensitiveCorrelations(**options).audit(case, StageContext())


def test_the_planted_pair_is_reported() -> None:
    result = audited(people(), critical=("Emphysema",))
    figures = {name: result[name].value for name in ("correlations", "attributes", "by_chance")}
    assert {"correlations": 1, "attributes": 2, "by_chance": 0} == figures
    assert [0, 1, 0] == [result[f"correlations.{size}"].value for size in (1, 2, 3)]
    assert result["strongest"].value == result["strongest.2"].value
    # Four attributes and their pairs; of the triples two hold the pair.
    assert 4 + 6 + 2 == result["looked_at"].value
    table = next(chart for chart in result.charts if chart.name == "found")
    assert ["attributes", "critical value", "cramers-v", "chance"] == table.data["columns"]
    assert ["age + smoker", "Emphysema"] == table.data["rows"][0][:2]
    assert "below 0.000001" == table.data["rows"][0][3]


def test_critical_values_that_nobody_named_are_numbers() -> None:
    result = audited(people())
    shown = json.dumps([dict(chart.data) for chart in result.charts])
    message = shown + " ".join(item.meaning for item in result.items)
    assert not any(cell in message.lower() for cell in ("emphysema", "flu", "cold", "birch"))
    table = next(chart for chart in result.charts if chart.name == "found")
    # Cold, emphysema, flu: the second of them.
    assert "value 2" in [row[1] for row in table.data["rows"]]


def test_all_critical_values_together_are_called_so() -> None:
    result = audited(people(), critical=("Emphysema", "flu"), threshold=0.2)
    table = next(chart for chart in result.charts if chart.name == "found")
    assert "all critical values" in [row[1] for row in table.data["rows"]]


def test_the_release_is_judged_and_the_original_on_demand() -> None:
    table = people()
    hidden = in_classes(table, len(table))
    assert 0 == audited(table, hidden, critical=("Emphysema",))["correlations"].value
    before = audited(table, hidden, critical=("Emphysema",), table="original")
    assert 1 == before["correlations"].value
    constant = audited(table, hidden, critical=("Emphysema",))["correlations"].assumptions
    assert "columns that never vary tell nothing: 'age', 'town'" in constant


def test_columns_that_are_no_longer_published_are_seen_in_the_original() -> None:
    table = people()
    projected = Release.as_it_is(table.without({"illness", "smoker"}))
    before = audited(table, projected, critical=("Emphysema",), table="original")
    assert 1 == before["correlations"].value


def test_generalized_numbers_are_still_seen_in_ranges() -> None:
    table = people()
    ordered = table.take(np.argsort(table.codes[0], kind="stable"))
    release = in_classes(ordered, 25)
    assert 1 == audited(ordered, release, critical=("Emphysema",))["correlations"].value


def test_an_independent_table_is_not_blamed() -> None:
    table = people()
    frame = table.frame.assign(illness=np.random.default_rng(1).permutation(table.frame["illness"]))
    result = audited(Table.build(frame, SCHEMA))
    assert (0, 0.0) == (result["correlations"].value, result["strongest"].value)


def test_assumptions_say_what_was_not_looked_at() -> None:
    table = people(300)
    frame = table.frame.assign(person=[f"p{index // 2}" for index in range(300)])
    frame.loc[:9, "illness"] = None
    schema = Schema((*SCHEMA.columns, Column(name="person", role="person")))
    result = audited(Table.build(frame, schema), alpha=None, size=1, measure="multiple-correlation")
    expected = (
        "no guard against chance: small tables show correlations that are none",
        "a set is counted when it reaches 0.3",
        "attributes are added up: what only their combination shows is not seen",
        "in sets, numbers are seen in 4 ranges and categories in at most 8 levels: what is finer "
        "may tell more",
        "sets of more than 1 attributes are not looked at",
        "several rows of one person count as several people, and chance is underrated",
        "10 rows without a sensitive value are left out",
    )
    assert expected == result["correlations"].assumptions


def test_what_cannot_be_assessed_says_why() -> None:
    result = audited(people(50), critical=("Plague",))
    assert {"not assessable"} == {finding.status for finding in result}
    message = "'critical' must name values that occur in 'illness'. Got 'Plague' instead."
    assert (message,) == result["correlations"].assumptions
    table = people(50)
    case = AuditInput(Release.as_it_is(table))
    bare = SensitiveCorrelations(table="original").audit(case, StageContext())
    assert ("there is no original table",) == bare["strongest"].assumptions


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"attributes": ("illness",)},
            "column 'illness' is the sensitive one: it is no attribute to infer it from",
        ),
        (
            {"attributes": ("outcome",)},
            "column 'outcome' is a label: it is predicted, not asked for",
        ),
        (
            {"sensitive": "person"},
            "column 'person' has role 'person' and is not published; published are: 'age', "
            "'town', 'smoker', 'note', 'illness', 'outcome'",
        ),
    ],
)
def test_columns_that_make_no_sense_are_refused(options: dict[str, Any], said: str) -> None:
    schema = Schema((*SCHEMA.columns, Column(name="person", role="person")))
    assert said == SensitiveCorrelations(**options).problem(schema)


def test_one_column_must_be_the_sensitive_one() -> None:
    two = Schema((*SCHEMA.columns, Column(name="salary", role="sensitive")))
    none = Schema(SCHEMA.columns[:3])
    asked = SensitiveCorrelations()
    message = "name the one to protect with 'sensitive'"
    assert f"the role 'sensitive' has 'illness', 'salary': {message}" == asked.problem(two)
    assert f"no column is sensitive: {message}" == asked.problem(none)
    named = Column(name="key", role="identifier", pseudonymize=True)
    keyed = Schema((*SCHEMA.columns, named))
    expected = "column 'key' is an identifier: pseudonyms tell nothing"
    assert expected == attrs.evolve(asked, attributes=("key",)).problem(keyed)
    assert asked.problem(SCHEMA) is None
