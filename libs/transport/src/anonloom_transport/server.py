"""Server: one server of a round, from its beginning to its result, whatever the transport.

`RoundServer` has the phases of a round, one object each, which work on one state: it begins the
round with the others, takes uploads and confirms them, agrees on what was accepted, hears
objections, counts, opens, and ends the round when everything is public. What is the transport's
own is given to it as a `ServerStrategy`.

All that the engine does follows from facts that only grow: what it drew, what it was sent, what
servers said, what its operator asked for. `advance` does whatever the facts allow and nothing
twice. So a server that is started again from the saved facts is where it was.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from anonloom.errors import TransportError
from anonloom_transport.agree_phase import AgreePhase
from anonloom_transport.begin_phase import BeginPhase
from anonloom_transport.channel import COMMIT, STOP, TOLD_BYTES, Channel
from anonloom_transport.codec import packed_size
from anonloom_transport.collect_phase import CollectPhase
from anonloom_transport.count_phase import CountPhase
from anonloom_transport.engines import ID_BYTES, Envelope, ServerEngine
from anonloom_transport.objections import objection_size
from anonloom_transport.open_phase import OpenPhase
from anonloom_transport.rounds import Round, require_operation, require_positions
from anonloom_transport.server_config import ServerConfig
from anonloom_transport.signing import SIGNATURE_BYTES
from anonloom_transport.state import RoundState
from anonloom_transport.state_codec import load, save
from anonloom_transport.strategy import ServerStrategy
from anonloom_transport.uploads import HASH_BYTES

#: Steps that every round has; a transport adds its own.
STEPS = frozenset(
    (
        "key",
        "sign notice",
        "held",
        "sign accepted",
        "objections",
        "sign admitted",
        "coin",
        "groups",
        "counted",
        "erased",
        "sign result",
        STOP,
    )
)

#: More than the keys of any transport; why a round stops is cut, and believed at any length.
_LONGEST = 2**16

_NUMBER = re.compile(r" (0|[1-9][0-9]?)\Z")


class RoundServer(ServerEngine):
    """One server in one round.

    Attributes
    ----------
    state
        All that the server knows.
    strategy
        The transport's part.
    beginning, collection, agreement, counting, opening
        The phases of the round.
    """

    def __init__(self, state: RoundState, strategy: ServerStrategy) -> None:
        self.state = state
        self.strategy = strategy
        self.beginning = BeginPhase(state, strategy)
        self.collection = CollectPhase(state, strategy)
        self.agreement = AgreePhase(state, self.collection)
        self.counting = CountPhase(state, strategy)
        self.opening = OpenPhase(state, strategy)

    def __repr__(self) -> str:
        return f"RoundServer({self.state.round.id!r}, {self.state.index})"

    # --- what others see ------------------------------------------------------------------------

    @property
    def round(self) -> Round:
        """The round."""
        return self.state.round

    @property
    def config(self) -> ServerConfig:
        """What this server brought into the round."""
        return self.state.config

    @property
    def channel(self) -> Channel:
        """What this server sends to the others and receives from them."""
        return self.state.channel

    @property
    def refusals(self) -> Counter[str]:  # type: ignore[override]
        """How many envelopes were refused, by reason."""
        return self.state.refused

    @property
    def remarks(self) -> Counter[str]:
        """What went wrong and was put right, counted."""
        return self.state.remarks

    @property
    def on_link(self) -> Callable[[bytes, bytes], None] | None:
        """See `ServerEngine.on_link`."""
        return self.state.on_link

    @on_link.setter
    def on_link(self, call: Callable[[bytes, bytes], None] | None) -> None:
        self.state.on_link = call

    @property
    def on_progress(self) -> Callable[[int, int], None] | None:
        """See `ServerEngine.on_progress`."""
        return self.state.on_progress

    @on_progress.setter
    def on_progress(self, call: Callable[[int, int], None] | None) -> None:
        self.state.on_progress = call

    @property
    def notice(self) -> bytes | None:
        """The description of the round, signed by all servers; None before that."""
        return self.state.notice

    @property
    def stop_reason(self) -> str:
        """Why the round cannot end; empty if it can."""
        return self.state.stop_reason

    @property
    def missing_messages(self) -> list[tuple[int, str]]:
        """Which servers this one waits for, and for which message: for the operator's eyes."""
        return [] if self.state.result is not None else self.state.channel.missing_messages

    @property
    def accepted_count(self) -> int:
        """Number of uploads that stand."""
        return self.state.accepted_count if self.state.over else len(self.state.uploads)

    @property
    def left_out(self) -> int:
        """Number of those that were taken out again, because they failed a check."""
        return self.state.left_out

    @property
    def senders(self) -> frozenset[bytes]:
        """Whose uploads stand, by the public halves of invitations."""
        return self.state.senders

    @property
    def counts(self) -> tuple[int, ...] | None:
        """Number of filled positions of each group; None before that, and when all is over."""
        return self.state.counts

    @property
    def result(self) -> Sequence[bytes | None] | None:
        """What became public; None before that."""
        return self.state.result

    # --- what the operator and the network ask for ----------------------------------------------

    def begin(self) -> list[Envelope]:
        """Announce the server's key of this round.

        Raises
        ------
        TransportError
            When it has begun before and was not started from what it saved: with other keys it
            would contradict itself, and be taken for a liar.
        """
        if self.state.key is None and self.state.vault.begun:
            raise TransportError(
                "this server has begun the round before: it goes on from what it saved last"
            )
        return self._ask("begin")

    def close(self) -> list[Envelope]:
        """End the collection; see `ServerEngine.close`."""
        self._require_going()
        if (
            "close" not in self.state.requests
            and len(self.state.uploads) < self.state.round.min_batch
        ):
            raise TransportError(
                f"the round has {self.accepted_count} uploads, it closes with at least "
                f"{self.state.round.min_batch}"
            )
        return self._ask("close")

    def settle(self) -> list[Envelope]:
        """End the time for objections; see `ServerEngine.settle`.

        Asked again, it shows clients again what they may have missed.
        """
        if "settle" in self.state.requests and not self.state.over:
            self.strategy.show_again()
        self._require_going()
        if self.state.accepted_list is None and not self.state.over:
            raise TransportError("the servers have not agreed on the uploads yet")
        return self._ask("settle")

    def open(self) -> list[Envelope]:
        """Open what was not erased; see `ServerEngine.open`."""
        self._require_going()
        instead = self.strategy.request_before_open()
        if instead:
            return self._ask(instead)
        if not self.state.settled and not self.state.over:
            raise TransportError("not everything is settled yet")
        if "count" in self.state.requests and self.state.counts is None and not self.state.over:
            raise TransportError("the servers have not counted yet")
        return self._ask("open")

    def count(self, groups: Sequence[Sequence[int]]) -> list[Envelope]:
        """Learn how many positions of each group are filled; see `ServerEngine.count`."""
        self._require_going()
        self.counting.keep_groups(groups)
        return self._ask("count")

    def erase(self, positions: Iterable[int]) -> None:
        """Erase further positions; see `ServerEngine.erase`."""
        require_operation(self.state.round, "deposit")
        if "open" in self.state.requests:
            raise TransportError("the round is open: nothing can be erased any more")
        asked = set(positions)
        require_positions(self.state.round, asked)
        self.state.erased |= asked

    def resend(self) -> list[Envelope]:
        """Return what other servers may have missed."""
        self.state.channel.resend()
        return self.state.channel.drain()

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take what a client or another server sent; what is wrong with it is counted."""
        reason = self._receive(envelope)
        if reason:
            self.state.refused[reason] += 1
        self._discard()
        return self.state.channel.drain()

    def abandon(self, reason: str) -> list[Envelope]:
        """Give up a round that has not ended; see `ServerEngine.abandon`."""
        if self.state.result is None:
            self.state.channel.stop(reason)
            self._discard()
        return self.state.channel.drain()

    def _discard(self) -> None:
        """End a round that has stopped: what was uploaded may never be opened, by nobody."""
        if self.state.stop_reason:
            self.opening.end()

    def _require_going(self) -> None:
        if self.state.stop_reason:
            raise TransportError(f"the round has stopped: {self.state.stop_reason}")

    def _ask(self, action: str) -> list[Envelope]:
        if action in self.state.requests:
            self.state.channel.resend()
            if action == "close" and self.state.accepted_list is not None:
                self.state.broadcast("accepted", self.state.accepted_list)
        else:
            self.state.requests.append(action)
            self.advance()
            self._discard()
        return self.state.channel.drain()

    def _receive(self, envelope: Envelope) -> str:
        if envelope.round != self.state.round.digest:
            return "not of this round"
        if envelope.receiver != self.state.round.everyone[self.state.config.index]:
            return "not for this server"
        if envelope.step == "upload":
            return self.collection.receive(envelope)
        if envelope.step == "objection":
            return self.agreement.receive(envelope)
        if envelope.step in self.strategy.claims and envelope.sender.role == "client":
            reason = self.strategy.receive_claim(envelope)
            if not reason:
                self.advance()
            return reason
        if not self._knows(envelope.step):
            return "unknown step"
        if self.state.result is not None and envelope.step == STOP:
            return "after the end"  # what all have signed stands
        if len(envelope.body) > SIGNATURE_BYTES + self._longest(envelope.step):
            return "too long"
        reason = self.state.channel.receive(envelope)
        if not reason:
            self.advance()
        return reason

    def _longest(self, step: str) -> float:
        """Return the most bytes that an honest server says in a step; the transport knows its own.

        Every word is kept, and many are taken apart: what nobody can have to say is refused first.
        """
        round, longest = self.state.round, self.state.round.servers * TOLD_BYTES
        if step in ("key", STOP):
            return _LONGEST
        if (
            step.removesuffix(COMMIT) not in STEPS
            or self.state.description is None
            or step == "counted"
        ):
            return math.inf  # as many numbers as groups, which another server may know first
        if step == "held":
            return round.capacity * (ID_BYTES + HASH_BYTES)
        if step == "objections":
            return round.capacity * packed_size(objection_size(self.collection.sealed_sizes))
        # Signatures, hashes and coins.
        return longest + SIGNATURE_BYTES + HASH_BYTES

    def _knows(self, step: str) -> bool:
        # Few numbers: every step is kept, and a server must not fill the memory of the others.
        own = step.removesuffix(COMMIT)
        return (
            own in STEPS
            or own in self.strategy.steps
            or _NUMBER.sub("", own) in self.strategy.steps
        )

    # --- what follows from the facts ------------------------------------------------------------

    def advance(self) -> None:
        """Do whatever the facts allow."""
        state = self.state
        if state.stop_reason or state.result is not None:
            return
        if state.over:
            self.opening.conclude()
            return
        if "begin" in state.requests:
            self.beginning.run()
        if "close" in state.requests and state.notice is not None:
            self.agreement.sign_list()
        if "settle" in state.requests and state.accepted_list is not None and not state.stop_reason:
            self.agreement.admit()
        if state.admitted is not None and not state.settled and not state.stop_reason:
            state.settled = self.strategy.place()
        if "count" in state.requests and state.settled and not state.stop_reason:
            self.counting.run()
        if "open" in state.requests and state.settled:
            self.opening.run()

    # --- saving and going on --------------------------------------------------------------------

    def save(self) -> bytes:
        """Return all that a new engine needs to go on; see `ServerEngine.save`."""
        return save(self.state)

    def resume(self, saved: bytes) -> None:
        """Go on from what was saved.

        Raises
        ------
        TransportError
            When it cannot be read any more.
        """
        load(self, saved)
        self.advance()
        self._discard()
