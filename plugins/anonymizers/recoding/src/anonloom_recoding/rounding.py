"""Mechanism `round`: dates, times and numbers that are published no finer than a declared unit."""

from typing import Any, ClassVar

import attrs
import numpy as np

from anonloom import Column, Mechanism, Schema, StageContext, Table, param
from anonloom.cells import MOMENTS
from anonloom.data import EncodedColumn, encode
from anonloom.errors import UsageError
from anonloom.hierarchies import Calendar, CalendarUnit, HierarchySource, Widths
from anonloom.lazy import pd
from anonloom.params import not_empty

#: The level of a hierarchy above the single values.
ROUNDED = 1


@attrs.frozen(kw_only=True)
class Round(Mechanism):
    """Publishes columns that nothing else generalizes as units of the calendar, or as bins."""

    #: A cell says which unit the value lies in, and nothing that is not so.
    truthful: ClassVar[bool] = True

    to: dict[str, CalendarUnit | float] = param(
        help="What the cells of a column are rounded to: a unit of the calendar for dates and "
        "times, the width of bins for numbers.",
        check=not_empty(),
    )

    def protect(self, table: Table, context: StageContext) -> Table:
        """Return the table with rounded cells; every row stays where it was.

        A rounded column is a category from here on, whose values name units or bins.

        Raises
        ------
        UsageError
            When a column cannot be rounded so.
        """
        table = table.with_all_columns()
        problem = self.problem(table.schema)
        if problem is not None:
            raise UsageError(f"round: {problem}")
        rounded = {
            name: _units(table.column(name), table.schema[name], to) for name, to in self.to.items()
        }
        schema = Schema(
            tuple(
                attrs.evolve(column, type="category", hierarchy=None, format=None)
                if column.name in rounded
                else column
                for column in table.schema
            )
        )
        frame = table.frame
        columns = {name: rounded.get(name, frame[name]) for name in frame.columns}
        changed = pd.DataFrame(columns, index=frame.index, copy=False)
        axes = zip(table.axes, table.codes, strict=True)
        return attrs.evolve(table, schema=schema, frame=changed, coded={}).with_quasi(
            [EncodedColumn(axis, codes) for axis, codes in axes]
        )

    def problem(self, schema: Schema) -> str | None:
        """Say which column cannot be rounded as the parameters say."""
        wrong = schema.publication_problem(self.to)
        if wrong is not None:
            return wrong
        for name, to in self.to.items():
            wrong = _problem_of(schema[name], to)
            if wrong is not None:
                return f"column '{name}' {wrong}"
        return None


def _problem_of(column: Column, to: CalendarUnit | float) -> str | None:
    if column.role == "quasi":
        return "is a quasi-identifier, which its hierarchy generalizes"
    if column.role != "other":
        return f"has role '{column.role}'; only columns with the role 'other' are rounded"
    if column.type == "category":
        return "is a category, which has nothing to round"
    if column.type in MOMENTS:
        if not isinstance(to, str):
            return f"is a {column.type}: name a unit of the calendar, such as 'month'"
        if column.type == "date" and Calendar(units=(to,)).within_months:
            return f"is a date: '{to}' is a unit of 'type: time'"
        return None
    if isinstance(to, str):
        return "is a number: give the width of the bins"
    return None if to > 0 else f"needs bins wider than 0. Got {to:g} instead."


def _units(cells: Any, column: Column, to: CalendarUnit | float) -> Any:
    """Write the unit that every cell lies in; missing stays missing."""
    hierarchy: HierarchySource = (
        Calendar(units=(to,)) if isinstance(to, str) else Widths(widths=(to,))
    )
    generalized = Column(name=column.name, role="quasi", type=column.type, hierarchy=hierarchy)
    coded = encode(cells, generalized)
    written = coded.axis.publish(coded.codes, coded.codes, np.full(len(coded.codes), ROUNDED))
    return pd.Series(written, index=cells.index, dtype="str")
