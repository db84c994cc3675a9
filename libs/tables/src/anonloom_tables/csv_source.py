"""Source csv: a text file with a header."""

import codecs
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from anonloom.data import EMPTY, Column, Schema, Table, check_columns
from anonloom.errors import DataError
from anonloom.kinds import Source, StageContext
from anonloom.lazy import arrow_csv, pa, pc, pd
from anonloom.params import param
from anonloom_tables.arrow_frames import frame_of, refuse_nul, table_of, text_type
from anonloom_tables.csv_header import Header, read_header
from anonloom_tables.csv_mistakes import explain, refuse_open_quote
from anonloom_tables.table_paths import largest_block, may_hold

#: Bytes that a thread works on at a time.
_BLOCK = 1 << 20


@attrs.frozen
class _OneCharacter:
    """A text of one character that can be told from others by its byte, as Arrow does.

    Parameters
    ----------
    words : str
        What it must be.
    pattern : str
        The same for a machine.
    """

    words: str = " of one ASCII character, no line end"
    pattern: str = r"[\x01-\x09\x0b\x0c\x0e-\x7f]"

    def __call__(self, value: object) -> bool:
        return isinstance(value, str) and re.fullmatch(self.pattern, value) is not None

    def schema(self) -> dict[str, object]:
        return {"pattern": f"^({self.pattern})$"}


@attrs.frozen
class _Encoding:
    """A name that Python's codecs know."""

    words: str = " that names an encoding"

    def __call__(self, value: object) -> bool:
        try:
            return isinstance(value, str) and codecs.lookup(value)._is_text_encoding
        except (LookupError, ValueError):  # there is none, or no name can be like that
            return False

    def schema(self) -> dict[str, object]:
        return {}


@attrs.frozen(kw_only=True)
class Csv(Source):
    """Reads the declared columns of a text file, with all cores.

    Cells are text unless their column is declared as a number, a date or a time: the zip code 01234
    keeps its zero. Cells may hold the separator and line breaks when they are quoted.
    """

    path: Path = param(help="The file; a name that ends in .gz is decompressed.", private=True)
    separator: str | None = param(
        help="The character between two cells, or `tab`; by default whichever of , ; | and tab "
        "gives the header most names.",
        default=None,
        check=_OneCharacter(pattern=rf"{_OneCharacter().pattern}|tab"),
    )
    encoding: str = param(help="How the text is encoded.", default="utf-8", check=_Encoding())
    null: tuple[str, ...] = param(help="Cells that stand for a missing value.", default=("",))
    decimal: str = param(
        help="The character before a number's decimals.",
        default=".",
        # Anything else can stand in a number already: '-5' with the decimal '-' would be a half.
        check=_OneCharacter(" of one ASCII punctuation mark, no sign", r"[!-*,./:-@\[-`{-~]"),
    )
    quote: str | None = param(
        help="The character around cells that hold a separator; null when there is none.",
        default='"',
        check=_OneCharacter(),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse one character with two meanings."""
        if self._separator in (self.quote or "", self.decimal) or self.quote == self.decimal:
            raise ValueError("'separator', 'quote' and 'decimal' must be different characters")

    def load(self, schema: Schema, context: StageContext) -> Table:
        """Load the declared columns.

        Raises
        ------
        DataError
            When the file is absent, empty or broken: where, what, how many; never a cell.
        """
        header = self._header()
        check_columns(header.names, schema)
        if header.alone:
            raise DataError(EMPTY)
        columns = self._read(header, schema)
        refuse_nul(columns, str(self.path))
        return table_of(columns, schema, self.null)

    def first_rows(self, names: Sequence[str], at_most: int) -> "pd.DataFrame":
        """Cells of some columns in the first rows, as the bytes that stand for them."""
        header = self._header()
        places = {name: header.places[header.names.index(name)] for name in names}
        # As bytes any cell can be read: what cannot be decoded is no concern of this look.
        # They are only compared: every distinct one is held once.
        types = dict.fromkeys(places.values(), pa.dictionary(pa.int32(), pa.binary()))
        # Beginning with the usual block: a record must fit into one.
        for block in (_BLOCK, largest_block(self.path)):
            try:
                rows = self._read_beginning(header, types, block, at_most)
                break
            except (pa.ArrowInvalid, UnicodeError) as error:
                if "straddling" not in str(error):
                    raise explain(error, self.path, self.encoding, header, self._options) from None
        return frame_of(rows.slice(0, at_most).rename_columns(list(places)))

    def _read_beginning(
        self, header: Header, types: dict[str, Any], block: int, at_most: int
    ) -> Any:
        """Read blocks until there are so many rows."""
        kept, count = [], 0
        options = self._reading(header, self._options(header, look=False), types, block)
        # Threads would read many blocks ahead.
        options["read_options"].use_threads = False
        with arrow_csv.open_csv(str(self.path), **options) as reader:
            for batch in reader:
                kept.append(batch)
                count += len(batch)
                if count >= at_most:
                    break
            return pa.Table.from_batches(kept, reader.schema)

    def columns(self) -> tuple[str, ...]:
        """Names of all columns, from the header."""
        return self._header().names

    @property
    def _separator(self) -> str | None:
        return "\t" if self.separator == "tab" else self.separator

    def _header(self) -> Header:
        return read_header(self.path, self.encoding, self._separator, self.quote)

    def _read(self, header: Header, schema: Schema) -> Any:
        """Read with numbers as numbers; where that fails, find out why."""
        block = _BLOCK
        try:
            return self._parse(header, schema, block, numbers=pa.float64())
        except (pa.ArrowInvalid, UnicodeError) as error:
            # A record must fit into a block.
            if "straddling" in str(error):
                block = largest_block(self.path)
        try:
            # As text every cell can be read, so that `Table.build` can count the words in a
            # column of numbers and name their rows.
            return self._parse(header, schema, block, numbers=pa.string())
        except (pa.ArrowInvalid, UnicodeError) as error:
            raise explain(error, self.path, self.encoding, header, self._options) from None

    def _parse(self, header: Header, schema: Schema, block: int, numbers: Any) -> Any:
        parse = self._options(header)
        # Columns go by their places: names that nobody declared may be repeated or empty.
        places = {column.name: header.places[header.names.index(column.name)] for column in schema}
        types = {places[column.name]: _type(column, numbers) for column in schema}
        last = header.places[-1]
        if parse.newlines_in_values:
            # Read whether or not it is declared: see `refuse_open_quote`.
            types.setdefault(last, pa.binary())
        options = self._reading(header, parse, types, block)
        columns = arrow_csv.read_csv(str(self.path), **options)
        if parse.newlines_in_values and len(columns):
            cell = columns[last][-1].as_py()
            refuse_open_quote(self.path, self.encoding, header, parse, len(columns), cell)
        columns = columns.select(list(places.values())).rename_columns(list(places))
        if numbers == pa.string() and self.decimal != ".":
            columns = self._with_points(columns, schema)
        return columns

    def _reading(
        self, header: Header, parse: Any, types: dict[str, Any], block: int
    ) -> dict[str, Any]:
        """Return how Arrow reads columns of these types."""
        return {
            "read_options": arrow_csv.ReadOptions(
                column_names=header.places,
                skip_rows=header.lines,
                encoding=self.encoding,
                block_size=block,
            ),
            "parse_options": parse,
            "convert_options": arrow_csv.ConvertOptions(
                include_columns=list(types),
                column_types=types,
                null_values=list(self.null),
                strings_can_be_null=True,
                decimal_point=self.decimal,
            ),
        }

    def _options(self, header: Header, *, look: bool = True, **more: Any) -> Any:
        """Return how cells are told apart; without a look, quotes are expected."""
        return arrow_csv.ParseOptions(
            delimiter=header.separator,
            quote_char=False if self.quote is None else self.quote,
            # Looking for quotes first is cheap; looking out for them while the file is cut into
            # blocks is not.
            newlines_in_values=self.quote is not None
            and (not look or may_hold(self.path, self.encoding, self.quote)),
            **more,
        )

    def _with_points(self, columns: Any, schema: Schema) -> Any:
        """Write numbers that were read as text with a point; a point that was there is wrong."""
        for column in schema:
            if column.type == "number":
                texts = pc.replace_substring(columns[column.name], ".", "?")
                texts = pc.replace_substring(texts, self.decimal, ".")
                index = columns.column_names.index(column.name)
                columns = columns.set_column(index, column.name, texts)
        return columns


def _type(column: Column, numbers: Any) -> Any:
    if column.type == "number" and column.role != "identifier":
        return numbers
    # Identifiers and persons hardly repeat: a dictionary of them would only cost.
    return pa.string() if column.role in ("identifier", "person") else text_type()
