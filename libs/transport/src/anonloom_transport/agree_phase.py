"""Agree: the servers sign one list of what all hold, and hear whoever is missing from it."""

from bisect import bisect_left
from collections.abc import Iterable

import attrs

from anonloom import short_repr
from anonloom_transport.codec import pack, unpack
from anonloom_transport.collect_phase import CollectPhase
from anonloom_transport.engines import Envelope
from anonloom_transport.objections import Objection
from anonloom_transport.signing import write_signed
from anonloom_transport.state import RoundState
from anonloom_transport.uploads import read_held


@short_repr
@attrs.define(eq=False)
class AgreePhase:
    """A server's part in agreeing on what was accepted, and on who was left out wrongly."""

    state: RoundState
    collection: CollectPhase

    def receive(self, envelope: Envelope) -> str:
        """Take an objection to the list; return why it is refused, or nothing."""
        if self.state.accepted_list is None or "settle" in self.state.requests:
            return "not the time for objections"
        objection = Objection.read(envelope.body, self.collection.sealed_sizes)
        if objection is None or not objection.is_founded(
            self.state.binding, self.state.config.pins
        ):
            return "unfounded objection"
        if self._is_listed(objection.upload):
            return "objection of somebody who is on the list"
        self.state.objections[objection.upload] = envelope.body
        return ""

    def _is_listed(self, upload: bytes) -> bool:
        listed = self.state.agreed or []
        index = bisect_left(listed, upload)
        return listed[index : index + 1] == [upload]

    def sign_list(self) -> None:
        """Agree with the others on what all hold alike, sign the list and show it to clients."""
        if self.state.accepted_list is not None:
            return
        if self.state.round.cohort and self.collection.has_overflow:
            # Equal numbers would hide who was pushed out. Of a first phase nobody knows how many
            # should have come: who is not confirmed there has not begun to take part.
            self.state.channel.stop(
                f"more senders came than the {self.state.round.capacity} that the round takes: "
                f"some who were among the {self.state.round.cohort} before may have been refused"
            )
            return
        if not self.state.channel.has_sent("held"):  # a long list: it is written once
            self.state.channel.send("held", self.state.uploads.write_held())
        words = self.state.channel.all("held")
        if words is None:
            return
        if self.state.agreed is None:
            lists = [read_held(word) for word in words]
            for server, held in enumerate(lists):
                if held is None:
                    self.state.channel.stop(f"server {server} sent a list that cannot be read")
                    return
            common = set.intersection(*(held for held in lists if held is not None))
            self.state.agreed = sorted(upload for upload, _ in common)
        document = b"".join(self.state.agreed)
        signatures = self.state.channel.sign("accepted", document, "held")
        if signatures is not None:
            self.state.accepted_list = write_signed(document, signatures)
            self.state.broadcast("accepted", self.state.accepted_list)

    def admit(self) -> None:
        """Hear objections; what was confirmed by all servers is in, whoever has lost it."""
        if self.state.admitted is not None:
            return
        own = (self.state.objections[upload] for upload in sorted(self.state.objections))
        self.state.channel.send("objections", pack(*own))
        words = self.state.channel.all("objections")
        if words is None or self.state.agreed is None:
            return
        if self.state.proposed is None:
            self.state.proposed = self._with_objections(set(self.state.agreed), words)
        # Signed like the list: who hears an objection and does not pass it on to all is named.
        document = b"".join(self.state.proposed)
        if (
            not self.state.stop_reason
            and self.state.channel.sign("admitted", document, "objections") is not None
        ):
            self._hold_or_admit(self.state.proposed)

    def _with_objections(self, admitted: set[bytes], words: Iterable[bytes]) -> tuple[bytes, ...]:
        held = [read_held(word) or set() for word in self.state.channel.all("held") or ()]
        for objection in self._founded_objections(words):
            if objection.upload in admitted:
                continue
            admitted.add(objection.upload)
            entry = (objection.upload, objection.body(self.state.config.index).fingerprint)
            for server in (index for index, listed in enumerate(held) if entry not in listed):
                self.state.remarks[
                    f"server {server} did not hold an upload that it had confirmed"
                ] += 1
            if objection.upload not in self.state.uploads:
                wrong = self.collection.keep(
                    objection.upload, objection.body(self.state.config.index), proven=True
                )
                if wrong:
                    self.state.channel.stop(
                        f"an upload that all servers confirmed is refused: {wrong}"
                    )
        lost = sum(upload not in admitted for upload in self.state.uploads)
        if lost:  # a reason with a count of zero would read like a refusal
            self.state.refused["not held alike by every server"] += lost
        return tuple(sorted(admitted))

    def _founded_objections(self, words: Iterable[bytes]) -> list[Objection]:
        """Return the objections in the words of all servers that prove themselves."""
        results: dict[bytes, Objection] = {}
        for word in words:
            try:
                bodies = unpack(word, self.state.round.capacity)
            except ValueError:
                continue
            for body in bodies:
                objection = Objection.read(body, self.collection.sealed_sizes)
                if objection is None or objection.upload in results:
                    continue
                if objection.is_founded(self.state.binding, self.state.config.pins):
                    results[objection.upload] = objection
        return list(results.values())

    def _hold_or_admit(self, admitted: tuple[bytes, ...]) -> None:
        round = self.state.round
        if len(admitted) < round.min_batch:
            self.state.channel.stop(
                f"{len(admitted)} uploads are held by every server, it takes {round.min_batch}"
            )
            return
        missing = round.cohort - len(admitted)
        needs_all = round.min_leave > round.cohort
        if 0 < missing < round.min_leave:
            self.state.channel.stop(
                f"{missing} of {round.cohort} senders are missing"
                + (
                    ", and the round needs all of them"
                    if needs_all
                    else f": with fewer than {round.min_leave} missing, what is absent would "
                    "show whose it is"
                )
            )
            return
        if round.cohort and 0 < -missing < round.min_leave:
            self.state.channel.stop(
                f"{-missing} senders more than the {round.cohort} before"
                + (
                    ": the round needs exactly those"
                    if needs_all
                    else f": with fewer than {round.min_leave}, what is new would show whose it is"
                )
            )
            return
        self.state.admitted = admitted
