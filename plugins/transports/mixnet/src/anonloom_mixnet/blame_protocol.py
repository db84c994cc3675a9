"""Blame: the servers find out together who is at fault for a packet that does not open.

A hop names the packets. The hops before it show, one after the other, where these came from, and
nothing of any other packet. Then the senders are asked: each can show that hers does open. What
follows is the same for every server, because all judge the same words.
"""

import hmac
from collections.abc import Sequence

import attrs

from anonloom import short_repr
from anonloom_mixnet.blame import (
    RevealedOutput,
    Verdict,
    reveal,
    verify_failure,
    verify_replay,
    verify_reveal,
)
from anonloom_mixnet.blame_messages import (
    HOP_BYTES,
    FailedPacket,
    Origin,
    read_failed,
    read_origins,
    suspects,
    write_origins,
)
from anonloom_mixnet.layers import Layer
from anonloom_mixnet.mix_phase import MixPhase
from anonloom_mixnet.route_claims import KeptPacket, name_of
from anonloom_mixnet.suites import POINT
from anonloom_transport import Envelope, RoundState, pack, unpack


@short_repr
@attrs.define(eq=False)
class BlameProtocol:
    """A server's part in finding out why a packet does not open.

    Attributes
    ----------
    guilty
        Names of the packets that their senders are to blame for.
    """

    state: RoundState
    mix: MixPhase

    _removed: dict[int, frozenset[int]] = attrs.field(factory=dict, init=False, repr=False)
    guilty: set[bytes] = attrs.field(factory=set, init=False, repr=False)
    _waiting: dict[bytes, tuple[int, bytes]] = attrs.field(factory=dict, init=False, repr=False)

    def removed_packets(self, hop: int) -> frozenset[int] | None:
        """Return which packets were removed at a hop, by number; None as long as that is open."""
        if hop in self._removed:
            return self._removed[hop]
        failed = self._failed_packets(hop)
        if failed is None:
            return None
        traced = suspects(failed)
        names = self._trace_uploads(hop, traced)
        if names is None or not self._exchange_answers(hop, failed, names):
            return None
        if not self._all_guilty(hop, failed, names):
            return None
        self._waiting.clear()
        self.guilty.update(names)
        self.state.exclude(
            set(names) & set(self.state.admitted or ()), "packet that a later hop cannot open"
        )
        left = len(set(self.state.admitted or ()) - self.guilty)
        if left < self.state.round.min_batch:
            self.state.channel.stop(
                f"{left} packets can be opened, it takes {self.state.round.min_batch}"
            )
            return None
        self._removed[hop] = frozenset(traced)
        return self._removed[hop]

    # --- which packets, and where they came from ------------------------------------------------

    def _failed_packets(self, hop: int) -> list[FailedPacket] | None:
        """Return the packets that a hop could not open, if it was given such packets."""
        word = self.state.channel.of("failed", hop)
        if word is None or len(self.mix.lists) < hop:
            return None
        failed = read_failed(word)
        if not hop or failed is None or not self._were_given(hop, failed):
            given = self.state.channel.of("given", hop)
            if given is None:
                return None
            if self.state.channel.contradicts("mix", hop - 1, given):
                self.state.channel.stop(f"server {hop - 1} said two different things")
            else:
                self.state.channel.stop(f"server {hop} names packets that it was not given")
            return None
        return failed

    def _were_given(self, hop: int, failed: Sequence[FailedPacket]) -> bool:
        packets, place = self.mix.inputs(hop), self.mix.route.place("mix", hop)
        for item in failed:
            if item.number >= len(packets) or name_of(packets[item.number]) != item.name:
                return False
            if item.repeats:
                if item.earlier >= len(packets) or item.earlier == item.number:
                    return False
                same = verify_replay(place, packets[item.number], packets[item.earlier])
                if same.guilty == "hop":
                    return False
        return len({item.number for item in failed}) == len(failed)

    def _trace_uploads(self, hop: int, at: list[int]) -> list[bytes] | None:
        """Return the names of the uploads that these packets came from."""
        for before in range(hop - 1, -1, -1):
            step = f"trace {hop}"
            if before == self.mix.index and not self.state.channel.has_sent(step):
                assert self.mix.batch is not None
                shown = [reveal(self.mix.batch, output) for output in at]
                self.state.channel.send(step, self._shown_of(shown))
            word = self.state.channel.of(step, before)
            if word is None:
                return None
            if not before:
                return self._uploads_of(at, word)
            result = self._origins_of(before, at, word)
            if result is None:
                return None
            at = result
        return None

    def _shown_of(self, shown: Sequence[RevealedOutput]) -> bytes:
        if self.mix.index:
            return write_origins(Origin(item.packet, item.key) for item in shown)
        sent = self.mix.sent_names
        return pack(*(item.key + self.mix.first_packet(sent[item.packet]) for item in shown))

    def _origins_of(self, hop: int, at: Sequence[int], word: bytes) -> list[int] | None:
        origins, packets = read_origins(word, len(at)), self.mix.inputs(hop)
        numbers = [origin.number for origin in origins or ()]
        if origins is None or len(set(numbers)) < len(at) or max(numbers) >= len(packets):
            self.state.channel.stop(f"server {hop} does not show where its packets came from")
            return None
        shown = [(packets[origin.number], origin.key) for origin in origins]
        return numbers if self._hold(hop, at, shown) else None

    def _uploads_of(self, at: Sequence[int], word: bytes) -> list[bytes] | None:
        try:
            shown = [(item[32:], item[:32]) for item in unpack(word, len(at))]
        except ValueError:
            shown = []
        names = [name_of(packet) for packet, _ in shown]
        if not len(set(names)) == len(names) == len(at) or not set(names) <= set(
            self.mix.sent_names
        ):
            self.state.channel.stop("server 0 does not show where its packets came from")
            return None
        return names if self._hold(0, at, shown) else None

    def _hold(self, hop: int, at: Sequence[int], shown: Sequence[tuple[bytes, bytes]]) -> bool:
        """Whether packets and keys that a hop shows lead to its outputs."""
        outputs, place = self.mix.lists[hop], self.mix.route.place("mix", hop)
        for output, (packet, key) in zip(at, shown, strict=True):
            verdict = verify_reveal(place, packet, outputs[output], key)
            if verdict.guilty != "nobody":
                self.state.channel.stop(f"server {hop} deviates: {verdict.reason}")
                return False
        return True

    # --- what the senders say -------------------------------------------------------------------

    def _exchange_answers(
        self, hop: int, failed: Sequence[FailedPacket], names: Sequence[bytes]
    ) -> bool:
        """Ask the senders, and exchange their answers; return whether all servers have said all."""
        step = f"answers {hop}"
        if not self.state.channel.has_sent(step):
            open_ones = {
                name: self.mix.inputs(hop)[item.number]
                for item, name in zip(failed, names, strict=False)
                if not item.repeats and not self._verdict(hop, item, None).certain_donor
            }
            self._ask_senders(hop, open_ones)
            if self._waiting and f"judge {hop}" not in self.state.requests:
                return False
            facts = (
                (name, self.state.remembered.get(_fact(hop, name)) or self._own_answer(hop, name))
                for name in open_ones
            )
            self.state.channel.send(step, pack(*(pack(name, fact) for name, fact in facts if fact)))
        return self.state.channel.all(step) is not None

    def _ask_senders(self, hop: int, packets: dict[bytes, bytes]) -> None:
        admitted = set(self.state.admitted or ())
        for name, packet in packets.items():
            if name not in admitted or _fact(hop, name) in self.state.remembered:
                self._waiting.pop(name, None)
            elif name not in self._waiting:
                self._waiting[name] = hop, packet
                self._ask_sender(hop, name)

    def _ask_sender(self, hop: int, name: bytes) -> None:
        """Show a sender what a hop has signed about its packet."""
        word = self.state.channel.messages.of("failed", hop)
        if word is not None and name in self.state.clients:
            body = pack(hop.to_bytes(HOP_BYTES, "big"), word.signature, word.body)
            self.state.send_to_client(self.state.clients[name], "blamed", name, body)

    def ask_again(self) -> None:
        """Ask senders again that have not answered."""
        for name, (hop, _) in self._waiting.items():
            self._ask_sender(hop, name)

    def _own_answer(self, hop: int, name: bytes) -> bytes:
        """Return what this server says of a trap of its own; nothing for other packets."""
        for kept in map(KeptPacket.of, self.mix.own_traps.packets):
            result = kept.layers(self.mix.route) if kept.name == name else None
            if result is not None:
                return pack(result[0][hop].ephemeral, result[0][hop].kem)
        return b""

    def receive_layer(self, envelope: Envelope) -> str:
        """Take a sender's answer to a hop that could not open its packet."""
        try:
            number, ephemeral, kem = unpack(envelope.body, 3)
        except ValueError:
            return "unfounded answer"
        if len(number) != HOP_BYTES:
            return "unfounded answer"
        hop, answer = int.from_bytes(number, "big"), pack(ephemeral, kem)
        if self.state.remembered.get(_fact(hop, envelope.upload)) == answer:
            return ""
        asked, packet = self._waiting.get(envelope.upload, (0, b""))
        if not packet or asked != hop:
            return "an answer that nobody asked for"
        place = self.mix.route.place("mix", hop)
        try:
            point, _ = place.kem.recompute_head(place.public, ephemeral, kem)
        except ValueError:
            return "unfounded answer"
        if not hmac.compare_digest(point, packet[: place.kem.head_size][-POINT:]):
            return "unfounded answer"
        self.state.remembered[_fact(hop, envelope.upload)] = answer
        return ""

    def request_before_open(self) -> str:
        """Return what ends the time for answers of senders, if some are awaited."""
        return f"judge {next(iter(self._waiting.values()))[0]}" if self._waiting else ""

    # --- the verdict ----------------------------------------------------------------------------

    def _all_guilty(self, hop: int, failed: Sequence[FailedPacket], names: Sequence[bytes]) -> bool:
        """Whether all these packets are their senders' fault; if not, the round stops."""
        answers = self._answers(hop)
        for item, name in zip(failed, names, strict=False):
            layers: list[Layer | None] = [None, *answers.get(name, ())]
            verdicts = [self._verdict(hop, item, layer) for layer in layers]
            if any(verdict.guilty == "hop" for verdict in verdicts):
                self.state.channel.stop(
                    f"server {hop} deviates: a packet opens of which it says that it does not"
                )
                return False
            if item.repeats:
                self.state.channel.stop(
                    f"two packets are the same at server {hop}: one of their senders or server 0 "
                    "deviates"
                )
                return False
            if not any(verdict.certain_donor for verdict in verdicts):
                self.state.channel.stop(
                    f"a packet does not open at server {hop}: its sender or that server deviates"
                )
                return False
        for maker in map(self.mix.maker, names):
            if maker is not None:
                self.state.channel.stop(f"server {maker} laid a trap that cannot be opened")
                return False
        return True

    def _verdict(self, hop: int, failed: FailedPacket, layer: Layer | None) -> Verdict:
        packets, place = self.mix.inputs(hop), self.mix.route.place("mix", hop)
        if failed.repeats:
            return verify_replay(place, packets[failed.number], packets[failed.earlier])
        return verify_failure(place, packets[failed.number], layer)

    def _answers(self, hop: int) -> dict[bytes, list[Layer]]:
        results: dict[bytes, list[Layer]] = {}
        for word in self.state.channel.all(f"answers {hop}") or ():
            try:
                for entry in unpack(word, len(self.mix.inputs(hop))):
                    name, answer = unpack(entry, 2)
                    ephemeral, kem = unpack(answer, 2)
                    results.setdefault(name, []).append(Layer(b"", ephemeral, kem))
            except ValueError:
                continue
        return results


def _fact(hop: int, name: bytes) -> str:
    return f"layer {hop} {name.hex()}"
