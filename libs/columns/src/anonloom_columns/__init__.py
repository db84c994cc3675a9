"""Columns as methods and auditors look at them: places, what a release shows, distinct rows."""

from anonloom_columns._notations import NO_VALUE, NotationReader, read_span
from anonloom_columns.distinct_rows import Points, collapse, combined_key
from anonloom_columns.ordered_column import OrderedColumn, Places
from anonloom_columns.visible import Visible, place_texts

__all__ = [
    "NO_VALUE",
    "NotationReader",
    "OrderedColumn",
    "Places",
    "Points",
    "Visible",
    "collapse",
    "combined_key",
    "place_texts",
    "read_span",
]
