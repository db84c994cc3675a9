"""Collector curator: one trusted party holds the whole table."""

import attrs

from anonloom.data._table import Table
from anonloom.kinds._collection import Collection
from anonloom.kinds._collector import Collector
from anonloom.kinds._context import StageContext
from anonloom.kinds._guard import Guard
from anonloom.kinds._stages import Stages


@attrs.frozen(kw_only=True)
class Curator(Collector):
    """Runs every stage on one table, as a statistics office or a hospital would.

    No row is sent anywhere, so that there is nothing to hide on the way; the curator sees
    everything and has to be trusted with it.
    """

    def collect(
        self, table: Table, stages: Stages, guard: Guard, context: StageContext
    ) -> Collection:
        """Return what the stages give on the whole table."""
        return stages.run(table, guard)
