"""Mechanism `drop-columns`: what is not in the table cannot be published."""

from typing import ClassVar

import attrs

from anonloom import Mechanism, Schema, StageContext, Table, param
from anonloom.errors import UsageError
from anonloom.params import all_of, distinct, not_empty


@attrs.frozen(kw_only=True)
class DropColumns(Mechanism):
    """Takes published columns out of the table; every row stays."""

    truthful: ClassVar[bool] = True
    #: Parameters with which `anonloom plugins check` tries it.
    example: ClassVar[dict[str, object]] = {"columns": ["outcome"]}

    columns: tuple[str, ...] = param(
        help="The columns to drop; they must be published ones.",
        check=all_of(not_empty(), distinct()),
    )

    def protect(self, table: Table, context: StageContext) -> Table:
        """Return the table without the columns.

        Raises
        ------
        UsageError
            When a column is not declared, or is not published anyway.
        """
        table = table.with_all_columns()
        problem = self.problem(table.schema)
        if problem is not None:
            raise UsageError(f"drop-columns: {problem}")
        return table.without(self.columns)

    def problem(self, schema: Schema) -> str | None:
        """Say which column cannot be dropped."""
        return schema.publication_problem(self.columns)
