"""Features: figures of clients and of messages, made comparable by their order within a round."""

import zlib
from collections.abc import Callable, Hashable

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray, FloatArray
from anonloom_traffic.guess_table import GuessTable
from anonloom_traffic.observation import Observation, minority

#: Trailing bytes that are taken for padding.
PADDING = b"\0\x80 "
#: Most cells of a table that is learnt.
LARGEST_TABLE = 4_000_000
#: How many blind guesses a cell of a learnt table begins with.
BLIND = 10.0

MESSAGE_SIZES: dict[str, Callable[[bytes], int]] = {
    "length": len,
    "length without padding": lambda message: len(message.rstrip(PADDING)),
    "compressed length": lambda message: len(zlib.compress(message, 1)),
}

#: What may be unlike in a message whose sender was shown another list.
MARKS: dict[str, Callable[[bytes], Hashable]] = {
    "length": len,
    "length without padding": lambda message: len(message.rstrip(PADDING)),
    "beginning": lambda message: message[:4],
    "end": lambda message: message[-4:],
}


def message_figure(observed: Observation, figure: Callable[[bytes], float]) -> FloatArray:
    """Return a figure of every published message, rounds x places; NaN where nothing stands."""
    traces = observed.rounds.traces
    result = np.full((len(traces), max(len(trace.published) for trace in traces)), np.nan)
    for index, trace in enumerate(traces):
        for place, message in enumerate(trace.published):
            if message is not None:
                result[index, place] = figure(message)
    return result


def odd_messages(observed: Observation, mark: Callable[[bytes], Hashable]) -> BoolArray:
    """Return in which messages a mark is another than in most of their round."""
    traces = observed.rounds.traces
    odd = np.zeros((len(traces), max(len(trace.published) for trace in traces)), np.bool_)
    for index, trace in enumerate(traces):
        messages = {place: item for place, item in enumerate(trace.published) if item is not None}
        if messages:
            odd[index, list(minority({place: mark(m) for place, m in messages.items()}))] = True
    return odd


def varies(figures: FloatArray) -> bool:
    """Whether any round holds two different figures."""
    low = np.where(np.isnan(figures), np.inf, figures).min(axis=1, initial=np.inf)
    high = np.where(np.isnan(figures), -np.inf, figures).max(axis=1, initial=-np.inf)
    return bool((high > low).any())


def rank_in_rounds(figures: FloatArray) -> FloatArray:
    """Return each figure's place in the order of its round, between 0 and 1; ties share theirs."""
    ranks = np.full(figures.shape, np.nan)
    for row, of in zip(ranks, figures, strict=True):
        known = ~np.isnan(of)
        if known.any():
            _, which, number = np.unique(of[known], return_inverse=True, return_counts=True)
            row[known] = (np.cumsum(number) - number / 2)[which] / known.sum()
    return ranks


def in_same_order(clients: FloatArray, messages: FloatArray, targets: GuessTable) -> FloatArray:
    """Score pairs by how near they stand in the orders of their rounds."""
    return closeness(rank_in_rounds(clients), rank_in_rounds(messages), targets, 0.0)


def closeness(
    clients: FloatArray, messages: FloatArray, targets: GuessTable, lag: float
) -> FloatArray:
    """Score pairs by how little a message's figure differs from the client's plus a lag."""
    of_message = messages[targets.rounds, targets.places][:, None]
    scores = -np.abs(of_message - clients[targets.rounds] - lag)
    # Of whom nothing is known is guessed last; a message of which nothing is known tells nothing.
    worst = np.nanmin(scores, initial=0.0) - 1
    scores = np.where(np.isnan(scores), worst, scores)
    return targets.sum_publications(np.where(np.isnan(of_message), 0.0, scores))


def usual_lag(
    clients: FloatArray, messages: FloatArray, targets: GuessTable, train: BoolArray
) -> float:
    """Return how much later a message appears than its sender's upload, where that is known."""
    owner = targets.truth.argmax(axis=1)
    first = targets.starts
    lag = messages[targets.rounds[first], targets.places[first]]
    lag = (lag - clients[targets.rounds[first], owner])[train]
    lag = lag[~np.isnan(lag)]
    return float(np.median(lag)) if len(lag) else 0.0


@attrs.frozen(eq=False)
class Table:
    """Places in two orders, as numbers: what a fixed arrangement is learnt from."""

    clients: NDArray[np.int64]
    messages: NDArray[np.int64]
    shape: tuple[int, int]


def table(clients: FloatArray, messages: FloatArray) -> Table | None:
    """Number the places of both orders; None when the table would be too large."""
    one, other = _number_values(clients), _number_values(messages)
    shape = int(one.max(initial=0)) + 1, int(other.max(initial=0)) + 1
    return Table(one, other, shape) if shape[0] * shape[1] <= LARGEST_TABLE else None


def _number_values(figures: FloatArray) -> NDArray[np.int64]:
    """Return places in order, from 1; what is not known has place 0."""
    order = np.argsort(np.argsort(figures, axis=1, kind="stable"), axis=1, kind="stable")
    return np.where(np.isnan(figures), 0, order + 1)


def learn_scores(places: Table, targets: GuessTable, train: BoolArray) -> FloatArray:
    """Score pairs by how often such places belonged together where the truth is known.

    A list in reverse, or a shuffle that is the same in every round, shows here. Messages that were
    learnt from are scored as if they had not been.
    """
    lengths = np.diff([*targets.starts, len(targets.rounds)])
    cells = places.clients[targets.rounds] * places.shape[1]
    cells += places.messages[targets.rounds, targets.places][:, None]
    size = places.shape[0] * places.shape[1]
    # Every message is learnt from once, however often it was published.
    first = cells[targets.starts]
    known = train[:, None] & targets.candidates
    truth = targets.truth / targets.truth.sum(axis=1, keepdims=True)
    tried = np.bincount(first[known], minlength=size).astype(np.float64)
    right = np.bincount(first[known], weights=truth[known], minlength=size)
    item = np.repeat(np.arange(len(targets)), lengths)
    own = known[item] & (cells == first[item])
    chance = float(targets.chance.mean())
    score = (right[cells] - own * truth[item] + BLIND * chance) / (tried[cells] - own + BLIND)
    return targets.sum_publications(np.log(np.maximum(score, 1e-12)))
