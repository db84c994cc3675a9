"""What a round over transport mixnet costs: one layer after the other, of every packet."""

import sys
from collections.abc import Callable
from functools import cache, partial

from anonloom_mixnet.cascade import sealed_list
from anonloom_mixnet.items import open_row, read_item, write_item
from anonloom_mixnet.layers import KEY, Opener
from anonloom_mixnet.mix_phase import NUMBER
from anonloom_mixnet.packets import Keys, Route, generate, public
from anonloom_mixnet.route_claims import LISTED, carried_size, list_entry
from anonloom_mixnet.shuffling import random_order
from anonloom_mixnet.trap_store import write_laid
from anonloom_mixnet.traps import fingerprint, lay, struck
from anonloom_transport import (
    SECRET_BYTES,
    Costs,
    Operation,
    Round,
    SlotSecret,
    SystemEntropy,
    Work,
    cut,
    microbenchmark,
    pack,
    read_row,
    row_size,
    write_row,
)

#: Packets that a trial passes on.
_PACKETS = 256


def costs(round: Round, traps: int, software: bytes) -> Costs:
    """Return what a full round costs, in which all packets open and nobody misses any."""
    servers, packets = round.servers, _packets(round, traps)
    route, own = _route(round), lay(_route(round), 0, SystemEntropy())
    private, shown = _keys(round.suite)
    passed = [packets * route.packet_size(hop + 1) for hop in range(servers)]
    message = (
        len(write_laid(own)) + traps * route.packet_size(),
        len(pack()),  # nobody misses a packet
        len(own.salt) + traps * len(fingerprint(b"")),
        len(private.peel),
    )
    return Costs(
        round=round,
        software=software,
        contents=(route.packet_size(),) + (0,) * (servers - 1),
        keys=(shown.mix, shown.peel, shown.share),
        words=(sum(passed) + servers * NUMBER, *(servers * size for size in message)),
        exchanges=(servers * KEY * len(round.slots),) if round.slots else (),
        documents=(packets * LISTED,),
        server_work=server_work(round, traps),
        sender_work=Work({_pack_operation(round): 1}),
        # Every list as it came and cut into packets, what the first hop opened and passes on, and
        # what is peeled at last.
        memory=2 * (sum(passed) + passed[0]) + packets * (3 + servers) * sys.getsizeof(b""),
    )


def _packets(round: Round, traps: int) -> int:
    return round.capacity + round.servers * traps


def server_work(round: Round, traps: int) -> Work:
    """Return what the first hop does in a full round beyond uploads and words."""
    packets, route = _packets(round, traps), _route(round)
    work = Work(
        {
            _open_operation(round.suite, route.packet_size()): packets,
            _pass_operation(round): packets,
        }
    )
    work[_pack_operation(round, trap=True)] += traps
    for server in range(round.servers):
        # Everybody peels all layers of all packets.
        work[_open_operation(round.suite, route.core_size(server))] += round.capacity
    if round.slots:
        share = row_size(round.message_size) + route.core_size() - route.core_size(1)
        work[_open_operation(round.suite, share)] += len(round.slots)
        work[_join_operation(round)] += len(round.slots)
    return work


# --- operations ---------------------------------------------------------------------------------


@cache
def _keys(suite: str) -> tuple[Keys, Keys]:
    """Return some keys of a server, private and public."""
    private = generate(suite, SystemEntropy())
    return private, public(suite, private)


def _route(round: Round) -> Route:
    return _way(round.suite, round.servers, carried_size(round))


@cache
def _way(suite: str, servers: int, size: int) -> Route:
    """Return a way of which all servers have the same keys."""
    return Route(b"a trial", suite, [_keys(suite)[1]] * servers, size)


def _open_operation(suite: str, size: int) -> Operation:
    """Opening one layer."""
    return Operation(
        f"mixnet: a layer of {size} bytes opened, {suite}",
        microbenchmark(partial(_open, suite, size)),
    )


def _open(suite: str, size: int) -> Callable[[], object]:
    route = _way(suite, 1, 1)
    opener = Opener(route.place("mix", 0), _keys(suite)[0].mix)
    inside = bytes(size - route.core_size() + route.core_size(1))
    sealed = route.sealer("mix", 0).seal(inside, SystemEntropy()).sealed
    return lambda: opener.open(sealed)


def _pack_operation(round: Round, *, trap: bool = False) -> Operation:
    """Making one packet: a sender's, who of a deposit seals shares as well, or a trap."""
    what = "a trap" if trap or not round.slots else "a deposit"
    name = f"mixnet: {what} of {_route(round).size} bytes sealed to {round.servers}, {round.suite}"
    return Operation(name, microbenchmark(partial(_pack, round, what == "a deposit")))


def _pack(round: Round, deposit: bool) -> Callable[[], object]:
    route, entropy = _route(round), SystemEntropy()
    if not deposit:
        return lambda: route.pack(bytes(route.size), entropy)
    row, alpha = bytes(row_size(round.message_size)), bytes(SECRET_BYTES)
    return lambda: route.pack(write_item(route, b"", 0, alpha, row, entropy), entropy)


def _pass_operation(round: Round) -> Operation:
    """All that is done to one packet beside opening it: shuffled, listed, known from traps."""
    size = _route(round).core_size()
    name = f"mixnet: a packet of {size} bytes passed on by {round.servers}, {round.suite}"
    return Operation(name, microbenchmark(partial(_pass, round), _PACKETS))


def _pass(round: Round) -> Callable[[], object]:
    route, entropy = _route(round), SystemEntropy()
    words = [entropy.bytes(_PACKETS * route.packet_size(hop + 1)) for hop in range(round.servers)]
    own = lay(route, 0, entropy)

    def carry() -> None:
        lists = [cut(word, route.packet_size(hop + 1)) for hop, word in enumerate(words)]
        b"".join(lists[0][place] for place in random_order(_PACKETS, entropy))
        cores = sealed_list(lists[-1])
        sorted(map(list_entry, cores))
        own.missing(cores)
        for _ in words:
            struck(cores, own.commitment, own.salt, ())

    return carry


def _join_operation(round: Round) -> Operation:
    """Reading an item of a deposit, and putting its row together."""
    size, suite = row_size(round.message_size), round.suite
    name = f"mixnet: a row of {size} bytes of {round.servers} shares, {suite}"
    return Operation(name, microbenchmark(partial(_join, round)))


def _join(round: Round) -> Callable[[], object]:
    route, suite, size = _route(round), round.suite, row_size(round.message_size)
    secret = SlotSecret(bytes(SECRET_BYTES), bytes(SECRET_BYTES))
    row, head = write_row(secret, 1, 1, bytes(round.message_size)), secret.key().head
    written = write_item(route, b"", 0, secret.alpha, row, SystemEntropy())
    item = read_item(written, suite, round.servers, size)
    private = _keys(suite)[0].share
    keys = [
        Opener(route.place("share", hop), private).open(share).key
        for hop, share in enumerate(item.shares)
    ]

    def join() -> None:
        result = read_item(written, suite, round.servers, size)
        result.authentic(b"", secret.alpha)
        read_row(head, 1, open_row(result, suite, keys))

    return join
