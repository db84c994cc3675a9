"""Agreeing: the servers sign one list of what all hold, and hear whoever is missing from it."""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable

import attrs

from anonloom_transport.codec import pack, unpack
from anonloom_transport.collecting import Collecting
from anonloom_transport.engines import Envelope
from anonloom_transport.objections import Objection
from anonloom_transport.signing import write_signed
from anonloom_transport.uploads import read_held


@attrs.define(eq=False)
class Agreeing(Collecting):
    """A server that agrees with the others on what was accepted.

    Attributes
    ----------
    admitted
        Ids of the uploads that all servers have agreed on, in order; None before that.
    """

    admitted: tuple[bytes, ...] | None = attrs.field(default=None, init=False, repr=False)
    _agreed: list[bytes] | None = attrs.field(default=None, init=False, repr=False)
    _admitting: tuple[bytes, ...] | None = attrs.field(default=None, init=False, repr=False)
    _list: bytes | None = attrs.field(default=None, init=False, repr=False)
    _objections: dict[bytes, bytes] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def subject(self) -> bytes:
        """Hash of the ids that were admitted: coins and commitments are bound to it."""
        return hashlib.sha256(b"".join(self.admitted or ())).digest()

    def _take_objection(self, envelope: Envelope) -> str:
        if self._list is None or "settle" in self._asked:
            return "not the time for objections"
        objection = Objection.read(envelope.body, self.sealed_sizes)
        if objection is None or not objection.founded(self.binding, self.config.pins):
            return "unfounded objection"
        if self._is_listed(objection.upload):
            return "objection of somebody who is on the list"
        self._objections[objection.upload] = envelope.body
        return ""

    def _is_listed(self, upload: bytes) -> bool:
        listed = self._agreed or []
        index = bisect_left(listed, upload)
        return listed[index : index + 1] == [upload]

    def _agree(self) -> None:
        """Agree with the others on what all hold alike, sign the list and show it to clients."""
        if self._list is not None:
            return
        if self.round.cohort and self.overflowed:
            # Equal numbers would hide who was pushed out. Of a first phase nobody knows how many
            # should have come: who is not confirmed there has not begun to take part.
            self.channel.stop(
                f"more senders came than the {self.round.capacity} that the round takes: some who "
                f"were among the {self.round.cohort} before may have been refused"
            )
            return
        if not self.channel.has_sent("held"):  # a long list: it is written once
            self.channel.send("held", self._uploads.held())
        words = self.channel.all("held")
        if words is None:
            return
        if self._agreed is None:
            lists = [read_held(word) for word in words]
            for server, held in enumerate(lists):
                if held is None:
                    self.channel.stop(f"server {server} sent a list that cannot be read")
                    return
            common = set.intersection(*(held for held in lists if held is not None))
            self._agreed = sorted(upload for upload, _ in common)
        document = b"".join(self._agreed)
        signatures = self.channel.sign("accepted", document, "held")
        if signatures is not None:
            self._list = write_signed(document, signatures)
            self.broadcast("accepted", self._list)

    def _admit(self) -> None:
        """Hear objections; what was confirmed by all servers is in, whoever has lost it."""
        if self.admitted is not None:
            return
        own = (self._objections[upload] for upload in sorted(self._objections))
        self.channel.send("objections", pack(*own))
        words = self.channel.all("objections")
        if words is None or self._agreed is None:
            return
        if self._admitting is None:
            self._admitting = self._with_objections(set(self._agreed), words)
        # Signed like the list: who hears an objection and does not pass it on to all is named.
        document = b"".join(self._admitting)
        if not self.stopped and self.channel.sign("admitted", document, "objections") is not None:
            self._hold_or_admit(self._admitting)

    def _with_objections(self, admitted: set[bytes], words: Iterable[bytes]) -> tuple[bytes, ...]:
        held = [read_held(word) or set() for word in self.channel.all("held") or ()]
        for objection in self._founded(words):
            if objection.upload in admitted:
                continue
            admitted.add(objection.upload)
            entry = (objection.upload, objection.body(self.config.index).fingerprint)
            for server in (index for index, listed in enumerate(held) if entry not in listed):
                self.remarks[f"server {server} did not hold an upload that it had confirmed"] += 1
            if objection.upload not in self._uploads:
                wrong = self._keep(objection.upload, objection.body(self.config.index), proven=True)
                if wrong:
                    self.channel.stop(f"an upload that all servers confirmed is refused: {wrong}")
        lost = sum(upload not in admitted for upload in self._uploads)
        if lost:  # a reason with a count of zero would read like a refusal
            self.refused["not held alike by every server"] += lost
        return tuple(sorted(admitted))

    def _founded(self, words: Iterable[bytes]) -> list[Objection]:
        """Return the objections in the words of all servers that prove themselves."""
        results: dict[bytes, Objection] = {}
        for word in words:
            try:
                bodies = unpack(word, self.round.capacity)
            except ValueError:
                continue
            for body in bodies:
                objection = Objection.read(body, self.sealed_sizes)
                if objection is None or objection.upload in results:
                    continue
                if objection.founded(self.binding, self.config.pins):
                    results[objection.upload] = objection
        return list(results.values())

    def _hold_or_admit(self, admitted: tuple[bytes, ...]) -> None:
        if len(admitted) < self.round.min_batch:
            self.channel.stop(
                f"{len(admitted)} uploads are held by every server, it takes {self.round.min_batch}"
            )
            return
        missing = self.round.cohort - len(admitted)
        needs_all = self.round.min_leave > self.round.cohort
        if 0 < missing < self.round.min_leave:
            self.channel.stop(
                f"{missing} of {self.round.cohort} senders are missing"
                + (
                    ", and the round needs all of them"
                    if needs_all
                    else f": with fewer than {self.round.min_leave} missing, what is absent would "
                    "show whose it is"
                )
            )
            return
        if self.round.cohort and 0 < -missing < self.round.min_leave:
            self.channel.stop(
                f"{-missing} senders more than the {self.round.cohort} before"
                + (
                    ": the round needs exactly those"
                    if needs_all
                    else f": with fewer than {self.round.min_leave}, what is new would show whose "
                    "it is"
                )
            )
            return
        self.admitted = admitted
