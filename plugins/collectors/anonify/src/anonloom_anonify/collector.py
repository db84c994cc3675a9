"""Collector anonify: donors register, are put into classes, and donate answers."""

from typing import Any, ClassVar, Literal

import attrs
import numpy as np

from anonloom import Collection, Collector, Guard, Schema, StageContext, Table, param
from anonloom.errors import TransportError
from anonloom.kinds import Guarantees, Stages
from anonloom.params import at_least, between
from anonloom_anonify import outline
from anonloom_anonify.behaviour import Behaviour
from anonloom_anonify.campaign import Campaign
from anonloom_anonify.donated import Donated
from anonloom_anonify.findings import findings_of
from anonloom_anonify.progress import Progress, no_progress
from anonloom_anonify.staged import StagedWork
from anonloom_anonify.study import Missing, Study
from anonloom_transport import TEXT_BYTES, Authority, EngineTransport, Rounds, Suite, SystemEntropy


@attrs.frozen(kw_only=True)
class Anonify(Collector):
    """Plays the donation protocol Anonify with one donor per row, or per person.

    Donors post their quasi-identifiers without a name. Every server makes the same classes of
    them, and tells all donors which class is whose. Then donors reserve a position for their class,
    the servers fix which positions will be erased, and donors deposit what is sensitive; what is
    erased is never known to anybody.

    All parties are played in one process. Keys and coins come from the system's randomness, with a
    seed too.
    """

    example: ClassVar[dict[str, Any]] = {"transport": "direct", "min_batch": 10}
    partitions_by: ClassVar[frozenset[str] | None] = frozenset({"quasi", "person"})

    transport: EngineTransport = param(help="What carries registrations, reservations and answers.")
    servers: int = param(help="Number of servers.", default=2, check=at_least(1))
    min_batch: int = param(
        help="Least number of donors: with fewer no round closes.", default=50, check=at_least(1)
    )
    min_leave: int = param(
        help=(
            "From one phase to the next nobody may be missing, or at least so many: who is missing "
            "alone shows what was hers."
        ),
        default=10,
        check=at_least(1),
    )
    tolerated: float = param(
        help=(
            "Share of a class that may drop out after registering: classes are made so large that "
            "the demanded number of records is left, after sampling too."
        ),
        default=0.0,
        check=between(0, 1, most_open=True),
    )
    iterations: int = param(help="How often donors answer.", default=1, check=at_least(1))
    missing: Missing = param(
        help=(
            "What becomes of an iteration in which donors are missing: `stop` withholds it for "
            "all; `blank` lets a decoy stand in that each left the time before, which does not "
            "hide who misses which iterations."
        ),
        default="stop",
    )
    withdrawals: bool = param(
        help="Ask everybody before each opening whether the consent holds; one more post each.",
        default=False,
    )
    credentials: Literal["none", "invitations"] = param(
        help=(
            "Whether each donor needs an invitation that the study has signed; without, donors are "
            "counted and not recognised, and anybody can hold a round."
        ),
        default="invitations",
    )
    repeats: int = param(
        help="How often everybody posts again when some posts did not arrive.",
        default=1,
        check=at_least(0),
    )
    restarts: int = param(
        help="How often reservations may be made anew after the servers had to give up.",
        default=1,
        check=between(0, 1),
    )
    suite: Suite = param(
        help="How envelopes are sealed: X25519, or together with ML-KEM-768.", default="x25519"
    )
    text_bytes: int = param(
        help="Most bytes of a text whose values no hierarchy lists.",
        default=TEXT_BYTES,
        check=at_least(1),
    )
    answer_bytes: int = param(
        help="Least size of an answer; smaller ones are padded.", default=0, check=at_least(0)
    )
    leaving: float = param(
        help="Simulated: share of donors who register and are never heard of again.",
        default=0.0,
        check=between(0, 1),
    )
    absent: float = param(
        help="Simulated: chance of each donor to be missing from each iteration after the first.",
        default=0.0,
        check=between(0, 1),
    )
    lying: float = param(
        help="Simulated: share of donors who claim another class than theirs.",
        default=0.0,
        check=between(0, 1),
    )
    withdrawing: float = param(
        help="Simulated: chance of each donor to withdraw in each iteration.",
        default=0.0,
        check=between(0, 1),
    )
    traced: bool = param(
        help="Keep what each party and the network saw, for auditors; it takes memory.",
        default=False,
    )

    def __attrs_post_init__(self) -> None:
        """Refuse studies that the transport cannot carry."""
        problem = outline.problem(self)
        if problem is not None:
            raise ValueError(problem)
        if self.withdrawing and not self.withdrawals:
            raise ValueError("'withdrawing' needs 'withdrawals: true': nobody is asked otherwise")

    def problem(self, schema: Schema) -> str | None:
        """Refuse what donors cannot send."""
        return outline.cannot_send(self, schema)

    @property
    def guarantees(self) -> Guarantees:
        """What a donor is promised, in every round that she takes part in."""
        return outline.guarantees(self)

    def plan(self, rows: int | None, schema: Schema) -> tuple[str, ...]:
        """Say which rounds there are, what they hide, and what they cost."""
        return tuple(outline.sentences(self, rows, schema))

    def collect(
        self, table: Table, stages: Stages, guard: Guard, context: StageContext
    ) -> Collection:
        """Play the study; return what the recipient gets."""
        campaign, donated = self.campaign(table, stages, guard, context)
        recipient = campaign.run()
        context.find(*findings_of(campaign, donated))
        first = campaign.works[0]
        assert isinstance(first, StagedWork)
        return Collection(
            donated.released(campaign, recipient),
            stages.record_sampling(donated.classed(campaign), table.origin),
            first.prepared,
            first.classes,
            Rounds(campaign.traces, self.servers) if self.traced else None,
        )

    def campaign(
        self, table: Table, stages: Stages, guard: Guard, context: StageContext
    ) -> tuple[Campaign, Donated]:
        """Return the study that is to be played, and whose rows are sent in it.

        Raises
        ------
        TransportError
            When there are too few donors.
        DataError
            When what donors have to send does not fit.
        """
        table = table.with_all_columns()
        layouts = outline.Layouts.of(
            table.schema, text_bytes=self.text_bytes, answer_bytes=self.answer_bytes
        )
        donated = Donated.of(table, self.iterations, layouts)
        if donated.donors < self.min_batch:
            raise TransportError(
                f"a round never closes with fewer than {self.min_batch:,} donors, and there are "
                f"{donated.donors:,}; collect more, or lower 'min_batch'"
            )
        context.note(
            f"{donated.donors:,} donors, {layouts.registration.size} bytes to register and "
            f"{layouts.answer.size} to answer"
        )
        return self._campaign(donated, stages, guard, context), donated

    def _campaign(
        self, donated: Donated, stages: Stages, guard: Guard, context: StageContext
    ) -> Campaign:
        entropy, layouts = SystemEntropy(), donated.layouts
        authority = Authority.draw(entropy) if self.credentials == "invitations" else None
        study = outline.study_of(
            self,
            id=entropy.bytes(8).hex(),
            donors=donated.donors,
            k=guard.demanded,
            layouts=layouts,
            rules=stages.fingerprint(),
            authority=authority.public if authority else b"",
        )
        planned = self._planned(guard)
        return Campaign(
            transport=self.transport,
            study=study,
            works=[
                StagedWork(layouts.registration, layouts.answer, planned, stages, index == 0)
                for index in range(self.servers)
            ],
            records=donated.records,
            answers=donated.answers,
            behaviour=self._behaviour(donated.donors, context.rng),
            entropy=entropy,
            authority=authority,
            traced=self.traced,
            progress=self._progress(study, context),
        )

    def _progress(self, study: Study, context: StageContext) -> Progress:
        """Return who is told how far the study is.

        To estimate rounds transports play some with real keys, which takes seconds: nobody waits
        for a bar that nobody sees.
        """
        if not context.watched:
            return no_progress()
        return Progress.of(outline.named_rounds(study), self.transport, context.progress)

    def _behaviour(self, donors: int, rng: np.random.Generator) -> Behaviour:
        behaviour = Behaviour.drawn(
            donors,
            self.iterations,
            rng,
            leaving=self.leaving,
            absent=self.absent,
            lying=self.lying,
            withdrawing=self.withdrawing,
        )
        # The first answer comes right after the reservation; whoever vanishes before is `leaving`.
        behaviour.absent[0] = False
        return behaviour

    def _planned(self, guard: Guard) -> Guard:
        """Return the guard of classes from which some may drop out."""
        left, kept = 1 - self.tolerated, guard.least_kept
        return Guard(
            guard.models, lambda sizes: kept(np.floor(np.round(sizes * left, 9)).astype(np.int64))
        )
