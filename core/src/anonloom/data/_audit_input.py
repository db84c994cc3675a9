"""What an auditor gets to see: the original, the release, and whatever else there is."""

from collections.abc import Mapping
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom._representation import short_repr
from anonloom.data._release import Release
from anonloom.data._table import Table

Need = Literal[
    "original", "before_sampling", "truth", "control", "other_releases", "groups", "trace"
]

#: A column says nothing when a larger share of its cells cannot be read.
MOST_UNREAD = 0.01


@attrs.frozen(eq=False)
class Draw:
    """A sample that was drawn before there were classes.

    Attributes
    ----------
    among, kept
        Rows of the source (as in `Table.origin`): all that could be drawn, and those that were.
    """

    among: NDArray[np.int64] = attrs.field(repr=False)
    kept: NDArray[np.int64] = attrs.field(repr=False)


@short_repr
@attrs.frozen(eq=False)
class AuditInput:
    """The evidence.

    Attributes
    ----------
    release
        What is to be published.
    original
        The table before any stage, holdout taken out.
    before_sampling
        The release as it was before a sampler, when there is one.
    presample
        What samplers that stand before any partitioner drew, when there are some and the rows can
        be traced.
    truth
        For every row of the release its true row of the original, -1 for none; for evaluation.
    control
        Rows held out before any stage: people who are not in the release. Compare values, not
        codes: the axes of the original know nothing of these rows.
    other_releases
        Other releases of the same population, earlier ones perhaps. Whose their rows are is known
        where their `origin` is.
    groups
        For every row of the original the number of its group (role `group`).
    trace
        What each party of a transport saw, when one was used.
    demanded
        Least number of rows that the declared privacy demands of a published class; None when
        nobody declared any.
    unread
        By column, how many cells of the release are in no form that can be read.
    attacked
        Most people of the original on whom an attack is tried, drawn at random; None for all.
    """

    release: Release
    original: Table | None = None
    before_sampling: Release | None = None
    presample: Draw | None = None
    truth: NDArray[np.int64] | None = None
    control: Table | None = None
    other_releases: tuple[Release, ...] = ()
    groups: NDArray[np.int32] | None = None
    trace: Any = None
    demanded: int | None = None
    unread: Mapping[str, int] = attrs.field(factory=dict)
    attacked: int | None = 5_000

    def people_attacked(self, seed: int) -> NDArray[np.int64]:
        """Return the rows of the original on whom attacks are tried: the same ones for each."""
        people = np.arange(0 if self.original is None else len(self.original))
        if self.attacked is None or len(people) <= self.attacked:
            return people
        # Imported here: methods import this module, and kinds import tables.
        from anonloom.kinds import stream

        rng = stream(seed, "people")
        return np.sort(rng.choice(people, self.attacked, replace=False))

    def has(self, need: Need) -> bool:
        """Whether the evidence is there."""
        result = getattr(self, need)
        return bool(result) if need == "other_releases" else result is not None
