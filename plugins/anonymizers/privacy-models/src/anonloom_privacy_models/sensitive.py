"""What models about a sensitive column say when the table does not have the right one."""

from anonloom import Column, Schema


def quoted_names(names: tuple[str, ...]) -> str:
    """Names in quotes, or 'none'."""
    return ", ".join(f"'{name}'" for name in names) or "none"


def problem_with(schema: Schema, name: str) -> str | None:
    """Say why a column cannot be the sensitive one, or None."""
    there = f"sensitive columns: {quoted_names(schema.names_with_role('sensitive'))}"
    if name not in schema:
        return f"column '{name}' is not declared; {there}"
    if schema[name].role != "sensitive":
        return f"column '{name}' has role '{schema[name].role}', not 'sensitive'; {there}"
    return None


def problem_with_order(column: Column) -> str | None:
    """Say why the values of a column have no order, or None."""
    if column.type == "category":
        return (
            f"column '{column.name}' is a category, whose values have no order; declare it as "
            "'type: number' or 'type: date', or use 'distance: equal' or 'distance: hierarchical'"
        )
    return None


def problem_with_hierarchy(column: Column) -> str | None:
    """Say why the values of a column form no tree, or None."""
    if column.generalization is None:
        other = "'distance: equal'" if column.type == "category" else "'distance: ordered'"
        return f"column '{column.name}' has no hierarchy; declare one, or use {other}"
    return None
