"""Words: what servers say to each other, one signed word per server and step.

A step is over when every server has said its word. Because a server has only one word per step,
whatever it says afterwards is either the same or the proof that it lies.
"""

import hashlib
from functools import cached_property

import attrs


@attrs.frozen
class SignedMessage:
    """What a server said in a step, with its signature."""

    body: bytes = attrs.field(repr=False)
    signature: bytes = attrs.field(repr=False)

    @cached_property
    def digest(self) -> bytes:
        """Hash of what was said; a word may be long, and is asked for its hash often."""
        return hashlib.sha256(self.body).digest()


@attrs.define
class MessageLog:
    """All words of one round that a server has said or heard."""

    servers: int
    _said: dict[str, dict[int, SignedMessage]] = attrs.field(factory=dict, init=False, repr=False)

    def add(self, step: str, server: int, word: SignedMessage) -> bool:
        """Keep a word; return False when the server has said something else before."""
        return self._said.setdefault(step, {}).setdefault(server, word).body == word.body

    def put(self, step: str, server: int, word: SignedMessage) -> None:
        """Put a word in the place of another: what only a server that deviates does."""
        self._said.setdefault(step, {})[server] = word

    def of(self, step: str, server: int) -> SignedMessage | None:
        """Return what a server said in a step, or None."""
        return self._said.get(step, {}).get(server)

    def all(self, step: str) -> tuple[bytes, ...] | None:
        """Return what all servers said in a step, in their order; None if one is missing."""
        message = self._said.get(step, {})
        if len(message) < self.servers:
            return None
        return tuple(message[server].body for server in range(self.servers))

    def steps(self, server: int) -> list[tuple[str, SignedMessage]]:
        """Return the words of one server, in the order in which they came."""
        return [
            (step, message[server]) for step, message in self._said.items() if server in message
        ]

    def entries(self) -> list[tuple[str, int, SignedMessage]]:
        """Return all words."""
        return [
            (step, server, word)
            for step, message in self._said.items()
            for server, word in message.items()
        ]

    def proofs(self, step: str) -> list[tuple[bytes, bytes]]:
        """Return hash and signature of each server's word of a step, which prove what it said."""
        message = self._said[step]
        return [
            (message[server].digest, message[server].signature) for server in range(self.servers)
        ]
