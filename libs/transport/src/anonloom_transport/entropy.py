"""Entropy and time of a deployment: the system's randomness, the system's clock."""

import secrets
import time

import attrs

from anonloom_transport.engines import Entropy


@attrs.frozen
class SystemEntropy:
    """The system's randomness; the only one that a deployment may use."""

    def bytes(self, n: int, /) -> bytes:
        """Return `n` random bytes."""
        return secrets.token_bytes(n)


def is_simulated(entropy: Entropy) -> bool:
    """Whether keys and coins from this entropy protect nobody; the manifest says so.

    Everything that is not exactly the system's randomness counts as simulated, a subclass too.
    """
    return type(entropy) is not SystemEntropy


@attrs.frozen
class SystemClock:
    """The system's clock."""

    def now(self) -> float:
        """Return seconds since the epoch: servers on several machines compare deadlines."""
        return time.time()


@attrs.define
class SteppedClock:
    """A clock that stands still until it is moved."""

    time: float = 0.0

    def now(self) -> float:
        """Return the time to which it was moved."""
        return self.time

    def move_to(self, time: float) -> None:
        """Move forward; a clock never goes back."""
        self.time = max(self.time, time)
