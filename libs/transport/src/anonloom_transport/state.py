"""State: all that one server knows of one round, in one place, and what follows from it alone.

Phases of the round and the transport's own part work on it; they keep nothing of it themselves.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import attrs

from anonloom import short_repr
from anonloom.errors import TransportError
from anonloom_transport.channel import Channel
from anonloom_transport.codec import pack
from anonloom_transport.engines import Clock, Envelope
from anonloom_transport.notice import KeyJudge, Notice
from anonloom_transport.recorded_entropy import RecordedEntropy
from anonloom_transport.rounds import Party, Round, require_positions
from anonloom_transport.sealing import SealingKey
from anonloom_transport.server_config import ServerConfig
from anonloom_transport.state_vault import StateVault
from anonloom_transport.uploads import Uploads


@short_repr
@attrs.define(eq=False)
class RoundState:
    """One server in one round.

    Attributes
    ----------
    software
        What must be the same on all sides: transport, version and parameters.
    judge_keys
        The transport's `RoundTransport.judge_keys`: asked of all servers' keys before this one
        signs the description.
    channel
        What the server sends to the others and receives from them.
    vault
        Seals what is saved.
    refused, remarks
        How many envelopes were refused, by reason; what went wrong and was put right, counted.
    remembered
        Facts of the transport's own, by name: saved with everything else, forgotten at the end.
    requests
        What the operator asked for, in order: `begin`, `close`, `settle`, `count`, `open`.
    key
        What uploads are sealed with; None before the beginning, and when all is over.
    description, notice
        The round with all servers' keys, and that with the signatures of all.
    uploads, contents, clients, invitations
        What was sent, by id: sealed, opened, by whom, and which invitation came with which upload.
    agreed, accepted_list
        Ids that all servers hold alike, and these with the signatures of all.
    objections
        What senders hold against that list, by id.
    proposed, admitted
        Ids with those whose objections are founded, and these when all servers have signed them.
    erased
        Positions that will not be opened.
    settled
        Whether everything lies in its place, sealed and checked.
    counts
        Number of filled positions of each group, when that was asked for.
    over
        Whether the round's key is destroyed and everything that is not public is forgotten.
    accepted_count, final_senders, left_out
        Of a round that is over, how many uploads stood and whose; how many were taken out again.
    outcome, result, signed_result
        What this server makes of all messages; the same when all have signed it, and with that.
    on_link, on_progress
        See `ServerEngine`.
    """

    round: Round
    config: ServerConfig
    software: bytes
    entropy: RecordedEntropy = attrs.field(repr=False)
    clock: Clock = attrs.field(repr=False)
    judge_keys: KeyJudge = attrs.field(repr=False)
    channel: Channel = attrs.field(init=False, repr=False)
    vault: StateVault = attrs.field(init=False, repr=False)
    refused: Counter[str] = attrs.field(factory=Counter, init=False)
    remarks: Counter[str] = attrs.field(factory=Counter, init=False)
    remembered: dict[str, bytes] = attrs.field(factory=dict, init=False, repr=False)
    requests: list[str] = attrs.field(factory=list, init=False)
    key: SealingKey | None = attrs.field(default=None, init=False, repr=False)
    description: Notice | None = attrs.field(default=None, init=False, repr=False)
    notice: bytes | None = attrs.field(default=None, init=False, repr=False)
    uploads: Uploads = attrs.field(factory=Uploads, init=False, repr=False)
    contents: dict[bytes, bytes] = attrs.field(factory=dict, init=False, repr=False)
    clients: dict[bytes, Party] = attrs.field(factory=dict, init=False, repr=False)
    invitations: dict[bytes, bytes] = attrs.field(factory=dict, init=False, repr=False)
    agreed: list[bytes] | None = attrs.field(default=None, init=False, repr=False)
    accepted_list: bytes | None = attrs.field(default=None, init=False, repr=False)
    objections: dict[bytes, bytes] = attrs.field(factory=dict, init=False, repr=False)
    proposed: tuple[bytes, ...] | None = attrs.field(default=None, init=False, repr=False)
    admitted: tuple[bytes, ...] | None = attrs.field(default=None, init=False, repr=False)
    erased: set[int] = attrs.field(factory=set, init=False, repr=False)
    settled: bool = attrs.field(default=False, init=False)
    counts: tuple[int, ...] | None = attrs.field(default=None, init=False)
    over: bool = attrs.field(default=False, init=False)
    accepted_count: int = attrs.field(default=0, init=False)
    left_out: int = attrs.field(default=0, init=False)
    final_senders: frozenset[bytes] | None = attrs.field(default=None, init=False, repr=False)
    outcome: Sequence[bytes | None] | None = attrs.field(default=None, init=False, repr=False)
    result: tuple[bytes | None, ...] | None = attrs.field(default=None, init=False, repr=False)
    signed_result: bytes | None = attrs.field(default=None, init=False, repr=False)
    on_link: Callable[[bytes, bytes], None] | None = attrs.field(default=None, init=False)
    on_progress: Callable[[int, int], None] | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        if self.config.index not in range(self.round.servers):
            raise TransportError(
                f"the round has the servers 0 to {self.round.servers - 1}. "
                f"Got {self.config.index} instead."
            )
        if len(self.config.pins) != self.round.servers:
            raise TransportError(
                f"a round of {self.round.servers} servers needs the public key of each. "
                f"Got {len(self.config.pins)} instead."
            )
        self._check_slots()
        self.channel = Channel(self.round, self.config)
        self.vault = StateVault(self.round, self.config.index, self.config.vault)

    def _check_slots(self) -> None:
        """Refuse to sign what this server does not know: whose slots, and what will be erased."""
        known = tuple(key.slot for key in self.config.slot_keys)
        if known != self.round.slots:
            raise TransportError("the keys of the slots are not those of the round")
        planned = self.config.erasure.commitment if self.config.erasure else b""
        if planned != self.round.erasure:
            raise TransportError("what is planned to be erased is not what the round says")
        if self.config.erasure:
            require_positions(self.round, self.config.erasure.positions)
            self.erased |= self.config.erasure.positions

    # --- what follows ---------------------------------------------------------------------------

    @property
    def index(self) -> int:
        """Which of the servers it is."""
        return self.config.index

    @property
    def binding(self) -> bytes:
        """Hash of the round description."""
        return self.channel.binding

    @property
    def stop_reason(self) -> str:
        """Why the round cannot end; empty if it can."""
        return self.channel.stop_reason

    @property
    def subject(self) -> bytes:
        """Hash of the ids that were admitted: coins and commitments are bound to it."""
        return hashlib.sha256(b"".join(self.admitted or ())).digest()

    @property
    def senders(self) -> frozenset[bytes]:
        """Whose uploads stand, by the public halves of invitations."""
        if self.final_senders is not None:
            return self.final_senders
        admitted = set(self.uploads if self.admitted is None else self.admitted)
        return frozenset(who for who, upload in self.invitations.items() if upload in admitted)

    def require_description(self) -> Notice:
        """Return the round description; only asked when all servers have announced their keys."""
        assert self.description is not None
        return self.description

    # --- what a transport asks ------------------------------------------------------------------

    def content(self, upload: bytes) -> bytes:
        """Return what a client sealed to this server."""
        return self.contents[upload]

    def coins(self) -> bytes | None:
        """Return 32 bytes that all servers tossed together; None as long as one is missing."""
        # Tossed for this subject: whoever made a server toss again for another one, from an older
        # saved state, would otherwise know its coin before the list is fixed.
        own, subject = f"coin {self.subject.hex()}", self.subject
        shown = self.channel.exchange("coin", lambda: self.channel.derive(own), subject)
        return None if shown is None else hashlib.sha256(pack(b"coins", *shown)).digest()

    def exclude(self, uploads: Iterable[bytes], reason: str) -> None:
        """Take admitted uploads out again, because all servers saw that they are wrong."""
        gone = set(uploads)
        if gone:
            self.refused[reason] += len(gone)
            self.left_out += len(gone)

    def learn(self, one: bytes, other: bytes) -> None:
        """Note for audits that two byte strings belong together."""
        if self.on_link is not None:
            self.on_link(one, other)

    def broadcast(self, step: str, body: bytes) -> None:
        """Show something to every client that uploaded."""
        for upload, client in self.clients.items():
            self.send_to_client(client, step, upload, body)

    def send_to_client(self, client: Party, step: str, upload: bytes, body: bytes) -> None:
        """Show something to one client."""
        self.channel.outbox.append(
            Envelope(
                sender=self.round.everyone[self.index],
                receiver=client,
                step=step,
                round=self.round.digest,
                upload=upload,
                body=body,
            )
        )

    # --- the end --------------------------------------------------------------------------------

    def end(self) -> None:
        """Destroy the round's key and forget everything that is not public.

        From here on a restart goes on from public data only, and records that were erased can't be
        computed from anything that this server still has.
        """
        self.over = True
        self.accepted_count = len(self.admitted or ())
        self.final_senders = self.senders
        self.vault.destroy()
        self.key = None
        self.uploads.forget()
        self.contents.clear()
        self.objections.clear()
        self.invitations.clear()
        self.remembered.clear()
        self.counts = None
        self.entropy.forget()
        self.channel.forget()
