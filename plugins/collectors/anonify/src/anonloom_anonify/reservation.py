"""Reservation: positions of donors nobody can name, and which of them will be erased.

Algorithm 2 of the paper, steps 1 to 3, on the servers' side. The paper lets donors write their
class at a random index; here they post the key of a position, so that nobody else can fill it.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom_anonify.study import CID_BYTES, Study
from anonloom_anonify.work import SUPPRESSED, Work
from anonloom_transport import SECRET_BYTES, Erasure, Round, SlotKey, chain, pack

#: What a donor without a class posts in its place.
NO_CLASS = 2 ** (8 * CID_BYTES) - 1


def write_reservation(key: SlotKey, number: int) -> bytes:
    """Return the message that reserves a position for a record of a class."""
    return bytes(key) + number.to_bytes(CID_BYTES, "big")


def plan_document(classes: bytes, slots: tuple[bytes, ...], erasure: bytes) -> bytes:
    """Return what the servers sign before anybody deposits, and what deposits are bound to.

    Parameters
    ----------
    classes
        Hash of the classes that were broadcast.
    erasure
        Commitment to what will be erased.
    """
    return pack(b"anonloom plan 1", classes, b"".join(slots), erasure)


@attrs.frozen(eq=False)
class Reservations:
    """The positions, in the order of what is published of them.

    Attributes
    ----------
    keys
        What the servers know of each position.
    numbers
        The class that was claimed for each.
    refused
        Messages that reserve nothing, by reason.
    """

    keys: tuple[SlotKey, ...] = attrs.field(repr=False)
    numbers: NDArray[np.int64] = attrs.field(repr=False)
    refused: Counter[str]

    @classmethod
    def of(cls, messages: Sequence[bytes], classes: int) -> "Reservations":
        """Read what donors posted.

        Parameters
        ----------
        classes
            How many classes there are.
        """
        refused: Counter[str] = Counter()
        results: list[tuple[bytes, SlotKey, int]] = []
        slots = Counter(SlotKey.read(message[:-CID_BYTES]).slot for message in messages)
        for message in messages:
            key = SlotKey.read(message[:-CID_BYTES])
            number = int.from_bytes(message[-CID_BYTES:], "big")
            if number == NO_CLASS:
                refused["without a class"] += 1
            elif number >= classes:
                refused["a class that there is not"] += 1
            elif slots[key.slot] > 1:
                refused["a position that was reserved more than once"] += 1
            else:
                results.append((key.slot, key, number))
        results.sort(key=lambda one: one[0])
        return cls(
            tuple(key for _, key, _ in results),
            np.array([number for _, _, number in results], np.int64),
            refused,
        )

    @property
    def slots(self) -> tuple[bytes, ...]:
        """What is published of each position."""
        return tuple(key.slot for key in self.keys)

    @property
    def digest(self) -> bytes:
        """Hash of what is drawn from."""
        listed = pack(*(bytes(key) for key in self.keys))
        return hashlib.sha256(pack(listed, self.numbers.tobytes())).digest()


@attrs.frozen(eq=False)
class Choice:
    """Which positions are published, fixed before anybody deposits: the paper's Z is the rest.

    Attributes
    ----------
    kept
        Whether each position is published.
    withheld
        Classes that are not published at all, by reason.
    """

    kept: NDArray[np.bool_] = attrs.field(repr=False)
    withheld: dict[str, tuple[int, ...]]

    @classmethod
    def of(
        cls, reservations: Reservations, sizes: Sequence[int], k: int, work: Work, seed: int
    ) -> "Choice":
        """Draw, and withhold classes that more people claim than registered, or too few.

        Parameters
        ----------
        sizes
            How many registered in each class.
        """
        numbers = reservations.numbers
        claimed = np.bincount(numbers, minlength=len(sizes))
        kept = work.draw(numbers, seed)
        # Suppressed records are in no class, and k is not about them.
        excess = np.flatnonzero(claimed > np.asarray(sizes))
        left = np.bincount(numbers[kept], minlength=len(sizes))
        few = np.flatnonzero((left < k) & (claimed > 0))
        few = few[few > 0]
        kept = kept & ~np.isin(numbers, np.union1d(excess, few))
        withheld = {
            "claimed by more donors than registered": tuple(excess.tolist()),
            "too few reservations": tuple(np.setdiff1d(few, excess).tolist()),
        }
        return cls(kept, {why: which for why, which in withheld.items() if which})

    @property
    def why(self) -> str:
        """Why nothing is published, if that is so."""
        texts = [f"{len(which)} {why}" for why, which in self.withheld.items()]
        nothing = "all is erased" if len(self.kept) else "nobody has reserved a position"
        return "; ".join(texts) or nothing

    def erasure(self, salt: bytes) -> Erasure:
        """Return what will be erased."""
        return Erasure(np.flatnonzero(~self.kept).tolist(), salt)


@attrs.frozen(eq=False)
class PublicationAttempt:
    """The positions of an attempt to publish, and which of them are published."""

    attempt: int
    reservations: Reservations = attrs.field(repr=False)
    choice: Choice = attrs.field(repr=False)


@attrs.frozen(eq=False)
class Plan(PublicationAttempt):
    """What all servers have signed of it, and how many donors there are."""

    erasure: Erasure = attrs.field(repr=False)
    cohort: int
    digest: bytes = attrs.field(repr=False)

    def deposit(self, study: Study, iteration: int) -> Round:
        """Describe the deposit of an iteration."""
        return study.publication(
            self.attempt,
            iteration,
            cohort=self.cohort,
            slots=self.reservations.slots,
            erasure=self.erasure.commitment,
            plan=self.digest,
        )

    def withdrawn(self, iteration: int, messages: Sequence[bytes]) -> list[int]:
        """Return the positions whose owners withdraw with these messages of an iteration."""
        keys = self.reservations.keys
        ranks = {key.alpha: rank for rank, key in enumerate(keys)}
        results = []
        for message in messages:
            rank, link = ranks.get(message[:SECRET_BYTES]), message[SECRET_BYTES:]
            # Alpha is known to every server; the link proves whose the position is.
            if rank is not None and chain(link, iteration) == keys[rank].head:
                results.append(rank)
        return results

    def groups(self, withdrawn: Collection[int]) -> list[list[int]]:
        """Return the positions of each class that would be opened."""
        opened, numbers = self.choice.kept.copy(), self.reservations.numbers
        opened[list(withdrawn)] = False
        ranks = np.flatnonzero(opened & (numbers != SUPPRESSED))
        order = ranks[np.argsort(numbers[ranks], kind="stable")]
        starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
        return [part.tolist() for part in np.split(order, starts[1:])] if len(order) else []
