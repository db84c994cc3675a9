"""A part of a proof: some rows of one order, and what binds them to its root."""

from itertools import pairwise
from typing import Any

import attrs

from anonloom.errors import IntegrityError
from anonloom_seals.encoding import Cell, decode_rows
from anonloom_seals.head import Head
from anonloom_seals.ordering import End
from anonloom_seals.salts import SALT, leaf_hash
from anonloom_seals.spelling import base64_of, bytes_of_base64, bytes_of_hex
from anonloom_seals.structure import Structure

__all__ = ["Part"]

_FIELDS = {"attribute", "end", "positions", "numbers", "salts", "rows", "path"}


@attrs.frozen(kw_only=True)
class Part:
    """Rows at some positions of one order.

    Attributes
    ----------
    attribute, end
        Which order.
    positions
        Where the rows stand in it, ascending.
    numbers
        Where they stand in the file, both counted from 0.
    salts, rows
        What their leaves are the hashes of.
    path
        What the structure needs beside these leaves to compute its root.
    """

    attribute: str | None
    end: End
    positions: tuple[int, ...]
    numbers: tuple[int, ...]
    salts: tuple[bytes, ...] = attrs.field(repr=False)
    rows: tuple[bytes, ...] = attrs.field(repr=False)
    path: bytes = attrs.field(repr=False)

    def plain_values(self) -> dict[str, Any]:
        """Return the part as plain values."""
        return {
            "attribute": self.attribute,
            "end": self.end,
            "positions": list(self.positions),
            "numbers": list(self.numbers),
            "salts": [salt.hex() for salt in self.salts],
            "rows": [base64_of(row) for row in self.rows],
            "path": base64_of(self.path),
        }

    @classmethod
    def read(cls, content: Any) -> "Part":
        """Read what `described` returned, whoever wrote it.

        Raises
        ------
        ValueError
            Saying what is wrong with it.
        """
        if not isinstance(content, dict) or set(content) != _FIELDS:
            raise ValueError("one of its parts does not have exactly the fields of a part")
        if not isinstance(content["attribute"], str | None) or content["end"] not in (
            "low",
            "high",
        ):
            raise ValueError("one of its parts names no order")
        lists = [content[name] for name in ("positions", "numbers", "salts", "rows")]
        if (
            not all(isinstance(item, list) for item in lists)
            or len({len(item) for item in lists}) > 1
        ):
            raise ValueError("one of its parts does not have as many salts as rows")
        positions, numbers, salts, rows = lists
        if not all(type(index) is int and 0 <= index < 2**63 for index in (*positions, *numbers)):
            raise ValueError("one of its parts has a position that is no number")
        if any(item >= other for item, other in pairwise(positions)):
            raise ValueError("the positions of one of its parts do not ascend")
        return cls(
            attribute=content["attribute"],
            end=content["end"],
            positions=tuple(positions),
            numbers=tuple(numbers),
            salts=tuple(bytes_of_hex(salt, SALT) for salt in salts),
            rows=tuple(bytes_of_base64(row) for row in rows),
            path=bytes_of_base64(content["path"]),
        )

    def cells(self, head: Head, structure: type[Structure]) -> list[tuple[Cell, ...]]:
        """Check that the rows stand at their positions in the sealed release, and decode them.

        Raises
        ------
        IntegrityError
            When they do not, or when the head has no such order.
        """
        order = head.order(self.attribute, self.end)
        if order is None:
            raise IntegrityError("the proof uses an order of the rows that its head does not have")
        if not self.positions or self.positions[-1] >= head.size:
            raise IntegrityError(
                f"the proof shows no row, or one beyond the {head.size} of its head"
            )
        leaves = {
            position: leaf_hash(salt, number, row)
            for position, number, salt, row in zip(
                self.positions, self.numbers, self.salts, self.rows, strict=True
            )
        }
        if structure.recompute(head.size, leaves, self.path).hex() != order.root:
            raise IntegrityError(
                "the rows of the proof are not those of its head: the root differs"
            )
        if self.attribute is None and self.numbers != self.positions:
            raise IntegrityError("the proof says of a row that it stands in another place")
        return decode_rows(self.rows, head.layout)
