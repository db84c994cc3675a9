"""From the cells of a column to an axis and codes, with every mistake of the data named."""

import re
from datetime import date
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import cells
from anonloom._representation import short_repr
from anonloom.data import _moments as moments
from anonloom.data._axis import Axis, Reader
from anonloom.data._hierarchy import Hierarchy
from anonloom.data._hierarchy_builders import UncoveredValues
from anonloom.data._schema import Column
from anonloom.data._text import visible_form
from anonloom.errors import DataError
from anonloom.lazy import pa, pc, pd

#: How many row numbers a message shows.
SHOWN = 5

#: The largest number that a column may hold.
LARGEST = 1e300

_WHOLE = re.compile(r"\A\s*([0-9]+)\.0+\s*\Z")
_DECIMAL_COMMA = r"\s*[-+]?[0-9]+,[0-9]+\s*"
_DECIMAL_COMMA_HINT = "some have a decimal comma: with 'source: csv', write \"decimal: ','\""


@short_repr
@attrs.frozen(eq=False)
class EncodedColumn:
    """A column on its axis."""

    axis: Axis
    codes: NDArray[np.int32]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Rows without a value."""
        result: NDArray[np.bool_] = self.codes == self.axis.missing
        return result


def encode(
    series: Any,
    column: Column,
    out: NDArray[np.int32] | None = None,
    reader: Reader | None = None,
) -> EncodedColumn:
    """Code a column onto its axis.

    Parameters
    ----------
    series
        The column, already of its declared type (see `coerce`).
    out
        Where to write the codes; a new array without it.
    reader
        That of the axis: see `Axis.reader`.

    Raises
    ------
    DataError
        Naming the column, counts and row numbers; never a cell.
    """
    result = _distinct(series, column)
    if column.role == "quasi" and column.type == "category":
        _refuse_forms(result, column)
    incomplete = result.blank or bool((result.entries < 0).any())
    hierarchy, order = _hierarchy_order(result, column)
    values = result.values[order]
    missing = len(values) if incomplete else -1
    codes = np.empty(len(order) + 1, np.int32)
    codes[order] = np.arange(len(order))
    codes[-1] = missing
    axis = Axis(
        name=column.name,
        type=column.type,
        form=column.form,
        weight=column.weight,
        values=values,
        missing=missing,
        hierarchy=hierarchy,
        reader=reader,
    )
    # All else concerned the distinct values: this is the one pass over the rows.
    of_rows = codes[result.ranks][result.entries]
    if out is None:
        return EncodedColumn(axis, of_rows)
    out[:] = of_rows
    return EncodedColumn(axis, out)


def coerce(series: Any, column: Column) -> Any:
    """Turn the cells of a column into its declared type.

    Raises
    ------
    DataError
        When a column of numbers, dates or times holds something else, or a cell is missing that
        must not be: count and first rows, not the cells.
    """
    if column.type == "number":
        series = _numbers(series, column)
    elif column.type in cells.MOMENTS:
        series = _moments(series, column)
    # Whether persons are missing is judged by their visible form: see `refuse_unknown_persons`.
    if column.missing == "refuse" and column.role != "person" and series.hasnans:
        raise DataError(
            f"column '{column.name}': {_rows(series.isna().to_numpy(bool), 'missing')}; complete "
            "them, or choose 'missing: own' or 'missing: suppress'"
        )
    return series


def refuse_unknown_persons(unknown: NDArray[np.bool_], column: Column) -> None:
    """Refuse rows of which nobody knows whose they are: persons could not be counted.

    As one person, they would hide how often an illness occurs; as a person each, how few people
    there are.

    Raises
    ------
    DataError
        Naming the column, count and row numbers.
    """
    if unknown.any():
        raise DataError(
            f"column '{column.name}': {_rows(unknown, 'missing')}; persons cannot be counted when "
            "some of them are not known",
            hint="Leave these rows out, give each the id of its person, or write "
            f"'{column.name}: {{role: person, missing: suppress}}'.",
        )


def _numbers(series: Any, column: Column) -> Any:
    if pd.api.types.is_bool_dtype(series.dtype):
        raise DataError(f"column '{column.name}': true and false are not numbers")
    if series.dtype == np.float64:
        numbers = series.to_numpy()
    elif pd.api.types.is_numeric_dtype(series.dtype) and series.dtype.kind != "c":
        numbers = series.to_numpy(dtype=float, na_value=np.nan)
        if pd.api.types.is_integer_dtype(series.dtype):
            # Neighbouring integers beyond this would become one number.
            _refuse(np.abs(numbers) >= 2.0**53, "too large for a number", column)
    else:
        numbers = _parse_numbers(series, column)
    _refuse(np.isinf(numbers), "infinite", column)
    # Distances between numbers must be numbers too.
    _refuse(np.abs(numbers) > LARGEST, "too large for a number", column)
    return pd.Series(numbers, index=series.index, name=series.name)


def _refuse(bad: NDArray[np.bool_], what: str, column: Column, hint: str = "") -> None:
    if bad.any():
        raise DataError(
            f"column '{column.name}': {_rows(bad, what)}; correct the data, or declare the "
            "column as 'type: category'",
            hint=hint,
        )


def _parse_numbers(series: Any, column: Column) -> NDArray[np.float64]:
    if isinstance(series.dtype, pd.CategoricalDtype):
        # Each distinct text is parsed once; -1, the code of a missing cell, finds the last.
        categories = series.cat.categories.to_series(index=range(len(series.cat.categories)))
        numbers, bad = _numbers_of(categories)
        codes = series.cat.codes.to_numpy()
        numbers, bad = np.append(numbers, np.nan)[codes], np.append(bad, False)[codes]
    else:
        numbers, bad = _numbers_of(series)
    if bad.any():
        commas = series[bad].astype("str").str.fullmatch(_DECIMAL_COMMA).any()
        _refuse(bad, "not a number", column, _DECIMAL_COMMA_HINT if commas else "")
    return numbers


def _numbers_of(texts: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Parse texts; return the numbers, and which texts are none."""
    present = texts.notna().to_numpy()
    plain = pa.Array.from_pandas(texts.astype("str").where(present, None)).cast(pa.string())
    plain = pc.utf8_trim_whitespace(plain)
    try:
        numbers = pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False)
        return numbers, np.zeros(len(numbers), bool)
    except pa.ArrowInvalid:
        numbers = pd.to_numeric(plain.to_pandas(), errors="coerce").to_numpy(float)
        # A cell that says 'nan' is missing, as it is where every cell can be read.
        says_nan = pc.equal(pc.utf8_lower(plain), "nan").to_numpy(zero_copy_only=False)
        return numbers, np.isnan(numbers) & present & (says_nan != True)  # noqa: E712  # None too


def _moments(series: Any, column: Column) -> Any:
    """Turn cells into dates or times."""
    if isinstance(series.dtype, pd.ArrowDtype) and pa.types.is_date(series.dtype.pyarrow_dtype):
        series = series.astype(pd.ArrowDtype(pa.timestamp("s")))
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        # The day and the hour are those of the place where the event was, not Greenwich's.
        result = series.dt.tz_localize(None) if series.dt.tz is not None else series
    else:
        # Days repeat: each distinct cell is parsed once.
        codes, uniques = pd.factorize(series)
        parsed = np.append(_parse_moments(uniques, column), np.datetime64("NaT", "s"))[codes]
        bad = np.isnat(parsed) & (codes >= 0)
        if bad.any():
            what = f"not a {column.type} of the form {column.layout}"
            raise DataError(
                f"column '{column.name}': {_rows(bad, what)}; "
                "correct the data, or give the column's 'format'"
            )
        result = pd.Series(parsed, index=series.index, name=series.name)
    # Down, not towards 1970, as Arrow would round.
    result = result.dt.floor("s").astype("datetime64[s]")
    beyond = moments.outside(result.to_numpy())
    if beyond.any():
        what = f"not a {column.type} of the years 1 to 9999"
        raise DataError(f"column '{column.name}': {_rows(beyond, what)}; correct the data")
    # A date is a day: a time of day would single people out, and only some formats would show it.
    return result.dt.normalize() if column.type == "date" else result


def _parse_moments(distinct: Any, column: Column) -> NDArray[np.datetime64]:
    """Read cells as dates or times, not-a-time where that fails."""
    assert column.type == "date" or column.type == "time"
    texts = [cells.cell_text(value) for value in distinct]
    parsed = moments.parse(texts, column.layout, column.type)
    for index, value in enumerate(distinct):
        if isinstance(value, date):
            # It is a date already, in no form.
            parsed[index] = np.datetime64(pd.Timestamp(value).tz_localize(None), "s")
    return parsed


def _rows(bad: NDArray[np.bool_], what: str) -> str:
    """Count rows and name the first of them; row 1 is the first row of data."""
    numbers = np.flatnonzero(bad) + 1
    shown = ", ".join(str(number) for number in numbers[:SHOWN])
    more = ", ..." if len(numbers) > SHOWN else ""
    cells_ = "1 cell is" if len(numbers) == 1 else f"{len(numbers)} cells are"
    return f"{cells_} {what} (row{'s' if len(numbers) > 1 else ''} {shown}{more})"


@short_repr
@attrs.frozen(eq=False)
class _Distinct:
    """The distinct values of a column, without a pass over its rows for each question.

    Attributes
    ----------
    values
        Ascending.
    entries
        Of every row, its place in some list of cells; -1 for missing.
    ranks
        Of every place in that list, the rank of its value; the last is -1, for missing.
    blank
        Whether cells that are there hold no value.
    """

    values: NDArray[Any]
    entries: NDArray[np.integer]
    ranks: NDArray[np.int64]
    blank: bool = False

    def count_rows(self, chosen: NDArray[np.bool_]) -> int:
        """Count the rows that hold one of the chosen values."""
        return int(np.append(chosen, False)[self.ranks][self.entries].sum())


def _distinct(series: Any, column: Column) -> _Distinct:
    if column.type == "number":
        entries, values = pd.factorize(series.to_numpy())
        return _sort_values(np.asarray(values, float), entries)
    if column.type in cells.MOMENTS:
        unit = f"datetime64[{cells.MOMENTS[column.type]}]"
        result = series.to_numpy().astype(unit)
        entries, values = pd.factorize(result.astype(np.int64))
        missing = np.isnat(result)
        if missing.any():
            # The integer that stands for "not a time" is a value to factorize, not to us.
            absent = entries[missing.argmax()]
            values = np.delete(values, absent)
            entries = np.where(missing, -1, entries - (entries > absent))
        return _sort_values(np.asarray(values, np.int64).astype(unit), entries)
    if isinstance(series.dtype, pd.CategoricalDtype):
        entries = series.cat.codes.to_numpy()
        cells_ = series.cat.categories
        occurring = np.zeros(len(cells_) + 1, bool)
        occurring[entries] = True
        kept = np.flatnonzero(occurring[:-1])
    else:
        entries, cells_ = pd.factorize(series)
        kept = np.arange(len(cells_))
    # Different cells may read alike (1 and '1'); they are one value. Sorting by label keeps the
    # order of the rows out of the codes.
    labels = np.empty(len(kept), object)
    labels[:] = [cells.cell_text(value) for value in cells_[kept]]
    if column.role == "person":
        # Whole numbers that a missing cell once made fractions, and that were written so.
        labels[:] = [_WHOLE.sub(r"\1", label) for label in labels]
    if column.role in ("sensitive", "person") and column.generalization is None:
        labels[:] = [visible_form(label) or None for label in labels]
    rank, values = pd.factorize(labels, sort=True)
    ranks = np.full(len(cells_) + 1, -1, np.int64)
    ranks[kept] = rank
    return _Distinct(np.asarray(values, object), entries, ranks, blank=bool((rank < 0).any()))


def _sort_values(values: NDArray[Any], entries: NDArray[np.integer]) -> _Distinct:
    order = np.argsort(values, kind="stable")
    ranks = np.full(len(values) + 1, -1, np.int64)
    ranks[order] = np.arange(len(values))
    return _Distinct(values[order], entries, ranks)


def _refuse_forms(found: _Distinct, column: Column) -> None:
    """Refuse raw cells that a reader of the release would take for a generalized one."""
    alike = np.array([cells.reads_like_a_form(value) for value in found.values], bool)
    if alike.any():
        hit = found.count_rows(alike)
        raise DataError(
            f"column '{column.name}': {hit} {'cell reads' if hit == 1 else 'cells read'} like a "
            "published form ('*', '[a, b]' or '{\"a\", \"b\"}'); rename these values before "
            "publishing"
        )


def _hierarchy_order(
    found: _Distinct, column: Column
) -> tuple[Hierarchy | None, NDArray[np.int64]]:
    """Return the hierarchy and the order in which it has the values."""
    values, source = found.values, column.generalization
    if source is None or not len(values):
        flat = source is not None or column.type != "number"
        hierarchy = Hierarchy.flat([str(value) for value in values]) if flat else None
        return hierarchy, np.arange(len(values))
    try:
        return source.over(values, column.unknown == "own-leaf")
    except UncoveredValues as error:
        lacking, hit = int(error.missing.sum()), found.count_rows(error.missing)
        raise DataError(
            f"column '{column.name}': {lacking} of {len(values)} values (in {hit} "
            f"{'row' if hit == 1 else 'rows'}) {'is' if lacking == 1 else 'are'} missing from the "
            "hierarchy; complete the hierarchy, or write 'unknown: own-leaf'"
        ) from None
    except DataError as error:
        raise DataError(f"column '{column.name}': {error}") from None
