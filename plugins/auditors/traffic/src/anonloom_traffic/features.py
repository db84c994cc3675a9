"""Features: figures of clients and of messages, made comparable by their order within a round."""

import zlib
from collections.abc import Callable, Hashable

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray, FloatArray
from anonloom_traffic.guessed import Guessed
from anonloom_traffic.observed import Observed, minority

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


def message_figure(observed: Observed, figure: Callable[[bytes], float]) -> FloatArray:
    """Return a figure of every published message, rounds x places; NaN where nothing stands."""
    traces = observed.rounds.traces
    result = np.full((len(traces), max(len(trace.published) for trace in traces)), np.nan)
    for index, trace in enumerate(traces):
        for place, message in enumerate(trace.published):
            if message is not None:
                result[index, place] = figure(message)
    return result


def odd_messages(observed: Observed, mark: Callable[[bytes], Hashable]) -> BoolArray:
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


def ranked(figures: FloatArray) -> FloatArray:
    """Return each figure's place in the order of its round, between 0 and 1; ties share theirs."""
    ranks = np.full(figures.shape, np.nan)
    for row, of in zip(ranks, figures, strict=True):
        known = ~np.isnan(of)
        if known.any():
            _, which, number = np.unique(of[known], return_inverse=True, return_counts=True)
            row[known] = (np.cumsum(number) - number / 2)[which] / known.sum()
    return ranks


def in_same_order(clients: FloatArray, messages: FloatArray, guessed: Guessed) -> FloatArray:
    """Score pairs by how near they stand in the orders of their rounds."""
    return closeness(ranked(clients), ranked(messages), guessed, 0.0)


def closeness(
    clients: FloatArray, messages: FloatArray, guessed: Guessed, lag: float
) -> FloatArray:
    """Score pairs by how little a message's figure differs from the client's plus a lag."""
    of_message = messages[guessed.rounds, guessed.places][:, None]
    scores = -np.abs(of_message - clients[guessed.rounds] - lag)
    # Of whom nothing is known is guessed last; a message of which nothing is known tells nothing.
    worst = np.nanmin(scores, initial=0.0) - 1
    scores = np.where(np.isnan(scores), worst, scores)
    return guessed.summed(np.where(np.isnan(of_message), 0.0, scores))


def usual_lag(
    clients: FloatArray, messages: FloatArray, guessed: Guessed, train: BoolArray
) -> float:
    """Return how much later a message appears than its sender's upload, where that is known."""
    owner = guessed.truth.argmax(axis=1)
    first = guessed.starts
    lag = messages[guessed.rounds[first], guessed.places[first]]
    lag = (lag - clients[guessed.rounds[first], owner])[train]
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
    one, other = _numbered(clients), _numbered(messages)
    shape = int(one.max(initial=0)) + 1, int(other.max(initial=0)) + 1
    return Table(one, other, shape) if shape[0] * shape[1] <= LARGEST_TABLE else None


def _numbered(figures: FloatArray) -> NDArray[np.int64]:
    """Return places in order, from 1; what is not known has place 0."""
    order = np.argsort(np.argsort(figures, axis=1, kind="stable"), axis=1, kind="stable")
    return np.where(np.isnan(figures), 0, order + 1)


def learnt(places: Table, guessed: Guessed, train: BoolArray) -> FloatArray:
    """Score pairs by how often such places belonged together where the truth is known.

    A list in reverse, or a shuffle that is the same in every round, shows here. Messages that were
    learnt from are scored as if they had not been.
    """
    lengths = np.diff([*guessed.starts, len(guessed.rounds)])
    cells = places.clients[guessed.rounds] * places.shape[1]
    cells += places.messages[guessed.rounds, guessed.places][:, None]
    size = places.shape[0] * places.shape[1]
    # Every message is learnt from once, however often it was published.
    first = cells[guessed.starts]
    known = train[:, None] & guessed.candidates
    truth = guessed.truth / guessed.truth.sum(axis=1, keepdims=True)
    tried = np.bincount(first[known], minlength=size).astype(np.float64)
    right = np.bincount(first[known], weights=truth[known], minlength=size)
    item = np.repeat(np.arange(len(guessed)), lengths)
    own = known[item] & (cells == first[item])
    chance = float(guessed.chance.mean())
    score = (right[cells] - own * truth[item] + BLIND * chance) / (tried[cells] - own + BLIND)
    return guessed.summed(np.log(np.maximum(score, 1e-12)))
