"""Ordinary tables are published: at most one of these six stops, and its own message cures it.

A check that stops honest releases is switched off. These are tables as offices have them, made up
here, with pipelines as somebody would write them at the first attempt.
"""

import re

import numpy as np
import pandas as pd
import pytest
import yaml

from anonloom import Pipeline
from anonloom.errors import PrivacyError

ROWS = 3_000
AGE = {"role": "quasi", "type": "number"}
SEX = {"role": "quasi"}


def survey(rng):
    """Answers to questions, a weight to one decimal."""
    answers = ["never", "rarely", "sometimes", "often", "always"]
    frame = {
        "age": rng.integers(18, 90, ROWS),
        "sex": rng.choice(["f", "m", "x"], ROWS, p=[0.5, 0.49, 0.01]),
        "region": rng.choice(["north", "south", "east", "west"], ROWS),
        **{f"q{index}": rng.choice(answers, ROWS) for index in range(1, 4)},
        "satisfied": rng.choice(["yes", "no"], ROWS),
        "weight": (rng.gamma(20, 0.05, ROWS)).round(1),
    }
    columns = {
        "age": AGE,
        "sex": SEX,
        "region": {"role": "quasi"},
        **{f"q{index}": {"role": "sensitive"} for index in range(1, 4)},
        "satisfied": {"role": "label"},
        "weight": {"role": "other", "type": "number"},
    }
    return frame, columns, [{"k-anonymity": {"k": 5}}]


def visits(rng):
    """Several visits of each patient, who are named by a column of their own."""
    patients = ROWS // 3
    born = rng.integers(1930, 2015, patients)
    sex = rng.choice(["f", "m"], patients)
    patient = rng.integers(0, patients, ROWS)
    frame = {
        "patient": [f"P{number:05d}" for number in patient],
        "born": born[patient],
        "sex": sex[patient],
        "ward": rng.choice(["surgery", "eye", "heart", "children"], ROWS),
        "diagnosis": rng.choice([f"I{index:02d}" for index in range(60)], ROWS),
        "days": rng.geometric(0.25, ROWS),
    }
    columns = {
        "patient": {"role": "person"},
        "born": {"role": "quasi", "type": "number"},
        "sex": SEX,
        "ward": {"role": "quasi"},
        "diagnosis": {"role": "sensitive"},
        "days": {"role": "other", "type": "number"},
    }
    return frame, columns, [{"k-anonymity": {"k": 5}}, {"l-diversity": {"l": 3, "of": "diagnosis"}}]


def wages(rng):
    """Wages to the cent: nearly everybody has one of their own."""
    frame = {
        "age": rng.integers(18, 66, ROWS),
        "sex": rng.choice(["f", "m"], ROWS),
        "trade": rng.choice(["metal", "care", "trade", "building", "office"], ROWS),
        "wage": np.exp(rng.normal(8, 0.4, ROWS)).round(2),
    }
    columns = {
        "age": AGE,
        "sex": SEX,
        "trade": {"role": "quasi"},
        "wage": {"role": "sensitive", "type": "number"},
    }
    return frame, columns, [{"k-anonymity": {"k": 10}}]


def laboratory(rng):
    """Values as instruments print them."""
    frame = {
        "age": rng.integers(0, 100, ROWS),
        "sex": rng.choice(["f", "m"], ROWS),
        "taken": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 366, ROWS), "D"),
        "glucose": rng.normal(5.4, 1.1, ROWS).clip(2).round(1),
        "sodium": rng.normal(140, 3, ROWS).round(0),
        "crp": rng.exponential(8, ROWS).round(0),
        "result": rng.choice(["normal", "to be repeated"], ROWS, p=[0.9, 0.1]),
    }
    columns = {
        "age": AGE,
        "sex": SEX,
        "taken": {"role": "quasi", "type": "date"},
        "glucose": {"role": "sensitive", "type": "number"},
        "sodium": {"role": "sensitive", "type": "number"},
        "crp": {"role": "sensitive", "type": "number"},
        "result": {"role": "label"},
    }
    return frame, columns, [{"k-anonymity": {"k": 5}}]


def postcodes(rng):
    """Households by postcode."""
    frame = {
        "postcode": [f"{code:05d}" for code in rng.integers(1000, 1900, ROWS) * 10],
        "persons": rng.integers(1, 7, ROWS),
        "tenure": rng.choice(["owned", "rented"], ROWS),
        "heating": rng.choice(["gas", "oil", "heat pump", "district", "wood"], ROWS),
        "area": rng.integers(25, 220, ROWS),
    }
    columns = {
        "postcode": {"role": "quasi", "hierarchy": {"build": "prefix", "keep": [4, 3, 2, 1]}},
        "persons": {"role": "quasi", "type": "number"},
        "tenure": {"role": "quasi"},
        "heating": {"role": "other"},
        "area": {"role": "sensitive", "type": "number"},
    }
    return frame, columns, [{"k-anonymity": {"k": 5}}]


def register(rng):
    """Forty columns of which five are known to others."""
    frame = {
        "number": [f"R-{index:06d}" for index in range(ROWS)],
        "age": rng.integers(18, 95, ROWS),
        "sex": rng.choice(["f", "m"], ROWS),
        "state": rng.choice([f"state {index}" for index in range(16)], ROWS),
        "year": rng.integers(2000, 2025, ROWS),
        "insured": rng.choice(["public", "private"], ROWS, p=[0.9, 0.1]),
        "stage": rng.choice(["I", "II", "III", "IV"], ROWS),
        **{
            f"gene{index}": rng.choice(["wild", "mutated"], ROWS, p=[0.9, 0.1])
            for index in range(20)
        },
        **{f"drug{index}": rng.choice(["yes", "no"], ROWS) for index in range(12)},
        "months": rng.integers(0, 120, ROWS),
    }
    columns = {
        "number": {"role": "identifier"},
        "age": AGE,
        "sex": SEX,
        "state": {"role": "quasi"},
        "year": {"role": "quasi", "type": "number"},
        "insured": {"role": "quasi"},
        "stage": {"role": "sensitive"},
        **{f"gene{index}": {"role": "sensitive"} for index in range(20)},
        **{f"drug{index}": {"role": "sensitive"} for index in range(12)},
        "months": {"role": "label", "type": "number"},
    }
    return frame, columns, [{"k-anonymity": {"k": 5}}, {"l-diversity": {"l": 2, "of": "stage"}}]


@pytest.fixture
def pipeline(tmp_path):
    def build(table, *settings):
        frame, columns, privacy = table(np.random.default_rng(11))
        pd.DataFrame(frame).to_csv(tmp_path / "table.csv", index=False)
        spec = {
            "version": 1,
            "seed": 1,
            "data": {"source": "csv", "with": {"path": "table.csv"}, "columns": columns},
            "privacy": privacy,
            "stages": [{"partitioner": "mondrian"}, {"generalizer": "hierarchy"}],
            "publish": {"to": "out"},
        }
        (tmp_path / "pipeline.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
        return Pipeline.load(tmp_path / "pipeline.yaml", settings=settings)

    return build


@pytest.mark.parametrize("table", [survey, visits, laboratory, postcodes, register])
def test_ordinary_tables_are_published_under_a_green_verdict(pipeline, table):
    report = pipeline(table).run().report
    assert ("green", []) == (report["verdict"]["tone"], report["verdict"]["reasons"])


def test_exact_wages_stop_and_the_line_that_the_message_gives_cures_it(pipeline):
    with pytest.raises(PrivacyError) as refused:
        pipeline(wages).run()
    message = refused.value.what + refused.value.hint
    print(message)
    assert re.search(r"column 'wage': \d+ of 3000 published rows have a value", message)
    (line,) = re.findall(r"--set (\S+)", message)
    report = pipeline(wages, line).run().report
    assert "amber" == report["verdict"]["tone"]
    assert ["Column 'wage'"] == [
        reason.partition(":")[0] for reason in report["verdict"]["reasons"]
    ]
