"""Count: before anything is opened the servers learn how many positions of a group are filled.

Each server has a part of every group's sum, which by itself says nothing or what all know; all
commit to their parts before any is shown. Groups are asked for once, and alike by all servers: who
could ask for others afterwards would learn of single positions by subtraction.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence

import attrs

from anonloom import short_repr
from anonloom.errors import TransportError
from anonloom_transport.codec import cut, pack, unpack
from anonloom_transport.rounds import require_positions
from anonloom_transport.state import RoundState
from anonloom_transport.strategy import ServerStrategy

#: Bytes of a number in what servers say.
COUNT_BYTES = 8
_GROUPS = "groups"

Groups = list[list[int]]


@short_repr
@attrs.define(eq=False)
class CountPhase:
    """A server's part in counting filled positions with the others."""

    state: RoundState
    strategy: ServerStrategy

    def keep_groups(self, groups: Sequence[Sequence[int]]) -> None:
        """Keep what was asked for as a fact, or say why it cannot be counted."""
        if not self.state.round.counted:
            raise TransportError("this round is not counted: its description does not say so")
        if "open" in self.state.requests:
            raise TransportError("the round is open: nothing can be counted any more")
        if not self.state.settled:
            raise TransportError("not everything is settled yet")
        times = Counter(position for group in groups for position in group)
        require_positions(self.state.round, times)
        twice = sorted(position for position, number in times.items() if number > 1)
        if twice:
            raise TransportError(f"position {twice[0]} is in the groups more than once")
        asked = _write(groups)
        if self.state.remembered.setdefault(_GROUPS, asked) != asked:
            raise TransportError("other groups were counted before: a round is counted once")

    def run(self) -> None:
        """Agree on the groups, and show this server's part when all have committed to theirs."""
        if (
            self.state.counts is not None
            or not self._same_groups()
            or not self.strategy.ready_to_count()
        ):
            return
        groups = _read(self.state.remembered[_GROUPS])
        subject = hashlib.sha256(self.state.subject + self._groups_digest()).digest()
        shown = self.state.channel.exchange(
            "counted", lambda: _numbers(self.strategy.tally(groups)), subject
        )
        if shown is None:
            return
        for server, part in enumerate(shown):
            if len(part) != COUNT_BYTES * len(groups):
                self.state.channel.stop(
                    f"server {server} does not count as many groups as were asked for"
                )
                return
        sums = self.strategy.add_tallies([_read_numbers(part) for part in shown])
        sizes = [len(group) for group in groups]
        if any(not 0 <= number <= size for number, size in zip(sums, sizes, strict=True)):
            self.state.channel.stop("the parts of the servers are no count: one of them deviates")
        if not self.state.stop_reason:
            self.state.counts = tuple(sums)

    def _same_groups(self) -> bool:
        """Whether all servers ask for the same groups; if not, the round stops."""
        self.state.channel.send("groups", self._groups_digest())
        words, own = self.state.channel.all("groups"), self.state.config.index
        for server, word in enumerate(words or ()):
            if word != self.state.channel.of("groups", own):
                self.state.channel.stop(
                    "the servers do not agree on what is counted: "
                    f"server {server} says something else than server {own}"
                )
        return words is not None and not self.state.stop_reason

    def _groups_digest(self) -> bytes:
        """Return what binds this server to its groups."""
        # With what only servers know: who is in a class could be guessed from its hash.
        alphas = hashlib.sha256(b"".join(key.alpha for key in self.state.config.slot_keys)).digest()
        message = pack(
            b"anonloom groups 1", self.state.binding, alphas, self.state.remembered[_GROUPS]
        )
        return hashlib.sha256(message).digest()


def _write(groups: Sequence[Sequence[int]]) -> bytes:
    return pack(*(_numbers(sorted(group)) for group in groups))


def _read(data: bytes) -> Groups:
    return [_read_numbers(group) for group in unpack(data)]


def _numbers(numbers: Sequence[int]) -> bytes:
    return b"".join(number.to_bytes(COUNT_BYTES, "big") for number in numbers)


def _read_numbers(data: bytes) -> list[int]:
    return [int.from_bytes(number, "big") for number in cut(data, COUNT_BYTES)]
