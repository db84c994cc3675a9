"""Categories of many values that nothing groups: a class that mixes two of them publishes `*`."""

from collections.abc import Iterator

from anonloom import Table

#: Of a category with more values than this hardly a class is pure.
MANY = 100


def flat_categories(table: Table) -> Iterator[str]:
    """Say of every quasi-identifier with many values and no hierarchy what it will lose.

    A category that is published as a set of its values needs no hierarchy.
    """
    for axis in table.axes:
        column = table.schema[axis.name]
        grouped = column.generalization is not None or column.form == "set"
        if column.type == "category" and axis.value_count > MANY and not grouped:
            yield (
                f"Column '{axis.name}' is a category of {axis.value_count} different values "
                "without a hierarchy: where a class holds two of them, '*' is published for all "
                "its rows. 'hierarchy: {build: prefix, keep: [3, 2]}' groups codes by their first "
                "characters; a file can group any values."
            )
