"""Peeling: a record in each of three tables, so that records that met are told apart.

Every sender writes the same record into one slot of each of three tables, at places that follow
from its tag. A slot that holds one record only is recognised by the checksum; the record is then
taken off its two other slots, which leaves other slots with one record, and so on (an invertible
Bloom table). With 1.35 slots for each sender all records come out.

What senders may have done
--------------------------
Whoever may write one leaf of each table may write anything there: garbage, a record that is not
where its tag says, a record of which copies are missing. The decoder therefore

- accepts a record only in a slot of its own tag, and each tag once;
- checks all copies: a record that was taken off a slot which did not hold it shows there again as
  itself. Then it is refused and put back wherever it was taken off, so that the slots of others
  are as they were. Where it shows after that, it had been written, and is cleared away. Nothing
  happens a third time, so that no tables make the decoder run for ever;
- delivers the records that were never refused and of which one copy at least is confirmed, that
  is, whose slot was explained to the last bit. Two copies may be garbled by others.

Each slot gives at most one record and each copy is taken off, put back and cleared away at most
once: the work is linear in the size of the tables whatever they hold.

What that does not stop: a sender with a leaf of S slots in each table can write several complete
records there (tags with equal leaves are found by trying), up to 3 S - 2; one with S = 1. Several
senders who conspire can add up to 3 S - 1 each. `Decoded.excess` shows it if the count of uploads
is exceeded; nobody is named.

Sizes
-----
Two senders who meet in all three tables are lost. That, not the threshold of peeling (1.222), sets
the size for all but the largest rounds: with n slots per table and U senders it happens with
probability about U^2 / 2 n^3. `slots_per_table` keeps that at 1e-4. Rounds of honest senders that
were not read whole, measured (`benchmarks/placement.py`):

========  =====================  =======================
senders   1.5 slots per sender   as built: slots, failed
========  =====================  =======================
2         all                    33.0, 1.1e-4
5         0.38 (1.8 slots)       28.2, 0.8e-4
10        0.51                   23.1, 1.0e-4
50        0.15                   13.9, 0.8e-4
100       0.055                  11.0, 1.6e-4 (8 rounds)
500       0.009                  6.5, 2e-4 (2 rounds)
1,000     0.006 (1.35 slots)     5.1, 2e-4 (1 round)
========  =====================  =======================

From 55,000 senders on 1.35 slots are enough. Such a failure costs the two who met, and the round is
repeated by everybody.

Malicious senders who fill their leaf with garbage take slots away from others; `factor_for`
enlarges the tables by the share that is tolerated. Honest records lost of 100,000 at 0.1, 1, 2 and
5 % malicious, one of two runs:

===========  =========  ======  ====  ======  ======  ======
slots/leaf   tolerated  factor  0.1%  1%      2%      5%
===========  =========  ======  ====  ======  ======  ======
1            0          1.35    0     2       13      285
2            0          1.35    0     18      134     43,679
4            0          1.35    0     149     43,818  62,468
8            0          1.35    0     47,392  62,301  77,846
32           0          1.35    57    79,101  89,465  93,933
1            1 %        1.39    0     0       13      280
2            1 %        1.41    0     5       90      32,709
4            1 %        1.57    0     61      890     41,350
2            2 %        1.57    0     11      72      2,489
4            2 %        2.82    0     7       81      1,312
1            5 %        1.89    0     0       2       54
2            5 %        3.48    0     1       8       57
===========  =========  ======  ====  ======  ======  ======

Records whose other copies are missing do less harm than garbage in every case measured.
"""

import math
from collections.abc import Sequence
from functools import cached_property

import attrs
import numpy as np
from attrs.validators import ge, instance_of, lt
from numpy.typing import NDArray

from anonloom_dpf.placement import TAG_BYTES, DecodedTables, Placement

#: Tables, and so copies of each record.
COPIES = 3

#: Rounds of honest senders in which two of them meet in all tables: one in so many.
ROUNDS_PER_MEETING = 10_000

#: Least number of slots in all tables for each sender; one below 1,000 senders, one from there.
FACTORS = (1.50, 1.35)

#: How far above the size at which peeling stops tables are kept: 1.35 is 1.10 times 1.222.
MARGIN = 1.10

#: Share of honest records that may be lost to the tolerated share of malicious senders.
LOSS = 1e-3

#: A copy of a refused record: put back into its slot, or cleared away there for good.
_BACK, _CLEARED = range(2)


def lost_share(factor: float, garbled: float) -> float:
    """Share of records that peeling does not recover from large tables.

    A slot helps a record if it is not garbled and all other records in it come out elsewhere. With
    p the probability that it does not help, ``p = 1 - exp(-3 / factor * (p^2 + garbled))``, taken
    from above; a record is lost with p^3.

    Parameters
    ----------
    factor
        Slots in all tables for each sender.
    garbled
        Slots of one table that were made unreadable, for each sender: the share of malicious
        senders times the slots of a leaf.
    """
    unhelpful, before = 1.0, 2.0
    while before - unhelpful > 1e-9:
        before = unhelpful
        unhelpful = -math.expm1(-COPIES / factor * (before * before + garbled))
    return unhelpful**COPIES


def factor_for(capacity: int, garbled: float) -> float:
    """Return how many slots each sender needs so that garbled ones cost less than `LOSS`."""
    hundredths = round(100 * FACTORS[capacity >= 1000])
    while lost_share(hundredths / 100 / MARGIN, garbled) > LOSS:
        hundredths += 1 + hundredths // 100
    return hundredths / 100


def slots_per_table(capacity: int, garbled: float) -> int:
    """Return the size of each of the three tables."""
    slots = math.ceil(factor_for(capacity, garbled) * capacity / COPIES)
    # Integers, for all servers have to find the same size whatever their arithmetic.
    pairs = capacity * (capacity - 1) // 2
    least: int = round((pairs * ROUNDS_PER_MEETING) ** (1 / COPIES))
    while least**COPIES < pairs * ROUNDS_PER_MEETING:
        least += 1
    return max(1, slots, least)


@attrs.frozen(kw_only=True)
class PeelingPlacement(Placement):
    """Three copies of each message, in three tables.

    Parameters
    ----------
    capacity, message_size, slots_per_leaf, salt
        As of every placement.
    tolerated
        Share of malicious senders for which the tables are enlarged.
    """

    tolerated: float = attrs.field(
        default=0.0, converter=float, validator=[instance_of(float), ge(0), lt(0.5)]
    )

    @cached_property
    def tables(self) -> tuple[int, ...]:
        """Three tables of one size, rounded up to whole leaves."""
        slots = slots_per_table(self.capacity, self.tolerated * self.slots_per_leaf)
        return (-(-slots // self.slots_per_leaf) * self.slots_per_leaf,) * COPIES

    def decode(
        self, tables: Sequence[NDArray[np.uint8]], expected: int | None = None
    ) -> DecodedTables:
        """Peel the tables: in waves, all slots with one record at a time."""
        peel = _Peel(self, self.stack_tables(tables))
        touched = np.arange(len(peel.rows))
        while len(touched):
            touched = peel.wave(touched)
        return peel.outcome(expected)


def _width(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Pad rows to whole words: XOR is then several times faster."""
    padded = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), np.uint8)
    padded[:, : rows.shape[1]] = rows
    return padded.view(np.uint64)


class _Peel:
    """The state of peeling: what is left in the slots, and what was found."""

    def __init__(self, placement: PeelingPlacement, rows: NDArray[np.uint8]) -> None:
        self.placement = placement
        #: All slots of all tables, one below the other, minus what was taken off.
        self.rows = _width(rows)
        self.offsets = np.array([0, *np.cumsum(placement.tables)[:-1]], np.int64)
        #: Slots that have given a record.
        self.spent = np.zeros(len(rows), np.bool_)
        #: Number of each tag in the order of finding, and its record and slots.
        self.numbers: dict[bytes, int] = {}
        self.records: list[NDArray[np.uint64]] = []
        self.places: list[NDArray[np.int64]] = []
        #: The copies of those that were refused.
        self.copies: dict[int, list[int]] = {}

    def wave(self, touched: NDArray[np.int64]) -> NDArray[np.int64]:
        """Take off every record that stands alone in one of some slots.

        Returns
        -------
        slots
            Those that have changed.
        """
        slots = touched[self.rows[touched].any(axis=1)]
        table = np.searchsorted(self.offsets, slots, side="right") - 1
        size = self.placement.record_size
        rows = self.rows[slots]
        result, places = self.placement.recognise(
            rows.view(np.uint8)[:, :size], table, slots - self.offsets[table]
        )
        slots, table, rows, places = (
            slots[result],
            table[result],
            rows[result],
            places + self.offsets,
        )
        new, old = self._sorted_out(rows, slots)
        self.spent[slots[new]] = True
        self.records.extend(rows[new])
        self.places.extend(places[new])
        taken = [(rows[new].repeat(COPIES, axis=0), places[new].ravel())]
        put_back: set[int] = set()
        for index in old:
            taken += self._again(rows[index], int(table[index]), put_back)
        return self._xor(
            np.concatenate([record for record, _ in taken]),
            np.concatenate([place for _, place in taken]),
        )

    def _sorted_out(
        self, rows: NDArray[np.uint64], slots: NDArray[np.int64]
    ) -> tuple[list[int], list[int]]:
        """Number the tags that are new; return which rows are new and which were known before."""
        new, old = [], []
        known = len(self.numbers)
        tags = np.ascontiguousarray(rows[:, : TAG_BYTES // 8]).tobytes()
        spent = self.spent[slots]
        for index in range(len(rows)):
            tag = tags[index * TAG_BYTES : (index + 1) * TAG_BYTES]
            number = self.numbers.get(tag)
            if number is None:
                if not spent[index]:
                    self.numbers[tag] = len(self.numbers)
                    new.append(index)
            elif number < known:
                old.append(index)
            # Otherwise a second copy that stands alone in this wave, too.
        return new, old

    def _again(
        self, row: NDArray[np.uint64], table: int, put_back: set[int]
    ) -> list[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
        """Deal with a record that shows in a slot off which it was taken before."""
        number = self.numbers[row[: TAG_BYTES // 8].tobytes()]
        if not np.array_equal(row, self.records[number]):
            return []  # another message with the same tag: the first one counts
        if number in put_back:
            return []  # it shows in two slots of this wave, and the first has settled both
        if number not in self.copies:
            self.copies[number] = [_BACK] * COPIES
            put_back.add(number)
            return [(row[np.newaxis], place[np.newaxis]) for place in self.places[number]]
        if self.copies[number][table] == _CLEARED:
            return []
        self.copies[number][table] = _CLEARED
        return [(row[np.newaxis], self.places[number][[table]])]

    def _xor(self, records: NDArray[np.uint64], slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """XOR records onto slots; several may go to the same."""
        if not len(slots):
            return slots
        order = np.argsort(slots, kind="stable")
        changed, starts = np.unique(slots[order], return_index=True)
        self.rows[changed] ^= np.bitwise_xor.reduceat(records[order], starts, axis=0)
        return changed

    def outcome(self, expected: int | None) -> DecodedTables:
        """Check all copies of what was found."""
        unread = np.asarray(self.rows.any(axis=1))
        places = np.array(self.places, np.int64).reshape(-1, COPIES)
        intact: NDArray[np.int64] = COPIES - unread[places].sum(axis=1)
        refused = np.asarray(intact == 0)
        refused[list(self.copies)] = True
        records = np.array(self.records, np.uint64).reshape(-1, self.rows.shape[1])[~refused]
        size = self.placement.record_size
        messages, tags = self.placement.read(records.view(np.uint8)[:, :size])
        return DecodedTables(
            messages=messages,
            tags=tags,
            undelivered_slots=int(unread.sum()),
            refused=int(refused.sum()),
            damaged=int((intact[~refused] < COPIES).sum()),
            expected=expected,
        )
