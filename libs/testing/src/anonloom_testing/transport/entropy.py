"""Entropy from a seed, for experiments and tests: repeatable, and therefore worth nothing.

`anonloom_transport.entropy.is_simulated` is true of it, and every manifest that it touches says so.
"""

import hashlib

import attrs


@attrs.define
class SeededEntropy:
    """The same bytes for the same seed.

    Parameters
    ----------
    seed
        Any text or number; different ones give unrelated bytes.
    """

    seed: object = 0
    _drawn: int = attrs.field(default=0, init=False)

    def bytes(self, n: int, /) -> bytes:
        """Return the next `n` bytes of the stream."""
        self._drawn += 1
        drawn = hashlib.shake_256(f"anonloom seeded entropy {self.seed!r} {self._drawn}".encode())
        return drawn.digest(n)
