"""Views: every way of looking at a round that might tell who sent what."""

from collections.abc import Callable, Iterator
from functools import partial

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray, FloatArray
from anonloom_traffic import presence
from anonloom_traffic.features import (
    MARKS,
    MESSAGE_SIZES,
    closeness,
    in_same_order,
    learn_scores,
    message_figure,
    odd_messages,
    table,
    usual_lag,
    varies,
)
from anonloom_traffic.guess_table import GuessTable
from anonloom_traffic.observation import Observation
from anonloom_traffic.tracing import Paths, sender_rows

#: Families of views, in the order in which they are preferred when nothing tells them apart.
FAMILIES = ("links", "lists", "presence", "size", "order", "timing", "together")

CLIENT_SIZES = {
    "up": "bytes sent",
    "sent": "envelopes sent",
    "down": "bytes received",
    "received": "envelopes received",
}


@attrs.frozen(eq=False)
class View:
    """One way of looking.

    Attributes
    ----------
    name
        What is compared with what; it holds no bytes of anybody.
    family
        One of `FAMILIES`.
    score
        Takes the messages whose truth may be learnt from; returns a score for every message and
        client, the higher the likelier.
    learns
        Whether the scores depend on what was learnt from.
    likely
        Whether the scores are logarithms of probabilities.
    """

    name: str
    family: str
    score: Callable[[BoolArray], FloatArray]
    learns: bool = False
    likely: bool = False


def _fixed_view(name: str, family: str, make: Callable[[], FloatArray]) -> View:
    return View(name, family, lambda _: make())


def network_views(
    observed: Observation,
    targets: GuessTable,
    series: NDArray[np.int64],
    repeated: bool,
    blank: bytes | None,
) -> Iterator[View]:
    """Yield what all lines show, whichever server is honest."""
    yield from _list_views(observed, targets, series)
    if repeated:
        yield from _presence_views(observed, targets, series, blank)
    yield from _size_views(observed, targets)
    traces = observed.rounds.traces
    shape = len(traces), max(len(trace.published) for trace in traces)
    for key, of_clients in _client_orders(observed).items():
        for other, of_messages in _message_orders(shape).items():
            yield from _order_views(key, other, of_clients, of_messages, targets)


def _list_views(
    observed: Observation, targets: GuessTable, series: NDArray[np.int64]
) -> Iterator[View]:
    if not observed.marked.any():
        return
    for name, mark in MARKS.items():
        odd = odd_messages(observed, mark)
        is_odd: BoolArray = np.logical_or.reduce(odd, axis=1)
        is_odd &= np.logical_or.reduce(observed.marked, axis=1)
        if is_odd.any():
            yield _fixed_view(
                f"who was shown another list, and which message has another {name}", "lists",
                partial(_marks, observed, targets, odd, is_odd),
            )  # fmt: skip
    if targets.deposit.any():
        parts = presence.deposits(observed, targets, series, None)
        here = observed.present & ~observed.marked
        yield _fixed_view(
            "who was shown another list, and which positions are empty", "lists",
            lambda: presence.spread(
                targets, parts, [presence.intersection(part, here, both=True) for part in parts]
            ),
        )  # fmt: skip


def _marks(
    observed: Observation, targets: GuessTable, odd: BoolArray, told: BoolArray
) -> FloatArray:
    of_message = odd[targets.rounds, targets.places][:, None]
    same = observed.marked[targets.rounds] == of_message
    return targets.sum_publications((same & told[targets.rounds][:, None]).astype(np.float64))


def _presence_views(
    observed: Observation, targets: GuessTable, series: NDArray[np.int64], blank: bytes | None
) -> Iterator[View]:
    present = observed.present
    if present.all():
        return  # everybody was always there: nothing to intersect

    def intersection_scores(parts: list[presence.Series], both: bool) -> Callable[[], FloatArray]:
        return lambda: presence.spread(
            targets, parts, [presence.intersection(part, present, both) for part in parts]
        )

    recurring = presence.posts(targets, len(present))
    blanks = {None, blank, presence.commonest(observed)} if targets.deposit.any() else {None}
    for index, empty in enumerate(sorted(blanks, key=lambda one: (one is not None, one or b""))):
        message = "empty" if index == 0 else "empty or alike"
        parts = [*recurring, *presence.deposits(observed, targets, series, empty)]
        if parts:
            yield _fixed_view(
                f"intersection: who was absent, and what was {message}", "presence",
                intersection_scores(parts, True),
            )  # fmt: skip
            yield _fixed_view(
                f"intersection: who was absent, and what was not {message}", "presence",
                intersection_scores(parts, False),
            )  # fmt: skip
    if recurring:
        yield _fixed_view(
            "statistical disclosure", "presence",
            lambda: presence.spread(
                targets, recurring, [presence.disclosure(item, present) for item in recurring]
            ),
        )  # fmt: skip


def _size_views(observed: Observation, targets: GuessTable) -> Iterator[View]:
    sizes = {name: observed.figures[name] for name in CLIENT_SIZES}
    sizes = {name: of for name, of in sizes.items() if varies(of)}
    if not sizes:
        return
    for label, figure in MESSAGE_SIZES.items():
        of_messages = message_figure(observed, figure)
        if varies(of_messages):
            for name, of_clients in sizes.items():
                yield _same_order(
                    f"{CLIENT_SIZES[name]} and {label}", "size", of_clients, of_messages, targets
                )


def _same_order(
    name: str, family: str, clients: FloatArray, messages: FloatArray, targets: GuessTable
) -> View:
    return _fixed_view(name, family, lambda: in_same_order(clients, messages, targets))


def path_views(observed: Observation, targets: GuessTable, paths: Paths) -> Iterator[View]:
    """Yield what all servers but one know, and the orders of what they hold."""
    if paths.has_links:
        yield _fixed_view(
            "bytes that belong together", "links", lambda: _link_scores(observed, targets, paths)
        )
    clients = _client_orders(observed)
    messages = _message_orders(paths.message_time.shape)
    for key, of_clients in (clients | paths.client_lists).items():
        for other, of_messages in (messages | paths.message_lists).items():
            # What needs no server's knowledge is seen by all lines; one list is followed, not
            # compared with itself.
            if key != other and not (key in clients and other in messages):
                yield from _order_views(key, other, of_clients, of_messages, targets)
    yield from _timing_views(observed, targets, paths)


def _client_orders(observed: Observation) -> dict[str, FloatArray]:
    shape = observed.present.shape
    numbers = np.broadcast_to(np.arange(shape[1], dtype=np.float64), shape)
    return {"uploads": observed.figures["order"], "clients' numbers": numbers}


def _message_orders(shape: tuple[int, ...]) -> dict[str, FloatArray]:
    places = np.arange(shape[1], dtype=np.float64)
    return {"what was published": np.broadcast_to(places, shape)}


def _order_views(
    one: str, other: str, clients: FloatArray, messages: FloatArray, targets: GuessTable
) -> Iterator[View]:
    if not (varies(clients) and varies(messages)):
        return
    yield _same_order(f"order of {one} and of {other}", "order", clients, messages, targets)
    places = table(clients, messages)
    if places is not None:
        yield View(
            f"arrangement of {one} and of {other}, learnt", "order",
            lambda train: learn_scores(places, targets, train), learns=True,
        )  # fmt: skip


def _timing_views(observed: Observation, targets: GuessTable, paths: Paths) -> Iterator[View]:
    uploaded, appeared = observed.figures["time"], paths.message_time
    if not varies(appeared):
        return
    yield _same_order("order in time of uploads and of messages seen on lines", "timing",
                      uploaded, appeared, targets)  # fmt: skip
    yield View(
        "time between upload and a message seen on a line", "timing",
        lambda train: closeness(
            uploaded, appeared, targets, usual_lag(uploaded, appeared, targets, train)
        ),
        learns=True,
    )  # fmt: skip


def _link_scores(observed: Observation, targets: GuessTable, paths: Paths) -> FloatArray:
    """Score 1 whom a message can be followed to; where it cannot, others' senders are unlikely."""
    clients = len(observed.clients)
    index = list(zip(targets.rounds.tolist(), targets.places.tolist(), strict=True))
    marks = [paths.senders[round_][place] for round_, place in index]
    claimed = []
    for of in paths.senders:
        taken = 0
        for item in of:
            if item and not item & (item - 1):
                taken |= item
        claimed.append(taken)
    result = sender_rows(marks, clients)
    others = sender_rows([claimed[round_] for round_, _ in index], clients)
    followed = np.array([bool(mark) for mark in marks])[:, None]
    return targets.sum_publications(np.where(followed, result, -0.5 * others))
