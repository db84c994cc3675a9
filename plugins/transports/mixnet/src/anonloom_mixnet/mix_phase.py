"""Mix: a server takes its layer off every packet, shuffles, and tells all others what came out.

Every list travels to all servers, so that each can see where a packet was lost; whoever watches
the lines sees the same lists. A hop says its list as its one word of step `mix`: saying two
different ones is evidence against it.
"""

import hashlib
from collections.abc import Callable

import attrs

from anonloom import short_repr
from anonloom_mixnet.blame_messages import NONE, FailedPacket, write_failed
from anonloom_mixnet.cascade import Batch, peel, sealed_list
from anonloom_mixnet.layers import OpenedLayer, Opener, Phase, UnopenedLayer
from anonloom_mixnet.packets import Keys, Route, generate, public
from anonloom_mixnet.route_claims import list_entry, name_of, route_of
from anonloom_mixnet.shuffling import random_order
from anonloom_mixnet.trap_store import Stream, read_laid, read_traps, write_laid, write_traps
from anonloom_mixnet.traps import Traps, lay
from anonloom_transport import Entropy, RoundState, cut, write_signed

#: Bytes of the number of removed packets, with which a hop's list begins.
NUMBER = 4

#: Says which packets were removed at a hop, by number; None as long as that is open.
Removed = Callable[[int], frozenset[int] | None]


@short_repr
@attrs.define(eq=False)
class MixPhase:
    """A server's part as a hop of the cascade.

    Attributes
    ----------
    traps
        How many packets of its own making every server sends along.
    private
        The keys of all phases; None before they are drawn, and when they are forgotten.
    batch
        What this hop opened and passed on.
    lists
        What each hop passed on, in order.
    cores, listed, shown
        The packets that came out at last, still sealed; what is signed of them, and that signed.
    """

    state: RoundState
    traps: int
    private: Keys | None = attrs.field(default=None, init=False, repr=False)
    _opener: Opener | None = attrs.field(default=None, init=False, repr=False)
    _first: dict[bytes, OpenedLayer] = attrs.field(factory=dict, init=False, repr=False)
    _marks: set[bytes] = attrs.field(factory=set, init=False, repr=False)
    laid: list[tuple[bytes, list[bytes]]] = attrs.field(factory=list, init=False, repr=False)
    _own: Traps | None = attrs.field(default=None, init=False, repr=False)
    batch: Batch | None = attrs.field(default=None, init=False, repr=False)
    lists: list[list[bytes]] = attrs.field(factory=list, init=False, repr=False)
    cores: tuple[bytes, ...] = attrs.field(default=(), init=False, repr=False)
    listed: bytes = attrs.field(default=b"", init=False, repr=False)
    shown: bytes = attrs.field(default=b"", init=False, repr=False)

    # --- keys -----------------------------------------------------------------------------------

    def draw_keys(self, entropy: Entropy) -> tuple[bytes, ...]:
        """Draw the keys of all phases; return their public parts."""
        self.private = generate(self.state.round.suite, entropy)
        shown = public(self.state.round.suite, self.private)
        return shown.mix, shown.peel, shown.share

    @property
    def route(self) -> Route:
        """The way of all packets; only asked when the round has begun."""
        return route_of(self.state.require_description())

    @property
    def index(self) -> int:
        """Which hop this server is."""
        return self.state.index

    def opener(self, phase: Phase) -> Opener:
        """Return what opens this server's layers."""
        assert self.private is not None
        return Opener(self.route.place(phase, self.index), getattr(self.private, phase))

    # --- uploads --------------------------------------------------------------------------------

    @property
    def content_size(self) -> int:
        """Bytes of what a client seals to this server."""
        return self.content_size_of(self.index)

    def content_size_of(self, server: int) -> int:
        """Bytes of what a client seals to one of the servers: only the first hop gets packets."""
        return 0 if server else self.route.packet_size()

    def judge(self, upload: bytes, content: bytes) -> str:
        """Say why an upload is refused, or nothing.

        The first hop confirms a packet only when it has opened it: that it does not open it can't
        say any more.
        """
        return "" if self.index else self._open_first(upload, content)

    def _open_first(self, name: bytes, packet: bytes) -> str:
        if name_of(packet) != name:
            return "packet of another name"
        if self._opener is None:
            self._opener = self.opener("mix")
        try:
            layer = self._opener.open(packet)
        except UnopenedLayer:
            return "packet cannot be opened"
        if layer.mark in self._marks:
            return "packet repeats another"
        self._marks.add(layer.mark)
        self._first[name] = layer
        self.state.learn(packet, layer.inside)
        return ""

    # --- traps ----------------------------------------------------------------------------------

    @property
    def own_traps(self) -> Traps:
        """The traps of this server."""
        if self._own is None:
            if "traps" not in self.state.remembered:
                stream = Stream(self.state.channel.derive("traps"))
                self.state.remembered["traps"] = write_traps(lay(self.route, self.traps, stream))
            self._own = read_traps(self.state.remembered["traps"])
        return self._own

    def lay_traps(self) -> bool:
        """Exchange traps; return whether all are there."""
        if self.laid:
            return True
        if not self.state.channel.has_sent("traps"):
            self.state.channel.send("traps", write_laid(self.own_traps))
        words = self.state.channel.all("traps")
        if words is None:
            return False
        laid = [read_laid(word, self.route, self.traps) for word in words]
        makers: dict[bytes, int] = {}
        for server, item in enumerate(laid):
            if item is None:
                self.state.channel.stop(f"server {server} did not lay {self.traps} traps")
                return False
            for packet in item[1]:
                if not self._is_trap(server, packet, makers):
                    return False
        self.laid = [item for item in laid if item is not None]
        return True

    def _is_trap(self, server: int, packet: bytes, makers: dict[bytes, int]) -> bool:
        """Whether a packet is a trap like no other; if not, the round stops."""
        name = name_of(packet)
        other = makers.setdefault(name, server)
        if other != server:
            self.state.channel.stop(f"server {other} and server {server} laid the same trap")
        elif not self.index and self._open_first(name, packet):
            self.state.channel.stop(
                f"a trap of server {server} does not open at server 0: one deviates"
            )
        return not self.state.stop_reason

    def maker(self, name: bytes) -> int | None:
        """Return which server laid a trap; None for what a sender sent."""
        for server, (_, packets) in enumerate(self.laid):
            if name in map(name_of, packets):
                return server
        return None

    @property
    def sent_names(self) -> list[bytes]:
        """Names of all that the first hop was given, in order."""
        traps = (name_of(packet) for _, packets in self.laid for packet in packets)
        return [*(self.state.admitted or ()), *traps]

    def first_packet(self, name: bytes) -> bytes:
        """Return a packet that the first hop was given; asked of the first hop only."""
        if name in self.state.contents:
            return self.state.content(name)
        laid = (packet for _, packets in self.laid for packet in packets)
        return next(packet for packet in laid if name_of(packet) == name)

    # --- hops -----------------------------------------------------------------------------------

    def inputs(self, hop: int) -> list[bytes]:
        """Return what a hop after the first was given."""
        return self.lists[hop - 1]

    def number(self, hop: int) -> int:
        """Return how many packets a hop was given."""
        return len(self.inputs(hop)) if hop else len(self.sent_names)

    def run(self, removed_at: Removed) -> bool:
        """Mix when it is this server's turn; sign and show the list that comes out at last.

        Returns whether that is done.
        """
        if not self.lay_traps():
            return False
        while len(self.lists) < self.state.round.servers:
            outputs = self._outputs(len(self.lists), removed_at)
            if outputs is None:
                return False
            self.lists.append(outputs)
        return self._sign()

    def _outputs(self, hop: int, removed_at: Removed) -> list[bytes] | None:
        """Return what a hop passed on, if that can be; None as long as it has not."""
        if hop == self.index:
            self._mix(removed_at)
        word = self.state.channel.of("mix", hop)
        if word is None or self.state.stop_reason:
            if self.state.channel.of("failed", hop) is not None:
                removed_at(hop)
            return None
        removed: frozenset[int] | None = frozenset()
        if any(word[:NUMBER]):
            removed = removed_at(hop)
            if removed is None:
                return None
        try:
            outputs = cut(word[NUMBER:], self.route.packet_size(hop + 1))
        except ValueError:
            outputs = []
        left = self.number(hop) - len(removed or ())
        if len(outputs) != left or int.from_bytes(word[:NUMBER], "big") != len(removed or ()):
            self.state.channel.stop(
                f"server {hop} did not pass on {left} packets of the right size"
            )
            return None
        return outputs

    def _mix(self, removed_at: Removed) -> None:
        """Take the layer off, shuffle, and pass on what came out."""
        if self.state.channel.has_sent("mix") and self.batch is not None:
            return
        if self.batch is None:
            self.batch = self._open_batch()
        batch, removed = self.batch, frozenset[int]()
        if batch.failures:
            # Whoever passed on something else to the others is to be named, not this hop.
            self.state.channel.send("given", self.state.channel.proof("mix", self.index - 1))
            self.state.channel.send("failed", write_failed(self._failed_packets(batch)))
            result = removed_at(self.index)
            if result is None:
                return
            removed = result
        kept = [position for position, origin in enumerate(batch.origins) if origin not in removed]
        # Another order for another batch: a server that is started from an older saved state could
        # be made to mix again, and known packets would then show the order of the others.
        batched = hashlib.sha256(b"".join(batch.outputs[position] for position in kept)).hexdigest()
        order = random_order(len(kept), Stream(self.state.channel.derive(f"shuffle {batched}")))
        places = [kept[place] for place in order]
        self.batch = attrs.evolve(
            batch,
            outputs=tuple(batch.outputs[place] for place in places),
            origins=tuple(batch.origins[place] for place in places),
        )
        if not self.state.channel.has_sent("mix"):
            number = len(removed).to_bytes(NUMBER, "big")
            self.state.channel.send("mix", number + b"".join(self.batch.outputs))

    def _open_batch(self) -> Batch:
        if not self.index:
            layers = [self._first[name] for name in self.sent_names]
            numbers = tuple(range(len(layers)))
            keys = {number: layers[number].key for number in numbers}
            return Batch(tuple(layer.inside for layer in layers), numbers, {}, keys)
        packets, size = self.inputs(self.index), self.route.packet_size(self.index)
        batch = peel(packets, size, self.opener("mix"), set())
        if self.state.on_link is not None:
            for origin, output in zip(batch.origins, batch.outputs, strict=True):
                self.state.learn(packets[origin], output)
        return batch

    def _failed_packets(self, batch: Batch) -> list[FailedPacket]:
        packets, head = self.inputs(self.index), self.route.place("mix", 0).kem.head_size
        heads = {packets[number][:head]: number for number in batch.keys}
        return [
            FailedPacket(
                number,
                name_of(packets[number]),
                heads[packets[number][:head]] if reason == "replay" else NONE,
            )
            for number, reason in sorted(batch.failures.items())
        ]

    # --- the list -------------------------------------------------------------------------------

    def _sign(self) -> bool:
        if not self.cores:
            self.cores = sealed_list(self.lists[-1])
            self.listed = b"".join(sorted(map(list_entry, self.cores)))
        signatures = self.state.channel.sign("mixed", self.listed, "mix")
        if signatures is None:
            return False
        self.shown = write_signed(self.listed, signatures)
        self.state.broadcast("mixed", self.shown)
        return True

    def forget(self) -> None:
        """Forget all keys and who sent what."""
        self.private = self._opener = self.batch = self._own = None
        self._first.clear()
        self._marks.clear()
