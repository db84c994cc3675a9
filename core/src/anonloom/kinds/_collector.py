"""Collector: how rows reach the aggregator."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

from anonloom.data._schema import Schema
from anonloom.data._table import Table
from anonloom.kinds._collection import Collection
from anonloom.kinds._context import StageContext
from anonloom.kinds._guard import Guard
from anonloom.kinds._stages import Stages

if TYPE_CHECKING:
    from anonloom.kinds._transport import Guarantees

#: Where keys and coins came from: the system's randomness, or a seed that anybody can try.
EntropySource = Literal["system", "seeded"]

#: Where senders and servers ran: all in the process that publishes, or on machines of their own.
Parties = Literal["one-process", "network"]

#: What nobody may forget of a collection that one process played.
ONE_PROCESS = (
    "One process played all senders and servers and saw every record: this protects nobody from "
    "whoever ran it. What the transport guarantees holds where each party runs on a machine of its "
    "own."
)

#: The same before a run, as a sentence of a plan.
PLAYED = (
    "one process plays all parties and sees every record, which protects nobody from whoever runs "
    "it; deployed with each party on a machine of its own:"
)


class Collector(ABC):
    """Collects rows and drives the stages: a trusted curator, or a donation protocol.

    Promise: the release equals what a trusted curator would publish with the same classes and the
    same sampled rows.
    """

    #: Roles that are known while classes are made; None for all. What looks at others then is
    #: refused before the run, and so are mechanisms, which change whole rows.
    partitions_by: ClassVar[frozenset[str] | None] = None

    @abstractmethod
    def collect(
        self, table: Table, stages: Stages, guard: Guard, context: StageContext
    ) -> Collection:
        """Return the release that the stages give, with what checks and audits need beside it."""

    def problem(self, schema: Schema) -> str | None:
        """Say why it cannot collect such columns, or None; asked before the run."""
        return None

    @property
    def guarantees(self) -> "Guarantees | None":
        """What the transport guarantees if it is deployed; None when rows are not sent at all.

        Whether it was deployed `parties` says: where one process played everybody, the report and
        the manifest call it `guarantees_if_deployed`, and guarantee nothing.
        """
        return None

    @property
    def entropy(self) -> EntropySource:
        """Where keys and coins came from; the manifest says so."""
        return "system"

    @property
    def parties(self) -> Parties:
        """Where senders and servers ran; only asked where rows are sent.

        Who does not say otherwise played them all.
        """
        return "one-process"

    @property
    def simulated(self) -> bool:
        """Whether any key or coin came from a seeded source."""
        return self.entropy == "seeded"

    @property
    def traced(self) -> bool:
        """Whether `collect` returns the trace of its transport, for auditors."""
        return False

    def plan(self, rows: int | None, schema: Schema) -> tuple[str, ...]:
        """Sentences for `anonloom plan`: what the collection of such rows will cost."""
        return ()
