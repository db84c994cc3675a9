"""The promises of every auditor, and those of one that measures risk."""

import random

from anonloom import Column, Schema
from anonloom_prism.auditor import SensitiveCorrelations
from anonloom_testing import AuditorConformance, tables
from anonloom_testing.tables import Sample


def given_away(count: int = 400) -> Sample:
    """Return a table in which age and sex together give the illness away, and neither alone."""
    rng = random.Random(5)
    rows = []
    for index in range(count):
        old, sex = rng.random() < 0.5, rng.choice("fm")
        illness = "flu" if old == (sex == "f") else rng.choice(["cold", "gout"])
        age = rng.randint(50, 80) if old else rng.randint(20, 49)
        rows.append({"age": age, "sex": sex, "illness": illness, "note": f"note {index}"})
    columns = (
        Column(name="age", role="quasi", type="number"),
        Column(name="sex", role="quasi"),
        Column(name="illness", role="sensitive"),
        Column(name="note", role="other"),
    )
    return Sample(rows, Schema(columns))


class PlantedCorrelation(AuditorConformance):
    """The kit plants people who are unique, which is no correlation: this plants one."""

    risk_finding = "strongest"

    def risky_sample(self) -> Sample:
        """Return a table in which two columns give a third away."""
        return given_away()


class TestSensitiveCorrelations(PlantedCorrelation):
    method = SensitiveCorrelations


class TestByClassifier(PlantedCorrelation):
    method = SensitiveCorrelations
    params = {"measure": "classifier", "size": 2, "critical": ["flu"]}
    tables = (tables.clinic, tables.missing_values, tables.dates_and_bins)


class TestAddedUp(AuditorConformance):
    # What only a combination shows is not found by adding up: no planted risk to find.
    method = SensitiveCorrelations
    params = {"measure": "multiple-correlation", "alpha": None, "table": "original"}
    tables = (tables.clinic, tables.ties, tables.many_columns)
