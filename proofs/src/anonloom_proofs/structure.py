"""What a scheme brings: leaf hashes in an order, bound together by one root."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Self

#: Bytes of a hash.
HASH = 32


class Structure(ABC):
    """An authenticated list of leaf hashes.

    Promise: nobody finds another list, or another leaf for a position, with the same root and
    size.
    """

    @classmethod
    @abstractmethod
    def build(cls, leaves: bytes) -> Self:
        """Make the structure over leaf hashes of 32 bytes, one after the other; perhaps none."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many leaves there are."""

    @property
    @abstractmethod
    def root(self) -> bytes:
        """What binds them, 32 bytes."""

    @abstractmethod
    def prove(self, positions: Sequence[int]) -> bytes:
        """Return what, beside the leaves at these positions, is needed to compute the root.

        Parameters
        ----------
        positions
            Ascending, each once, each below `size`; at least one.
        """

    @staticmethod
    @abstractmethod
    def recompute(size: int, leaves: Mapping[int, bytes], path: bytes) -> bytes:
        """Compute the root from some leaves and what `prove` returned for their positions.

        Nothing in the path is believed: the root that comes out is compared with a signed one.

        Raises
        ------
        IntegrityError
            When the path is too short, too long or not of the form that these positions ask for.
        """
