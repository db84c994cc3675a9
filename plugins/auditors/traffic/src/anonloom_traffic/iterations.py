"""Iterations: what presence gives away after one round, two rounds, and so on."""

import attrs
import numpy as np

from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_traffic import presence
from anonloom_traffic.attack_scoring import Share, outcome, share
from anonloom_traffic.guess_table import GuessTable, guess_table, series_of
from anonloom_traffic.observation import Observation

#: Most points of the curve.
POINTS = 20


@attrs.frozen
class Step:
    """What is known after some rounds of each series.

    Attributes
    ----------
    found
        How often the sender is guessed right by presence alone.
    absent
        The same among those who were absent at least once; None when nobody was.
    smallest
        Least number of places that were empty in the same rounds.
    """

    rounds: int
    found: Share
    absent: Share | None
    smallest: int | None


def over_iterations(observed: Observation, blank: bytes | None, confidence: float) -> list[Step]:
    """Intersect again after every round.

    No view is chosen here, so that nothing has to be judged on another half: the adversary guesses
    the client that contradicts a place in the fewest rounds.
    """
    targets = guess_table(observed)
    numbers = series_of(observed.rounds.traces)
    if not len(targets):
        return []
    parts = [
        *presence.posts(targets, len(numbers)),
        *presence.deposits(observed, targets, numbers, blank),
    ]
    if not parts:
        return []
    concerned = np.zeros(len(targets), np.bool_)
    for part in parts:
        concerned[part.items] = True
    longest = max(len(part.rounds) for part in parts)
    ever = _absent(targets, parts, observed)
    steps = []
    for first in sorted({int(n) for n in np.geomspace(1, longest, min(longest, POINTS)).round()}):
        short = [presence.first_rounds(part, first) for part in parts]
        scores = [
            presence.intersection(item, observed.present, both=item.positions) for item in short
        ]
        result = outcome(presence.spread(targets, parts, scores), targets)
        steps.append(
            Step(
                first,
                _share(result.hit, result.guess, targets, concerned, confidence),
                _share(result.hit, result.guess, targets, ever, confidence) if ever.any() else None,
                presence.smallest_pattern([item for item in short if item.positions]),
            )
        )
    return steps


def _absent(targets: GuessTable, parts: list[presence.Series], observed: Observation) -> BoolArray:
    """Return the messages of those who were absent at least once."""
    ever = np.zeros(len(targets), np.bool_)
    owner = targets.truth.argmax(axis=1)
    for part in parts:
        missing = np.logical_not(observed.present[part.rounds].all(axis=0))
        ever[part.items] = missing[owner[part.items]]
    return ever


def _share(
    hit: FloatArray, guess: IntArray, targets: GuessTable, which: BoolArray, confidence: float
) -> Share:
    few = attrs.evolve(
        targets,
        starts=targets.starts[which],
        home=targets.home[which],
        value=targets.value[which],
        candidates=targets.candidates[which],
        truth=targets.truth[which],
        deposit=targets.deposit[which],
    )
    return share(hit[which], guess[which], few, confidence)
