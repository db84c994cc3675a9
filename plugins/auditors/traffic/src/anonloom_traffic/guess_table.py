"""The messages whose senders the adversary looks for, and who may have sent them."""

import attrs
import numpy as np

from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_traffic.observation import Observation
from anonloom_transport import Trace

#: Most cells of a matrix messages x clients; of more, messages are drawn.
CELLS = 20_000_000


@attrs.frozen(eq=False)
class GuessTable:
    """What is guessed: every message of a post; every position of a deposit, over its rounds.

    Attributes
    ----------
    rounds, places
        Where each message was published: round, and place in the published order. A position of a
        deposit was published in several rounds.
    starts
        Where the publications of each message begin in `rounds`.
    home
        Round of each message, of a deposit first round of its series; messages of different homes
        have nothing to do with each other unless they are equal.
    value
        Number of the message's bytes, of a deposit that of series and position: equal ones recur.
    candidates
        Who may have sent it: whoever uploaded in its rounds.
    truth
        Who did; several when several sent the same bytes.
    deposit
        Whether it is a position of a deposit, and not a message of a post.
    """

    rounds: IntArray
    places: IntArray
    starts: IntArray
    home: IntArray
    value: IntArray
    candidates: BoolArray
    truth: BoolArray
    deposit: BoolArray

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def chance(self) -> FloatArray:
        """How often a blind guess is right."""
        share: FloatArray = self.truth.sum(axis=1) / self.candidates.sum(axis=1)
        return share

    def sum_publications(self, scores: FloatArray) -> FloatArray:
        """Add up the scores of a message's publications."""
        if len(scores) == len(self):
            return scores
        total: FloatArray = np.add.reduceat(scores, self.starts, axis=0)
        return total

    def sample(self, most: int | None, rng: np.random.Generator) -> "GuessTable":
        """Return at most so many of the messages, drawn at random."""
        fit = max(1, CELLS // max(1, self.candidates.shape[1]))
        most = min(fit, most or fit)
        if len(self) <= most:
            return self
        kept = np.sort(rng.choice(len(self), most, replace=False))
        lengths = np.diff([*self.starts, len(self.rounds)])
        publications = np.repeat(np.isin(np.arange(len(self)), kept), lengths)
        return attrs.evolve(
            self,
            rounds=self.rounds[publications],
            places=self.places[publications],
            starts=np.cumsum(lengths[kept]) - lengths[kept],
            home=self.home[kept],
            value=self.value[kept],
            candidates=self.candidates[kept],
            truth=self.truth[kept],
            deposit=self.deposit[kept],
        )

    def concatenate(self, other: "GuessTable") -> "GuessTable":
        """Return what is guessed here, and then what is guessed there."""
        values = int(self.value.max(initial=-1)) + 1
        return GuessTable(
            rounds=np.concatenate([self.rounds, other.rounds]),
            places=np.concatenate([self.places, other.places]),
            starts=np.concatenate([self.starts, other.starts + len(self.rounds)]),
            home=np.concatenate([self.home, other.home]),
            value=np.concatenate([self.value, other.value + values]),
            candidates=np.concatenate([self.candidates, other.candidates]),
            truth=np.concatenate([self.truth, other.truth]),
            deposit=np.concatenate([self.deposit, other.deposit]),
        )


def series_of(traces: tuple[Trace, ...], repeated: bool = True) -> IntArray:
    """Number the rounds of each series: deposits that follow each other over the same positions.

    That a round repeats another one's positions is public: its description says so. A round of
    posts, and every round when repetition is not looked at, is a series of its own.
    """
    numbers = np.zeros(len(traces), np.int64)
    owners: dict[int, int] = {}
    series = latest = -1
    for index, trace in enumerate(traces):
        taken = {position: client for client, position in trace.positions.items()}
        if not taken:  # posts may lie between the rounds of a series
            series += 1
            numbers[index] = series
            continue
        same = all(owners.get(position, client) == client for position, client in taken.items())
        # A client that moves has begun another series.
        moved = any(
            client in trace.positions and trace.positions[client] != position
            for position, client in owners.items()
        )
        if latest < 0 or not repeated or moved or not same:
            series, owners = series + 1, {}
            latest = series
        owners |= taken
        numbers[index] = latest
    return numbers


def guess_table(observed: Observation, repeated: bool = True) -> GuessTable:
    """List what is to be guessed.

    Parameters
    ----------
    repeated
        Whether the rounds of a series of deposits are looked at together.
    """
    traces = observed.rounds.traces
    return _posts(observed).concatenate(_deposits(observed, series_of(traces), repeated))


def _posts(observed: Observation) -> GuessTable:
    numbers: dict[bytes, int] = {}
    rounds, places, values, owners = [], [], [], []
    for index, trace in enumerate(observed.rounds.traces):
        if trace.positions:
            continue
        senders: dict[bytes, list[int]] = {}
        for client, message in trace.sent.items():
            if client not in trace.absent:
                senders.setdefault(message, []).append(observed.column[client])
        for place, published in enumerate(trace.published):
            if published is not None and published in senders:
                rounds.append(index)
                places.append(place)
                values.append(numbers.setdefault(published, len(numbers)))
                owners.append(senders[published])
    at_round = np.array(rounds, np.int64)
    truth = np.zeros((len(owners), len(observed.clients)), np.bool_)
    for row, columns in enumerate(owners):
        truth[row, columns] = True
    return GuessTable(
        rounds=at_round,
        places=np.array(places, np.int64),
        starts=np.arange(len(rounds)),
        home=at_round,
        value=np.array(values, np.int64),
        candidates=observed.present[at_round],
        truth=truth,
        deposit=np.zeros(len(owners), np.bool_),
    )


def _deposits(observed: Observation, series: IntArray, repeated: bool) -> GuessTable:
    traces = observed.rounds.traces
    results: list[_Position] = []
    for number in range(int(series.max()) + 1):
        members = np.flatnonzero(series == number).tolist()
        owners = {
            position: observed.column[client]
            for index in members
            for client, position in traces[index].positions.items()
        }
        for together in [members] if repeated else [[index] for index in members]:
            anybody: BoolArray = np.logical_or.reduce(observed.present[together], axis=0)
            for position, owner in owners.items():
                published = [index for index in together if _stands(traces[index], position)]
                # Of what was erased there is nothing to connect anybody with.
                if published and anybody[owner]:
                    results.append(_Position(members[0], position, owner, published, anybody))
    numbers: dict[tuple[int, int], int] = {}
    owner_of = np.zeros((len(results), len(observed.clients)), np.bool_)
    owner_of[np.arange(len(results)), np.array([item.owner for item in results], np.int64)] = True
    lengths = np.array([len(item.rounds) for item in results], np.int64)
    return GuessTable(
        rounds=np.array([index for item in results for index in item.rounds], np.int64),
        places=np.repeat(np.array([item.position for item in results], np.int64), lengths),
        starts=np.cumsum(lengths) - lengths,
        home=np.array([item.home for item in results], np.int64),
        value=np.array(
            [numbers.setdefault((item.home, item.position), len(numbers)) for item in results],
            np.int64,
        ),
        candidates=np.array([item.candidates for item in results], np.bool_).reshape(
            owner_of.shape
        ),
        truth=owner_of,
        deposit=np.ones(len(results), np.bool_),
    )


@attrs.frozen(eq=False)
class _Position:
    """A position that is guessed: where its series began, whose it is, when it was published."""

    home: int
    position: int
    owner: int
    rounds: list[int]
    candidates: BoolArray


def _stands(trace: Trace, position: int) -> bool:
    return position < len(trace.published) and trace.published[position] is not None
