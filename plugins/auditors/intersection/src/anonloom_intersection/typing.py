"""Types of this package."""

from typing import Any

#: A sparse array of scipy, by rows, whose types say nothing of its entries.
SparseMatrix = Any
