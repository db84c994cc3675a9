"""Campaign: a whole study in one process, with all donors, all servers and the recipient.

The engines are those of a deployment; here one program plays everybody, carries what they send,
and knows the truth, to compare with what the servers found.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import TransportError
from anonloom_anonify.donor import Donor
from anonloom_anonify.progress import Progress, no_progress
from anonloom_anonify.recipient import Recipient
from anonloom_anonify.release import join_key
from anonloom_anonify.simulation import Behaviour
from anonloom_anonify.study_servers import StudyServers, waits
from anonloom_transport import (
    Authority,
    Driver,
    Entry,
    Envelope,
    Erasure,
    Ledger,
    Round,
    SlotKey,
    SlotSecret,
    Trace,
)
from anonloom_transport import Corruption as RoundCorruption


def _nobody(round: Round) -> Mapping[int, RoundCorruption]:
    """Let all servers of a round be honest."""
    return {}


@attrs.define(eq=False, kw_only=True)
class Campaign(StudyServers):
    """Plays a study from its beginning to its end.

    Parameters
    ----------
    records
        Encoded quasi-identifiers, one row per donor.
    answers
        For every iteration the encoded answers of all donors, and which donors have one.
    behaviour
        What donors do besides.
    authority
        Who signs invitations, if the study wants them.
    progress
        Told how far the study is.
    corrupted_in
        Those that deviate in a round; see `anonloom_testing.transport.adversaries`.

    Attributes
    ----------
    driver
        The round that is being run.
    ledger
        What each round cost and what became of it.
    numbers
        Truth: the class of each donor, as she found it herself, whatever she claims.
    chosen
        Truth: the donors whose positions are not to be erased.
    miscounted
        Classes of which other numbers of records were opened than the servers had counted.
    owners
        Truth: which donors the records of each iteration are from.
    """

    records: NDArray[np.uint8] = attrs.field(repr=False)
    answers: Sequence[tuple[NDArray[np.uint8], NDArray[np.bool_]]] = attrs.field(repr=False)
    behaviour: Behaviour = attrs.field(repr=False)
    authority: Authority | None = attrs.field(default=None, repr=False)
    progress: Progress = attrs.field(factory=no_progress, repr=False)
    corrupted_in: Callable[[Round], Mapping[int, RoundCorruption]] = attrs.field(
        default=_nobody, repr=False
    )
    driver: Driver | None = attrs.field(default=None, init=False, repr=False)
    ledger: Ledger = attrs.field(factory=Ledger, init=False, repr=False)
    donors: list[Donor] = attrs.field(factory=list, init=False, repr=False)
    recipient: Recipient | None = attrs.field(default=None, init=False, repr=False)
    numbers: list[int | None] = attrs.field(factory=list, init=False, repr=False)
    chosen: NDArray[np.bool_] = attrs.field(init=False, repr=False)
    miscounted: int = attrs.field(default=0, init=False)
    owners: dict[int, NDArray[np.int64]] = attrs.field(factory=dict, init=False, repr=False)
    _invitations: list[bytes] = attrs.field(factory=list, init=False, repr=False)
    _next: Driver | None = attrs.field(default=None, init=False, repr=False)
    _deposit: Driver | None = attrs.field(default=None, init=False, repr=False)
    _opened: bool = attrs.field(default=False, init=False)
    _kept: dict[int, list[Envelope]] = attrs.field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        StudyServers.__attrs_post_init__(self)
        if self.authority is not None:
            self._invitations = [
                self.authority.invite(self.entropy, self.study.digest) for _ in self.records
            ]

    def run(self) -> Recipient:
        """Play the study; return the recipient with what it was given.

        Raises
        ------
        TransportError
            When the study stops, with the reason.
        """
        self.begin()
        notice = self.first("notice")
        self.donors = [Donor(notice, self.pins, self.entropy) for _ in self.records]
        self.recipient = Recipient(notice, self.pins)
        while (round := self.now()) is not None:
            self._play(round)
        return self.recipient

    def restart(self, index: int) -> None:
        """Stop a server and start it again from what it had saved, in its rounds too."""
        StudyServers.restart(self, index)
        for driver in self.open_drivers:
            driver.restart(index)

    @property
    def open_drivers(self) -> list[Driver]:
        """The rounds that are not over: that of now, one that waits for it, the next one."""
        return [item for item in (self.driver, self._deposit, self._next) if item is not None]

    @property
    def cells(self) -> tuple[tuple[str | None, ...], ...]:
        """What is published of each class."""
        classes = self.servers[0].classes
        return () if classes is None else classes.cells

    # --- one round ------------------------------------------------------------------------------

    def _play(self, round: Round) -> None:
        name = round.id.removeprefix(f"{self.study.id} ")
        phase, self._opened = name.split(" ")[0], False
        self.progress.begin(name)
        play = {
            "registration": self._register,
            "reservation": self._reserve,
            "publishing": self._publish,
        }[phase]
        try:
            driver = play(round, name)
        except TransportError as error:
            reason = self._abandon(str(error))
            self._note(name)
            self.driver = self._deposit = None
            self.tell(
                lambda server: server.give_up(round, reason, shown=self._opened),
                f"{name}: given up",
            )
            return
        self._note(name)
        self.driver = None
        self._hand_result_to_servers(driver, name)
        if phase == "registration" and self.servers[0].broadcast is not None:
            self._look_up(self.first("broadcast"))
        if phase == "publishing":
            self._hand_over(round)

    def _register(self, round: Round, name: str) -> Driver:
        messages = [
            b"" if donor.left_out else donor.registration(round, record.tobytes())
            for donor, record in zip(self.donors, self.records, strict=True)
        ]
        return self._post_and_learn(round, name, messages, np.zeros(len(messages), bool))

    def _look_up(self, broadcast: bytes) -> None:
        """Let everybody find her class; some will claim another one."""
        for donor in self.donors:
            donor.look_up(broadcast)
        self.numbers = [donor.number for donor in self.donors]
        others = len(self.cells) - 1
        for index in np.flatnonzero(self.behaviour.lying).tolist():
            donor = self.donors[index]
            if donor.number and others > 1:
                donor.number = donor.number % others + 1

    def _reserve(self, round: Round, name: str) -> Driver:
        self._kept.clear()
        if self._next is not None:  # of positions that are never used again
            self._next.abandon("the reservations are made anew")
            self._next = None
        messages = [b"" if donor.left_out else donor.reservation(round) for donor in self.donors]
        return self._post_and_learn(round, name, messages, self.behaviour.leaving)

    @property
    def left_out(self) -> NDArray[np.bool_]:
        """Donors whose registration or reservation was not accepted: they stay away since then."""
        return np.array([donor.left_out for donor in self.donors], bool)

    def _post_and_learn(
        self, round: Round, name: str, messages: Sequence[bytes], away: NDArray[np.bool_]
    ) -> Driver:
        """Post, and let everybody who did learn whether what she sent was accepted."""
        driver = self._post(round, name, messages, away)
        clients = driver.clients[: len(self.donors)]
        for donor, client, gone in zip(self.donors, clients, away.tolist(), strict=True):
            if not gone:
                donor.learn_outcome(client)
        return driver

    def _post(
        self, round: Round, name: str, messages: Sequence[bytes], away: NDArray[np.bool_]
    ) -> Driver:
        self.driver = driver = self._drive(round)
        self.after(self, f"{name}: begin")
        missing = away | self.left_out
        for gone, numbers in groupby(range(len(messages)), key=lambda at: bool(missing[at])):
            group = list(numbers)
            if gone:
                driver.absent(len(group), self._invitations_of(group))
            else:
                driver.post([messages[index] for index in group], self._invitations_of(group))
        self.after(self, f"{name}: upload")
        self._close(driver, name)
        driver.open()
        self.after(self, f"{name}: open")
        driver.result()
        return driver

    def _publish(self, round: Round, name: str) -> Driver:
        now = round.iteration
        if now == 1:
            self._note_chosen()
        self.driver = driver = self._next or self._drive(round)
        self._next = None
        self.after(self, f"{name}: begin")
        self._fill(driver, now)
        self.after(self, f"{name}: upload")
        self._close(driver, name)
        if (withdrawal := self.servers[0].withdrawal) is not None:
            self._withdraw(withdrawal, now, driver)
        server = self.servers[0]
        driver.erase(server.too_small())
        groups, counts = server.groups() if self.study.counted else [], tuple[int, ...]()
        if self.study.counted:
            counts = driver.count(groups)
            driver.erase(server.too_few(counts))
            self.after(self, f"{name}: count")
        self._opened = True
        driver.open()
        self.after(self, f"{name}: open")
        records = driver.result()
        for group, count in zip(groups, counts, strict=True):
            result = sum(records[rank] is not None for rank in group)
            # Of a class that was not opened nothing is known.
            self.miscounted += result != count and count >= self.study.k
        return driver

    def _note_chosen(self) -> None:
        plan = self.servers[0].plan
        assert plan is not None
        slots = plan.reservations.slots
        kept = {slots[rank] for rank in np.flatnonzero(plan.choice.kept).tolist()}
        self.chosen = np.array([donor.slot in kept for donor in self.donors], bool)

    def _fill(self, driver: Driver, now: int) -> None:
        """Let everybody deposit an answer, or what looks the same; some stay away."""
        records, answered = self.answers[now - 1]
        away = self._away(now)
        secrets = [
            None if gone else donor.position(driver.round)
            for donor, gone in zip(self.donors, away.tolist(), strict=True)
        ]
        has = answered & np.array([secret is not None for secret in secrets], bool)
        kinds = np.where(away, "away", np.where(has, "answer", "decoy"))
        for kind, numbers in groupby(range(len(kinds)), key=lambda at: str(kinds[at])):
            group = list(numbers)
            if kind == "away":
                driver.absent(len(group), self._invitations_of(group))
            elif kind == "decoy":
                driver.decoy(len(group), self._invitations_of(group))
            else:
                sent = [
                    (_require_secret(secrets[index]), records[index].tobytes()) for index in group
                ]
                driver.deposit(sent, self._invitations_of(group))
        gone = self.behaviour.leaving | self.left_out
        self._stand_in(driver, np.flatnonzero(away & ~gone).tolist())
        if self.study.missing == "blank" and now < self.study.iterations:
            self._prepare(now + 1, np.flatnonzero(~away).tolist())

    def _away(self, now: int) -> NDArray[np.bool_]:
        """Return who stays away from an iteration."""
        away: NDArray[np.bool_] = self.behaviour.absent[now - 1] | self.behaviour.leaving
        return away | self.left_out

    def _stand_in(self, driver: Driver, away: Sequence[int]) -> None:
        """Let the servers use the decoys that those who are missing left the last time."""
        for index in away:
            driver.stand_in(index, self._kept.pop(index, []))
        self._kept.clear()

    def _prepare(self, iteration: int, present: Sequence[int]) -> None:
        """Let everybody who is there leave a decoy for the next iteration."""
        self._next = driver = self._drive(self.servers[0].deposit(iteration))
        for index in present:
            self._kept[index] = driver.prepare_decoy(*self._invitations_of([index]))

    def _withdraw(self, round: Round, now: int, deposit: Driver) -> None:
        """Ask everybody whether the consent still holds, and erase where it does not."""
        for donor, withdraws in zip(self.donors, self.behaviour.withdrawing[now - 1], strict=True):
            donor.withdrawn |= bool(withdraws)
        away = self._away(now)
        messages = [
            b"" if gone else donor.consent(round)
            for donor, gone in zip(self.donors, away.tolist(), strict=True)
        ]
        name, deposited = round.id.removeprefix(f"{self.study.id} "), deposit.round.id
        self.progress.begin(name, within=True)
        self._deposit = deposit
        driver = self._post(round, name, messages, away)
        self._note(name)
        self.driver, self._deposit = deposit, None
        self.progress.begin(deposited.removeprefix(f"{self.study.id} "))
        self._hand_result_to_servers(driver, name)
        deposit.erase(self.servers[0].withdrawn())

    def _hand_result_to_servers(self, driver: Driver, name: str) -> None:
        """Let every server take what became public in a round."""
        engines = iter(driver.servers)
        self.tell(lambda server: server.hear(driver.round, next(engines)), f"{name}: heard")

    def _close(self, driver: Driver, name: str) -> None:
        driver.close()
        self.after(self, f"{name}: close")
        driver.settle()
        self.after(self, f"{name}: settle")
        stopped = next((server.stop_reason for server in driver.servers if server.stop_reason), "")
        if stopped:
            raise TransportError(stopped)

    def _abandon(self, reason: str) -> str:
        """Let nobody open what was uploaded; return the reason, and who was waited for."""
        results: list[str] = []
        for driver in filter(None, (self.driver, self._deposit)):
            results += waits([server.missing_messages for server in driver.servers])
            driver.abandon(reason)
        return "; ".join([reason, *results])

    def _drive(self, round: Round) -> Driver:
        keys: tuple[SlotKey, ...] = ()
        erasure: Erasure | None = None
        plan = self.servers[0].plan
        if round.operation == "deposit" and plan is not None:
            keys, erasure = plan.reservations.keys, plan.erasure
        return Driver(
            self.transport,
            round,
            identities=self.identities,
            slot_keys=keys,
            erasure=erasure,
            invited=self.servers[0].allowed_senders(round),
            entropy=self.entropy,
            corrupted=self.corrupted_in(round),
            traced=self.traced,
            on_progress=self.progress.tell,
        )

    def _invitations_of(self, numbers: Sequence[int]) -> list[bytes]:
        return [self._invitations[index] for index in numbers] if self._invitations else []

    def _hand_over(self, round: Round) -> None:
        """Give the recipient what all servers have signed of an iteration."""
        assert self.recipient is not None
        signed = self.servers[0].releases.get(round.iteration)
        if signed is not None:
            opened = self.recipient.take(round.iteration, signed)
            owner = {donor.slot: number for number, donor in enumerate(self.donors)}
            joined = {
                join_key(self._join_secret, index): slot for index, slot in enumerate(round.slots)
            }
            self.owners[round.iteration] = np.array(
                [owner[joined[join]] for join in opened.joins], np.int64
            )

    def _note(self, name: str) -> None:
        """Keep what a round cost and what was seen of it, and let go of everything else."""
        if self.driver is not None:
            self.ledger.entries.append(Entry.of(name, self.driver))

    @property
    def traces(self) -> list[Trace]:
        """What was seen of every round, where that was kept."""
        return [entry.trace for entry in self.ledger.entries]


def _require_secret(secret: SlotSecret | None) -> SlotSecret:
    assert secret is not None
    return secret
