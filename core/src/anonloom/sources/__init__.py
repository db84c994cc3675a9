"""The sources that core offers: a text file, a Parquet file, a frame from Python."""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom.sources._csv import Csv as Csv
    from anonloom.sources._files import file_error as file_error
    from anonloom.sources._files import largest_block as largest_block
    from anonloom.sources._files import require_file as require_file
    from anonloom.sources._frame import Frame as Frame
    from anonloom.sources._parquet import Parquet as Parquet

__all__ = [
    "Csv",
    "Frame",
    "Parquet",
    "file_error",
    "largest_block",
    "require_file",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom.sources._csv": ("Csv",),
        "anonloom.sources._files": ("file_error", "largest_block", "require_file"),
        "anonloom.sources._frame": ("Frame",),
        "anonloom.sources._parquet": ("Parquet",),
    },
)
