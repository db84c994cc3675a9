"""Integrity schemes: proofs that a release is what was published, or that work was done."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs


class IntegrityScheme(ABC):
    """Base of the two sorts of scheme. `verify` raises; it never returns a verdict."""

    # Both sorts verify, each its own thing: only the name is common.
    verify: Callable[..., Any]


@attrs.frozen
class Sealed:
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
class Verified:
    """What a successful verification covers, and what it does not."""

    covers: tuple[str, ...]
    does_not_cover: tuple[str, ...] = ()


class Seal(IntegrityScheme):
    """Integrity of data: seals a published folder.

    Promise: any flipped byte, any added, dropped, renamed or reordered content of a sealed file is
    noticed by `verify`.
    """

    @abstractmethod
    def seal(self, public: Path, private: Path) -> Sealed:
        """Seal all files of the public folder; keys come from the system's randomness."""

    @abstractmethod
    def verify(self, public: Path, *, key: Path | None = None) -> Verified:
        """Check everything that a recipient can check.

        Parameters
        ----------
        key
            The publisher's public key, obtained elsewhere. Without it the check can only say that
            the folder is consistent with itself.

        Raises
        ------
        IntegrityError
            Saying which check failed.
        """


class WorkCheck(IntegrityScheme):
    """Integrity of computation: hidden controls among the jobs of untrusted workers.

    Promise: omitted work goes unnoticed at most with the probability that `size` states.
    """

    @abstractmethod
    def size(self, **campaign: Any) -> Mapping[str, Any]:
        """Return how many controls to use, and the probability of noticing an omission."""

    @abstractmethod
    def assign(self, jobs: Any, workers: int) -> Any:
        """Return each worker's batch, and the private key that tells the controls."""

    @abstractmethod
    def verify(self, key: Any, answers: Any) -> Any:
        """Return the evidence per worker.

        Raises
        ------
        IntegrityError
            When a worker is shown to have omitted work.
        """
