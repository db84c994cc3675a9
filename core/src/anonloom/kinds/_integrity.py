"""Integrity schemes: proofs that a release is what was published, or that work was done."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from anonloom._representation import short_repr
from anonloom.data._schema import Schema
from anonloom.lazy import pd


class IntegrityScheme(ABC):
    """Base of the two sorts of scheme. `verify` raises; it never returns a verdict."""

    # Both sorts verify, each its own thing: only the name is common.
    verify: Callable[..., Any]


@attrs.frozen
class SealFiles:
    """What sealing left behind.

    Attributes
    ----------
    public
        Names of the proof files in the public folder.
    private
        Names of the key files in the private folder.
    """

    public: tuple[str, ...]
    private: tuple[str, ...] = ()


@attrs.frozen
class VerifiedScope:
    """What a successful verification covers, and what it does not."""

    covers: tuple[str, ...]
    does_not_cover: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class KnownVersion:
    """What a recipient knows of the versions of a data set.

    Attributes
    ----------
    head
        A file with the head of a version that the recipient has seen.
    version
        The least version that the recipient accepts.
    """

    head: Path | None = None
    version: int | None = None


@attrs.frozen(kw_only=True)
class Query:
    """What is to be proved of a sealed release; exactly one of the three.

    Attributes
    ----------
    rows
        These rows are in it, counted from 1 as in messages.
    where
        These are all rows of which this holds, such as `age between 30 and 40`.
    since
        A file with the head of an earlier version: it is the beginning of this one.
    """

    rows: tuple[int, ...] = ()
    where: str = ""
    since: Path | None = None


@short_repr
@attrs.frozen(kw_only=True)
class ProvedRows:
    """What a proof shows, beside what was verified on the way.

    Attributes
    ----------
    rows
        The rows that it is about, as published.
    """

    verified: VerifiedScope
    rows: "pd.DataFrame" = attrs.field(eq=False)


class Seal(IntegrityScheme):
    """Integrity of data: seals a published folder.

    Promise: any flipped byte, any added, dropped, renamed or reordered content of a sealed file is
    noticed by `verify`.
    """

    def problem(self, schema: Schema) -> str | None:
        """Say what is wrong with sealing a release of such columns, or None.

        A pipeline file is checked with it before any data are read.
        """
        return None

    def ready(self) -> None:
        """Refuse what would let `seal` fail, such as a key that is not there.

        Called before the data are read: a run may take long, and its work would be lost. Not when
        a pipeline file is only checked, which may be done where the key is not.

        Raises
        ------
        IntegrityError
            When a key or an earlier release cannot be used.
        """

    @abstractmethod
    def seal(self, public: Path, private: Path) -> SealFiles:
        """Seal all files of the public folder; keys come from the system's randomness."""

    @abstractmethod
    def verify(
        self, public: Path, *, key: Path | None = None, known: KnownVersion | None = None
    ) -> VerifiedScope:
        """Check everything that a recipient can check.

        Parameters
        ----------
        key
            The publisher's public key, obtained elsewhere. Without it the check can only say that
            the folder is consistent with itself.
        known
            What the recipient knows of the data set's versions, against an old one in the place of
            the newest. A scheme that keeps no versions refuses it.

        Raises
        ------
        IntegrityError
            Saying which check failed.
        """


class ProofSystem(ABC):
    """Proofs of a part of a sealed release, for somebody who does not have the rest.

    A base beside `Seal`, for schemes that can do this.

    Promise: a proof that verifies shows rows that were sealed, and for a condition all of them.
    """

    @abstractmethod
    def prove(self, public: Path, query: Query) -> bytes:
        """Return a proof that can be handed over without the release.

        Raises
        ------
        UsageError
            When the query makes no sense for this release.
        IntegrityError
            When the folder is not what was sealed: nothing is proved of it.
        """

    @abstractmethod
    def verify_proof(
        self,
        proof: bytes,
        *,
        key: Path | None = None,
        known: KnownVersion | None = None,
        asked: Query | None = None,
    ) -> ProvedRows:
        """Check a proof on its own.

        Parameters
        ----------
        key, known
            As for `Seal.verify`.
        asked
            What the recipient wants to know. A proof says itself what it answers: without this it
            may be right, and of a narrower range.

        Raises
        ------
        IntegrityError
            Saying which check failed.
        """
