"""What a scheme brings: leaf hashes in an order, bound together by one root."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Self

__all__ = ["HASH", "GrowingStructure", "Structure"]

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


class GrowingStructure(Structure):
    """A structure that can show that it grew only at its end."""

    @abstractmethod
    def growth(self, old_size: int) -> bytes:
        """Return what shows that the first `old_size` leaves were there before."""

    @staticmethod
    @abstractmethod
    def check_growth(
        old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: bytes
    ) -> None:
        """Check that the older structure is the beginning of the newer one.

        Raises
        ------
        IntegrityError
            When it is not shown to be.
        """
