"""Eleven releases of two real tables, from no protection at all to people who are not in them.

Original, control and the independent draw are disjoint parts of the same table, of equal size. The
order of a release's rows says nothing, and no auditor is told whose row is whose.
"""

import re
from collections.abc import Callable, Mapping

import attrs
import numpy as np
import pandas as pd
from adult_table import adult_file, encoded

from anonloom import Column, Guard, Mechanism, Release, Schema, StageContext, Table
from anonloom.typing import IntArray
from anonloom_diabetes import file as diabetes
from anonloom_mondrian.mondrian import Mondrian
from anonloom_perturbation.noise import Level
from anonloom_perturbation.perturb import Perturb
from anonloom_privacy_models.k_anonymity import KAnonymity
from anonloom_recoding.hierarchy import ByHierarchy
from anonloom_runner.external import release_from
from anonloom_synthesis.copula import Copula

ROWS = 5_000
K = 10
COPY, COPULA, INDEPENDENT, GENERALIZED = "copy", "copula", "independent", f"k = {K}"
NOISES: tuple[Level, ...] = ("low", "medium", "high")
#: Share of the release's rows that are the original's, as they were or with low noise on numbers.
LEAKS = {
    "5 % verbatim": (0.05, False),
    "1 % verbatim": (0.01, False),
    "5 % jittered": (0.05, True),
}
RELEASES = (
    COPY,
    *(f"noise {level}" for level in NOISES),
    *LEAKS,
    COPULA,
    "marginals",
    GENERALIZED,
    INDEPENDENT,
)


@attrs.frozen(eq=False, repr=False)
class Population:
    """A real table, and how anonymeter divides its columns between two parties who link them.

    Attributes
    ----------
    halves
        What either party knows.
    """

    name: str
    frame: pd.DataFrame
    schema: Schema
    halves: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns of numbers."""
        return tuple(column.name for column in self.schema if column.type == "number")


@attrs.frozen(eq=False, repr=False)
class Protected:
    """A release, and the rows of the original that were put into it on purpose."""

    release: Release
    leaked: IntArray = attrs.field(factory=lambda: np.empty(0, np.int64))


@attrs.frozen(eq=False, repr=False)
class Case:
    """One seed's division of a population, with every release of the original."""

    population: Population
    seed: int
    original: Table
    control: Table
    releases: Mapping[str, Protected]


def adult() -> Population:
    """All complete rows of Adult with its eight quasi-identifiers and the class of salary."""
    frame = pd.read_csv(adult_file(1), keep_default_na=False)
    schema = encoded(frame[:1_000]).schema
    first = ("sex", "age", "race", "native-country")
    return Population("adult", frame[list(schema.names)], schema, _halves(schema, first))


def medical() -> Population:
    """Return the diabetes prediction table: the laboratory's values are what is to be protected.

    Raises
    ------
    SystemExit
        When ANONLOOM_DATA does not have it.
    """
    path = diabetes.find()
    if path is None:
        raise SystemExit(f"the diabetes table is missing ({diabetes.why_absent()})")
    sensitive = ("HbA1c_level", "blood_glucose_level", "diabetes")
    schema = Schema(
        tuple(
            Column(
                name=name,
                role="sensitive" if name in sensitive else "quasi",
                type="number" if name in diabetes.NUMBERS else "category",
            )
            for name in diabetes.COLUMNS
        )
    )
    frame = diabetes.read(path, StageContext())
    first = ("gender", "age", "smoking_history", "bmi")
    return Population("diabetes", frame, schema, _halves(schema, first))


#: By the name that the command line knows.
POPULATIONS: dict[str, Callable[[], Population]] = {"adult": adult, "diabetes": medical}


def divide(population: Population, seed: int, rows: int = ROWS) -> Case:
    """Draw three disjoint parts of a population and make every release of the first."""
    order = np.random.default_rng(seed).permutation(len(population.frame))[: 3 * rows]
    if len(order) < 3 * rows:
        raise SystemExit(f"{population.name} has no three disjoint parts of {rows} rows")
    original, control, independent = (
        _table(population.frame.iloc[part], population.schema) for part in np.split(order, 3)
    )
    return Case(population, seed, original, control, _releases(original, independent, seed))


def read_as(release: Release, schema: Schema) -> Release:
    """Return a release as it is read from a file; nobody knows whose its rows are."""
    return release_from(release.frame.astype(str), schema)


def plain(release: Release) -> pd.DataFrame:
    """Return a release as other packages take it: an interval of numbers is its middle."""
    cells = release.frame
    columns = {}
    for column in release.schema:
        texts = cells[column.name].astype(str)
        columns[column.name] = texts.map(_middle) if column.type == "number" else texts
    return pd.DataFrame(columns)


def _middle(text: str) -> float:
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]
    return float(np.mean(numbers)) if numbers else float("nan")


def _halves(schema: Schema, first: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return first, tuple(name for name in schema.names if name not in first)


def _table(frame: pd.DataFrame, schema: Schema) -> Table:
    return Table.build(frame.reset_index(drop=True), schema)


def _releases(original: Table, independent: Table, seed: int) -> dict[str, Protected]:
    rng = np.random.default_rng([seed, 1])
    every = original.schema.names

    def protected(mechanism: Mechanism, name: str) -> Table:
        return mechanism.protect(original, StageContext(stage=name, seed=seed))

    tables = {COPY: original, INDEPENDENT: independent, COPULA: protected(Copula(), COPULA)}
    for level in NOISES:
        name = f"noise {level}"
        tables[name] = protected(Perturb(level=level, columns=every), name)
    # Every column drawn for itself, from the values that the original has.
    tables["marginals"] = protected(Copula(correlation=0.0, shared=1), "marginals")
    results = {name: Protected(_published(table, rng)) for name, table in tables.items()}
    jitter = Perturb(level="low", swap=0.0, columns=every)
    for name, (share, jittered) in LEAKS.items():
        source = protected(jitter, name) if jittered else original
        results[name] = _leak(tables[COPULA], source, share, rng)
    generalized = _generalized(original, seed)
    results[GENERALIZED] = Protected(generalized.take(rng.permutation(len(generalized))))
    return {name: results[name] for name in RELEASES}


def _leak(synthetic: Table, source: Table, share: float, rng: np.random.Generator) -> Protected:
    """Put some of the original's people in the place of synthetic ones."""
    count = round(share * len(source))
    leaked = rng.choice(len(source), count, replace=False).astype(np.int64)
    parts = [_cells(synthetic).iloc[count:], _cells(source).iloc[leaked]]
    return Protected(_published(_table(pd.concat(parts), source.schema), rng), leaked)


def _generalized(original: Table, seed: int) -> Release:
    context = StageContext(stage=GENERALIZED, seed=seed)
    guard = Guard((KAnonymity(k=K),))
    classes = Mondrian().partition(original, original.whole(), guard, context)
    return read_as(ByHierarchy().generalize(original, classes, context), original.schema)


def _published(table: Table, rng: np.random.Generator) -> Release:
    rows = rng.permutation(len(table))
    return read_as(Release.as_it_is(table.take(rows)), table.schema)


def _cells(table: Table) -> pd.DataFrame:
    texts = [column.name for column in table.schema if column.type == "category"]
    return table.frame[list(table.schema.names)].astype(dict.fromkeys(texts, object))
