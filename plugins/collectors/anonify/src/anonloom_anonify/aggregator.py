"""Aggregator: one server of a study, between the rounds of a transport.

Algorithms 1 and 2 of the paper. The engine says which round comes next (`round`), is told what
became public in it (`hear`), and talks with the other servers about what follows: classes, what
will be erased, the release. Who carries words and drives the rounds is none of its affair.

All that it does follows from facts that only grow: what it drew, what servers said, what rounds
gave. So a server that is started again from the saved facts is where it was.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence

import attrs

from anonloom import AnonloomError
from anonloom.errors import TransportError
from anonloom_anonify.registration import Classes, Registrations
from anonloom_anonify.release import Assembly, assemble
from anonloom_anonify.reservation import (
    Choice,
    Plan,
    PublicationAttempt,
    Reservations,
    plan_document,
)
from anonloom_anonify.round_log import RoundLog, RoundResult, steps_of
from anonloom_anonify.server_agreement import ServerAgreement
from anonloom_anonify.server_state import load, save
from anonloom_anonify.study import Study
from anonloom_anonify.work import Work
from anonloom_transport import Entropy, Envelope, RecordedEntropy, Round, ServerConfig, ServerEngine


@attrs.define(eq=False)
class Aggregator:
    """One server of a study.

    Attributes
    ----------
    registered, classes, plan
        What was found; None before that. The classes stay when the study is over.
    broadcast
        The classes, signed by all servers.
    assembled
        What became of each iteration that was opened.
    releases
        The same, as the recipient gets it: signed by all servers.
    withheld
        Iterations that were not opened, and why.
    reserved, erased, classes_withheld
        How many positions there are, how many of them will be erased, and why whole classes are.
    restarts
        How often the reservations were made anew because the servers had to give up.
    """

    study: Study
    config: ServerConfig
    work: Work = attrs.field(repr=False)
    _source: Entropy = attrs.field(repr=False)
    agreement: ServerAgreement = attrs.field(init=False, repr=False)
    round_log: RoundLog = attrs.field(init=False, repr=False)
    registered: Registrations | None = attrs.field(default=None, init=False, repr=False)
    classes: Classes | None = attrs.field(default=None, init=False, repr=False)
    broadcast: bytes | None = attrs.field(default=None, init=False, repr=False)
    plan: Plan | None = attrs.field(default=None, init=False, repr=False)
    assembled: dict[int, Assembly] = attrs.field(factory=dict, init=False, repr=False)
    releases: dict[int, bytes] = attrs.field(factory=dict, init=False, repr=False)
    withheld: dict[int, str] = attrs.field(factory=dict, init=False)
    reserved: int = attrs.field(default=0, init=False)
    erased: int = attrs.field(default=0, init=False)
    classes_withheld: dict[str, int] = attrs.field(factory=dict, init=False)
    restarts: int = attrs.field(default=0, init=False)
    refused: Counter[str] = attrs.field(factory=Counter, init=False)
    over: bool = attrs.field(default=False, init=False)
    _choice: PublicationAttempt | None = attrs.field(default=None, init=False, repr=False)
    _begun: bool = attrs.field(default=False, init=False)
    _classed: bytes = attrs.field(default=b"", init=False, repr=False)
    _steps: frozenset[str] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.agreement = ServerAgreement(self.study, self.config, RecordedEntropy(self._source))
        self.round_log = RoundLog(self.study, self.agreement.channel)
        self._steps = steps_of(self.study)

    # --- the contract ---------------------------------------------------------------------------

    @property
    def notice(self) -> bytes | None:
        """The study, signed by all servers; None before that."""
        return self.agreement.notice

    @property
    def stop_reason(self) -> str:
        """Why the study cannot end, naming a server where that is proven; empty if it can."""
        return self.agreement.stop_reason

    def begin(self) -> list[Envelope]:
        """Announce this server's key.

        Raises
        ------
        TransportError
            When it has begun before, and was not started from what it saved.
        """
        if not self._begun and self.agreement.state_vault.begun:
            raise TransportError(
                "this server has begun the study before: it goes on from what it saved last"
            )
        self._begun = True
        return self._go_on()

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take what another server said; what is wrong with it is counted."""
        if self.over:
            reason = "after the end"  # what all have signed stands
        elif envelope.step not in self._steps:
            reason = "unknown step"
        else:
            reason = self.agreement.hear(envelope)
        if reason:
            self.refused[reason] += 1
        return self._go_on()

    def resend(self) -> list[Envelope]:
        """Return what other servers may have missed."""
        self.agreement.channel.resend()
        return self.agreement.channel.drain()

    def hear(self, round: Round, engine: ServerEngine) -> list[Envelope]:
        """Take what became public in the round that was to be run, from this server's engine.

        Raises
        ------
        TransportError
            When it was another round, or nothing became public.
        """
        self._require_now(round)
        name, result = self._name(round), engine.result
        if result is None:
            raise TransportError(f"nothing became public in the round '{name}'")
        numbers = engine.accepted_count, engine.left_out
        self.round_log.remember(RoundResult(name, tuple(result), *numbers, engine.senders))
        return self._go_on()

    def allowed_senders(self, round: Round) -> frozenset[bytes] | None:
        """Return who may send in a round, for this server's config in it; None for all."""
        return self.round_log.allowed_senders(self._name(round))

    def give_up(self, round: Round, reason: str, *, shown: bool = False) -> list[Envelope]:
        """Say that a round cannot end; see `round` for what comes then.

        Parameters
        ----------
        shown
            Whether it was being opened: others may have seen records.
        """
        self._require_now(round)
        name = self._name(round)
        if self.registered is None:
            self.agreement.channel.stop(reason)
        else:
            self.round_log.give_up(name, reason, shown)
        return self._go_on()

    @property
    def round(self) -> Round | None:
        """The round to be run now; None while servers still have to agree, and at the end."""
        if self.stop_reason or self.over or self.agreement.secret is None:
            return None
        if self.registered is None:
            attempt = self.round_log.registration_attempt()
            return self.study.registration(attempt, self.round_log.cohort("registration", attempt))
        if self.broadcast is None:
            return None
        if self.plan is None:
            attempt, _ = self.round_log.reservation_attempt()
            if f"reservation {attempt}" in self.round_log.facts:
                return None  # coins are being tossed
            cohort = self.round_log.cohort("reservation", attempt)
            return self.study.reservation(attempt, cohort, self._classed)
        return (
            None if self._publication_name in self.round_log.facts else self.deposit(self.iteration)
        )

    def deposit(self, iteration: int) -> Round:
        """Describe the deposit of an iteration; decoys for the next one need its description."""
        assert self.plan is not None
        return self.plan.deposit(self.study, iteration)

    @property
    def withdrawal(self) -> Round | None:
        """The post in which everybody says whether the consent holds, if the study asks."""
        if self.plan is None or not self.study.withdrawals:
            return None
        return self.study.withdrawal(self.plan.attempt, self.iteration, self.plan.digest)

    @property
    def iteration(self) -> int:
        """The iteration that is now, counted from 1."""
        return len(self.releases) + len(self.withheld) + 1

    # --- what is not opened ---------------------------------------------------------------------

    def withdrawn(self) -> frozenset[int]:
        """Return the positions whose donors have withdrawn, in this iteration or before."""
        assert self.plan is not None
        asked = self.round_log.withdrawals(self.plan.attempt)
        return frozenset(rank for item in asked.items() for rank in self.plan.withdrawn(*item))

    def groups(self) -> list[list[int]]:
        """Return the positions of each class that would be opened, to be counted.

        Of classes with fewer than k positions nothing is opened, whatever is in them; and a count
        of few positions would tell of single ones.
        """
        return [group for group in self._remaining_groups() if len(group) >= self.study.k]

    def too_small(self) -> frozenset[int]:
        """Return the positions of classes of which too few are left, however many are filled."""
        small = (group for group in self._remaining_groups() if len(group) < self.study.k)
        return frozenset(rank for group in small for rank in group)

    def _remaining_groups(self) -> list[list[int]]:
        assert self.plan is not None
        return self.plan.groups(self.withdrawn())

    def too_few(self, counts: Sequence[int]) -> frozenset[int]:
        """Return the positions of classes that are not opened, after counting `groups`."""
        return frozenset(
            rank
            for group, count in zip(self.groups(), counts, strict=True)
            if count < self.study.k
            for rank in group
        )

    # --- what follows from the facts ------------------------------------------------------------

    def _go_on(self) -> list[Envelope]:
        """Do whatever the facts allow; return what is to be carried."""
        try:
            if self._begun and not self.over and not self.stop_reason and self.agreement.meet():
                self._classify()
                self._plan()
                self._release()
        except AnonloomError as error:
            # From the same facts it would fail for ever: the others are told, and so is whoever
            # runs this server.
            self.agreement.channel.stop(str(error))
            raise
        finally:
            if self._begun:
                self._end()
        return self.agreement.channel.drain()

    def _classify(self) -> None:
        """Make classes of what was registered, as all other servers do (algorithm 1, step 4)."""
        attempt = self.round_log.registration_attempt()
        heard = self.round_log.facts.get(f"registration {attempt}")
        if self.broadcast is not None or heard is None:
            return
        if self.registered is None:
            self.registered = Registrations.of(heard.whole, self.study.registration_size)
        if self.classes is None:
            seed = self.agreement.toss_seed("seed", self.registered.digest)
            if seed is None:
                return
            try:
                assignment = self.work.classify(self.registered.records, seed)
            except TransportError as error:
                self.agreement.channel.stop(str(error))
                return
            self.refused.update(assignment.refused)
            self.classes = Classes.of(self.registered, assignment)
        document = self.classes.encode()
        # Without the signatures: one server can sign the same document in many ways.
        self._classed = _digest(document)
        self.broadcast = self.agreement.signed_by_all("classes", document, "classes", "the classes")

    def _plan(self) -> None:
        """Fix what will be erased before anybody deposits (algorithm 2, steps 2 and 3)."""
        if self.broadcast is None or self.classes is None or self.releases:
            return
        attempt, restarts = self.round_log.reservation_attempt()
        self._make_anew(restarts)
        heard = self.round_log.facts.get(f"reservation {attempt}")
        if self.plan is not None or heard is None or self.stop_reason:
            return
        if self._choice is None or self._choice.attempt != attempt:
            self._choice = self._draw(attempt, heard, self.classes)
            if self._choice is None:
                return
        reservations, choice = self._choice.reservations, self._choice.choice
        erasure = choice.erasure(self.agreement.derive(f"erasure {attempt}"))
        document = plan_document(self._classed, reservations.slots, erasure.commitment)
        signed = self.agreement.signed_by_all(
            f"plan {attempt}", document, f"plan {attempt}", "what will be erased"
        )
        if signed is not None:
            self.refused.update(reservations.refused)
            self.reserved, self.erased = len(choice.kept), int((~choice.kept).sum())
            self.classes_withheld = {why: len(which) for why, which in choice.withheld.items()}
            self.plan = Plan(
                attempt, reservations, choice, erasure, heard.accepted, _digest(document)
            )

    def _draw(
        self, attempt: int, heard: RoundResult, classes: Classes
    ) -> PublicationAttempt | None:
        """Toss coins about the list of reservations, and draw with them."""
        reservations = Reservations.of(heard.whole, len(classes.cells))
        seed = self.agreement.toss_seed(f"coins {attempt}", reservations.digest)
        if seed is None:
            return None
        choice = Choice.of(reservations, classes.sizes, self.study.k, self.work, seed)
        if not choice.kept.any():
            self.agreement.channel.stop(f"no class is left that can be published: {choice.why}")
            return None
        return PublicationAttempt(attempt, reservations, choice)

    def _make_anew(self, restarts: int) -> None:
        """Discard reservations when the servers gave up before anything was opened.

        The list and what was deposited on it are never used again: one list has one erased set.
        """
        reason = self.round_log.last_reason
        if self.round_log.seen_by_others:
            # Opened again with another erased set, what was erased now would have been seen.
            self.agreement.channel.stop(f"given up while records were opened: {reason}")
        elif restarts > self.study.restarts:
            self.agreement.channel.stop(f"given up {restarts} times: {reason}")
        elif restarts > self.restarts:
            self.restarts = restarts
        else:
            return
        self.plan = None

    def _release(self) -> None:
        """Assemble what was opened, and have all sign it (algorithm 2, steps 6 and 7)."""
        while self.classes and self.plan and self.iteration <= self.study.iterations:
            name, now = self._publication_name, self.iteration
            if self.round_log.gave_up(name):
                self.withheld[now] = self.round_log.reason(name)
                continue
            heard = self.round_log.facts.get(name)
            if heard is None or self.stop_reason:
                return
            if now not in self.assembled:
                join = self.agreement.derive("join")
                self.assembled[now] = assemble(
                    self.study, now, self.classes, self.plan, heard.messages, self.work, join
                )
            document = self.assembled[now].opened.encode(self.study)
            step = f"release {now}"
            signed = self.agreement.signed_by_all(step, document, step, "the release")
            if signed is None:
                return
            self.releases[now] = signed

    def _end(self) -> None:
        """Destroy the join key and whatever else is secret when the last iteration is over.

        The same when the study has stopped: nothing of it will ever be opened or joined again.
        """
        ended = self.plan is not None and self.iteration > self.study.iterations
        if not self.over and (ended or self.stop_reason):
            self.over = ended and not self.stop_reason
            self.round_log.facts.clear()
            self.plan = self._choice = self.registered = None
            self.assembled = {
                index: item.without_positions() for index, item in self.assembled.items()
            }
            self.agreement.forget()

    # --- saving and going on --------------------------------------------------------------------

    def save(self) -> bytes:
        """Return all that a new engine needs to go on, readable with the vault's key only.

        When the study is over, or has stopped, it holds only what all servers may know.
        """
        return save(self)

    def resume(self, saved: bytes) -> list[Envelope]:
        """Go on from what was saved.

        Raises
        ------
        TransportError
            When it cannot be read any more.
        """
        load(self, saved)
        self._begun = self.agreement.state_vault.begun
        self._go_on()
        return self.resend()

    # --- names of rounds ------------------------------------------------------------------------

    @property
    def _publication_name(self) -> str:
        assert self.plan is not None
        return f"publishing {self.plan.attempt}.{self.iteration}"

    def _name(self, round: Round) -> str:
        return round.id.removeprefix(f"{self.study.id} ")

    def _require_now(self, round: Round) -> None:
        if round not in (self.round, self.withdrawal):
            raise TransportError(f"the study is not in the round '{self._name(round)}'")


def _digest(document: bytes) -> bytes:
    return hashlib.sha256(document).digest()
