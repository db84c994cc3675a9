"""Guessed: the messages whose senders the adversary looks for, and who may have sent them."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.protocol.trace import Trace
from anonloom_traffic.observed import Bools, Floats, Observed

Ints = NDArray[np.int64]

#: Most cells of a matrix messages x clients; of more, messages are drawn.
CELLS = 20_000_000


@attrs.frozen(eq=False)
class Guessed:
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

    rounds: Ints
    places: Ints
    starts: Ints
    home: Ints
    value: Ints
    candidates: Bools
    truth: Bools
    deposit: Bools

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def chance(self) -> Floats:
        """How often a blind guess is right."""
        share: Floats = self.truth.sum(axis=1) / self.candidates.sum(axis=1)
        return share

    def summed(self, scores: Floats) -> Floats:
        """Add up the scores of a message's publications."""
        if len(scores) == len(self):
            return scores
        total: Floats = np.add.reduceat(scores, self.starts, axis=0)
        return total

    def drawn(self, most: int | None, rng: np.random.Generator) -> "Guessed":
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

    def followed_by(self, other: "Guessed") -> "Guessed":
        """Return what is guessed here, and then what is guessed there."""
        values = int(self.value.max(initial=-1)) + 1
        return Guessed(
            rounds=np.concatenate([self.rounds, other.rounds]),
            places=np.concatenate([self.places, other.places]),
            starts=np.concatenate([self.starts, other.starts + len(self.rounds)]),
            home=np.concatenate([self.home, other.home]),
            value=np.concatenate([self.value, other.value + values]),
            candidates=np.concatenate([self.candidates, other.candidates]),
            truth=np.concatenate([self.truth, other.truth]),
            deposit=np.concatenate([self.deposit, other.deposit]),
        )


def series_of(traces: tuple[Trace, ...], repeated: bool = True) -> Ints:
    """Number the rounds of each series: deposits that follow each other over the same positions.

    That a round repeats another one's positions is public: its description says so. A round of
    posts, and every round when repetition is not looked at, is a series of its own.
    """
    numbers = np.zeros(len(traces), np.int64)
    owners: dict[int, int] = {}
    series = latest = -1
    for at, trace in enumerate(traces):
        taken = {position: client for client, position in trace.positions.items()}
        if not taken:  # posts may lie between the rounds of a series
            series += 1
            numbers[at] = series
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
        numbers[at] = latest
    return numbers


def guessed(observed: Observed, repeated: bool = True) -> Guessed:
    """List what is to be guessed.

    Parameters
    ----------
    repeated
        Whether the rounds of a series of deposits are looked at together.
    """
    traces = observed.rounds.traces
    return _posts(observed).followed_by(_deposits(observed, series_of(traces), repeated))


def _posts(observed: Observed) -> Guessed:
    numbers: dict[bytes, int] = {}
    rounds, places, values, owners = [], [], [], []
    for at, trace in enumerate(observed.rounds.traces):
        if trace.positions:
            continue
        senders: dict[bytes, list[int]] = {}
        for client, message in trace.sent.items():
            if client not in trace.absent:
                senders.setdefault(message, []).append(observed.column[client])
        for place, published in enumerate(trace.published):
            if published is not None and published in senders:
                rounds.append(at)
                places.append(place)
                values.append(numbers.setdefault(published, len(numbers)))
                owners.append(senders[published])
    at_round = np.array(rounds, np.int64)
    truth = np.zeros((len(owners), len(observed.clients)), np.bool_)
    for row, columns in enumerate(owners):
        truth[row, columns] = True
    return Guessed(
        rounds=at_round,
        places=np.array(places, np.int64),
        starts=np.arange(len(rounds)),
        home=at_round,
        value=np.array(values, np.int64),
        candidates=observed.present[at_round],
        truth=truth,
        deposit=np.zeros(len(owners), np.bool_),
    )


def _deposits(observed: Observed, series: Ints, repeated: bool) -> Guessed:
    traces = observed.rounds.traces
    found: list[_Position] = []
    for number in range(int(series.max()) + 1):
        members = np.flatnonzero(series == number).tolist()
        owners = {
            position: observed.column[client]
            for at in members
            for client, position in traces[at].positions.items()
        }
        for together in [members] if repeated else [[at] for at in members]:
            anybody: Bools = np.logical_or.reduce(observed.present[together], axis=0)
            for position, owner in owners.items():
                published = [at for at in together if _stands(traces[at], position)]
                # Of what was erased there is nothing to connect anybody with.
                if published and anybody[owner]:
                    found.append(_Position(members[0], position, owner, published, anybody))
    numbers: dict[tuple[int, int], int] = {}
    owner_of = np.zeros((len(found), len(observed.clients)), np.bool_)
    owner_of[np.arange(len(found)), np.array([one.owner for one in found], np.int64)] = True
    lengths = np.array([len(one.rounds) for one in found], np.int64)
    return Guessed(
        rounds=np.array([at for one in found for at in one.rounds], np.int64),
        places=np.repeat(np.array([one.position for one in found], np.int64), lengths),
        starts=np.cumsum(lengths) - lengths,
        home=np.array([one.home for one in found], np.int64),
        value=np.array(
            [numbers.setdefault((one.home, one.position), len(numbers)) for one in found], np.int64
        ),
        candidates=np.array([one.candidates for one in found], np.bool_).reshape(owner_of.shape),
        truth=owner_of,
        deposit=np.ones(len(found), np.bool_),
    )


@attrs.frozen(eq=False)
class _Position:
    """A position that is guessed: where its series began, whose it is, when it was published."""

    home: int
    position: int
    owner: int
    rounds: list[int]
    candidates: Bools


def _stands(trace: Trace, position: int) -> bool:
    return position < len(trace.published) and trace.published[position] is not None
