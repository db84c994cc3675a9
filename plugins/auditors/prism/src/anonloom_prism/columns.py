"""The attributes of X as blocks of features: what a classifier reads, and nothing else."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array

from anonloom.typing import FloatArray, IntArray

#: What users call an attribute: the name of a column or of a group, or the number of a column.
Name = Hashable

#: Of a category with more values, the rarer ones have no features of their own: a column of names
#: would have as many features as the table has rows.
MOST_VALUES = 100


def is_number(series: Any) -> bool:
    """Whether a column of a frame is used as it is; others are categories."""
    plain = pd.api.types.is_numeric_dtype(series.dtype)
    return bool(plain) and not pd.api.types.is_bool_dtype(series.dtype)


@attrs.frozen(eq=False)
class Attribute:
    """One attribute.

    Attributes
    ----------
    columns
        Numbers of its columns in X.
    values
        Of a category its values, the most frequent ones where there are many, one feature each; a
        missing value is one of them where it occurred. None for numbers.
    """

    name: Name
    columns: tuple[int, ...]
    values: Any = attrs.field(default=None, repr=False)

    @property
    def width(self) -> int:
        """How many features it has."""
        return len(self.columns) if self.values is None else len(self.values)


@attrs.frozen(eq=False)
class Attributes:
    """All attributes of X, in the order of their first columns.

    Attributes
    ----------
    names
        Names of the columns of X, None when it had none.
    """

    all: tuple[Attribute, ...]
    names: tuple[str, ...] | None

    @classmethod
    def of(
        cls, X: Any, names: Sequence[str] | None, groups: Mapping[Any, Any] | None
    ) -> "Attributes":
        """Learn what the columns are.

        Parameters
        ----------
        X
            An array of numbers, or a frame.
        groups
            Columns (names or numbers) that encode one attribute together, by its name.
        """
        columns = _Columns(X.shape[1], None if names is None else tuple(names))
        grouped = {
            name: columns.numbers(some, f"group {name!r}") for name, some in (groups or {}).items()
        }
        taken = [index for some in grouped.values() for index in some]
        if len(set(taken)) < len(taken):
            raise ValueError("groups must not share columns.")
        single = {
            columns.name(index): (index,) for index in range(X.shape[1]) if index not in taken
        }
        both = sorted(set(single) & set(grouped), key=str)
        if both:
            raise ValueError(
                f"A group must not have the name of another column. Got {both} instead."
            )
        results = [_fit_attribute(X, name, index) for name, index in (single | grouped).items()]
        return cls(tuple(sorted(results, key=lambda one: one.columns)), columns.names)

    def __len__(self) -> int:
        return len(self.all)

    @property
    def block(self) -> IntArray:
        """Attribute of every feature."""
        return np.repeat(np.arange(len(self.all)), [item.width for item in self.all]).astype(
            np.int64
        )

    def numbers(self, wanted: Iterable[Any], what: str) -> frozenset[int]:
        """Return the numbers of attributes that are given by name, or by number of a column."""
        named: dict[Any, int] = {item.name: index for index, item in enumerate(self.all)}
        places: dict[Any, int] = {
            c: index for index, item in enumerate(self.all) for c in item.columns
        }
        results = set()
        for item in wanted:
            if item in named:
                results.add(named[item])
            elif isinstance(item, int | np.integer) and int(item) in places:
                results.add(places[int(item)])
            else:
                # A name that is not there would leave what it stands for unprotected.
                raise ValueError(f"{what} must name attributes of X. Got {item!r} instead.")
        return frozenset(results)

    def columns_of(self, chosen: Iterable[int]) -> list[int]:
        """Columns of X that these attributes need."""
        return sorted(column for index in chosen for column in self.all[index].columns)

    def features(self, X: Any, chosen: Sequence[int]) -> FloatArray:
        """Return the features of these attributes; other columns of X are not looked at.

        Parameters
        ----------
        X
            An array of full width, or a frame with at least the columns that are needed.
        """
        parts = [self._features(X, self.all[index]) for index in chosen]
        return np.hstack([np.empty((len(X), 0)), *parts])

    def _features(self, X: Any, one: Attribute) -> FloatArray:
        if not isinstance(X, pd.DataFrame):
            numbers: FloatArray = np.asarray(X, float)[:, list(one.columns)]
            return numbers
        places = [self._place(X, index) for index in one.columns]
        if one.values is None:
            checked: FloatArray = check_array(X.iloc[:, places], dtype=np.float64)
            return checked
        codes = pd.Index(one.values).get_indexer(_texts(X.iloc[:, places[0]]))
        # A value that was never seen, or rarely, is none of them.
        single: FloatArray = (codes[:, None] == np.arange(len(one.values))).astype(float)
        return single

    def _place(self, X: Any, column: int) -> int:
        if self.names is None or X.shape[1] == len(self.names):
            return column
        return int(X.columns.get_loc(self.names[column]))


@attrs.frozen
class _Columns:
    """Columns of X by name and by number."""

    count: int
    names: tuple[str, ...] | None

    def name(self, at: int) -> Name:
        """What column and attribute are called."""
        return at if self.names is None else self.names[at]

    def numbers(self, wanted: Iterable[Any], what: str) -> tuple[int, ...]:
        """Numbers of columns."""
        results = []
        for item in wanted:
            if self.names is not None and item in self.names:
                results.append(self.names.index(item))
            elif isinstance(item, int | np.integer) and 0 <= int(item) < self.count:
                results.append(int(item))
            else:
                raise ValueError(f"{what} must name columns of X. Got {item!r} instead.")
        if not results:
            raise ValueError(f"{what} must have columns.")
        return tuple(sorted(results))


def _fit_attribute(X: Any, name: Name, columns: tuple[int, ...]) -> Attribute:
    if not isinstance(X, pd.DataFrame):
        return Attribute(name, columns)
    if all(is_number(X.iloc[:, index]) for index in columns):
        return Attribute(name, columns)
    if len(columns) > 1:
        raise ValueError(f"group {name!r} must hold numbers. Got categories instead.")
    values, counts = np.unique(_texts(X.iloc[:, columns[0]]), return_counts=True)
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_VALUES])
    return Attribute(name, columns, values[kept])


#: What a missing value of a category is among its values; no text has this character.
MISSING = "\0missing"


def _texts(series: Any) -> NDArray[np.object_]:
    """Values of a category as texts."""
    result = series.astype(object).where(series.notna(), MISSING).map(str)
    texts: NDArray[np.object_] = result.to_numpy(object)
    return texts
