"""Mechanism `perturb`: every row stays, with noise on its numbers and some categories swapped."""

from collections.abc import Mapping
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Chart, Column, Finding, Mechanism, Schema, StageContext, Table, param
from anonloom.data import EncodedColumn, Role, encode
from anonloom.errors import UsageError
from anonloom.lazy import pd
from anonloom.params import all_of, at_least, between, distinct, not_empty
from anonloom_columns import OrderedColumn
from anonloom_perturbation.amounts import Every
from anonloom_perturbation.noise import Level, add_noise, usual_noise
from anonloom_perturbation.swaps import OF_CATEGORIES, How, donors

#: Roles that are perturbed without being named.
USUAL: tuple[Role, ...] = ("quasi", "other")

#: Roles that may be named.
POSSIBLE: tuple[Role, ...] = ("quasi", "other", "sensitive", "label")


@attrs.frozen(kw_only=True)
class Perturb(Mechanism):
    """Jitters numbers, dates and times, and swaps categories; every row stays where it was."""

    truthful: ClassVar[bool] = False
    #: Parameters with which `anonloom plugins check` tries it: by its notes the kit tells rows
    #: apart, so that these must not change hands.
    example: ClassVar[dict[str, object]] = {"level": "high", "swap": {"note": 0}}

    level: Level | None = param(
        help="How much columns are perturbed that 'noise' and 'swap' do not name; null leaves "
        "them as they are.",
        default="medium",
    )
    noise: dict[str, float] = param(
        help="Standard deviation of the noise per column: of a number in its own unit, of a date "
        "in days, of a time in seconds.",
        default=attrs.Factory(dict),
        check=Every(at_least(0)),
    )
    swap: float | dict[str, float] | None = param(
        help="Share of the cells that are swapped: of every category, or per column.",
        default=None,
        check=Every(between(0, 1)),
    )
    swapping: How = param(
        help="Whether the chosen rows pass their values on among each other, so that every value "
        "stays as frequent as it was, or each takes the value of any row.",
        default="permute",
    )
    columns: tuple[str, ...] | None = param(
        help="The columns to perturb, beside those that 'noise' and 'swap' name; by default those "
        "with the roles quasi and other.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )
    clip: bool = param(
        help="Whether numbers, dates and times stay within the range of their column.",
        default=True,
    )

    def __attrs_post_init__(self) -> None:
        """Refuse parameters that perturb nothing."""
        if self.level is None and not self.noise and not self.swap:
            raise ValueError("nothing would be perturbed: give 'level', 'noise' or 'swap'")

    def protect(self, table: Table, context: StageContext) -> Table:
        """Return the table with perturbed cells; rows correspond, in the same order.

        Raises
        ------
        UsageError
            When a column that a parameter names cannot be perturbed so.
        """
        problem = self.problem(table.schema)
        if problem is not None:
            raise UsageError(f"perturb: {problem}")
        perturbed, shares = {}, {}
        for name in self._column_names(table.schema):
            column, cells = table.schema[name], table.column(name)
            change = self._swap_values if column.type == "category" else self._add_noise
            perturbed[name], differs = change(cells, column, context.rng)
            shares[name] = float(differs.mean())
        context.find(*_findings(shares))
        return _with(table.with_all_columns(), perturbed)

    def _column_names(self, schema: Schema) -> tuple[str, ...]:
        """Names of the columns to perturb, in the schema's order."""
        chosen = set(schema.names_with_role(*USUAL) if self.columns is None else self.columns)
        return tuple(name for name in schema.names if name in chosen.union(*self._column_amounts()))

    def _column_amounts(self) -> tuple[Mapping[str, float], Mapping[str, float]]:
        """What is said of single columns: noise, and shares to swap."""
        return self.noise, self.swap if isinstance(self.swap, dict) else {}

    def _add_noise(
        self, cells: Any, column: Column, rng: np.random.Generator
    ) -> tuple[Any, NDArray[np.bool_]]:
        line = OrderedColumn.of(cells, column)
        deviation = self.noise.get(column.name)
        if deviation is None:
            deviation = usual_noise(line, self.level) if self.level is not None else 0.0
        written = line.series(add_noise(line, deviation, self.clip, rng))
        return written, line.present & (OrderedColumn.of(written, column).places != line.places)

    def _swap_values(
        self, cells: Any, column: Column, rng: np.random.Generator
    ) -> tuple[Any, NDArray[np.bool_]]:
        usual = OF_CATEGORIES[self.level] if self.level is not None else 0.0
        if isinstance(self.swap, float):
            usual = self.swap
        share = self._column_amounts()[1].get(column.name, usual)
        entries = pd.factorize(cells)[0]
        source = donors(entries >= 0, share, self.swapping, rng)
        return cells.take(source).reset_index(drop=True), entries[source] != entries

    def problem(self, schema: Schema) -> str | None:
        """Say which column cannot be perturbed as the parameters say."""
        noise, swap = self._column_amounts()
        wrong = schema.publication_problem([*(self.columns or ()), *noise, *swap])
        if wrong is not None:
            return wrong
        chosen = self._column_names(schema)
        if not chosen:
            return "no column has role 'quasi' or 'other': name those to be perturbed in 'columns'"
        for name in chosen:
            type_ = schema[name].type
            if schema[name].role not in POSSIBLE:
                return f"column '{name}' is a pseudonym, which has nothing to perturb"
            if name in noise and type_ == "category":
                return f"'noise' names column '{name}', which is a category; 'swap' is for these"
            if name in swap and type_ != "category":
                return f"'swap' names column '{name}', which is a {type_}; 'noise' is for these"
        return None


def _with(table: Table, perturbed: Mapping[str, Any]) -> Table:
    """Put perturbed columns into the table; axes follow the values that occur now."""
    frame = table.frame
    columns = {name: perturbed.get(name, frame[name]) for name in frame.columns}
    coded = [
        encode(perturbed[axis.name], table.schema[axis.name])
        if axis.name in perturbed
        else EncodedColumn(axis, codes)
        for axis, codes in zip(table.axes, table.codes, strict=True)
    ]
    changed = pd.DataFrame(columns, index=frame.index, copy=False)
    return attrs.evolve(table, frame=changed, coded={}).with_quasi(coded)


def _findings(shares: Mapping[str, float]) -> tuple[Finding, Chart]:
    meaning = "Share of the cells of the perturbed columns that differ from the original."
    return (
        Finding(name="changed", value=float(np.mean([*shares.values()])), meaning=meaning),
        Chart(
            name="changed_by_column",
            kind="bars",
            title="Changed cells",
            data={"labels": [*shares], "share": [*shares.values()]},
            x="column",
            y="share",
            meaning="Share of the cells of each perturbed column that differ from the original.",
        ),
    )
