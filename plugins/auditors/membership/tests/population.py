"""People for tests, drawn anew for every seed."""

import numpy as np
import pandas as pd

from anonloom import AuditInput, Classes, Column, Release, Schema, StageContext, Table

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number"),
        Column(name="rent", role="quasi", type="number"),
        Column(name="area", role="quasi"),
        Column(name="illness", role="sensitive"),
    )
)


def frame(count, seed):
    """Return people who are mostly unique."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, count),
            "rent": rng.normal(700, 180, count).round().astype(int),
            "area": rng.choice(["north", "south", "east", "west"], count),
            "illness": rng.choice(["flu", "gout", "asthma"], count),
        }
    )


def twins(count, seed):
    """Return people of whom about one half equals somebody else of the population."""
    result = frame(count, seed)
    rng = np.random.default_rng(seed + 1)
    kinds = frame(5, 99)
    same = rng.random(count) < 0.5
    result.loc[same] = kinds.iloc[rng.integers(0, 5, int(same.sum()))].to_numpy()
    return result.astype({"age": int, "rent": int})


def table(people):
    """Return people as a table."""
    return Table.build(people, SCHEMA)


def published(people):
    """Publish raw rows of which nobody knows whose they are."""
    release = Release.as_it_is(table(people.reset_index(drop=True)))
    return Release(release.schema, release.frame, None, None, release.truthful)


def in_classes(people, size):
    """Publish people in classes of like age and rent, as intervals."""
    original = table(people)
    order = np.lexsort((original.frame["rent"], original.frame["age"].to_numpy() // 10))
    labels = np.empty(len(original), np.int64)
    labels[order] = np.minimum(np.arange(len(original)) // size, len(original) // size - 1)
    classes = Classes.from_labels(labels)
    lo, hi = classes.extents(original.codes)
    cells = [axis.publish(lo[:, i], hi[:, i]) for i, axis in enumerate(original.axes)]
    return Release.from_cells(original, classes, cells, truthful=True)


def evidence(original, release, control=None, **more):
    """Return the evidence about a release."""
    held = None if control is None else table(control)
    return AuditInput(release, table(original), control=held, **more)


def context(seed=5):
    """Return the context of a stage."""
    return StageContext(stage="audit", seed=seed)
