"""What each column of a table is: its role, its type and how it is published."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

import attrs

from anonloom._representation import short_repr
from anonloom.cells import MOMENTS
from anonloom.data._hierarchy_builders import Calendar, HierarchySource
from anonloom.data._text import normalize_text
from anonloom.params import above, param

Role = Literal["identifier", "quasi", "sensitive", "label", "other", "person", "group", "truth"]
Type = Literal["category", "number", "date", "time"]
Form = Literal["interval", "nodes", "set"]

ROLES: tuple[Role, ...] = get_args(Role)

#: What pandas calls every form of that standard.
ISO = "ISO8601"

#: A full hour in the afternoon: a source may write no minutes, but must tell 4 from 16.
_SAMPLE = datetime(2001, 2, 3, 16)

#: Roles whose columns leave the house. Identifiers do only as pseudonyms; `person`, `group` and
#: `truth` serve counting and evaluation and would identify people if they were published.
PUBLISHED: frozenset[Role] = frozenset({"quasi", "sensitive", "label", "other"})


@attrs.frozen(kw_only=True)
class Column:
    """One declared column. A column that is not declared is not published."""

    name: str = param(help="The column's name in the source.")
    role: Role = param(help="What the column is for; decides whether and how it is published.")
    type: Type = param(
        help="What its values are; a date is a day, a time a moment to the second.",
        default="category",
    )
    publish: Form | None = param(
        help="How a quasi-identifier is published; by default `interval` for a number without a "
        "hierarchy and `nodes` for everything else.",
        default=None,
    )
    hierarchy: HierarchySource | None = param(
        help="A CSV or YAML file, or a builder: how values are generalized.", default=None
    )
    missing: Literal["own", "refuse", "suppress"] = param(
        help="A missing value is a leaf of its own, an error, or suppresses its row; that of a "
        "person is an error by default.",
        default="own",
    )
    unknown: Literal["refuse", "own-leaf"] = param(
        help="A value that the hierarchy lacks is an error, or becomes a leaf below the root.",
        default="refuse",
    )
    weight: float = param(help="Weight of the column's loss.", default=1.0, check=above(0))
    format: str | None = param(
        help="How a date or a time is written (strptime), or ISO8601; by default `%Y-%m-%d` for a "
        "date and ISO8601 for a time.",
        default=None,
    )
    pseudonymize: bool = param(
        help="Publish an identifier as a keyed hash instead of dropping it.", default=False
    )
    accept: Literal["unique"] | None = param(
        help="Publish the column as it is although its values single people out; the report says "
        "so.",
        default=None,
    )
    key: Path | None = param(
        help="File with the hexadecimal key of the pseudonyms (32 bytes or more); a new key is "
        "drawn from the system's randomness for every run without it.",
        default=None,
        private=True,
    )
    namesakes: bool = param(
        help="Different people share a value of this identifier, such as a name: rows that have "
        "the same one are not taken for one person's.",
        default=False,
    )

    def __attrs_post_init__(self) -> None:
        """Refuse options that contradict each other."""
        if normalize_text(self.name) != self.name:
            raise ValueError(
                "a column's name must be in Unicode's form NFC, without characters that nobody "
                f"sees and without line breaks. Got {self.name!a} instead."
            )
        if self.publish is not None and self.role != "quasi":
            raise ValueError(
                f"'publish' is for quasi-identifiers; a column with role '{self.role}' is "
                f"{'published as it is' if self.role in PUBLISHED else 'not published'}"
            )
        if self.publish == "interval" and self.type == "category":
            raise ValueError("a category has no order: publish 'nodes' or 'set', not 'interval'")
        if self.publish == "nodes" and self.type == "number" and self.hierarchy is None:
            raise ValueError("a number needs a 'hierarchy' to be published as 'nodes'")
        if self.hierarchy is not None and self.type not in self.hierarchy.suits:
            raise ValueError(
                f"this hierarchy is for a {' or a '.join(sorted(self.hierarchy.suits))}; "
                f"the column's type is '{self.type}'"
            )
        if self.pseudonymize and self.role != "identifier":
            raise ValueError("'pseudonymize' is for identifiers")
        if self.accept is not None and self.role not in PUBLISHED:
            raise ValueError(
                "'accept' is for columns that are published as they are; a column with role "
                f"'{self.role}' is not"
            )
        if self.namesakes and self.role != "identifier":
            raise ValueError("'namesakes' is for identifiers")
        if self.key is not None and not self.pseudonymize:
            raise ValueError("'key' goes with 'pseudonymize: true'")
        if self.type == "date" and isinstance(self.hierarchy, Calendar):
            within = self.hierarchy.within_months
            if within:
                raise ValueError(
                    f"'{within[0]}' is a unit of 'type: time'; those of a date are month, quarter, "
                    "year, decade"
                )
        if self.type == "date" and _read_back(self.layout) is None:
            raise ValueError(
                "'format' must be a format of strptime such as '%d.%m.%Y'. "
                f"Got {self.format!r} instead."
            )
        if self.type == "time" and _read_back(self.layout) != _SAMPLE:
            raise ValueError(
                "'format' must be a format of strptime with the day and the time of day, such as "
                f"'%d.%m.%Y %H:%M'. Got {self.format!r} instead."
            )

    @property
    def form(self) -> Form:
        """The form in which a quasi-identifier is published."""
        if self.publish is not None:
            return self.publish
        return "interval" if self.type == "number" and self.hierarchy is None else "nodes"

    @property
    def generalization(self) -> HierarchySource | None:
        """The hierarchy to use: the declared one, or calendar units for a date or a time."""
        if self.hierarchy is None and self.type in MOMENTS:
            return Calendar()
        return self.hierarchy

    @property
    def layout(self) -> str:
        """How a date or a time is written in the source."""
        if self.format is not None:
            return self.format
        return ISO if self.type == "time" else "%Y-%m-%d"

    @property
    def is_published(self) -> bool:
        """Whether the column appears in a release."""
        return self.role in PUBLISHED or self.pseudonymize


def _read_back(form: str) -> datetime | None:
    """Write a sample in a format and read it; None when not even the year comes back."""
    if form == ISO:
        return _SAMPLE
    if not re.search(r"%[YyGcx]", form.replace("%%", "")):
        # Asked first: newer Pythons warn of a day without a year.
        return None
    try:
        result = datetime.strptime(_SAMPLE.replace(tzinfo=UTC).strftime(form), form)
    except (ValueError, re.error):
        # strptime makes a pattern of the format, and fails as one when a part stands twice.
        return None
    # 'dd.mm.yyyy' is a format that no date has.
    return result.replace(tzinfo=None) if result.year == _SAMPLE.year else None


def _in_order(columns: Iterable[Column]) -> tuple[Column, ...]:
    return tuple(columns)


@short_repr
@attrs.frozen
class Schema:
    """The declared columns, in the order in which they are published."""

    columns: tuple[Column, ...] = attrs.field(converter=_in_order)

    def __attrs_post_init__(self) -> None:
        """Refuse columns of one name, and two columns of persons."""
        if len(set(self.names)) < len(self.columns):
            repeated = sorted({name for name in self.names if self.names.count(name) > 1})
            listed = ", ".join(f"'{name}'" for name in repeated)
            raise ValueError(f"more than one column is declared as {listed}")
        if len(self.names_with_role("person")) > 1:
            raise ValueError("a table has at most one column with the role 'person'")

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(column.name == name for column in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all declared columns."""
        return tuple(column.name for column in self.columns)

    def names_with_role(self, *roles: Role) -> tuple[str, ...]:
        """Names of the columns that have one of these roles."""
        return tuple(column.name for column in self.columns if column.role in roles)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return self.names_with_role("quasi")

    @property
    def published_names(self) -> tuple[str, ...]:
        """Names of the columns of a release."""
        return tuple(column.name for column in self.columns if column.is_published)

    def of_type(self, type_: Type) -> tuple[str, ...]:
        """Names of the columns of this type."""
        return tuple(column.name for column in self.columns if column.type == type_)

    def publication_problem(self, names: Iterable[str]) -> str | None:
        """Say which of these columns is none that is published, or None."""
        published = ", ".join(f"'{name}'" for name in self.published_names)
        for name in names:
            if name not in self:
                return f"column '{name}' is not declared; published are: {published}"
            if name not in self.published_names:
                return (
                    f"column '{name}' has role '{self[name].role}' and is not published; "
                    f"published are: {published}"
                )
        return None

    def restrict_quasi(self, names: tuple[str, ...]) -> "Schema":
        """Return the schema in which only these quasi-identifiers are generalized.

        A quasi-identifier that no privacy model speaks of is published as it is.
        """
        return Schema(
            tuple(
                attrs.evolve(column, role="other", publish=None)
                if column.role == "quasi" and column.name not in names
                else column
                for column in self.columns
            )
        )
