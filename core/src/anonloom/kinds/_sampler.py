"""Sampler: which rows of each class are published at all."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from anonloom.data._classes import Classes
from anonloom.kinds._context import StageContext


class Sampler(ABC):
    """Chooses rows by class labels only, so that it also works on rows that are still sealed.

    Promise: of a class of `size` rows at least `least_kept(size)` are kept.
    """

    @abstractmethod
    def sample(self, classes: Classes, context: StageContext) -> NDArray[np.bool_]:
        """Return a mask over `classes.rows`: which rows to keep."""

    @abstractmethod
    def least_kept(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Least number of rows kept of classes of these sizes.

        All zeros means that nothing is guaranteed; such a sampler cannot follow a partitioner.
        """
