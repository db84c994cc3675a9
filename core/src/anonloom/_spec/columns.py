"""The columns of a pipeline: roles, types, hierarchies."""

from anonloom._spec.cursor import Cursor
from anonloom._spec.methods import MethodBuilder
from anonloom._spelling import comma_list, did_you_mean
from anonloom.data._hierarchy_builders import (
    Breaks,
    Calendar,
    FromFile,
    HierarchySource,
    Prefix,
    Quantiles,
    Tree,
    Widths,
)
from anonloom.data._schema import ROLES, Column, Schema

#: What `hierarchy: {build: ...}` can name.
BUILDERS: dict[str, type[HierarchySource]] = {
    "widths": Widths,
    "quantiles": Quantiles,
    "breaks": Breaks,
    "prefix": Prefix,
    "calendar": Calendar,
    "tree": Tree,
}


def read_columns(cursor: Cursor, builder: MethodBuilder) -> Schema | None:
    """Read `data.columns`."""
    before = len(cursor.problems)
    entries = cursor.entries("a mapping of columns")
    if entries is None:
        return None
    if not entries:
        cursor.error("no column is declared", "a column that is not declared is not published")
        return None
    results = [(entry, read_column(entry, name, builder)) for name, entry in entries.items()]
    persons = [entry for entry, column in results if column and column.role == "person"]
    for entry in persons[1:]:
        entry.error(
            "a table has at most one column with the role 'person'",
            f"{persons[0].path[-1]!r} has it already",
        )
    columns = [column for _, column in results if column is not None]
    if columns and len(cursor.problems) == before and not any(c.is_published for c in columns):
        cursor.error(
            "none of the columns would be published",
            "roles that are published: quasi, sensitive, label, other",
        )
    return Schema(tuple(columns)) if len(cursor.problems) == before else None


def read_column(cursor: Cursor, name: str, builder: MethodBuilder) -> Column | None:
    """Read one entry of `data.columns`."""
    if isinstance(cursor.value, str) and cursor.value in ROLES:
        cursor.expect("a mapping with the column's role", f"write {{role: {cursor.value}}}")
        return None
    entries = cursor.entries("a mapping with the column's role")
    if entries is None:
        return None
    values: dict[str, object] = {key: entry.plain() for key, entry in entries.items()}
    if "name" in entries:
        entries["name"].error(
            "unknown key 'name' in a column", "a column's name is its key", at_key=True
        )
        return None
    hierarchy = entries.get("hierarchy")
    if hierarchy is not None and hierarchy.value is not None:
        values["hierarchy"] = read_hierarchy(hierarchy, builder)
        if values["hierarchy"] is None:
            return None
    return builder.section(cursor, Column, "a column", {**values, "name": name})


def check_bounds(cursor: Cursor, schema: Schema) -> None:
    """Complain of a column that has the name of another's bounds: it would be overwritten."""
    for column in schema:
        if column.role != "quasi" or column.form != "interval":
            continue
        for name in (f"{column.name}_min", f"{column.name}_max"):
            if name in schema.published_names:
                cursor.error(
                    f"the bounds of column {column.name!r} would be called {name!r}, "
                    "and so is another column",
                    "rename that column in the data, or write 'intervals: cells'",
                )


def read_hierarchy(cursor: Cursor, builder: MethodBuilder) -> HierarchySource | None:
    """Read a hierarchy: a path, or ``{build: ..., ...}``."""
    if isinstance(cursor.value, str):
        return builder.section(cursor, FromFile, "a hierarchy", {"path": cursor.value})
    entries = cursor.entries("a path or a mapping with 'build'")
    if entries is None:
        return None
    if "build" not in entries:
        cursor.error("a hierarchy needs 'build', or is a path", f"build: {comma_list(BUILDERS)}")
        return None
    named = entries.pop("build")
    if not isinstance(named.value, str) or named.value not in BUILDERS:
        hint = did_you_mean(named.value, BUILDERS) if isinstance(named.value, str) else ""
        named.expect(f"one of {', '.join(map(repr, BUILDERS))}", hint)
        return None
    values = {key: entry.plain() for key, entry in entries.items()}
    return builder.section(
        cursor, BUILDERS[named.value], f"a hierarchy built with '{named.value}'", values
    )
