"""What a network does to envelopes: drops, repeats, delays, reorders and corrupts them.

A fault turns one delivery into none, one or several. Faults are put in a row; each sees what the
one before it left.
"""

from collections.abc import Callable, Iterable

import attrs

from anonloom_transport.engines import Entropy, Envelope


@attrs.frozen
class Delivery:
    """An envelope and the time at which it arrives."""

    at: float
    envelope: Envelope


Fault = Callable[[Delivery], Iterable[Delivery]]
When = Callable[[Envelope], bool]


def always(envelope: Envelope) -> bool:
    """Concern every envelope."""
    return True


def step(*steps: str) -> When:
    """Concern the envelopes of these steps of the protocol."""
    return lambda envelope: envelope.step in steps


def every(nth: int, when: When = always) -> When:
    """Concern every n-th of the envelopes that `when` concerns."""
    seen = 0

    def is_nth(envelope: Envelope) -> bool:
        nonlocal seen
        if not when(envelope):
            return False
        seen += 1
        return seen % nth == 0

    return is_nth


def chance(share: float, entropy: Entropy, when: When = always) -> When:
    """Concern a random share of the envelopes that `when` concerns."""
    limit = int(share * 2**32)
    return lambda envelope: when(envelope) and int.from_bytes(entropy.bytes(4), "big") < limit


def drop(when: When = always) -> Fault:
    """Lose envelopes."""
    return lambda delivery: [] if when(delivery.envelope) else [delivery]


def duplicate(when: When = always, times: int = 2, apart: float = 1.0) -> Fault:
    """Deliver envelopes several times."""

    def fault(delivery: Delivery) -> list[Delivery]:
        copies = times if when(delivery.envelope) else 1
        return [attrs.evolve(delivery, at=delivery.at + copy * apart) for copy in range(copies)]

    return fault


def delay(by: float, when: When = always) -> Fault:
    """Deliver envelopes later."""

    def fault(delivery: Delivery) -> list[Delivery]:
        return [attrs.evolve(delivery, at=delivery.at + by * when(delivery.envelope))]

    return fault


def reorder(entropy: Entropy, within: float = 10.0, when: When = always) -> Fault:
    """Deliver envelopes in a random order, by a random delay of each."""

    def fault(delivery: Delivery) -> list[Delivery]:
        share = int.from_bytes(entropy.bytes(4), "big") / 2**32
        return [attrs.evolve(delivery, at=delivery.at + within * share * when(delivery.envelope))]

    return fault


def corrupt(entropy: Entropy, when: When = always) -> Fault:
    """Flip one random bit of an envelope's content."""

    def fault(delivery: Delivery) -> list[Delivery]:
        body = bytearray(delivery.envelope.body)
        if not body or not when(delivery.envelope):
            return [delivery]
        bit = int.from_bytes(entropy.bytes(8), "big") % (8 * len(body))
        body[bit // 8] ^= 1 << bit % 8
        return [attrs.evolve(delivery, envelope=attrs.evolve(delivery.envelope, body=bytes(body)))]

    return fault
