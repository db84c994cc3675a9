"""A structure that hashes all leaves at once, a seal over it, and small releases."""

import json
from hashlib import sha256

import attrs
import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from anonloom.errors import IntegrityError
from anonloom_seals import keys
from anonloom_seals.binding import BoundRows
from anonloom_seals.encoding import EncodedColumn
from anonloom_seals.head import Head
from anonloom_seals.layout import Layout
from anonloom_seals.listing import Entry
from anonloom_seals.published_rows import PublishedRows
from anonloom_seals.salts import Seeds
from anonloom_seals.seal import RowSeal
from anonloom_seals.seal_format import SealFormat
from anonloom_seals.structure import HASH, GrowingStructure, Structure

SEED = bytes(range(32))
DATASET = "0123456789abcdef" * 2


class Flat(Structure):
    """The hash of all leaves; a path is all leaves that are not shown. Obviously binding."""

    def __init__(self, leaves):
        self.leaves = [leaves[index : index + HASH] for index in range(0, len(leaves), HASH)]

    @classmethod
    def build(cls, leaves):
        return cls(leaves)

    @property
    def size(self):
        return len(self.leaves)

    @property
    def root(self):
        return _root(self.leaves)

    def prove(self, positions):
        return b"".join(
            leaf for index, leaf in enumerate(self.leaves) if index not in set(positions)
        )

    @staticmethod
    def recompute(size, leaves, path):
        if size > 1000 or len(path) != HASH * (size - len(leaves)):
            raise IntegrityError("the path is not of the size that the positions ask for")
        rest = iter(path[index : index + HASH] for index in range(0, len(path), HASH))
        return _root([leaves[index] if index in leaves else next(rest) for index in range(size)])


class GrowingFlat(Flat, GrowingStructure):
    def growth(self, old_size):
        return b"".join(self.leaves)

    @staticmethod
    def check_growth(old_size, old_root, new_size, new_root, path):
        leaves = [path[index : index + HASH] for index in range(0, len(path), HASH)]
        if len(leaves) != new_size or old_size > new_size:
            raise IntegrityError("the sizes are none of a list that grew")
        if (_root(leaves[:old_size]), _root(leaves)) != (old_root, new_root):
            raise IntegrityError("the list did not grow")


def _root(leaves):
    return sha256(b"".join([b"flat", len(leaves).to_bytes(8, "big"), *leaves])).digest()


@attrs.frozen(kw_only=True)
class FlatSeal(RowSeal):
    format = SealFormat("flat", GrowingFlat)


@attrs.frozen(kw_only=True)
class StillSeal(RowSeal):
    format = SealFormat("still", Flat)


# --- rows -----------------------------------------------------------------------------------


def published(columns, file="release.csv"):
    """Make the rows of a release from `{name: (type, texts)}`."""
    layout = Layout(tuple(columns), tuple(kind for kind, _ in columns.values()))
    encoded = tuple(
        EncodedColumn.of(texts, np.arange(len(texts)), kind) for kind, texts in columns.values()
    )
    return PublishedRows(layout=layout, columns=encoded, files=(file,))


def bound(columns, index=(), structure=GrowingFlat):
    return BoundRows.bind(published(columns), Seeds(((0, SEED),)), structure, index)


def head_of(rows, **changes):
    head = Head(
        scheme="flat",
        dataset=DATASET,
        version=1,
        previous=None,
        created="2026-01-31T10:00:00Z",
        key="f" * 64,
        table="release.csv",
        size=len(rows.encoded),
        layout=rows.published.layout,
        orders=rows.head_orders(),
        files={"release.csv": Entry("0" * 64, 10)},
    )
    return attrs.evolve(head, **changes)


# --- folders --------------------------------------------------------------------------------

COLUMNS = {"age": "number", "city": "category", "seen": "date"}
ROWS = [
    ['"[20, 29]"', "Rome", "2024-03-01"],
    ['"[20, 29]"', "Oslo", ""],
    ['"[30, 39]"', "Rome", "2024-05-01"],
    ['"[25, 34]"', '""', "2024-04-01"],
    ["*", "Rome", "2023-12-31"],
    ["", "Rome", "2024-03-01"],
]


def publish(public, rows=ROWS, columns=COLUMNS):
    """Write a small release: intervals, `*`, missing and empty cells, ties."""
    public.mkdir(parents=True)
    lines = [",".join(columns), *(",".join(row) for row in rows)]
    (public / "release.csv").write_text("\n".join([*lines, ""]))
    types = {name: {"role": "other", "type": kind} for name, kind in columns.items()}
    (public / "manifest.json").write_text(json.dumps({"spec": {"columns": types}}))


def sealed(folder, seal=None, rows=ROWS, columns=COLUMNS):
    """Publish and seal, and return the public folder."""
    public, private = folder / "public", folder / "private"
    publish(public, rows, columns)
    private.mkdir(exist_ok=True)
    (seal or FlatSeal(index=("age", "seen", "city"))).seal(public, private)
    return public


def key_file(path):
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    path.write_bytes(pem)
    return path


def sign_again(public, secret, seal, change):
    """Change the head as the publisher could, and sign it."""
    names = seal.format.names
    text = change(Head.read((public / names.text).read_bytes(), names.text))
    text = text if isinstance(text, bytes) else text.write()
    (public / names.text).write_bytes(text)
    signature = keys.sign(keys.read_private(secret), text, seal.format.domain)
    (public / names.signature).write_bytes(signature)
