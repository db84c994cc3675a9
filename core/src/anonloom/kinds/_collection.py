"""What a collector returns: the release, and what checks and audits need to know beside it."""

from typing import Any

import attrs

from anonloom._representation import short_repr
from anonloom.data._audit_input import Draw
from anonloom.data._classes import Classes
from anonloom.data._release import Release
from anonloom.data._table import Table


@short_repr
@attrs.frozen(eq=False)
class SamplingRecord:
    """What samplers drew from; for audits, and never published.

    Attributes
    ----------
    before
        The release as it was before the sampler that follows the generalizer; None without one.
    presample
        What the samplers drew that stand before any partitioner; None without one, and where rows
        cannot be traced to the source.
    """

    before: Release | None = None
    presample: Draw | None = None


@short_repr
@attrs.frozen(eq=False)
class Collection:
    """The result of a collection.

    Attributes
    ----------
    release
        What is to be published.
    sampling
        What samplers drew from.
    prepared, classes
        The table of which classes were made, and the classes, where one party holds them: a
        transformation can be written of these, to be applied to other rows.
    trace
        What each party of a transport saw, where it was kept. It holds what people sent: it is
        evidence for auditors, and never published.
    """

    release: Release
    sampling: SamplingRecord = SamplingRecord()
    prepared: Table | None = None
    classes: Classes | None = None
    trace: Any = None
