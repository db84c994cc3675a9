"""Collector delivery: rows travel through a transport, and the stages run on what arrives."""

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Collection, Collector, Guard, Schema, StageContext, Table, param
from anonloom.data import PUBLISHED
from anonloom.errors import TransportError
from anonloom.kinds import PLAYED, Guarantees, Stages
from anonloom.params import ParameterGroup, at_least, between
from anonloom_delivery.costs import findings_of
from anonloom_delivery.sending import Plan, send
from anonloom_transport import (
    TEXT_BYTES,
    EngineTransport,
    RecordLayout,
    Rounds,
    Suite,
    SystemEntropy,
    both,
    slot_of,
)

#: Rows that are planned with where nobody knows how many there will be.
_ROWS = 10_000


@attrs.frozen(kw_only=True)
class Simulation(ParameterGroup):
    """Who deviates; whoever deploys a transport has no such parameters."""

    dishonest: float = param(
        help=(
            "Further senders who do the worst to the first round that passes all checks, as a "
            "share of the rows: for asking what they can destroy."
        ),
        default=0.0,
        check=between(0, 1),
    )


@attrs.frozen(kw_only=True)
class Delivery(Collector):
    """Lets every row be sent by somebody of its own, and runs the stages on what arrives.

    All parties are played in one process: this is for trying what a transport does to a pipeline,
    and what it costs. Keys and coins come from the system's randomness, with a seed too.
    """

    example: ClassVar[dict[str, Any]] = {"transport": "direct", "min_batch": 10}

    transport: EngineTransport = param(help="What carries the rows.")
    servers: int = param(help="Number of servers.", default=2, check=at_least(1))
    min_batch: int = param(
        help="Least number of senders: a round with fewer never closes.",
        default=50,
        check=at_least(1),
    )
    suite: Suite = param(
        help="How envelopes are sealed: X25519, or together with ML-KEM-768.", default="x25519"
    )
    erase: float = param(
        help="Share of the rows that is erased after all have sent and before any is opened.",
        default=0.0,
        check=between(0, 1, most_open=True),
    )
    min_leave: int = param(
        help=(
            "The second round is held when some senders of the first are missing from it, or fail "
            "its checks, but fewer than that: who is missing alone shows which position was hers."
        ),
        default=10,
        check=at_least(1),
    )
    simulate: Simulation = param(
        help="What senders do besides what they are asked for: one process plays them all.",
        default=Simulation(),
    )
    text_bytes: int = param(
        help="Most bytes of a text whose values no hierarchy lists.",
        default=TEXT_BYTES,
        check=at_least(1),
    )
    record_bytes: int = param(
        help="Least size of a record; smaller ones are padded.", default=0, check=at_least(0)
    )
    traced: bool = param(
        help="Keep what each party and the network saw, for auditors; it takes memory.",
        default=False,
    )

    def __attrs_post_init__(self) -> None:
        """Refuse rounds that the transport cannot carry."""
        plan, slots = self._plan(), _slots(self.min_batch)
        for round_ in (plan.post(len(slots), "some"), plan.deposit(slots, 1, "some")):
            problem = self.transport.problem(round_)
            if problem is not None:
                raise ValueError(problem)

    def problem(self, schema: Schema) -> str | None:
        """Refuse what an anonymous sender cannot send."""
        for column in schema:
            if column.pseudonymize:
                return (
                    f"column '{column.name}' is published as a pseudonym, and identifiers are "
                    "never sent: leave the column out, or use the collector 'curator'"
                )
        return None

    @property
    def guarantees(self) -> Guarantees:
        """What a row is promised that travels in a post and in a deposit."""
        plan, slots = self._plan(), _slots(self.min_batch)
        return both(
            self.transport.guarantees(plan.post(len(slots), "some")),
            self.transport.guarantees(plan.deposit(slots, 1, "some")),
        )

    def plan(self, rows: int | None, schema: Schema) -> tuple[str, ...]:
        """Say what travels, what that hides, and what it costs."""
        senders = "every row" if rows is None else f"each of {rows:,} rows"
        promised = self.guarantees
        return (
            f"{senders} travels in a record of its own to {self.servers} servers, in two rounds of "
            f"at least {self.min_batch:,} senders",
            PLAYED,
            *promised.sentences()[:2],
            *self._costs(max(rows or _ROWS, self.min_batch), self._layout(schema).size),
        )

    def _costs(self, rows: int, size: int) -> tuple[str, ...]:
        """Say what both rounds cost with so many rows, in records of a size."""
        plan = self._plan()
        senders = rows + plan.spoilers(rows)
        post = self.transport.estimate(plan.post(senders, "some"))
        deposit = self.transport.estimate(plan.deposit(_slots(rows), size, "some", None, senders))
        if post is None or deposit is None:
            return ("what that costs the transport cannot say before a run",)
        first, *others = (post + deposit).sentences()
        return (f"with {rows:,} rows in records of {size:,} bytes, {first}", *others)

    def collect(
        self, table: Table, stages: Stages, guard: Guard, context: StageContext
    ) -> Collection:
        """Carry the rows, then run the stages as a curator would."""
        table = table.with_all_columns()
        if len(table) < self.min_batch:
            raise TransportError(
                f"a round never closes with fewer than {self.min_batch:,} senders, and the table "
                f"has {len(table):,} rows; collect more, or lower 'min_batch'"
            )
        arrived, trace = self._carry(table, context)
        return attrs.evolve(stages.run(arrived, guard), trace=trace)

    def _carry(self, table: Table, context: StageContext) -> tuple[Table, Rounds | None]:
        """Return the table that arrives, and what was seen of it on the way."""
        layout = self._layout(table.schema)
        unwanted = np.zeros(len(table), bool)
        drawn = context.rng.choice(len(table), round(self.erase * len(table)), replace=False)
        unwanted[drawn] = True
        context.note(f"{len(table):,} senders, {layout.size} bytes each")
        plan = attrs.evolve(self._plan(), context=layout.digest, progress=context.progress)
        sent = send(plan, layout.encode(table), unwanted, plan.entropy.bytes(8).hex())
        decoded = layout.decode(sent.records)
        context.find(*findings_of(sent, len(table), layout.size, decoded.refused))
        order = _canonical(sent.records[decoded.readable])
        rows = sent.rows[decoded.readable][order]
        traces = (sent.post.trace, sent.deposit.trace)
        trace = Rounds(traces, self.servers) if self.traced else None
        return _table_of_arrivals(table, decoded.frame.take(order), rows), trace

    def _layout(self, schema: Schema) -> RecordLayout:
        """Return how rows are written as records."""
        columns = [column.name for column in schema if column.role in PUBLISHED]
        return RecordLayout.of(
            schema, columns, text_bytes=self.text_bytes, at_least=self.record_bytes
        )

    def _plan(self) -> Plan:
        return Plan(
            transport=self.transport,
            servers=self.servers,
            min_batch=self.min_batch,
            suite=self.suite,
            entropy=SystemEntropy(),
            traced=self.traced,
            dishonest=self.simulate.dishonest,
            min_leave=self.min_leave,
        )


def _slots(number: int) -> list[bytes]:
    """Return made-up positions, to ask what a round of so many promises and costs."""
    return sorted(slot_of(index.to_bytes(8, "big")) for index in range(number))


def _canonical(records: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the order of records that any server would give them: that of their bytes.

    Positions are random. Stages whose result depends on the order of rows must not depend on them.
    """
    whole = np.ascontiguousarray(records).view(f"S{records.shape[1]}").reshape(len(records))
    return np.argsort(whole, kind="stable")


def _table_of_arrivals(table: Table, frame: Any, rows: NDArray[np.int64]) -> Table:
    """Build the table of what arrived.

    Columns that are never published were not sent. They serve counting and evaluation, and are
    those of the rows from which the records came.
    """
    frame = frame.reset_index(drop=True)
    for name in table.frame.columns:
        if name not in frame:
            frame[name] = table.column(name).take(rows).reset_index(drop=True)
    origin = None if table.origin is None else table.origin[rows]
    kept = Schema(column for column in table.schema if column.role != "identifier")
    return attrs.evolve(Table.build(frame, kept, origin), schema=table.schema, origin=origin)
