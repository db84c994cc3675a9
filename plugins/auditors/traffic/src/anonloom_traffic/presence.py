"""Presence: who was absent in which rounds, against what was missing in which rounds."""

from collections import Counter

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray, FloatArray
from anonloom_traffic.guess_table import GuessTable
from anonloom_traffic.observation import Observation
from anonloom_transport import Trace

#: Weight of 'nobody sends this' in the least squares: one round's worth.
RIDGE = 1.0


@attrs.frozen(eq=False)
class Series:
    """One series of deposits, or all rounds of posts.

    Attributes
    ----------
    rounds
        Its rounds, in order.
    items
        Which of the guessed messages belong to it.
    keys
        Column of `there` for each of them.
    there
        How often each key was published in each round.
    positions
        Whether keys are positions of a deposit, which may be empty.
    """

    rounds: NDArray[np.int64]
    items: NDArray[np.int64]
    keys: NDArray[np.int64]
    there: FloatArray
    positions: bool = True


def filled_places(trace: Trace, blank: bytes | None) -> BoolArray:
    """Return which places of a round hold something other than 'no answer'."""
    return np.array([item is not None and item != blank for item in trace.published], np.bool_)


def deposits(
    observed: Observation, targets: GuessTable, numbers: NDArray[np.int64], blank: bytes | None
) -> list[Series]:
    """Return every series of deposits; `blank` is what stands for 'no answer'."""
    traces = observed.rounds.traces
    results = []
    homes = np.where(targets.deposit, numbers[targets.rounds[targets.starts]], -1)
    for number in np.unique(homes[targets.deposit]):
        rounds, items = np.flatnonzero(numbers == number), np.flatnonzero(homes == number)
        most = max(len(traces[index].published) for index in rounds)
        there = np.zeros((len(rounds), most))
        for row, index in enumerate(rounds):
            of = filled_places(traces[index], blank)
            there[row, : len(of)] = of
        results.append(Series(rounds, items, targets.places[targets.starts[items]], there))
    return results


def posts(targets: GuessTable, rounds: int) -> list[Series]:
    """Return the messages that recur; the others tell nothing about other rounds."""
    # A message of a post is published in one round; equal ones are further messages.
    sent = targets.rounds[targets.starts]
    pairs = np.stack([targets.value, sent], axis=1)[~targets.deposit]
    values, number = np.unique(np.unique(pairs, axis=0)[:, 0], return_counts=True)
    recurring = values[number > 1]
    items = np.flatnonzero(np.isin(targets.value, recurring) & ~targets.deposit)
    if not len(items):
        return []
    keys = np.searchsorted(recurring, targets.value[items])
    there = np.zeros((rounds, len(recurring)))
    np.add.at(there, (sent[items], keys), 1)
    return [Series(np.arange(rounds), items, keys, there, positions=False)]


def commonest(observed: Observation) -> bytes | None:
    """Return the message that stands most often at several places of one round, if one does."""
    times: Counter[bytes] = Counter()
    for trace in observed.rounds.traces:
        of = Counter(item for item in trace.published if item is not None)
        times.update({key: number for key, number in of.items() if number > 1})
    return times.most_common(1)[0][0] if times else None


def intersection(series: Series, present: BoolArray, both: bool) -> FloatArray:
    """Return minus the number of rounds in which a client and a message contradict each other.

    Parameters
    ----------
    both
        Whether a client that was there and a place that was empty contradict each other too.
    """
    here = present[series.rounds].astype(np.float64)
    there = (series.there > 0).astype(np.float64)
    against = there.T @ (1 - here)
    if both:
        against += (1 - there).T @ here
    scores: FloatArray = -against[series.keys]
    return scores


def disclosure(series: Series, present: BoolArray) -> FloatArray:
    """Return how much each message is sent when a client is there: statistical disclosure.

    Danezis compares rounds with the client to rounds without; least squares do so for all clients
    at once (Perez-Gonzalez and Troncoso).
    """
    here = present[series.rounds].astype(np.float64)
    gram = here.T @ here + RIDGE * np.eye(here.shape[1])
    profiles = np.linalg.solve(gram, here.T @ series.there)
    scores: FloatArray = np.round(
        profiles.T[series.keys], 9
    )  # equal columns tie, whatever rounding did
    return scores


def spread(targets: GuessTable, series: list[Series], scores: list[FloatArray]) -> FloatArray:
    """Put the scores of all series in their rows; what is in none is not told apart."""
    whole = np.zeros(targets.candidates.shape)
    for item, of in zip(series, scores, strict=True):
        whole[item.items] = of
    return whole


def smallest_pattern(series: list[Series], first: int | None = None) -> int | None:
    """Return the least number of guessed places that were empty in the same rounds.

    Parameters
    ----------
    first
        Look at that many rounds of each series only.
    """
    least: int | None = None
    for item in series:
        patterns = (item.there[:first] > 0)[:, np.unique(item.keys)]
        if patterns.size:
            _, number = np.unique(patterns, axis=1, return_counts=True)
            least = int(number.min()) if least is None else min(least, int(number.min()))
    return least


def first_rounds(one: Series, first: int) -> Series:
    """Return the same series after that many of its rounds."""
    return attrs.evolve(one, rounds=one.rounds[:first], there=one.there[:first])
