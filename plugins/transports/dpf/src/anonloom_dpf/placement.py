"""Placement: which slots a message is written to, and how the sum of all writes is read again.

Senders who write at random places of one table meet, and a slot in which two records met holds
their XOR. A placement says how large the tables are, where a record goes, and what can be told
from the tables once they are open.

The record
----------
``tag (16) | message | checksum (8)``. The tag is drawn at random by the sender. The slots are a
hash of tag and salt; the checksum is a hash (keyed BLAKE2b) of salt, tag and message. A row is a
record only where its own tag belongs.

Why these sizes. Tags: two of 100,000 senders draw the same 16 bytes with probability 1.5e-29, and
nobody can aim at a tag that is not known before the tables open. Checksums: a slot in which
records met, or into which garbage was written, passes with probability 2^-64 and lies where its
tag says with one in the number of slots. Reading 100,000 records looks at fewer than a million
rows of tables of 45,000 slots: a false record appears in one of 10^18 rounds. A sender who tries
offline gains nothing from a longer search: valid records can be had for the asking, to change
somebody else's takes the other's secret tag (one blind try per slot written, 2^-64 each), and two
messages with one tag and checksum (2^32 tries) are still one record, since a tag counts once.
XORs of valid records that are valid again cost 2^32 tries for four records, and little for
hundreds; they deceive nobody, for such a record could have been written as it is, and a slot gives
one record only. A linear checksum such as CRC would make them for everybody, by accident.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from numpy.typing import NDArray

from anonloom_transport import Entropy

if TYPE_CHECKING:
    from hashlib import blake2b

#: Bytes of the tag that a sender draws.
TAG_BYTES = 16

#: Bytes of the hash that tells a record from anything else.
CHECKSUM_BYTES = 8


@attrs.frozen(kw_only=True)
class DecodedTables:
    """What was read from open tables.

    Attributes
    ----------
    messages
        The delivered messages in the order of their tags, which are random: the order says nothing
        about senders.
    tags
        Tag of each message; whoever drew it knows by it that the message was delivered.
    undelivered_slots
        Slots that hold something which no delivered record explains.
    refused
        Records that were found but not delivered, because a copy was not where it has to be.
    damaged
        Delivered records of which at least one copy could not be confirmed.
    expected
        Number of uploads that were written into the tables, if it is known.
    """

    messages: list[bytes] = attrs.field(repr=False)
    tags: list[bytes] = attrs.field(repr=False)
    undelivered_slots: int
    refused: int = 0
    damaged: int = 0
    expected: int | None = None

    @property
    def delivered_count(self) -> int:
        """Number of messages."""
        return len(self.messages)

    @property
    def lost_count(self) -> int:
        """Uploads without a message; 0 if it is unknown how many to expect."""
        return max(0, (self.expected or 0) - self.delivered_count)

    @property
    def excess(self) -> int:
        """Messages beyond the number of uploads: somebody has written more than one."""
        return 0 if self.expected is None else max(0, self.delivered_count - self.expected)

    @property
    def complete(self) -> bool:
        """Whether everything in the tables was read, and as much as was uploaded."""
        return not (self.undelivered_slots or self.refused or self.lost_count or self.excess)


@attrs.frozen(kw_only=True)
class Placement(ABC):
    """Where messages go and how they come back.

    Parameters
    ----------
    capacity
        Largest number of senders the tables are made for.
    message_size
        Bytes of every message.
    slots_per_leaf
        Every table is a multiple of it; whoever writes a leaf writes so many slots.
    salt
        Public, new in every round and every repetition: the same tag goes elsewhere.
    """

    capacity: int = attrs.field(validator=[instance_of(int), ge(1)])
    message_size: int = attrs.field(validator=[instance_of(int), ge(1)])
    slots_per_leaf: int = attrs.field(default=1, validator=[instance_of(int), ge(1)])
    salt: bytes = attrs.field(validator=instance_of(bytes))

    @property
    @abstractmethod
    def tables(self) -> tuple[int, ...]:
        """Slots of each table; a record has one copy in each."""

    @abstractmethod
    def decode(
        self, tables: Sequence[NDArray[np.uint8]], expected: int | None = None
    ) -> DecodedTables:
        """Read the open tables.

        Parameters
        ----------
        tables
            One array of (slots, record_size) bytes for each of `tables`.
        expected
            Number of uploads in them, if known.
        """

    @property
    def record_size(self) -> int:
        """Bytes of a record, and so of a slot."""
        return TAG_BYTES + self.message_size + CHECKSUM_BYTES

    def place(
        self, messages: Sequence[bytes], entropy: Entropy
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Make a record of each message.

        Returns
        -------
        records
            Array of (messages, record_size).
        slots
            Array of (messages, tables): where the copies go, counted within each table.
        """
        for message in messages:
            if len(message) != self.message_size:
                raise ValueError(
                    f"a message must have {self.message_size} bytes. Got {len(message)} instead."
                )
        records = np.empty((len(messages), self.record_size), np.uint8)
        tags = np.frombuffer(entropy.bytes(TAG_BYTES * len(messages)), np.uint8)
        bodies = np.frombuffer(b"".join(messages), np.uint8)
        records[:, :TAG_BYTES] = tags.reshape(-1, TAG_BYTES)
        records[:, TAG_BYTES:-CHECKSUM_BYTES] = bodies.reshape(-1, self.message_size)
        records[:, -CHECKSUM_BYTES:] = self.checksums(records)
        return records, self.slots(records)

    def slots(self, records: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Where the tags of some rows belong: one column per table."""
        # Eight bytes per table: the remainder favours no slot by more than 2^-40.
        hashed = self._hash("slots", records[:, :TAG_BYTES], 8 * len(self.tables))
        drawn = hashed.view("<u8").reshape(len(records), len(self.tables))
        return (drawn % np.array(self.tables, np.uint64)).astype(np.int64)

    def checksums(self, records: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """What the last bytes of some rows have to be."""
        return self._hash("checksum", records[:, :-CHECKSUM_BYTES], CHECKSUM_BYTES)

    def recognise(
        self, rows: NDArray[np.uint8], table: NDArray[np.int64], slot: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Tell which rows are records that belong where they were found.

        Returns
        -------
        found
            Their numbers, ascending.
        places
            All slots of each.
        """
        places = self.slots(rows)
        # A row in which records met passes this with one in the number of slots, so that hardly
        # any message but the true ones is hashed.
        result = np.flatnonzero(places[np.arange(len(rows)), table] == slot)
        true = (rows[result, -CHECKSUM_BYTES:] == self.checksums(rows[result])).all(axis=1)
        result = result[true]
        return result, places[result]

    def stack_tables(self, tables: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Return all tables as one new array, one below the other."""
        shapes = [(slots, self.record_size) for slots in self.tables]
        if [table.shape for table in tables] != shapes:
            got = [table.shape for table in tables]
            raise ValueError(f"tables must have the shapes {shapes}. Got {got} instead.")
        return np.concatenate(tables)

    def read(self, records: NDArray[np.uint8]) -> tuple[list[bytes], list[bytes]]:
        """Return messages and tags of records, in the order of the tags."""
        cut = [
            (row[:TAG_BYTES], row[TAG_BYTES:-CHECKSUM_BYTES])
            for row in _rows(np.ascontiguousarray(records))
        ]
        cut.sort()
        return [message for _, message in cut], [tag for tag, _ in cut]

    def _hash(self, use: str, rows: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
        key = hashlib.blake2b(self.salt, digest_size=32, person=b"anonloom salt").digest()
        keyed = hashlib.blake2b(key=key, digest_size=size, person=use.encode())
        hashed = b"".join([_hash_row(keyed, row) for row in _rows(np.ascontiguousarray(rows))])
        return np.frombuffer(hashed, np.uint8).reshape(len(rows), size)


def _hash_row(keyed: "blake2b", row: bytes) -> bytes:
    # A copy saves hashing the key again: half of the time of a short row.
    hashed = keyed.copy()
    hashed.update(row)
    return hashed.digest()


def _rows(rows: NDArray[np.uint8]) -> list[bytes]:
    size = rows.shape[1]
    whole = rows.tobytes()
    return [whole[index : index + size] for index in range(0, len(whole), size)]
