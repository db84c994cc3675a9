"""Source parquet: a Parquet file."""

from collections.abc import Sequence
from pathlib import Path

import attrs

from anonloom.data import Schema, Table, check_columns, normalize_text
from anonloom.errors import DataError
from anonloom.kinds import Source, StageContext
from anonloom.lazy import pa, pd, pq
from anonloom.params import param
from anonloom_tables.arrow_frames import frame_of, table_of
from anonloom_tables.table_paths import file_error, require_file


@attrs.frozen(kw_only=True)
class Parquet(Source):
    """Reads the declared columns of a Parquet file; of the others only the first rows."""

    path: Path = param(help="The file.", private=True)

    def load(self, schema: Schema, context: StageContext) -> Table:
        """Load the declared columns.

        Raises
        ------
        DataError
            When the file is absent, damaged or lacks a column; see also `Table.build`.
        """
        written = self._names()
        check_columns(written, schema)
        # As the file has them: a name may have been written with characters that nobody sees.
        own = {normalize_text(name): name for name in written}
        names = [own[name] for name in schema.names]
        categories = [own[column.name] for column in schema if column.type == "category"]
        try:
            columns = pq.read_table(
                self.path,
                columns=names,
                read_dictionary=categories,
                partitioning=None,
            )
        except (pa.ArrowException, OSError):
            raise self._damage_error() from None
        return table_of(columns.select(names).rename_columns(list(schema.names)), schema)

    def columns(self) -> tuple[str, ...]:
        """Names of all columns, from the file's footer."""
        return tuple(map(normalize_text, self._names()))

    def _names(self) -> tuple[str, ...]:
        require_file(self.path)
        try:
            return tuple(pq.read_schema(self.path).names)
        except (pa.ArrowException, OSError):
            raise self._damage_error() from None

    def first_rows(self, names: Sequence[str], at_most: int) -> "pd.DataFrame":
        """Cells of some columns in the first rows; of columns whose cells are no values, none."""
        require_file(self.path)
        try:
            with pq.ParquetFile(self.path) as file:
                fields = {normalize_text(field.name): field for field in file.schema_arrow}
                plain = [name for name in names if not pa.types.is_nested(fields[name].type)]
                own = [fields[name].name for name in plain]
                rows = next(file.iter_batches(at_most, columns=own), None)
                nothing = file.schema_arrow.empty_table()
        except (pa.ArrowException, OSError):
            raise self._damage_error() from None
        result = nothing if rows is None else pa.Table.from_batches([rows])
        return frame_of(result.select(own).rename_columns(plain))

    def _damage_error(self) -> DataError:
        # Without Arrow's own words: they may quote what it found in the file.
        return file_error(self.path, "this is not a Parquet file, or it is damaged")
