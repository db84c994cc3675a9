"""Counted table: of a `deposit` whose filled positions are counted before it is opened."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import ByteArray
from anonloom_dpf import count_proof
from anonloom_dpf.columns import SKETCH, Weights
from anonloom_dpf.combining import xor_all
from anonloom_dpf.deposit_table import DepositTable, Evaluation, Group
from anonloom_dpf.layout import TAG_BYTES
from anonloom_dpf.prime_field import MODULUS, SIZE, Elements, add, minus, multiply, read, total
from anonloom_dpf.tree import Tree


@short_repr
@attrs.define(eq=False)
class CountedDepositTable(DepositTable):
    """One server's work in a counted `deposit`; two servers only.

    What `DepositTable` claims of rows is claimed of numbers too. Before that each upload is checked
    by itself for counting at one position at most, and left out otherwise; see `count_proof`.

    Attributes
    ----------
    toss
        Returns what both servers tossed for counting; None as long as one is missing.
    tolerates
        Says whether so many uploads may be taken out.
    """

    claim_bytes: ClassVar[int] = TAG_BYTES + SIZE

    toss: Callable[[], bytes | None] = attrs.field(kw_only=True, repr=False)
    tolerates: Callable[[int], bool] = attrs.field(kw_only=True, repr=False)
    _drawn: Weights | None = attrs.field(default=None, init=False, repr=False)
    _positions: Elements | None = attrs.field(default=None, init=False, repr=False)
    _sums: Elements | None = attrs.field(default=None, init=False, repr=False)
    _sketches: Elements | None = attrs.field(default=None, init=False, repr=False)
    _witnesses: Elements | None = attrs.field(default=None, init=False, repr=False)
    _out: frozenset[bytes] = attrs.field(default=frozenset(), init=False, repr=False)

    @property
    def _party(self) -> int:
        return self.state.config.index

    def evaluate(self) -> list[bytes] | None:
        """Evaluate all keys; return the uploads that are wrong, None while it goes on."""
        # Weights are shown when all uploads are fixed: nobody can prepare for them.
        tossed = self.toss()
        if tossed is None:
            return None
        if self._drawn is None:
            self._drawn = count_proof.sketch_weights(tossed, self.layout.rows)
        groups = self.groups()
        self.add_up(groups)
        out = self._wrong_numbers()
        if out is None or not self.tolerates(len(out)):
            return out
        self._leave_out(out, groups)
        foreign = self.foreign(groups)
        return None if foreign is None else [*out, *foreign]

    def reasons(self, wrong: Sequence[bytes]) -> dict[str, list[bytes]]:
        """Say why uploads are taken out."""
        out = [upload for upload in wrong if upload in self._out]
        foreign = [upload for upload in wrong if upload not in self._out]
        return {**super().reasons(foreign), "wrong presence": out}

    # --- each upload by itself ------------------------------------------------------------------

    def _wrong_numbers(self) -> list[bytes] | None:
        """Return the uploads that count otherwise than once or never, None while it goes on."""
        admitted = self.state.admitted or ()
        assert self._sketches is not None
        assert self._witnesses is not None
        sketches, witnesses = self._sketches, self._witnesses
        opened = self._exchange_sums(
            "sketch",
            lambda: count_proof.blind_sketches(self._party, sketches, witnesses),
            len(admitted),
        )
        if opened is None:
            return None
        known = opened
        proven = self._exchange_sums(
            "proof",
            lambda: count_proof.proofs(self._party, sketches, witnesses, known),
            len(admitted),
        )
        if proven is None:
            return None
        return [admitted[index] for index in np.flatnonzero(proven)]

    def _exchange_sums(
        self, step: str, value: Callable[[], Elements], number: int
    ) -> Elements | None:
        """Return the sums of what both servers show."""
        channel = self.state.channel
        shown = channel.exchange(step, lambda: value().astype("<u8").tobytes(), self.state.subject)
        if shown is None:
            return None
        if any(len(part) != SIZE * number for part in shown):
            channel.stop("a server sent check values of the wrong size")
            return None
        first, second = (read(part) for part in shown)
        return add(first, second)

    def _leave_out(self, out: list[bytes], groups: list[Group]) -> None:
        """Take uploads out of what is claimed of their groups; rows and sums keep them so far."""
        if not out or self._out:
            return
        self._out = frozenset(out)
        places = {upload: index for index, upload in enumerate(self.state.admitted or ())}
        for upload in out:
            index = places[upload]
            group = next(group for group in groups if group[0] <= index < group[1])
            claim = self.evaluate_uploads([upload]).claim
            self._claims[group] = self.without(self._claims[group], claim)

    # --- what is claimed ------------------------------------------------------------------------

    def members(self, group: Group) -> list[bytes]:
        """Return the uploads of a group that are not left out."""
        return [upload for upload in super().members(group) if upload not in self._out]

    def add_claims(self, claims: Sequence[bytes]) -> bytes:
        """Return the sum of claims: of rows by xor, of numbers in their field."""
        numbers = sum(_number(claim) for claim in claims) % MODULUS
        return xor_all([claim[:TAG_BYTES] for claim in claims]) + _bytes(numbers)

    def without(self, whole: bytes, part: bytes) -> bytes:
        """Return what remains of a claim."""
        rest = (_number(whole) - _number(part)) % MODULUS
        return xor_all([whole[:TAG_BYTES], part[:TAG_BYTES]]) + _bytes(rest)

    def add_up(self, groups: list[Group]) -> None:
        """Evaluate group by group, and note sums and sketches too."""
        if self._share is None:
            alphas = [key.alpha for key in self.state.config.slot_keys]
            self._positions = self.layout.position_weights(alphas)
            self._sums = np.zeros(self.layout.rows, np.uint64)
            uploads = len(self.state.admitted or ())
            self._sketches = np.zeros((uploads, SKETCH), np.uint64)
            self._witnesses = np.zeros((uploads, count_proof.WITNESS_BYTES // SIZE), np.uint64)
        super().add_up(groups)

    def keep(self, group: Group, found: Evaluation) -> None:
        """Note what was evaluated of a whole group."""
        super().keep(group, found)
        assert self._sums is not None
        assert self._sketches is not None
        self._sums = add(self._sums, found.sums)
        assert self._witnesses is not None
        self._sketches[slice(*group)] = found.sketches
        self._witnesses[slice(*group)] = found.witnesses

    def evaluate_uploads(self, uploads: Sequence[bytes]) -> Evaluation:
        """Evaluate uploads; claim of their rows and of their numbers."""
        assert self._positions is not None
        keys, tags = self.contents(uploads)
        share, sums, sketches = self._count(keys)
        rows = self.claim_rows(share, tags[:, :TAG_BYTES])
        witnesses = count_proof.read_witnesses(tags[:, TAG_BYTES:])
        weighed = total(count_proof.apply_sign(self._party, multiply(self._positions, sums)))
        claim = (weighed - total(witnesses[:, 4])) % MODULUS
        return Evaluation(share, rows + _bytes(claim), sums, sketches, witnesses)

    def _count(self, keys: ByteArray) -> tuple[ByteArray, Elements, Elements]:
        function = self.layout.function
        assert isinstance(function, Tree)
        assert self._drawn is not None
        share, sums = self.layout.empty(), np.zeros(self.layout.rows, np.uint64)
        return share, sums, function.count(self._party, keys, share, sums, self._drawn)

    def remove(self, uploads: Sequence[bytes]) -> None:
        """Take uploads out again, of rows and of sums."""
        if uploads and self._share is not None and self._sums is not None:
            share, sums, _ = self._count(self.contents(uploads)[0])
            self._share ^= share
            self._sums = add(self._sums, minus(sums))

    # --- counting -------------------------------------------------------------------------------

    def tally(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """Return this server's part of each group's sum."""
        assert self._sums is not None
        own = count_proof.apply_sign(self._party, self._sums)
        return [total(own[np.asarray(group, np.int64)]) for group in groups]

    def forget(self) -> None:
        """Forget this server's share, and its parts of all sums."""
        super().forget()
        self._drawn = self._positions = self._sums = self._sketches = self._witnesses = None
        self._out = frozenset()


def _number(claim: bytes) -> int:
    return int.from_bytes(claim[TAG_BYTES:], "little") % MODULUS


def _bytes(number: int) -> bytes:
    return number.to_bytes(SIZE, "little")
