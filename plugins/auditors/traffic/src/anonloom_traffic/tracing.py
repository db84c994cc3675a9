"""Tracing: from what a client sent, over what servers know to belong together, to a message."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

import attrs
import numpy as np

from anonloom.typing import FloatArray
from anonloom_traffic.observation import Lines, Observation
from anonloom_transport import Link, Party, Trace

#: Shorter byte strings are found in longer ones by chance.
SHORTEST_PART = 8
#: A byte string that belongs to so many others connects nobody with anything.
HUB = 8


@attrs.frozen(eq=False)
class ReachableSenders:
    """How far bytes can be followed in one round.

    Attributes
    ----------
    senders
        Of every published place the clients from which it can be reached in the fewest steps, as
        bits; 0 when from none.
    client_places, message_places
        Of each list that the adversary knows (what a server knows, in its order; what a server sent
        to another): where in it each client's, and each published place's, bytes are met.
    """

    senders: tuple[int, ...]
    client_places: dict[str, dict[int, int]]
    message_places: dict[str, dict[int, int]]
    message_time: dict[int, float]


class Parts:
    """Byte strings laid end to end, to be searched for parts."""

    def __init__(self, strings: Mapping[bytes, int]) -> None:
        self.owners = list(strings.values())
        self.ends = np.cumsum([len(string) + 1 for string in strings]).tolist()
        # What lies between two strings must not make a part of its own; with one byte in 256
        # it might, and then one guess is wrong.
        self.joined = b"\0".join(strings)

    def holders(self, part: bytes) -> int:
        """Return the owners of the strings that hold a part, as bits."""
        result, index = 0, self.joined.find(part)
        while index >= 0:
            of = bisect_right(self.ends, index)
            result |= self.owners[of]
            index = self.joined.find(part, self.ends[of])
        return result


class Follower:
    """Follows bytes through one round, for any choice of servers that tell what they know."""

    def __init__(self, trace: Trace, lines: Lines, column: Mapping[int, int]) -> None:
        self.lines, self.links = lines, trace.links
        #: Clients that sent exactly these bytes, as bits.
        self.clients: dict[bytes, int] = {}
        bodies: dict[bytes, int] = {}
        for client, sent in lines.bodies.items():
            if client in column:
                bit = 1 << column[client]
                for string in sent:
                    bodies[string] = bodies.get(string, 0) | bit
                for string in (*sent, *lines.uploads.get(client, ())):
                    if string:
                        self.clients[string] = self.clients.get(string, 0) | bit
        #: Places at which exactly these bytes were published; or the place itself, as eight bytes.
        self.messages: dict[bytes, int] = {}
        self.published = trace.published
        for place, message in enumerate(trace.published):
            if message:
                self.messages[message] = self.messages.get(message, 0) | 1 << place
            if trace.positions:
                self.messages[place.to_bytes(8, "big")] = 1 << place
        self.hub = max(HUB, len(column) // 2)
        ends = {end for known in self.links.values() for link in known for end in _ends(link)}
        self._add_parts(ends, Parts(bodies))
        #: Where in the lists that servers sent each other known byte strings stand.
        known = _prefixes({*ends, *(m for m in self.published if m is not None)})
        self.batches = {
            f"what server {server} sent as '{step}'": places
            for (server, step), bodies_ in lines.batches.items()
            if len(places := _offsets(bodies_, known)) > 1
        }

    def _add_parts(self, ends: set[bytes], bodies: Parts) -> None:
        """Take note of messages and of what servers know that is a part of what a client sent."""
        for part in {*ends, *(m for m in self.published if m is not None)}:
            if len(part) >= SHORTEST_PART and part not in self.clients:
                holders = bodies.holders(part)
                if holders:
                    self.clients[part] = holders
        # A message may be a part of what a server has opened.
        opened = Parts({end: 1 << index for index, end in enumerate(ends)})
        listed = list(ends)
        for message, places in list(self.messages.items()):
            if len(message) > SHORTEST_PART and message not in ends:
                for index in bits(opened.holders(message)):
                    self.messages[listed[index]] = self.messages.get(listed[index], 0) | places

    def follow(self, corrupted: Iterable[int]) -> ReachableSenders:
        """Follow with what these servers know."""
        known = {index: self.links.get(Party("server", index), []) for index in corrupted}
        neighbours: dict[bytes, list[bytes]] = {}
        for link in (link for links in known.values() for link in links):
            neighbours.setdefault(link.one, []).append(link.other)
            neighbours.setdefault(link.other, []).append(link.one)
        for string in [s for s, others in neighbours.items() if len(others) > self.hub]:
            neighbours[string] = []
        from_clients = _spread(self.clients, neighbours)
        from_messages = _spread(self.messages, neighbours)
        times: dict[int, float] = {}
        for string, position in self.lines.appeared.items():
            place = _only(from_messages.get(string, 0))
            if place is not None:
                times[place] = min(position, times.get(place, position))
        lists = {
            f"what server {index} knows": [
                (end, position) for position, link in enumerate(links) for end in _ends(link)
            ]
            for index, links in known.items()
        }
        lists |= {name: list(places.items()) for name, places in self.batches.items()}
        return ReachableSenders(
            self._senders(from_clients),
            {name: _places(places, from_clients) for name, places in lists.items()},
            {name: _places(places, from_messages) for name, places in lists.items()},
            times,
        )

    def _senders(self, from_clients: Mapping[bytes, int]) -> tuple[int, ...]:
        results = [
            0 if message is None else from_clients.get(message, 0) for message in self.published
        ]
        # Bytes that hold a message, or its place, may be followed where it cannot be.
        for string, places in self.messages.items():
            place = _only(places)
            if place is not None and string != self.published[place]:
                results[place] = results[place] or from_clients.get(string, 0)
        return tuple(results)


def _ends(link: Link) -> tuple[bytes, bytes]:
    return link.one, link.other


def _spread(
    sources: Mapping[bytes, int], neighbours: Mapping[bytes, Sequence[bytes]]
) -> dict[bytes, int]:
    """Give every byte string the marks of the sources that are fewest steps away."""
    results = dict(sources)
    edge: Mapping[bytes, int] = {s: marks for s, marks in results.items() if s in neighbours}
    while edge:
        reached: dict[bytes, int] = {}
        for string, marks in edge.items():
            for other in neighbours[string]:
                if other not in results:
                    reached[other] = reached.get(other, 0) | marks
        results |= reached
        edge = reached
    return results


def _only(marks: int) -> int | None:
    """Return the number of the only bit that is set, or None."""
    return marks.bit_length() - 1 if marks and not marks & (marks - 1) else None


def bits(marks: int) -> list[int]:
    """Return the numbers of all bits that are set."""
    results = []
    while marks:
        low = marks & -marks
        results.append(low.bit_length() - 1)
        marks ^= low
    return results


def _places(listed: Sequence[tuple[bytes, int]], marks: Mapping[bytes, int]) -> dict[int, int]:
    """Return where in a list each mark is first met, where it is met alone."""
    places: dict[int, int] = {}
    for string, index in listed:
        whose = _only(marks.get(string, 0))
        if whose is not None:
            places.setdefault(whose, index)
    return places


def _prefixes(strings: Iterable[bytes]) -> dict[int, list[bytes]]:
    """Sort byte strings by their first eight bytes, read as a number."""
    results: dict[int, list[bytes]] = {}
    for string in strings:
        if len(string) >= SHORTEST_PART:
            number = int.from_bytes(string[:SHORTEST_PART], "little")
            results.setdefault(number, []).append(string)
    return results


def _offsets(bodies: Iterable[bytes], known: Mapping[int, Sequence[bytes]]) -> dict[bytes, int]:
    """Return where in some bodies known byte strings stand."""
    wanted = np.array(sorted(known), dtype="<u8")
    known_whole = {string for strings in known.values() for string in strings}
    results: dict[bytes, int] = {}
    for body in sorted(bodies):
        if len(body) < 2 * SHORTEST_PART or body in known_whole or not len(wanted):
            continue  # no list
        octets = np.frombuffer(body, np.uint8)
        windows = np.lib.stride_tricks.sliding_window_view(octets, SHORTEST_PART)
        numbers = np.ascontiguousarray(windows).view("<u8").ravel()
        nearest = wanted[np.minimum(np.searchsorted(wanted, numbers), len(wanted) - 1)]
        for index in np.flatnonzero(nearest == numbers).tolist():
            for string in known[int(numbers[index])]:
                if body.startswith(string, index):
                    results.setdefault(string, index)
    return results


@attrs.frozen(eq=False)
class Paths:
    """How far bytes can be followed in all rounds, for one choice of the honest server.

    Attributes
    ----------
    client_lists, message_lists
        By list: the place in it, rounds x clients and rounds x published places; NaN where bytes
        cannot be followed to it.
    message_time
        When a message's bytes were first seen on a line of a server.
    """

    senders: tuple[tuple[int, ...], ...]
    client_lists: dict[str, FloatArray]
    message_lists: dict[str, FloatArray]
    message_time: FloatArray

    @property
    def has_links(self) -> bool:
        """Whether any message can be followed to any client."""
        return any(any(of) for of in self.senders)


def followers(observed: Observation) -> list[Follower]:
    """Prepare all rounds."""
    return [
        Follower(trace, lines, observed.column)
        for trace, lines in zip(observed.rounds.traces, observed.lines, strict=True)
    ]


def paths(observed: Observation, prepared: Sequence[Follower], honest: int) -> Paths:
    """Follow bytes through all rounds with what all servers but one know."""
    corrupted = [index for index in range(observed.rounds.servers) if index != honest]
    followed = [follower.follow(corrupted) for follower in prepared]
    most = max((len(follower.published) for follower in prepared), default=0)
    of_clients = (len(prepared), len(observed.clients))
    of_messages = (len(prepared), most)
    return Paths(
        tuple(item.senders for item in followed),
        _by_list(of_clients, [item.client_places for item in followed]),
        _by_list(of_messages, [item.message_places for item in followed]),
        _dense(of_messages, [item.message_time for item in followed]),
    )


def _by_list(
    shape: tuple[int, int], rows: Sequence[Mapping[str, Mapping[int, int]]]
) -> dict[str, FloatArray]:
    names = sorted({name for row in rows for name, places in row.items() if len(places) > 1})
    return {name: _dense(shape, [row.get(name, {}) for row in rows]) for name in names}


def _dense(shape: tuple[int, int], rows: Sequence[Mapping[int, float]]) -> FloatArray:
    filled_places = np.full(shape, np.nan)
    for index, row in enumerate(rows):
        if row:
            filled_places[index, list(row)] = list(row.values())
    return filled_places


def sender_rows(senders: Sequence[int], clients: int) -> FloatArray:
    """Return 1 for the clients that a message can be followed to, a row per message."""
    size = (clients + 7) // 8
    packed = b"".join(marks.to_bytes(size, "little") for marks in senders)
    bits = np.unpackbits(
        np.frombuffer(packed, np.uint8).reshape(len(senders), size), axis=1, bitorder="little"
    )
    result: FloatArray = bits[:, :clients].astype(np.float64)
    return result
