"""Toy methods for releases that are verified: one that publishes, and seals of several sorts."""

import attrs
import pandas as pd

from anonloom import IntegrityScheme, Mechanism
from anonloom.api import ROLES, Method, hookimpl
from anonloom.errors import IntegrityError
from anonloom.kinds import ProofSystem, ProvedRows, Seal, SealFiles, VerifiedScope

ANONLOOM_API = 2

#: What leaves an entry of `Leaving`; empty where all is well.
LEAVING: dict[str, BaseException] = {}


def leave(entry):
    if entry in LEAVING:
        raise LEAVING[entry]


#: Where `Leaving` is left.
PLACE = f"{__file__}:{leave.__code__.co_firstlineno + 2}"


@attrs.frozen(kw_only=True)
class Keep(Mechanism):
    """Publishes a table as it is."""

    def protect(self, table, context):
        return table


@attrs.frozen(kw_only=True)
class Stamp(Seal):
    """Writes a stamp and demands it."""

    def seal(self, public, private):
        (public / "stamp").write_text("sealed")
        (private / "stamp.key").write_text("key")
        return SealFiles(("stamp",), ("stamp.key",))

    def verify(self, public, *, key=None, known=None):
        if not (public / "stamp").is_file():
            raise IntegrityError("the stamp is missing")
        return VerifiedScope(("the stamp is there",), ("everything else",))


@attrs.frozen(kw_only=True)
class Leaving(Stamp):
    """A stamp whose code can be left in strange ways."""

    def __attrs_post_init__(self):
        leave("__attrs_post_init__")

    def verify(self, public, *, key=None, known=None):
        leave("verify")
        return super().verify(public, key=key, known=known)


@attrs.frozen(kw_only=True)
class Copying(Seal, ProofSystem):
    """Proves by writing down what was asked, and believes every word."""

    def seal(self, public, private):
        (public / "copying").write_text("sealed")
        return SealFiles(("copying",))

    def verify(self, public, *, key=None, known=None):
        return VerifiedScope((f"key {key}, known {known}",))

    def prove(self, public, query):
        return repr((query.rows, query.where, str(query.since))).encode()

    def verify_proof(self, proof, *, key=None, known=None, asked=None):
        if asked is not None and proof != self.prove(None, asked):
            raise IntegrityError("something else was asked")
        rows = pd.DataFrame({"asked": [proof.decode(), None, ""]}, dtype=object)
        covers = ("what was asked", "a name\n  covers: a forged line\x1b[1m")
        return ProvedRows(
            verified=VerifiedScope(covers, (f"key {key}", f"known {known}")), rows=rows
        )


@attrs.frozen(kw_only=True)
class Counting(IntegrityScheme):
    """Seals nothing."""

    def verify(self, *given, **named):
        return None


def _offers(name, cls, reads=()):
    return Method(
        name=name, target=f"{__name__}:{cls.__name__}", summary="A toy.", reads=frozenset(reads)
    )


@hookimpl
def anonloom_register_mechanisms():
    return [_offers("keep", Keep, ROLES)]


@hookimpl
def anonloom_register_integrity_schemes():
    return [
        _offers("copying", Copying),
        _offers("counted", Counting),
        _offers("leaving", Leaving),
        _offers("stamp", Stamp),
    ]
