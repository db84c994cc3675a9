"""Hierarchies of values, and the ways to build them."""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom.data._hierarchy import STAR as STAR
    from anonloom.data._hierarchy import Hierarchy as Hierarchy
    from anonloom.data._hierarchy_builders import Breaks as Breaks
    from anonloom.data._hierarchy_builders import Calendar as Calendar
    from anonloom.data._hierarchy_builders import CalendarUnit as CalendarUnit
    from anonloom.data._hierarchy_builders import Prefix as Prefix
    from anonloom.data._hierarchy_builders import Quantiles as Quantiles
    from anonloom.data._hierarchy_builders import Widths as Widths
    from anonloom.data._hierarchy_files import FromFile as FromFile
    from anonloom.data._hierarchy_files import HierarchySource as HierarchySource
    from anonloom.data._hierarchy_files import LeafTable as LeafTable
    from anonloom.data._hierarchy_files import Tree as Tree
    from anonloom.data._hierarchy_files import UncoveredValues as UncoveredValues
    from anonloom.data._hierarchy_files import text_of as text_of

__all__ = [
    "Breaks",
    "Calendar",
    "CalendarUnit",
    "FromFile",
    "Hierarchy",
    "HierarchySource",
    "LeafTable",
    "Prefix",
    "Quantiles",
    "STAR",
    "Tree",
    "UncoveredValues",
    "Widths",
    "text_of",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom.data._hierarchy": ("Hierarchy", "STAR"),
        "anonloom.data._hierarchy_builders": (
            "Breaks",
            "Calendar",
            "CalendarUnit",
            "Prefix",
            "Quantiles",
            "Widths",
        ),
        "anonloom.data._hierarchy_files": (
            "FromFile",
            "HierarchySource",
            "LeafTable",
            "Tree",
            "UncoveredValues",
            "text_of",
        ),
    },
)
