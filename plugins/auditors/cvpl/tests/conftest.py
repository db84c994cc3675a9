"""Shoppers: a small table of every kind of column, published in every way a release may be."""

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import Classes, Column, Release, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_testing.auditor import in_classes, publish_classes

TOWNS = {"north": ["a", "b"], "south": ["c", "d", "e"]}
RELEASES = ("as it is", "perturbed", "in classes", "sampled", "rows suppressed", "synthetic")


def shoppers_schema(towns=TOWNS):
    return Schema(
        [
            Column(name="age", role="quasi", type="number"),
            Column(name="town", role="quasi", hierarchy=Tree(tree=towns)),
            Column(name="sex", role="quasi"),
            Column(name="spent", role="other", type="number"),
            Column(name="shop", role="other"),
            Column(name="at", role="other", type="time"),
            Column(name="illness", role="sensitive"),
        ]
    )


def shoppers_frame(rows, rng, missing=False):
    start = np.datetime64("2024-03-01T00:00:00")
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 48, rows).astype(float),
            "town": rng.choice(list("abcde"), rows).astype(object),
            "sex": rng.choice(list("fm"), rows).astype(object),
            "spent": rng.normal(50, 20, rows).round(2),
            "shop": rng.choice(["x", "y", "z"], rows).astype(object),
            "at": start + rng.integers(0, 40 * 86_400, rows).astype("timedelta64[s]"),
            "illness": rng.choice(["flu", "cough", "none"], rows).astype(object),
        }
    )
    if missing:
        for name in ("age", "town", "spent", "shop"):
            frame.loc[rng.random(rows) < 0.15, name] = None
    return frame


def perturbed_frame(frame, rng):
    noisy = frame.copy()
    noisy["age"] = (frame["age"] + rng.integers(-2, 3, len(frame))).clip(18, 47)
    noisy["spent"] = (frame["spent"] + rng.normal(0, 4, len(frame))).round(2)
    swapped = rng.random(len(frame)) < 0.1
    noisy.loc[swapped, "shop"] = rng.choice(["x", "y", "z"], int(swapped.sum())).astype(object)
    return noisy


@attrs.frozen(eq=False)
class Shop:
    """An original, a release, and whose every row of it is."""

    original: Table
    release: Release
    owner: np.ndarray | None


def published(kind, table, frame, rng):
    if kind == "as it is":
        return Release.as_it_is(table)
    if kind == "perturbed":
        return Release.as_it_is(Table.build(perturbed_frame(frame, rng), table.schema))
    if kind == "in classes":
        return in_classes(table, int(rng.integers(2, 6)))
    if kind == "sampled":
        rows = rng.permutation(len(table))[: max(len(table) // 2, 1)]
        return Release.as_it_is(table).take(rows)
    if kind == "rows suppressed":
        hidden = rng.random(len(table)) < 0.3
        labels = np.flatnonzero(~hidden)
        classes = Classes.from_labels(
            np.arange(len(labels)), rows=labels, suppressed=np.flatnonzero(hidden)
        )
        return publish_classes(table, classes)
    drawn = Table.build(shoppers_frame(len(table), rng), table.schema)
    return attrs.evolve(Release.as_it_is(drawn), origin=None)


def shopped(kind="as it is", rows=20, seed=0, missing=False):
    """Draw people, and publish them in one of the ways."""
    rng = np.random.default_rng([seed, rows])
    frame = shoppers_frame(rows, rng, missing)
    table = Table.build(frame, shoppers_schema())
    release = published(kind, table, frame, rng)
    return Shop(table, release, release.rows_in(table))


@pytest.fixture(scope="session")
def shop():
    """A function that draws an original and a release."""
    return shopped


@pytest.fixture(scope="session")
def shoppers():
    """What the shop is made of: its frame, its schema, and how it is published."""
    return Shoppers(shoppers_frame, shoppers_schema, published)


@attrs.frozen
class Shoppers:
    """The parts of a shop."""

    frame: object
    schema: object
    published: object
