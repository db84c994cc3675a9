"""Which figures of which groups are compared: as they are declared, or by default."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise

import attrs
import numpy as np

from anonloom import Column, Schema, param
from anonloom.cells import MOMENTS, cell_text
from anonloom.errors import ParameterError
from anonloom.params import between, not_empty

#: Figures that are compared when none are declared.
MOST_FIGURES = 12
#: More ranges than anybody looks at; each costs memory, whether or not a row lies in it.
MOST_RANGES = 10_000


@attrs.frozen(kw_only=True)
class Group:
    """One figure of every group: a mean, or a number of rows."""

    by: str = param(help="Column that divides the rows into groups.")
    of: str | None = param(
        help="Column whose mean is compared, or with 'value' the number of rows that have it; "
        "without it, the number of rows.",
        default=None,
    )
    value: str | float | None = param(help="Value of 'of' that is counted.", default=None)
    edges: tuple[float | str, ...] | None = param(
        help="Ends of the ranges of 'by', ascending; a range begins with its first end, and the "
        "last one has both.",
        default=None,
    )
    ranges: int | None = param(
        help="Without edges: how many ranges of about equally many rows 'by' is divided into.",
        default=None,
        check=between(2, MOST_RANGES),
    )
    name: str | None = param(help="What the figure is called.", default=None, check=not_empty())

    @property
    def title(self) -> str:
        """What its finding is called."""
        if self.name is not None:
            return self.name
        if self.of is None:
            return f"rows_by_{self.by}"
        value = "" if self.value is None else f"_{cell_text(self.value)}"
        return f"{self.of}{value}_by_{self.by}"

    @property
    def is_count(self) -> bool:
        """Whether rows are counted; otherwise a mean is computed."""
        return self.of is None or self.value is not None

    def places(self, column: Column) -> tuple[float, ...] | None:
        """Edges as places on the axis of the column.

        Raises
        ------
        ValueError
            If one is none.
        """
        if self.edges is None:
            return None
        return tuple(_place(edge, column) for edge in self.edges)

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with it on such a table."""
        unpublished = schema.publication_problem([self.by, *([] if self.of is None else [self.of])])
        return unpublished or self._wrong_measure(schema) or self._wrong_ranges(schema[self.by])

    def _wrong_measure(self, schema: Schema) -> str | None:
        if self.of is None:
            return None if self.value is None else "'value' goes with 'of': whose value it is"
        column = schema[self.of]
        if column.type == "number":
            if isinstance(self.value, str) and _number(self.value) is None:
                return f"'{self.of}' is a number, and {self.value!r} is none"
            return None
        if column.type != "category":
            return f"'of' must be a number or a category; '{self.of}' is a {column.type}"
        if self.value is None:
            return f"'{self.of}' is a category, which has no mean: say which 'value' is counted"
        return None

    def _wrong_ranges(self, column: Column) -> str | None:
        if self.edges is None and self.ranges is None:
            return None
        if column.type == "category":
            return f"'{self.by}' is a category: its values are the groups, not ranges"
        if self.edges is None:
            return None
        if self.ranges is not None:
            return "give 'edges' or 'ranges', not both"
        try:
            places = self.places(column)
        except ValueError:
            return f"'edges' must be {_WRITTEN[column.type]}, as '{self.by}' is a {column.type}"
        assert places is not None
        if len(places) < 2 or any(a >= b for a, b in pairwise(places)):
            return "'edges' must be two or more, in ascending order"
        return None


_WRITTEN = {
    "number": "numbers",
    "date": "dates such as '2024-03-01'",
    "time": "times such as '2024-03-01 14:05'",
}


def _number(text: str) -> float | None:
    try:
        result = float(text)
    except ValueError:
        return None
    return result if np.isfinite(result) else None


def _place(edge: float | str, column: Column) -> float:
    if column.type == "number":
        if isinstance(edge, str):
            raise ValueError
        return edge
    if not isinstance(edge, str):
        raise ValueError
    moment = np.datetime64(edge, MOMENTS[column.type])
    if np.isnat(moment):
        raise ValueError
    return float(moment.astype(np.int64))


def parse_groups(given: Sequence[Mapping[str, object]]) -> list[Group]:
    """Read the groups that a pipeline file declares.

    Raises
    ------
    ParameterError
        Naming the first group that is none.
    """
    return [_group(number, values) for number, values in enumerate(given)]


def _group(number: int, values: Mapping[str, object]) -> Group:
    keys = [field.name for field in attrs.fields(Group)]
    for key in values:
        if key not in keys:
            guesses = get_close_matches(key.lower(), keys, n=1)
            known = ", ".join(f"'{item}'" for item in keys)
            meant = f"did you mean '{guesses[0]}'?" if guesses else f"a group has {known}"
            raise ParameterError(f"groups[{number}]: '{key}' is no key of a group; {meant}")
    if "by" not in values:
        raise ParameterError(f"groups[{number}]: 'by' is missing: the column that makes groups")
    try:
        return Group(**values)  # type: ignore[arg-type]  # its parameters check themselves
    except ParameterError as error:
        raise ParameterError(f"groups[{number}]: {error}") from None


def problem_of(given: Sequence[Mapping[str, object]], schema: Schema) -> str | None:
    """Say what is wrong with declared groups, or None."""
    try:
        groups = parse_groups(given)
    except ParameterError as error:
        return str(error)
    for number, group in enumerate(groups):
        wrong = group.problem(schema)
        if wrong is not None:
            return f"groups[{number}]: {wrong}"
    titles = [group.title for group in groups]
    for number, title in enumerate(titles):
        if title in titles[:number]:
            return f"groups[{number}]: another group is called '{title}'; give it a 'name'"
    return None


def usual(schema: Schema, values: Mapping[str, str], shown: Sequence[str]) -> list[Group]:
    """Every column that is not a quasi-identifier by each one that is; then those by each other.

    Parameters
    ----------
    values
        The value that is counted, for every category that can be counted.
    shown
        Columns that the tables share.
    """
    quasi = [name for name in schema.quasi if name in shown]
    labels = [name for name in schema.names_with_role("label", "sensitive") if name in shown]
    labels.sort(key=lambda name: schema[name].role != "label")
    others = [name for name in schema.names_with_role("other") if schema[name].type == "number"]
    numbers = [name for name in quasi if schema[name].type == "number"]
    figures = [
        name
        for name in [*labels, *(name for name in others if name in shown)]
        if schema[name].type == "number" or name in values
    ]
    pairs = [(of, by) for by in quasi for of in figures]
    pairs += [(of, by) for by in quasi for of in numbers if of != by]
    return [Group(of=of, value=values.get(of), by=by) for of, by in pairs]
