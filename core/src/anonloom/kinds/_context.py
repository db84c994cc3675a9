"""What a method is given besides its data: randomness, progress, findings, workers, scratch."""

from collections.abc import Callable, Iterable
from pathlib import Path

import attrs
import numpy as np

from anonloom.data._release import Release
from anonloom.findings import Item, Notice


def stream(seed: int, stage: str) -> "np.random.Generator":
    """Return the random numbers of one stage.

    They depend on the seed and the stage's id alone, so that adding a stage shifts no other.
    """
    # Imported here: without a run there are no random numbers.
    import hashlib

    digest = hashlib.sha256(stage.encode()).digest()
    words = [int.from_bytes(digest[index : index + 4], "big") for index in range(0, 16, 4)]
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


def _ignore_progress(done: int, total: int | None) -> None:
    """Do nothing: nobody watches the progress of this run."""


def _ignore_note(text: str) -> None:
    """Do nothing: nobody waits for notes of this run."""


@attrs.frozen(eq=False)
class StageContext:
    """One stage's view of a run.

    Attributes
    ----------
    stage
        Id of the stage.
    seed
        Seed of the algorithms; keys and coins never come from it.
    rng
        The stage's own random numbers.
    workers
        How many processes or threads the stage may use.
    scratch
        A private folder for large intermediate files; it is gone after the run.
    watched
        Whether anybody is told of `progress`: where it is costly to say how far the work is, ask
        this first.
    """

    stage: str = "stage"
    seed: int = attrs.field(default=0, repr=False)
    workers: int = 1
    scratch: Path | None = None
    report: Callable[[int, int | None], None] = attrs.field(default=_ignore_progress, repr=False)
    say: Callable[[str], None] = attrs.field(default=_ignore_note, repr=False)
    found: list[Item] = attrs.field(factory=list, repr=False)
    later: list[Callable[[Release], Iterable[Item]]] = attrs.field(factory=list, repr=False)
    watched: bool = attrs.field(repr=False)
    rng: "np.random.Generator" = attrs.field(init=False, repr=False)

    @watched.default
    def _reports(self) -> bool:
        return self.report is not _ignore_progress

    @rng.default
    def _stream(self) -> "np.random.Generator":
        return stream(self.seed, self.stage)

    def progress(self, done: int, total: int | None = None) -> None:
        """Tell how far the work is."""
        self.report(done, total)

    def note(self, text: str) -> None:
        """Tell whoever waits what takes the time; never a cell of the table."""
        self.say(text)

    def find(self, *items: Item) -> None:
        """Add findings; any method may."""
        self.found.extend(items)

    def find_later(self, make: Callable[[Release], Iterable[Item]]) -> None:
        """Add findings that can be made only when the release is known.

        What a report names must be no cell that the release does not show. A method that wants to
        name one, such as the threshold of a split, is asked for it here, with the rows as they are
        published.

        Parameters
        ----------
        make
            Takes the release and returns the findings. It is not called when nothing is published.
        """
        self.later.append(make)

    def warn(self, text: str, *, privacy: bool = False) -> None:
        """Say what whoever reads the release must know before acting on it; never a cell.

        It stands on the terminal, on the page and in `report.json`. A method that did less than it
        was asked to, stopped at a limit or had to guess says so here, and never does it silently.

        Parameters
        ----------
        privacy
            Whether it concerns the protection of people: the verdict of the release is amber then.
        """
        self.found.append(Notice(text, privacy))
