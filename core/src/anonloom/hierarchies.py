"""Hierarchies of values, and the ways to build them."""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom.data._hierarchy import STAR as STAR
    from anonloom.data._hierarchy import Hierarchy as Hierarchy
    from anonloom.data._hierarchy_builders import Breaks as Breaks
    from anonloom.data._hierarchy_builders import Prefix as Prefix
    from anonloom.data._hierarchy_builders import Widths as Widths
    from anonloom.data._hierarchy_files import FromFile as FromFile
    from anonloom.data._hierarchy_files import LeafTable as LeafTable
    from anonloom.data._hierarchy_files import Tree as Tree

__all__ = [
    "Breaks",
    "FromFile",
    "Hierarchy",
    "LeafTable",
    "Prefix",
    "STAR",
    "Tree",
    "Widths",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom.data._hierarchy": ("Hierarchy", "STAR"),
        "anonloom.data._hierarchy_builders": ("Breaks", "Prefix", "Widths"),
        "anonloom.data._hierarchy_files": ("FromFile", "LeafTable", "Tree"),
    },
)
