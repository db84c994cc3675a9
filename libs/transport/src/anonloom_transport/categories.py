"""Categories in a record: the number of a declared leaf, or text of a declared length."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import cells
from anonloom.data import normalize_text
from anonloom.lazy import pa, pc, pd
from anonloom.typing import BoolArray, ByteArray
from anonloom_transport.fields import UNFIT, Faults, Field, big_endian, bytes_for, whole_number


@attrs.frozen(kw_only=True)
class LeafField(Field):
    """A category whose values are declared as the number of its leaf, counted from 1."""

    leaves: tuple[str, ...] = attrs.field(repr=False)

    @property
    def size(self) -> int:
        """See `Field.size`."""
        return bytes_for(len(self.leaves))

    def description(self) -> list[Any]:
        """See `Field.description`."""
        return ["leaf", list(self.leaves)]

    def _unfit_leaves(self) -> BoolArray:
        """Which numbers stand for a leaf that would read like a published form."""
        if self.column.role != "quasi":
            return np.zeros(len(self.leaves) + 1, bool)
        return np.array([False, *map(cells.reads_like_a_form, self.leaves)], bool)

    def write(self, series: Any) -> ByteArray:
        """See `Field.write`."""
        entries, labels = distinct_cells(series)
        number_of = {leaf: number for number, leaf in enumerate(self.leaves, start=1)}
        # The last is what a missing cell finds, whose entry is -1.
        numbers = np.array([number_of.get(label, -1) for label in labels] + [0], np.int64)[entries]
        self.refuse_missing(numbers == 0)
        self.refuse(
            numbers < 0,
            "a value that the column's hierarchy lacks",
            "complete the hierarchy, or write 'unknown: own-leaf' and send the column as text",
        )
        self.refuse_unfit(self._unfit_leaves()[numbers])
        return big_endian(numbers.astype(np.uint64), self.size)

    def read(self, block: ByteArray) -> tuple[Any, Faults]:
        """See `Field.read`."""
        number = whole_number(block)
        foreign = number > len(self.leaves)
        number[foreign] = 0
        missing = (number == 0) & ~foreign
        unfit = self._unfit_leaves()[number]
        values = pd.Categorical.from_codes(
            number.astype(np.int64) - 1, categories=pd.Index(self.leaves, dtype=object)
        )
        result = self.faults(missing, ("no leaf of the hierarchy", foreign), (UNFIT, unfit))
        return values, result


@attrs.frozen(kw_only=True)
class TextField(Field):
    """A category of any text: its length in bytes, counted from 1, its UTF-8, and zeros.

    Missing has the length 0, so that it is not the empty text.
    """

    text_bytes: int

    @property
    def size(self) -> int:
        """See `Field.size`."""
        return self._prefix + self.text_bytes

    @property
    def _prefix(self) -> int:
        return bytes_for(self.text_bytes + 1)

    def description(self) -> list[Any]:
        """See `Field.description`."""
        return ["text", self.text_bytes]

    def write(self, series: Any) -> ByteArray:
        """See `Field.write`."""
        entries, labels = distinct_cells(series)
        self.refuse_missing(entries < 0)
        texts = [utf8_of(label) for label in labels]
        broken = np.array([text is None for text in texts] + [False], bool)
        self.refuse(
            broken[entries], "text that is no valid Unicode", "read the data in their own encoding"
        )
        odd = np.array([label != normalize_text(label) for label in labels] + [False], bool)
        self.refuse(
            odd[entries],
            "text with characters that nobody sees, or not in Unicode's form NFC",
            "bring it to the form of anonloom.data._text",
        )
        long = np.array([len(text or b"") > self.text_bytes for text in texts] + [False], bool)
        self.refuse(
            long[entries],
            f"text of more than {self.text_bytes} bytes, the most that a record carries",
            "shorten the values, raise 'text_bytes', or list the values in a 'hierarchy'",
        )
        self.refuse_unfit(np.append(self._unfit_labels(labels), False)[entries])
        written = b"".join(
            (len(text or b"") + 1).to_bytes(self._prefix, "big")
            + (text or b"").ljust(self.text_bytes, b"\0")
            for text in texts
        )
        # One record more, of zeros: what a missing cell finds, whose entry is -1.
        table = np.frombuffer(written + bytes(self.size), np.uint8).reshape(-1, self.size)
        written_rows: ByteArray = table[entries]
        return written_rows

    def _unfit_labels(self, labels: list[str]) -> BoolArray:
        distinct = sorted(set(labels))
        values = np.empty(len(distinct), object)
        values[:] = distinct
        refused = dict(zip(distinct, self.unfit(values).tolist(), strict=True))
        return np.array([refused[label] for label in labels], bool)

    def read(self, block: ByteArray) -> tuple[Any, Faults]:
        """See `Field.read`."""
        length, texts = whole_number(block[:, : self._prefix]), block[:, self._prefix :]
        missing, foreign = length == 0, length > self.text_bytes + 1
        lengths = np.where(missing | foreign, 0, length.astype(np.int64) - 1)
        inside = np.arange(self.text_bytes) < lengths[:, None]
        padded = ((texts != 0) & ~inside).any(axis=1) & ~foreign
        entries, distinct = distinct_texts(texts[inside], lengths)
        decoded = [text_of_utf8(text) for text in distinct]
        invalid = np.array([text is None for text in decoded], bool)[entries]
        odd = np.array(
            [text is not None and text != normalize_text(text) for text in decoded], bool
        )
        labels = np.empty(len(decoded), object)
        labels[:] = decoded
        values = labels[entries]
        values[missing] = None
        known = [text for text in decoded if text is not None]
        unfit = dict(zip(known, self._unfit_labels(known).tolist(), strict=True))
        refused = np.array([text is not None and unfit[text] for text in decoded], bool)[entries]
        whole = ~(missing | foreign | padded)
        return values, self.faults(
            missing,
            ("a length that no text has", foreign),
            ("bytes after the end of the text", padded),
            ("no valid Unicode", invalid & whole),
            ("text with characters that nobody sees, or not in NFC", odd[entries] & whole),
            (UNFIT, refused & whole),
        )


def distinct_cells(series: Any) -> tuple[NDArray[np.integer], list[str]]:
    """Return of every row a place in the list of texts (-1 for missing), and the list.

    A cell is its text, as it is everywhere: 1 and '1' are one value. A text may stand twice.
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy()
        # Categories that do not occur are nobody's cells.
        occurring, entries = np.unique(codes, return_inverse=True)
        entries = entries - int((occurring < 0).any())
        result = series.cat.categories[occurring[occurring >= 0]]
    else:
        entries, result = pd.factorize(series)
    return entries, [cells.cell_text(value) for value in result]


def distinct_texts(
    flat: ByteArray, length: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[bytes]]:
    """Return of every record a place in the list of texts, and the list."""
    ends = np.append(0, np.cumsum(length))
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(flat))]
    coded = pc.dictionary_encode(pa.Array.from_buffers(pa.large_binary(), len(length), buffers))
    return coded.indices.to_numpy().astype(np.int64), coded.dictionary.to_pylist()


def utf8_of(text: str) -> bytes | None:
    """Return the bytes of a text, None for half a character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def text_of_utf8(written: bytes) -> str | None:
    """Return the text, None when the bytes are none."""
    try:
        return written.decode()
    except UnicodeDecodeError:
        return None
