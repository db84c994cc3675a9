"""Bytes in all the ways in which somebody could read them: encodings, archives, Parquet."""

import base64
import binascii
import gzip
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator

#: How deep things may lie in one another: text, in UTF-16, in base64, in a page.
_DEEPEST = 4
#: Shorter runs hold no cell worth hiding.
_SHORTEST = 12

_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{%d,}(?:\r?\n[A-Za-z0-9+/_-]+)*" % _SHORTEST)
_HEX = re.compile(rb"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){%d,}(?![0-9A-Za-z])" % (_SHORTEST // 2))
_URLSAFE = bytes.maketrans(b"-_", b"+/")
_PRINTABLE = bytes(range(32, 127)) + b"\t\r\n"


def readable_texts(said: bytes | str) -> Iterator[str]:
    """Yield the texts that something holds, however it is packed."""
    data = said.encode("utf-8", "surrogatepass") if isinstance(said, str) else said
    yield from _texts(data, _DEEPEST)


def _texts(data: bytes, deep: int) -> Iterator[str]:
    if not data or not deep:
        return
    for inner in _decompress(data):
        yield from _texts(inner, deep - 1)
    if data.startswith(b"PAR1"):
        yield from _parquet(data)
    yield data.decode("utf-8", "replace")
    if b"\0" in data:
        # At either offset: a text may begin anywhere in a file.
        for shift in (0, 1):
            yield data[shift:].decode("utf-16-le", "replace")
    for hidden in _decode_runs(data):
        yield from _texts(hidden, deep - 1)


def _decompress(data: bytes) -> Iterator[bytes]:
    """Yield what an archive or a compressed stream holds."""
    try:
        if data.startswith(b"\x1f\x8b"):
            yield gzip.decompress(data)
        elif data[:1] == b"\x78" and data[1:2] in (b"\x01", b"\x5e", b"\x9c", b"\xda"):
            yield zlib.decompress(data)
        elif data.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for name in archive.namelist():
                    yield name.encode() + b"\n" + archive.read(name)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile):
        return


def _decode_runs(data: bytes) -> Iterator[bytes]:
    """Yield what runs of hexadecimal digits and of base64 stand for, where that can be read."""
    for run in _HEX.findall(data):
        yield from _readable(bytes.fromhex(run.decode()))
    for run in _BASE64.findall(data):
        packed = run.replace(b"\r", b"").replace(b"\n", b"").translate(_URLSAFE)
        # Words before it may have been taken for a part of it.
        for shift in range(4):
            part = packed[shift:]
            part = part[: len(part) - (len(part) % 4 == 1)]
            try:
                yield from _readable(base64.b64decode(part + b"=" * (-len(part) % 4)))
            except binascii.Error:
                continue


def _readable(data: bytes) -> Iterator[bytes]:
    """Pass on what is text or packed; most runs are digests and plain words."""
    packed = data[:2] in (b"\x1f\x8b", b"\x78\x9c", b"PK", b"PA")
    text = data.replace(b"\0", b"")
    strange = len(text.translate(None, _PRINTABLE))
    # Letters beyond ASCII are strange here, and there may be some.
    if packed or (len(text) >= _SHORTEST // 2 and strange <= len(text) / 3):
        yield data


def _parquet(data: bytes) -> Iterator[str]:
    """Yield what a Parquet file says beside its bytes, most of which are compressed.

    Its schema and what others have written into its metadata, the least and greatest value of every
    block, all values, and the dictionaries, which may hold values that no row has.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        names = file.schema_arrow.names
        coded = pq.ParquetFile(io.BytesIO(data), read_dictionary=names).read()
    except pa.ArrowException:
        return
    metadata = file.metadata
    yield str(metadata.created_by)
    yield from (
        part.decode("utf-8", "replace")
        for pair in (metadata.metadata or {}).items()
        for part in pair
    )
    blocks = [
        metadata.row_group(group).column(index)
        for group in range(metadata.num_row_groups)
        for index in range(metadata.num_columns)
    ]
    ends = [
        (block.path_in_schema, block.statistics.min, block.statistics.max)
        for block in blocks
        if block.statistics is not None and block.statistics.has_min_max
    ]
    yield json.dumps(ends, default=str, ensure_ascii=False)
    for column in coded.columns:
        for chunk in column.chunks:
            values = chunk.dictionary if isinstance(chunk, pa.DictionaryArray) else chunk
            yield json.dumps(values.to_pylist(), default=str, ensure_ascii=False)
    yield from (str(field) for field in file.schema_arrow)
