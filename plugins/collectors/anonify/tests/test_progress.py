"""Progress never tells more than is true, and rounds that nobody planned make the whole longer."""

import attrs
import pytest
from anonify_play import FIRSTS, played
from hypothesis import given
from hypothesis import strategies as st

from anonloom import StageContext
from anonloom_anonify.collector import Anonify
from anonloom_anonify.planning import named_rounds
from anonloom_anonify.progress import Progress, no_progress
from anonloom_testing.collector import PlainStages
from anonloom_testing.privacy_cases import Demand
from anonloom_testing.tables import clinic
from anonloom_testing.transport import Carrier
from anonloom_transport import Estimate

PLANNED = {"registration 1": 2.0, "reservation 1": 2.0, "publishing 1.1": 6.0}


@attrs.define
class ClockedProgress:
    """A progress whose clock is moved by hand."""

    planned: dict = attrs.field(factory=lambda: dict(PLANNED))
    time: float = 0.0
    reports: list = attrs.field(factory=list)
    inner: Progress = None

    def __attrs_post_init__(self):
        self.inner = Progress(
            lambda done, total: self.reports.append((done, total)),
            self.planned,
            clock=lambda: self.time,
        )

    def begin(self, name, after=0.0, **more):
        self.time += after
        self.inner.begin(name, **more)
        return self.reports[-1][0]

    def now(self, after=0.0):
        self.time += after
        self.inner.tell("upload", 1, 2)
        return self.reports[-1][0]


def test_a_study_that_takes_what_was_planned():
    progress = ClockedProgress()
    assert 0 == progress.begin("registration 1")
    assert 100 == progress.now(after=1)
    assert 200 == progress.begin("reservation 1", after=1)
    assert 400 == progress.begin("publishing 1.1", after=2)
    assert 700 == progress.now(after=3)
    assert 1000 == progress.now(after=3)
    assert {1000} == {total for _, total in progress.reports}


def test_a_round_never_counts_as_more_than_it_should_take():
    progress = ClockedProgress()
    progress.begin("registration 1")
    assert 200 == progress.now(after=50)


def test_later_rounds_are_expected_at_the_pace_of_those_before():
    progress = ClockedProgress()
    progress.begin("registration 1")
    # Ten times as slow as estimated: so will all others be.
    assert 200 == progress.begin("reservation 1", after=20)
    assert 300 == progress.now(after=10)


def test_a_round_that_nobody_planned_makes_the_whole_longer():
    progress = ClockedProgress()
    progress.begin("registration 1")
    assert 166 == progress.begin("registration 2", after=2)
    assert 333 == progress.begin("reservation 1", after=2)


def test_what_was_planned_for_one_attempt_comes_in_the_next():
    progress = ClockedProgress({**PLANNED, "publishing 1.2": 6.0})
    progress.begin("registration 1")
    progress.begin("reservation 1", after=2)
    progress.begin("reservation 2", after=2)
    progress.begin("publishing 2.1", after=2)
    assert [
        "registration 1",
        "reservation 1",
        "publishing 2.1",
        "publishing 2.2",
        "reservation 2",
    ] == list(progress.inner.planned)
    assert 666 == progress.begin("publishing 2.2", after=6)
    assert 1000 == progress.now(after=6)


def test_a_round_that_was_given_up_stays_what_it_took():
    progress = ClockedProgress()
    progress.begin("registration 1")
    progress.begin("reservation 1", after=2)
    progress.begin("publishing 1.1", after=2)
    progress.begin("reservation 2", after=6)
    progress.begin("publishing 2.1", after=2)
    assert 1000 == progress.now(after=6)


def test_a_round_within_another_does_not_end_it():
    progress = ClockedProgress({"withdrawal 1.1": 4.0, "publishing 1.1": 6.0})
    progress.begin("publishing 1.1")
    assert 300 == progress.begin("withdrawal 1.1", after=3, within=True)
    assert 500 == progress.now(after=2)
    assert 700 == progress.begin("publishing 1.1", after=2)
    assert 1000 == progress.now(after=3)


def test_nothing_planned_is_nothing_told():
    progress = ClockedProgress({})
    assert 0 == progress.begin("registration 1")
    assert 0 == progress.now(after=5)
    no_progress().begin("registration 1")


@given(st.lists(st.floats(0.1, 10), min_size=3, max_size=3), st.lists(st.floats(0, 20), min_size=6))
def test_with_planned_rounds_at_their_pace_it_only_rises(costs, steps):
    progress = ClockedProgress(dict(zip(PLANNED, costs, strict=True)))
    ends = 0.0
    for name, cost in progress.planned.items():
        progress.begin(name)
        ends += cost
        for step in steps[:2]:
            progress.now(after=min(step, cost / 4))
        progress.time = ends
        progress.now()
    done = [item for item, _ in progress.reports]
    assert sorted(done) == done
    assert 999 <= done[-1] <= 1000


@attrs.frozen(kw_only=True)
class Priced(Carrier):
    """A transport that asks a second of a server, and a hundredth of each sender."""

    def estimate(self, round):
        return Estimate(
            upload_bytes=1,
            download_bytes=1,
            server_bytes=1,
            server_cpu=1.0,
            sender_cpu=0.01,
            server_memory=1,
        )


def test_rounds_are_estimated_where_the_transport_can_say():
    campaign = played(FIRSTS, iterations=2, withdrawals=True)
    rounds = named_rounds(campaign.study)
    assert [
        "registration 1",
        "reservation 1",
        "withdrawal 1.1",
        "publishing 1.1",
        "withdrawal 1.2",
        "publishing 1.2",
    ] == list(rounds)
    for transport, seconds in ((Priced(), 2 + 0.15), (Carrier(), 1.0)):
        estimated = Progress.of(rounds, transport, lambda done, total: None)
        assert {seconds} == set(estimated.planned.values())


@pytest.mark.parametrize("transport", [Carrier(), Priced()])
def test_a_whole_study_is_told_of(transport):
    reports = []
    campaign = played(FIRSTS, iterations=2, withdrawals=True, transport=transport)
    campaign.progress = Progress.of(
        named_rounds(campaign.study), transport, lambda *report: reports.append(report)
    )
    campaign.run()
    assert {1000} == {total for _, total in reports}
    assert all(0 <= done <= 1000 for done, _ in reports)
    assert 6 == len(campaign.progress.planned)


@attrs.frozen(kw_only=True)
class Dear(Carrier):
    """A transport whose estimates are counted."""

    asked: list = attrs.field(factory=list, init=False)

    def estimate(self, round):
        self.asked.append(round)
        return


@pytest.mark.parametrize(
    ("context", "estimates"),
    [
        (StageContext(), 0),
        (StageContext(report=lambda done, total: None), 6),
        (StageContext(report=lambda done, total: None, watched=False), 0),
    ],
)
def test_no_round_is_estimated_for_a_bar_that_nobody_sees(context, estimates):
    transport = Dear()
    collector = Anonify(transport=transport, min_batch=5, min_leave=1)
    collector.campaign(clinic(20).table(), PlainStages(), Demand(k=1).guard(), context)
    assert estimates == len(transport.asked)
