"""Collector anonify: donors register, are put into classes, and donate answers."""

from typing import Any, ClassVar, Literal

import attrs
import numpy as np

from anonloom import Collection, Collector, Guard, Schema, StageContext, Table, param
from anonloom.errors import TransportError
from anonloom.kinds import Guarantees, Stages
from anonloom.params import at_least, between
from anonloom_anonify import planning
from anonloom_anonify.campaign import Campaign
from anonloom_anonify.donor_data import DonorData
from anonloom_anonify.findings import findings_of
from anonloom_anonify.pipeline_work import PipelineWork
from anonloom_anonify.progress import Progress, no_progress
from anonloom_anonify.simulation import Simulation
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
    simulate: Simulation = param(
        help="What donors do besides what they are asked for: one process plays them all.",
        default=Simulation(),
    )
    traced: bool = param(
        help="Keep what each party and the network saw, for auditors; it takes memory.",
        default=False,
    )

    def __attrs_post_init__(self) -> None:
        """Refuse studies that the transport cannot carry."""
        problem = planning.problem(self)
        if problem is not None:
            raise ValueError(problem)
        if self.simulate.withdrawing and not self.withdrawals:
            raise ValueError("'withdrawing' needs 'withdrawals: true': nobody is asked otherwise")

    def problem(self, schema: Schema) -> str | None:
        """Refuse what donors cannot send."""
        return planning.cannot_send(self, schema)

    @property
    def guarantees(self) -> Guarantees:
        """What a donor is promised, in every round that she takes part in."""
        return planning.guarantees(self)

    def plan(self, rows: int | None, schema: Schema) -> tuple[str, ...]:
        """Say which rounds there are, what they hide, and what they cost."""
        return tuple(planning.sentences(self, rows, schema))

    def collect(
        self, table: Table, stages: Stages, guard: Guard, context: StageContext
    ) -> Collection:
        """Play the study; return what the recipient gets."""
        campaign, donor_data = self.campaign(table, stages, guard, context)
        recipient = campaign.run()
        context.find(*findings_of(campaign, donor_data))
        first = campaign.works[0]
        assert isinstance(first, PipelineWork)
        return Collection(
            donor_data.release(campaign, recipient),
            stages.record_sampling(donor_data.unsampled_release(campaign), table.origin),
            first.prepared,
            first.classes,
            Rounds(campaign.traces, self.servers) if self.traced else None,
        )

    def campaign(
        self, table: Table, stages: Stages, guard: Guard, context: StageContext
    ) -> tuple[Campaign, DonorData]:
        """Return the study that is to be played, and whose rows are sent in it.

        Raises
        ------
        TransportError
            When there are too few donors.
        DataError
            When what donors have to send does not fit.
        """
        table = table.with_all_columns()
        layouts = planning.Layouts.of(
            table.schema, text_bytes=self.text_bytes, answer_bytes=self.answer_bytes
        )
        donor_data = DonorData.of(table, self.iterations, layouts)
        if donor_data.donors < self.min_batch:
            raise TransportError(
                f"a round never closes with fewer than {self.min_batch:,} donors, and there are "
                f"{donor_data.donors:,}; collect more, or lower 'min_batch'"
            )
        context.note(
            f"{donor_data.donors:,} donors, {layouts.registration.size} bytes to register and "
            f"{layouts.answer.size} to answer"
        )
        return self._campaign(donor_data, stages, guard, context), donor_data

    def _campaign(
        self, donor_data: DonorData, stages: Stages, guard: Guard, context: StageContext
    ) -> Campaign:
        entropy, layouts = SystemEntropy(), donor_data.layouts
        authority = Authority.draw(entropy) if self.credentials == "invitations" else None
        study = planning.study_of(
            self,
            id=entropy.bytes(8).hex(),
            donors=donor_data.donors,
            k=guard.demanded,
            layouts=layouts,
            rules=stages.fingerprint(),
            authority=authority.public if authority else b"",
        )
        planned = self._guard_with_dropouts(guard)
        return Campaign(
            transport=self.transport,
            study=study,
            works=[
                PipelineWork(layouts.registration, layouts.answer, planned, stages, index == 0)
                for index in range(self.servers)
            ],
            records=donor_data.records,
            answers=donor_data.answers,
            behaviour=self.simulate.behaviour(donor_data.donors, self.iterations, context.rng),
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
        return Progress.of(planning.named_rounds(study), self.transport, context.progress)

    def _guard_with_dropouts(self, guard: Guard) -> Guard:
        """Return the guard of classes from which some may drop out."""
        left, kept = 1 - self.tolerated, guard.least_kept
        return Guard(
            guard.models, lambda sizes: kept(np.floor(np.round(sizes * left, 9)).astype(np.int64))
        )
