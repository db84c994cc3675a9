"""The head of a sealed release: the one text that is signed, and that everything else hangs on."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import attrs

from anonloom import short_repr
from anonloom_seals.layout import Layout
from anonloom_seals.listing import Entry, file_values, is_hash, read_entries, read_json
from anonloom_seals.ordering import COLLATIONS, End

__all__ = ["Head", "Order"]

#: What the text is, so that a signature under it can be taken for nothing else.
CONTEXT = "anonloom head of a release"
FORMAT = 1
#: How rows become leaves: see the library's README.
ROWS = "anonloom rows 1"
#: The files that may hold the rows.
TABLES = ("release.csv", "release.parquet")

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_DATASET = re.compile(r"[0-9a-f]{32}")


@attrs.frozen(kw_only=True)
class Order:
    """One order of the rows, and the root that binds them in it.

    Attributes
    ----------
    attribute
        By which column they are sorted; None when they stand as in the file.
    end
        By which end of the column's cells: cells that are intervals are sorted by each.
    """

    attribute: str | None
    end: End
    root: str

    def plain_values(self, layout: Layout) -> dict[str, Any]:
        """Return the order as plain values, with all that decides what comes first."""
        if self.attribute is None:
            return {"attribute": None, "root": self.root}
        return {
            "attribute": self.attribute,
            "end": self.end,
            "direction": "ascending",
            "collation": COLLATIONS[layout.type_of(self.attribute)],
            "nulls": "last",
            "root": self.root,
        }


@short_repr
@attrs.frozen(kw_only=True)
class Head:
    """All that the publisher vouches for.

    Attributes
    ----------
    scheme
        The structure that binds the rows.
    dataset, version, previous
        Which data set, which version of it, and the digest of the head of the version before.
    created
        When the release was made.
    key
        Fingerprint of the key that signs.
    table
        The file that holds the rows.
    size
        How many rows there are.
    layout
        The columns of a row and their types.
    orders
        The rows as in the file first, then as many as were asked for.
    files
        Every file of the folder but the head and its signature.
    """

    scheme: str
    dataset: str
    version: int
    previous: str | None
    created: str
    key: str
    table: str
    size: int
    layout: Layout
    orders: tuple[Order, ...]
    files: Mapping[str, Entry]

    def write(self) -> bytes:
        """Write the head, in its one spelling."""
        content = {
            "context": CONTEXT,
            "format": FORMAT,
            "hash": "sha256",
            "encoding": ROWS,
            "scheme": self.scheme,
            "dataset": self.dataset,
            "version": self.version,
            "previous": self.previous,
            "created": self.created,
            "key": self.key,
            "table": self.table,
            "size": self.size,
            "columns": self.layout.plain_values(),
            "schema": self.layout.digest,
            "orders": [order.plain_values(self.layout) for order in self.orders],
            "files": file_values(self.files),
        }
        return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()

    @property
    def digest(self) -> str:
        """SHA-256 of the head: what the next version names."""
        return hashlib.sha256(self.write()).hexdigest()

    def order(self, attribute: str | None, end: End = "low") -> Order | None:
        """Return one of the orders, or None."""
        return next((o for o in self.orders if (o.attribute, o.end) == (attribute, end)), None)

    @classmethod
    def read(cls, data: bytes, name: str) -> "Head":
        """Read a head, whoever wrote it.

        Raises
        ------
        IntegrityError
            Saying what is wrong with it. A head has one spelling: any other is refused.
        """

        def read(content: Any) -> "Head":
            head = cls._of(content)
            if head.write() != data:
                raise ValueError("it is not spelled as a head is")
            return head

        return read_json(data, name, read)

    @classmethod
    def _of(cls, content: Any) -> "Head":
        if not isinstance(content, dict) or content.get("context") != CONTEXT:
            raise ValueError("it is no head of a release")
        if content.get("format") != FORMAT or type(content["format"]) is not int:
            raise ValueError(f"it has a format that this version does not know, which is {FORMAT}")
        if content.get("hash") != "sha256" or content.get("encoding") != ROWS:
            raise ValueError("it names a hash or an encoding that this version does not know")
        for field, fits in _FITS.items():
            if field not in content or not fits(content[field]):
                raise ValueError(f"its field '{field}' is missing or makes no sense")
        if (content["version"] == 1) != (content["previous"] is None):
            raise ValueError("only the first version has none before it")
        layout = Layout.read(content["columns"])
        return cls(
            **{name: content[name] for name in _PLAIN},
            layout=layout,
            orders=_orders(content["orders"], layout),
            files=read_entries(content["files"]),
        )


def _orders(content: list[Any], layout: Layout) -> tuple[Order, ...]:
    orders = []
    for entry in content:
        if not isinstance(entry, dict) or not is_hash(entry.get("root")):
            raise ValueError("one of its orders has no root")
        attribute, end = entry.get("attribute"), entry.get("end", "low")
        known = attribute is None or attribute in layout.names
        if not known or end not in ("low", "high"):
            raise ValueError("one of its orders makes no sense")
        orders.append(Order(attribute=attribute, end=end, root=entry["root"]))
    if [order.attribute is None for order in orders] != [True] + [False] * (len(orders) - 1):
        raise ValueError("the first of its orders, and no other, must be that of the file")
    return tuple(orders)


def _word(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _counts(least: int) -> Any:
    return lambda value: type(value) is int and least <= value < 2**63


_PLAIN = ("scheme", "dataset", "version", "previous", "created", "key", "table", "size")
_FITS = {
    "scheme": _word,
    "dataset": lambda value: isinstance(value, str) and bool(_DATASET.fullmatch(value)),
    "version": _counts(1),
    "previous": lambda value: value is None or is_hash(value),
    "created": lambda value: isinstance(value, str) and bool(_TIME.fullmatch(value)),
    "key": is_hash,
    # Messages name it: any other text could pass for lines of theirs.
    "table": lambda value: value in TABLES,
    "size": _counts(0),
    "columns": lambda value: True,
    "schema": is_hash,
    "orders": lambda value: isinstance(value, list),
    "files": lambda value: True,
}
