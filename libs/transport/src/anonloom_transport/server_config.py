"""What a server brings into a round: its long-term key, and what it knows beforehand."""

import attrs

from anonloom_transport.engines import Vault
from anonloom_transport.rounds import Erasure
from anonloom_transport.slots import SlotKey


@attrs.frozen
class Identity:
    """A server's long-term key: with it it signs, by it clients and other servers know it."""

    secret: bytes = attrs.field(repr=False)
    public: bytes


@attrs.frozen(kw_only=True)
class ServerConfig:
    """What one server brings into a round.

    Attributes
    ----------
    index
        Which of the servers it is.
    identity
        Its own long-term key.
    pins
        The public keys of all servers, known from outside the round.
    vault
        Where the key of its saved state lies.
    slot_keys
        Of a deposit, what the reservation told of each position, in order of position.
    erasure
        Of a deposit, what will be erased, if the round plans that.
    invited
        Who may send, by the public halves of invitations: those who were there before. None for
        everybody who has one.
    """

    index: int
    identity: Identity = attrs.field(repr=False)
    pins: tuple[bytes, ...] = attrs.field(repr=False)
    vault: Vault = attrs.field(repr=False)
    slot_keys: tuple[SlotKey, ...] = attrs.field(default=(), repr=False)
    erasure: Erasure | None = attrs.field(default=None, repr=False)
    invited: frozenset[bytes] | None = attrs.field(default=None, repr=False)
