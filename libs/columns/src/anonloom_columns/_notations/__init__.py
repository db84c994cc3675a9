"""Generalized cells as other tools write them, read as statements about values of the original."""

from anonloom_columns._notations.reader import NotationReader
from anonloom_columns._notations.table import NO_VALUE, read_span

__all__ = [
    "NO_VALUE",
    "NotationReader",
    "read_span",
]
