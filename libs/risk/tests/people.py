"""Populations for tests: people who are mostly unique, drawn anew for every seed."""

import numpy as np
import pandas as pd

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom.data import Role

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="income", role="quasi", type="number"),
        Column(name="illness", role="sensitive"),
    )
)


def frame(count, seed, alike=0.0):
    """Return people; a share of them is of a few kinds who are all alike."""
    rng = np.random.default_rng(seed)
    result = pd.DataFrame(
        {
            "age": rng.integers(18, 90, count),
            "town": rng.choice([f"t{index}" for index in range(12)], count),
            "income": rng.normal(2000, 500, count).round(),
            "illness": rng.choice(["flu", "gout", "asthma"], count),
        }
    )
    same = rng.random(count) < alike
    kinds = frame(3, 99) if alike else result
    if alike:
        drawn = kinds.iloc[rng.integers(0, 3, count)].reset_index(drop=True)
        names = ["age", "town", "income"]
        result.loc[same, names] = drawn.loc[same, names]
    return result


def table(count=400, seed=1, alike=0.0):
    """Return people as a table."""
    return Table.build(frame(count, seed, alike), SCHEMA)


def published(people, schema=SCHEMA):
    """Publish a frame of raw rows of which nobody knows whose they are."""
    release = Release.as_it_is(Table.build(people.reset_index(drop=True), schema))
    return Release(release.schema, release.frame, None, None, release.truthful)


def case(original, release, control=None, **more):
    """Return the evidence."""
    return AuditInput(release, original, control=control, **more)


def context(seed=5):
    """Return the context of a stage."""
    return StageContext(stage="audit", seed=seed)


def with_role(name, role: Role):
    """Return the schema with another role of one column."""
    return Schema(
        tuple(
            Column(name=item.name, role=role, type=item.type) if item.name == name else item
            for item in SCHEMA
        )
    )
