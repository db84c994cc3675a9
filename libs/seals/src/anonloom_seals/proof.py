"""What a proof holds: the signed head, what was asked, and the rows that answer it."""

import hashlib
import json
from typing import Any

import attrs

from anonloom_seals.listing import is_hash, read_json
from anonloom_seals.parts import Part
from anonloom_seals.signed_text import Names, SignedText
from anonloom_seals.spelling import base64_of, bytes_of_base64

__all__ = ["Growth", "Proof"]

CONTEXT = "anonloom proof of rows"
FORMAT = 1

#: What the parts of the signed text are called in messages.
NAMES = Names("the head of the proof", "the proof", "the proof")

_FIELDS = {"context", "format", "head", "signature", "key", "rows", "where", "since", "parts"}


@attrs.frozen(kw_only=True)
class Growth:
    """That an earlier version is the beginning of this one.

    Attributes
    ----------
    size, root
        Of the earlier version's rows in the order of the file.
    path
        What binds both roots.
    """

    size: int
    root: str
    path: bytes = attrs.field(repr=False)

    def plain_values(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"size": self.size, "root": self.root, "path": base64_of(self.path)}

    @classmethod
    def read(cls, content: Any) -> "Growth":
        """Read what `described` returned; `ValueError` when it is something else."""
        if (
            not isinstance(content, dict)
            or set(content) != {"size", "root", "path"}
            or type(content["size"]) is not int
            or not 0 <= content["size"] < 2**63
            or not is_hash(content["root"])
        ):
            raise ValueError("what it says of an earlier version makes no sense")
        path = bytes_of_base64(content["path"])
        return cls(size=content["size"], root=content["root"], path=path)


@attrs.frozen(kw_only=True)
class Proof:
    """A proof; it answers exactly one of `rows`, `where` and `since`.

    Attributes
    ----------
    head
        The head, its signature and the key that signed it.
    rows
        Numbers of rows, counted from 1.
    where
        A condition, as `Condition` writes it.
    since
        What shows the growth from an earlier version.
    parts
        The rows.
    """

    head: SignedText
    rows: tuple[int, ...] = ()
    where: str = ""
    since: Growth | None = None
    parts: tuple[Part, ...] = ()

    def write(self) -> bytes:
        """Write the proof, in its one spelling, with a sum that notices damage."""
        content = {
            "context": CONTEXT,
            "format": FORMAT,
            "head": self.head.text.decode(),
            "signature": self.head.signature.decode(),
            "key": self.head.key.decode(),
            "rows": list(self.rows),
            "where": self.where,
            "since": None if self.since is None else self.since.plain_values(),
            "parts": [part.plain_values() for part in self.parts],
        }
        proof = json.dumps(content, ensure_ascii=False)
        summed = hashlib.sha256(proof.encode()).hexdigest()
        return f'{{"proof": {proof},\n"sum": "{summed}"}}\n'.encode()

    @classmethod
    def read(cls, data: bytes) -> "Proof":
        """Read a proof, whoever wrote it.

        Raises
        ------
        IntegrityError
            Saying what is wrong with it.
        """

        def read(content: Any) -> "Proof":
            if not isinstance(content, dict) or set(content) != {"proof", "sum"}:
                raise ValueError("it is no proof of rows")
            proof = cls._of(content["proof"])
            if proof.write() != data:
                raise ValueError("its sum differs, or it is not spelled as a proof is")
            return proof

        return read_json(data, "the proof", read)

    @classmethod
    def _of(cls, content: Any) -> "Proof":
        if not isinstance(content, dict) or set(content) != _FIELDS:
            raise ValueError("it does not have exactly the fields of a proof")
        if content["context"] != CONTEXT:
            raise ValueError("it is no proof of rows")
        if content["format"] != FORMAT or type(content["format"]) is not int:
            raise ValueError(f"it has a format that this version does not know, which is {FORMAT}")
        texts = [content[name] for name in ("head", "signature", "key", "where")]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("one of its texts is none")
        rows, parts, since = content["rows"], content["parts"], content["since"]
        if not isinstance(parts, list) or not isinstance(rows, list):
            raise ValueError("its rows or parts are no list")
        if not all(type(row) is int and 0 < row < 2**63 for row in rows):
            raise ValueError("the number of one of its rows makes no sense")
        if [bool(rows), content["where"] != "", since is not None].count(True) != 1:
            raise ValueError("it does not answer exactly one question")
        head, signature, key = (text.encode() for text in texts[:3])
        return cls(
            head=SignedText(head, signature, key),
            rows=tuple(rows),
            where=content["where"],
            since=None if since is None else Growth.read(since),
            parts=tuple(Part.read(part) for part in parts),
        )
