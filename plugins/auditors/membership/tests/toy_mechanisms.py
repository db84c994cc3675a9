"""Release mechanisms of which it is known what they tell of people."""

from typing import ClassVar

import attrs
import numpy as np
import pandas as pd

from anonloom import Mechanism, StageContext, Table
from anonloom.errors import PrivacyError


def draw(count, rng):
    """Return people of the population."""
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, count),
            "rent": rng.normal(700, 180, count).round().astype(int),
            "area": rng.choice(["north", "south", "east", "west"], count),
        }
    )


@attrs.frozen(kw_only=True)
class Independent(Mechanism):
    """Draws people of the population, whoever is in the table."""

    truthful: ClassVar[bool] = False

    def protect(self, table: Table, context: StageContext) -> Table:
        return Table.build(draw(len(table), context.rng), table.schema)


@attrs.frozen(kw_only=True)
class Overfitted(Mechanism):
    """Draws people, and repeats the tenth of the table with the most unusual rents."""

    truthful: ClassVar[bool] = False

    def protect(self, table: Table, context: StageContext) -> Table:
        rent = table.column("rent").to_numpy(float)
        far = np.argsort(-np.abs(rent - rent.mean()))[: len(table) // 10]
        others = draw(len(table) - len(far), context.rng)
        repeated = table.frame[list(others.columns)].iloc[far]
        return Table.build(pd.concat([repeated, others], ignore_index=True), table.schema)


@attrs.frozen(kw_only=True)
class Refusing(Independent):
    """Refuses to publish, but for one release of four."""

    def protect(self, table: Table, context: StageContext) -> Table:
        if context.rng.random() < 0.75:
            raise PrivacyError("nothing may be published")
        return super().protect(table, context)
