"""Tables in files: the sources csv and parquet, and what others need to read such files."""

from importlib import import_module

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom_tables.csv_source import Csv as Csv
    from anonloom_tables.parquet_source import Parquet as Parquet
    from anonloom_tables.table_paths import file_error as file_error
    from anonloom_tables.table_paths import largest_block as largest_block
    from anonloom_tables.table_paths import require_file as require_file

__all__ = [
    "Csv",
    "Parquet",
    "file_error",
    "largest_block",
    "require_file",
]

# Looked up when first used: the hook module beside this one is read by every command.
_HOME_OF = {
    "Csv": "csv_source",
    "Parquet": "parquet_source",
    "file_error": "table_paths",
    "largest_block": "table_paths",
    "require_file": "table_paths",
}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'anonloom_tables' has no attribute {name!r}")
    return getattr(import_module(f"anonloom_tables.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
