"""What packages that add commands, or run pipelines in a way of their own, build on.

A method never needs this: it is given its table, its guard and its context. Names are looked up
when they are first used.
"""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom._cli import main as main
    from anonloom._cli.summary import print_done as print_done
    from anonloom._registry.boundary import left_by as left_by
    from anonloom._registry.boundary import strange as strange
    from anonloom._registry.registry import Registry as Registry
    from anonloom._run.atomic_file import atomic_file as atomic_file
    from anonloom._run.atomic_file import refuse_target as refuse_target
    from anonloom._run.external import read_cells as read_cells
    from anonloom._run.outputs import built_aside as built_aside
    from anonloom._run.outputs import require_writable as require_writable
    from anonloom._run.table_files import write_csv as write_csv
    from anonloom._run.table_files import write_parquet as write_parquet
    from anonloom._spelling import on_one_line as on_one_line

__all__ = [
    "Registry",
    "atomic_file",
    "built_aside",
    "left_by",
    "main",
    "on_one_line",
    "print_done",
    "read_cells",
    "refuse_target",
    "require_writable",
    "strange",
    "write_csv",
    "write_parquet",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom._cli": ("main",),
        "anonloom._cli.summary": ("print_done",),
        "anonloom._registry.boundary": ("left_by", "strange"),
        "anonloom._registry.registry": ("Registry",),
        "anonloom._run.atomic_file": ("atomic_file", "refuse_target"),
        "anonloom._run.external": ("read_cells",),
        "anonloom._run.outputs": ("built_aside", "require_writable"),
        "anonloom._run.table_files": ("write_csv", "write_parquet"),
        "anonloom._spelling": ("on_one_line",),
    },
)
