"""Proofs of a part of a release: made from a sealed folder, checked without it.

A proof file begins with one line that names the scheme; the rest is the scheme's own.
"""

import re
from pathlib import Path

from anonloom import Registry
from anonloom.errors import IntegrityError, UsageError
from anonloom.files import read_bytes
from anonloom.kinds import KnownVersion, ProofSystem, ProvedRows, Query
from anonloom_seals.verification import (
    answer_of,
    public_folder,
    scheme_named,
    seal_errors,
    seal_named,
)

__all__ = ["prove", "query_of", "verify_proof"]

_FIRST = "anonloom proof 1 "
# A name is printed: it must not be able to write lines of its own.
_FIRST_LINE = re.compile(rf"{_FIRST}([a-z0-9-]{{1,100}})")


def query_of(rows: list[int] | None, where: str | None, since: str | None = None) -> Query:
    """Make a question of what was given on the command line.

    Raises
    ------
    UsageError
        When it is none.
    """
    if rows is not None and min(rows) < 1:
        raise UsageError(f"--row must be at least 1. Got {min(rows)} instead.")
    if where is not None and not where.strip():
        raise UsageError("--where is empty; write a condition such as 'age between 30 and 40'")
    return Query(
        rows=tuple(sorted(set(rows or ()))), where=where or "", since=Path(since) if since else None
    )


def prove(folder: Path, registry: Registry, query: Query) -> bytes:
    """Return the content of a proof file about a sealed release.

    Raises
    ------
    UsageError
        When the release has no seal that proves, or the query makes no sense for it.
    IntegrityError
        When the release is not what was sealed.
    """
    public = public_folder(folder)
    name = scheme_named(public)
    if name is None:
        raise UsageError(
            f"'{folder}' is not sealed, so nothing can be proved of it",
            hint="Publish it with 'integrity: merkle'.",
        )
    seal = seal_named(name, registry)
    if not isinstance(seal, ProofSystem):
        raise UsageError(
            f"'{folder}' is sealed with '{name}', which proves a release only as a whole",
            hint="Publish it with 'integrity: merkle'.",
        )
    return f"{_FIRST}{name}\n".encode() + seal.prove(public, query)


def verify_proof(
    path: Path,
    registry: Registry,
    key: Path | None = None,
    known: KnownVersion | None = None,
    asked: Query | None = None,
) -> ProvedRows:
    """Check a proof file on its own; see `ProofSystem.verify_proof`.

    Raises
    ------
    IntegrityError
        Saying which check failed.
    UsageError
        When there is no such file.
    """
    if not path.is_file():
        raise UsageError(f"there is no proof file '{path}'")
    line, end, proof = read_bytes(path).partition(b"\n")
    match = _FIRST_LINE.fullmatch(line.decode("ascii", "replace"))
    if match is None or not end:
        raise IntegrityError(f"'{path}' is no proof file of Anonloom")
    name = match[1]
    with seal_errors():
        seal = seal_named(name, registry)
        if not isinstance(seal, ProofSystem):
            raise IntegrityError(f"the proof names a scheme, '{name}', that makes no proofs")
        return answer_of(ProvedRows, seal.verify_proof(proof, key=key, known=known, asked=asked))
