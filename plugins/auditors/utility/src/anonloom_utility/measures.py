"""The measures themselves: functions of class sizes and of class members."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Table
from anonloom_loss import class_losses

Sizes = NDArray[np.int64]


@attrs.frozen(eq=False)
class Division:
    """How the kept rows fall into classes.

    Attributes
    ----------
    sizes
        Rows of every class.
    lost
        Rows without a class: published as `*`, or kept out of the release.
    """

    sizes: Sizes
    lost: int

    @property
    def rows_in_classes(self) -> int:
        """Rows that are in a class."""
        return int(self.sizes.sum())

    def cavg(self, k: int) -> float:
        """Average class size as a multiple of k: kept / (classes x k)."""
        return self.rows_in_classes / (len(self.sizes) * k)

    def discernibility(self) -> int:
        """Sum of squared class sizes; a lost row is alike to all n rows and costs n."""
        total = self.rows_in_classes + self.lost
        return int(self.sizes @ self.sizes) + total * self.lost


def by_label(labels: NDArray[np.int64], lost: int) -> Division:
    """Divide rows by their label; negative labels count as lost."""
    kept = labels[labels >= 0]
    sizes = np.bincount(kept) if len(kept) else np.empty(0, np.int64)
    return Division(sizes[sizes > 0].astype(np.int64), lost + len(labels) - len(kept))


def set_valued_gcp(
    table: Table, rows: NDArray[np.int64], labels: NDArray[np.int64], dropped: int
) -> float:
    """GCP as if every category published the set of its members; numbers keep their ranges.

    Parameters
    ----------
    rows, labels
        Row of the table, and class, of every published row; a negative class means suppressed.
    dropped
        Rows that were kept out of the release.
    """
    forms = [
        attrs.evolve(axis, form="set" if axis.type == "category" else "interval")
        for axis in table.axes
    ]
    table = attrs.evolve(table, axes=tuple(forms))
    classes = Classes.from_labels(labels, rows)
    weights = np.array([axis.weight for axis in forms])
    per_class = class_losses(table, classes) @ (weights / weights.sum())
    lost = float(per_class @ classes.sizes) + len(classes.suppressed) + dropped
    return lost / (classes.total + dropped)
