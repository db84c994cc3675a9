"""Progress: how far a study is, by the CPU time that its rounds were estimated to take."""

import time
from collections.abc import Callable

import attrs

from anonloom_transport import EngineTransport, Round

#: Parts of the whole that are told.
_PARTS = 1000

#: Senders of a round that is small.
_FEW = 16

Report = Callable[[int, int | None], None]


@attrs.define(eq=False)
class Progress:
    """Tells how far a study is.

    A round that has ended counts as what it took, the one that is being run by the time it has
    taken, and never as more than it should take. What rounds should take is estimated, and
    corrected by what those before them took. Rounds that nobody planned, because everybody posts
    again, make the whole longer.

    Attributes
    ----------
    planned
        Estimated seconds of every round, by its name.
    """

    report: Report = attrs.field(repr=False)
    planned: dict[str, float]
    clock: Callable[[], float] = attrs.field(default=time.process_time, repr=False)
    _took: dict[str, float] = attrs.field(factory=dict, init=False)
    _resting: set[str] = attrs.field(factory=set, init=False)
    _now: str = attrs.field(default="", init=False)
    _began: float = attrs.field(default=0.0, init=False)

    @classmethod
    def of(cls, rounds: dict[str, Round], transport: EngineTransport, report: Report) -> "Progress":
        """Estimate rounds; where a transport cannot say, all take the same."""
        planned = {}
        for name, round in rounds.items():
            served, sent = transport.estimate(round), transport.estimate(_small(round))
            planned[name] = 1.0
            if served is not None and sent is not None:
                planned[name] = served.server_cpu * round.servers + sent.sender_cpu * round.capacity
        return cls(report, planned)

    def begin(self, name: str, *, within: bool = False) -> None:
        """Note that a round begins, or goes on.

        Parameters
        ----------
        within
            Whether the one before it goes on afterwards; otherwise that is over.
        """
        if name not in self.planned:
            self._plan(name)
        if self._now:
            self._took[self._now] = self._seconds_so_far()
            if within:
                self._resting.add(self._now)
        self._resting.discard(name)
        self._now, self._began = name, self.clock()
        self.tell()

    def _plan(self, name: str) -> None:
        """Take up a round that nobody planned; what was planned to follow others follows it."""
        phase, number = name.split(" ")
        attempt, _, iteration = number.partition(".")
        if iteration:
            self.planned = {self._anew(key, attempt): cost for key, cost in self.planned.items()}
        alike = [cost for key, cost in self.planned.items() if key.split(" ")[0] == phase]
        self.planned.setdefault(name, max(alike, default=0.0))

    def _anew(self, name: str, attempt: str) -> str:
        phase, number = name.split(" ")
        _, _, iteration = number.partition(".")
        begun = name == self._now or name in self._took
        return name if begun or not iteration else f"{phase} {attempt}.{iteration}"

    def _seconds_so_far(self) -> float:
        return self._took.get(self._now, 0.0) + self.clock() - self._began

    def tell(self, phase: str = "", done: int = 0, total: int = 0) -> None:
        """Tell how far it is; see `ProgressCallback`."""
        going = {name: self._took[name] for name in self._resting} | {
            self._now: self._seconds_so_far()
        }
        ended = {name: took for name, took in self._took.items() if name not in going}
        expected = sum(self.planned[name] for name in ended)
        # Estimates are of one sender at a time; here many are played together.
        pace = sum(ended.values()) / expected if expected else 1.0
        left = pace * sum(cost for name, cost in self.planned.items() if name not in ended)
        begun = sum(min(took, pace * self.planned.get(name, 0.0)) for name, took in going.items())
        whole = sum(ended.values()) + left
        self.report(int(_PARTS * (sum(ended.values()) + begun) / whole) if whole else 0, _PARTS)


def _small(round: Round) -> Round:
    """Return a round with few senders: in one process all read long lists together, once."""
    few = min(round.capacity, _FEW)
    return attrs.evolve(
        round, min_batch=1, capacity=few, slots=round.slots[:few], cohort=min(round.cohort, few)
    )


def no_progress() -> Progress:
    """Return what tells nobody."""
    return Progress(lambda done, total: None, {})
