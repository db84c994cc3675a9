"""Blame: who is at fault when a packet does not arrive, from what the servers can show of it.

A server shows how one packet went on by revealing the key of its layer. It can't show a false way:

- Of a packet that an honest sender sealed, no key but hers opens it. The sixteen zero bytes at the
  head of the plaintext make another key fit by chance with 2^-128, and the authentication makes it
  rarer still. So what the packet holds is what the sender put there.
- A sender may prepare a packet that opens under two keys, and a server that works with her may then
  choose. Both together could as well have sent either packet: no honest sender is touched.
- One packet yields one output, so a server that put out something of its own lacks a packet for it.

The key shows nothing of other packets: it is a hash of a secret that no other head shares. A server
never reveals anything of a packet that did not open, because a server before it may have put a
copied head before rubbish to learn the key of the packet with that head.

That a packet does not open, a server can't show: any wrong key would do. Therefore it is traced
back to the upload, and its sender may refute the server. With `x25519` she reveals her ephemeral
key, from which everybody computes what the server must have computed. With `mlkem768-x25519` she
can't show what she encapsulated, and the verdict stays 'donor or hop j', in either direction: a
server that has heard her answer could pass it on with another secret of ML-KEM, under which the
packet does not open, and have an honest sender removed.

Nor can be shown who made a copy that was there before the first hop mixed. The first hop opens
packets when they are uploaded; one that deviates can hand what is inside to a sender of its own,
who uploads it once more in a layer of hers. Both traces hold, and one of the two is honest.

A trace tells the server that asks for it who sent a packet. If that server lied, it must not gain:
unless the verdict is the donor alone, the round ends without anything being opened.
"""

import hmac
from collections.abc import Sequence
from typing import Literal

import attrs

from anonloom_mixnet.cascade import Batch
from anonloom_mixnet.layers import Layer, Place, UnopenedLayer, decrypt, derive
from anonloom_mixnet.suites import POINT, X25519

#: Whom the evidence names.
Guilty = Literal["nobody", "donor", "hop", "donor or hop"]


@attrs.frozen
class Verdict:
    """Whom the evidence names.

    Attributes
    ----------
    guilty
        Who it is; `nobody` when what was shown holds.
    hop
        The server that is meant; None where none is.
    reason
        What the evidence is.
    """

    guilty: Guilty
    hop: int | None
    reason: str

    def __str__(self) -> str:
        return self.guilty if self.hop is None else f"{self.guilty} {self.hop}"

    @property
    def certain_donor(self) -> bool:
        """Whether the round may go on without this donor."""
        return self.guilty == "donor"


@attrs.frozen
class RevealedOutput:
    """What a server shows of one output.

    Attributes
    ----------
    packet
        Number of the packet that it was inside of.
    output
        Number of the output.
    key
        Key of the packet's layer.
    """

    packet: int
    output: int
    key: bytes = attrs.field(repr=False)


def reveal(batch: Batch, output: int) -> RevealedOutput:
    """Show where an output came from.

    Raises
    ------
    IndexError
        When there is no such output.
    """
    if not 0 <= output < len(batch.origins):
        raise IndexError("no such output")
    packet = batch.origins[output]
    return RevealedOutput(packet, output, batch.keys[packet])


def reveal_packet(batch: Batch, packet: int) -> RevealedOutput | None:
    """Show how a packet went on; None for one that did not open, of which nothing is revealed."""
    if packet not in batch.keys:
        return None
    return reveal(batch, batch.origins.index(packet))


def verify_reveal(place: Place, packet: bytes, output: bytes, key: bytes) -> Verdict:
    """Judge what a server showed of one packet and one output."""
    try:
        inside = decrypt(key, packet[place.kem.head_size :])
    except UnopenedLayer:
        return Verdict("hop", place.hop, "the revealed key does not open the packet")
    if not hmac.compare_digest(inside, output):
        return Verdict("hop", place.hop, "the packet holds something else than the output")
    return Verdict("nobody", None, "the packet holds the output")


def verify_trace(
    places: Sequence[Place], packets: Sequence[bytes], keys: Sequence[bytes]
) -> Verdict:
    """Judge what several servers in a row showed of one packet.

    Parameters
    ----------
    places, keys
        One of every server, in order of the cascade.
    packets
        The packet as each of them took it, and at last as it came out: one more than servers.
    """
    if len(packets) != len(places) + 1:
        raise ValueError("a trace has one packet more than servers")
    for place, packet, output, key in zip(places, packets[:-1], packets[1:], keys, strict=True):
        verdict = verify_reveal(place, packet, output, key)
        if verdict.guilty != "nobody":
            return verdict
    return Verdict("nobody", None, "every server showed its part of the way")


def verify_failure(place: Place, packet: bytes, objection: Layer | None) -> Verdict:
    """Judge a server's word that a packet does not open, after a trace that holds.

    Parameters
    ----------
    objection
        What the packet's sender reveals of the layer in question; None when she says nothing.
    """
    hop = place.hop
    head = packet[: place.kem.head_size]
    if _low_order(head[-POINT:]):
        return Verdict("donor", None, "the packet's ephemeral key shares no secret with anybody")
    unproven = "that the packet does not open can't be shown, and nothing refutes it"
    if objection is None:
        return Verdict("donor or hop", hop, unproven)
    try:
        point, shared = place.kem.recompute_head(place.public, objection.ephemeral, objection.kem)
    except ValueError:
        return Verdict("donor or hop", hop, unproven)
    # Anybody can object with a key of another packet: that says nothing about this one.
    if not hmac.compare_digest(point, head[-POINT:]):
        return Verdict("donor or hop", hop, unproven)
    if not place.kem.provable:
        return Verdict(
            "donor or hop", hop, "what was encapsulated with ML-KEM can't be shown by its sender"
        )
    key, _ = derive(place, head, shared)
    try:
        decrypt(key, packet[place.kem.head_size :])
    except UnopenedLayer:
        return Verdict("donor", None, "the packet does not open under its sender's own key")
    return Verdict("hop", hop, "the packet opens under its sender's key")


def verify_replay(place: Place, packet: bytes, earlier: bytes) -> Verdict:
    """Judge a server's word that a packet repeats another, after traces of both that hold.

    Whoever traced both to different uploads knows that no server made the copy while it mixed. Who
    did before can't be told: a sender who used a layer twice, or the first hop, which saw the layer
    of an honest sender and had it uploaded again. Neither of both may be removed for it.
    """
    size = place.kem.head_size
    if not hmac.compare_digest(packet[:size], earlier[:size]):
        return Verdict("hop", place.hop, "the two packets have different heads")
    return Verdict("donor or hop", 0, "two packets have the same head")


def _low_order(point: bytes) -> bool:
    """Tell whether an exchange with this point gives zero, whatever the private key is."""
    try:
        X25519.receiver(bytes(POINT))(point)
    except ValueError:
        return True
    return False
