"""The search for sensitive correlations: sets by growing size, supersets skipped."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from anonloom.data.table import Table
from anonloom_prism.correlations import Correlation, Measure


def discover(
    table: Table | pd.DataFrame,
    sensitive: str | None = None,
    critical: Sequence[Any] | None = None,
    *,
    attributes: Sequence[str] | None = None,
    label: str | Sequence[str] = (),
    measure: Measure = "cramers-v",
    threshold: float = 0.3,
    size: int = 3,
    alpha: float | None = 0.05,
    bins: int = 4,
    levels: int = 8,
) -> tuple[Correlation, ...]:
    """Find the sets of attributes that give critical values of a sensitive attribute away.

    Parameters
    ----------
    table
        A table of Anonloom or a data frame.
    sensitive
        Name of the sensitive column; of a table, by default, the one with that role.
    critical
        Its values that must not be inferred; all of them by default.
    attributes
        Names of the columns to look at; by default all others that are no label.
    label
        Columns that are predicted and therefore not looked at; of a table also those with the role.
    alpha
        Chance of finding anything where there is nothing; None for no guard against chance.
    """
    return ()
