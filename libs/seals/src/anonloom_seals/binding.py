"""The rows of a release as leaves, bound by one structure per order."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import UsageError
from anonloom_seals.head import Order
from anonloom_seals.ordering import End, sorted_rows
from anonloom_seals.parts import Part
from anonloom_seals.published_rows import PublishedRows
from anonloom_seals.salts import Seeds
from anonloom_seals.structure import HASH, Structure

__all__ = ["BoundRows", "OrderedRows", "Place"]

#: An order: by which column, and by which end of its cells.
Place = tuple[str | None, End]


@attrs.frozen(eq=False)
class OrderedRows:
    """Rows in one order.

    Attributes
    ----------
    rows
        Numbers of the rows, counted from 0, in this order; None when it is that of the file.
    structure
        What binds their leaves.
    """

    rows: NDArray[np.int64] | None
    structure: Structure

    def number(self, position: int) -> int:
        """Return which row stands at a position."""
        return position if self.rows is None else int(self.rows[position])


@attrs.frozen(eq=False)
class BoundRows:
    """The rows of a release in every order of its head."""

    published: PublishedRows
    seeds: Seeds
    encoded: list[bytes] = attrs.field(repr=False)
    orders: Mapping[Place, OrderedRows]

    @classmethod
    def bind(
        cls,
        published: PublishedRows,
        seeds: Seeds,
        structure: type[Structure],
        attributes: Sequence[str],
    ) -> Self:
        """Hash the rows, and bind them as in the file and sorted by some attributes.

        Raises
        ------
        UsageError
            When there is no such attribute, or no reader can tell the ends of its cells.
        """
        encoded = published.rows()
        leaves = seeds.leaves(encoded)
        table = np.frombuffer(leaves, np.uint8).reshape(-1, HASH)
        orders: dict[Place, OrderedRows] = {
            (None, "low"): OrderedRows(None, structure.build(leaves))
        }
        for attribute in dict.fromkeys(unicodedata.normalize("NFC", name) for name in attributes):
            for end, rows in _sort_by_ends(published, attribute).items():
                orders[attribute, end] = OrderedRows(rows, structure.build(table[rows].tobytes()))
        return cls(published, seeds, encoded, orders)

    def head_orders(self) -> tuple[Order, ...]:
        """Return the orders as a head holds them."""
        return tuple(
            Order(attribute=attribute, end=end, root=bound.structure.root.hex())
            for (attribute, end), bound in self.orders.items()
        )

    def show(self, place: Place, positions: Sequence[int]) -> Part:
        """Return the rows at some positions of an order, with what binds them to its root."""
        bound = self.orders[place]
        numbers = tuple(bound.number(position) for position in positions)
        return Part(
            attribute=place[0],
            end=place[1],
            positions=tuple(positions),
            numbers=numbers,
            salts=tuple(self.seeds.salt(number) for number in numbers),
            rows=tuple(self.encoded[number] for number in numbers),
            path=bound.structure.prove(positions),
        )


def _sort_by_ends(published: PublishedRows, attribute: str) -> dict[End, NDArray[np.int64]]:
    if attribute not in published.layout.names:
        raise UsageError(
            f"column '{attribute}' is to be indexed, but it is not published",
            hint=f"Published are: {', '.join(published.layout.names)}.",
        )
    kind = published.layout.type_of(attribute)
    rows = sorted_rows(published.column(attribute), kind)
    if rows is None:
        raise UsageError(
            f"column '{attribute}' cannot be indexed: some of its cells are names of groups, and a "
            "reader cannot know where these begin and end",
            hint="Publish it as intervals ('publish: interval'), or index another column.",
        )
    return rows
