"""Poisson mixes: a stratified net in simulated time, and what its lines tell about senders.

Every packet takes one mix of each layer, drawn at random, and waits there for an exponential time.
Such waits have no memory: whenever a packet leaves a mix, each of those inside is equally likely to
be the one, however long it has waited. So whoever sees all lines knows of every packet a
distribution over those that entered the net, which is carried along exactly: a packet that leaves a
mix has the mean of the distributions inside.
"""

import math

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray, IntArray
from anonloom_traffic.entropies import min_entropy, shannon

#: Mean waits in the net that pass before packets are looked at, and that follow them.
WARM_UP = 4.0


@attrs.frozen(kw_only=True)
class Net:
    """A net and who uses it.

    Attributes
    ----------
    users
        Number of senders.
    rate
        Messages that a user sends in a second, at random times.
    cover
        Cover packets for each message; nobody outside tells them apart.
    hops, width
        Layers, and mixes in each.
    delay
        Mean wait in a mix, in seconds.
    corrupted
        Layers whose mixes tell all they know, counted from the entry.
    """

    users: int = 100
    rate: float = 0.1
    cover: float = 0.0
    hops: int = 3
    width: int = 3
    delay: float = 1.0
    corrupted: int = 0

    @property
    def packets_a_second(self) -> float:
        """Packets that enter the net in a second (lambda)."""
        return self.users * self.rate * (1 + self.cover)

    @property
    def pool(self) -> float:
        """Packets in a mix, on average: lambda / mu of a queue M/M/inf."""
        return self.packets_a_second / self.width * self.delay


@attrs.frozen(eq=False)
class Packets:
    """All packets of a simulation.

    Attributes
    ----------
    times
        Packets x (hops + 1): when it enters the net, and when it leaves each mix.
    mixes
        Packets x hops: the mix of each layer.
    """

    sender: IntArray
    real: NDArray[np.bool_]
    times: FloatArray
    mixes: IntArray


@attrs.frozen
class Measured:
    """What was measured of the messages in the middle of a simulation.

    Attributes
    ----------
    entropy, entropy_low
        Bits that lack to know which packet a message was: mean, and 5 % quantile.
    min_entropy
        -log2 of the likeliest packet's probability, mean.
    sender_entropy
        Bits that lack to know the sender, mean.
    latency, latency_high
        Seconds in the net: mean, and 95 % quantile.
    pool
        Packets that a packet finds in a mix, on average.
    overhead
        Packets sent for each message.
    messages
        How many messages were looked at.
    """

    entropy: float
    entropy_low: float
    min_entropy: float
    sender_entropy: float
    latency: float
    latency_high: float
    pool: float
    overhead: float
    messages: int


def draw(net: Net, packets: int, rng: np.random.Generator) -> Packets:
    """Draw so many packets with their ways and waits."""
    entered = np.cumsum(rng.exponential(1 / net.packets_a_second, packets))
    waits = rng.exponential(net.delay, (packets, net.hops))
    return Packets(
        sender=rng.integers(0, net.users, packets),
        real=rng.random(packets) < 1 / (1 + net.cover),
        times=entered[:, None] + np.concatenate([np.zeros((packets, 1)), waits.cumsum(1)], axis=1),
        mixes=rng.integers(0, net.width, (packets, net.hops)),
    )


def follow(net: Net, packets: Packets) -> tuple[FloatArray, FloatArray]:
    """Watch all lines; return of each packet its distribution when it leaves, and its pools.

    Row p of the first says how likely each packet is the one that left as p; the second holds how
    many packets each found in the mixes of its way.
    """
    number, hops = packets.mixes.shape
    inside = np.zeros((hops, net.width, number))
    count = np.zeros((hops, net.width), np.int64)
    known = np.zeros((number, number))
    pools = np.zeros((number, hops))
    order = np.argsort(packets.times, axis=None, kind="stable")
    for packet, step in zip(*np.unravel_index(order, packets.times.shape), strict=True):
        if not step:
            known[packet, packet] = 1
        else:
            mix = step - 1, packets.mixes[packet, step - 1]
            if step > net.corrupted:
                # Any of those inside is as likely to be the one that leaves.
                known[packet] = inside[mix] / count[mix]
            inside[mix] -= known[packet]
            count[mix] -= 1
        if step < hops:
            mix = step, packets.mixes[packet, step]
            pools[packet, step] = count[mix]
            inside[mix] += known[packet]
            count[mix] += 1
    return np.maximum(known, 0.0, out=known), pools


def simulate(net: Net, packets: int, rng: np.random.Generator) -> Measured:
    """Simulate so many packets and measure those in the middle.

    Raises
    ------
    ValueError
        When no message lies far enough from both ends.
    """
    drawn = draw(net, packets, rng)
    known, pools = follow(net, drawn)
    margin = WARM_UP * net.delay * net.hops
    entered, left = drawn.times[:, 0], drawn.times[:, -1]
    # By when they entered: by when they left would prefer those that did not wait.
    middle = drawn.real & (entered > margin) & (entered < entered[-1] - margin)
    if not middle.any():
        raise ValueError("no message lies far enough from both ends: simulate more packets")
    of = known[middle]
    senders = np.zeros((len(of), net.users))
    for user in range(net.users):
        senders[:, user] = of[:, drawn.sender == user].sum(axis=1)
    bits = shannon(of)
    waited = (left - entered)[middle]
    return Measured(
        entropy=float(bits.mean()),
        entropy_low=float(np.quantile(bits, 0.05)),
        min_entropy=float(min_entropy(of).mean()),
        sender_entropy=float(shannon(senders).mean()),
        latency=float(waited.mean()),
        latency_high=float(np.quantile(waited, 0.95)),
        pool=float(pools[middle].mean()),
        overhead=float(len(drawn.real) / drawn.real.sum()),
        messages=int(middle.sum()),
    )


def large_pool_entropy(net: Net) -> float:
    """Return what the entropy tends to in one large honest mix: log2 (e lambda / mu).

    The age of what leaves is exponential with mean 1 / mu, and arrivals are 1 / lambda apart.
    """
    return math.log2(math.e * net.pool)


def batch_wait(bits: float, packets_a_second: float) -> float:
    """Return the mean wait for a closed batch of B = 2^bits, which hides its members by log2 B."""
    return (2**bits - 1) / 2 / packets_a_second
