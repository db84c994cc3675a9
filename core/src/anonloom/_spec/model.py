"""A checked pipeline: everything that a run needs, built and frozen."""

import math
import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from anonloom._registry.boundary import put_around
from anonloom._registry.loading import Entry
from anonloom._representation import short_repr
from anonloom._spec.document import Node
from anonloom.data._schema import Schema
from anonloom.errors import Place
from anonloom.kinds._integrity import Seal
from anonloom.kinds._reporter import Reporter
from anonloom.params import between, distinct, not_empty, param
from anonloom.params._checks import all_of

#: What is counted: persons, or only records, and nothing is said of persons.
Unit = Literal["person", "record"]


@short_repr
@attrs.frozen
class MethodUse:
    """A method where a pipeline uses it.

    Parameters
    ----------
    id : str
        Unique in the pipeline; keys the stage's randomness.
    kind : str
        The kind's YAML key.
    entry : Entry
        The method's descriptor and who offers it.
    method : object
        The method, built.
    place : Place or None
        Where its name is written.
    """

    id: str
    kind: str
    entry: Entry
    method: Any
    place: Place | None = attrs.field(default=None, eq=False)

    def __attrs_post_init__(self) -> None:
        """Put a border around a method that was made in Python, without the registry."""
        put_around(type(self.method), self.entry.label)

    @property
    def name(self) -> str:
        """The method's name."""
        return self.entry.name

    @property
    def runs_as(self) -> str:
        """The key of the kind of core as which a run treats it, or that of its own."""
        return self.entry.runs_as


#: How a figure is compared with its limit.
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


@attrs.frozen
class Condition:
    """A figure that must not be so: ``linkage_excess > 0.05``."""

    finding: str
    comparison: str
    limit: float

    def fails(self, value: float | None) -> bool:
        """Return whether the release must not be published.

        A figure that is missing or not a number fails: what could not be assessed is no evidence
        of safety.
        """
        if value is None or math.isnan(value):
            return True
        return COMPARISONS[self.comparison](value, self.limit)

    def __str__(self) -> str:
        return f"{self.finding} {self.comparison} {self.limit:g}"


@short_repr
@attrs.frozen
class Audit(MethodUse):
    """An auditor where a pipeline uses it, and what stops the release."""

    fail_if: tuple[Condition, ...] = ()


@short_repr
@attrs.frozen
class Data:
    """Where the table comes from, what its columns are, and what else there is for audits.

    Parameters
    ----------
    unit : {"person", "record"}
        What is counted, and what every sentence about the release speaks of.
    """

    source: MethodUse
    schema: Schema
    holdout: float
    other_releases: tuple[Path, ...] = ()
    unit: Unit = "person"


@attrs.frozen
class Suppression:
    """How many rows may be suppressed, and what becomes of them."""

    at_most: float = param(
        help="The largest share of rows that may be suppressed.", default=0.0, check=between(0, 1)
    )
    rows: Literal["star", "drop"] = param(
        help="Suppressed rows stay, with every quasi-identifier '*' and no other value, or are "
        "left out.",
        default="star",
    )
    keep: tuple[str, ...] = param(
        help="Columns of role label or other whose values a starred row keeps.",
        default=(),
        check=distinct(),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse options that contradict each other."""
        if self.keep and self.rows == "drop":
            raise ValueError(
                "'keep' is for starred rows, and 'rows: drop' leaves them out; take out one of both"
            )


@attrs.frozen
class Publish:
    """What is written, where and how."""

    to: Path | None = param(
        help="The folder of the outputs, relative to the pipeline file. An existing one is "
        "refused without --replace.",
        default=None,
    )
    formats: tuple[Literal["csv", "parquet"], ...] = param(
        help="The formats of the release.",
        default=("csv",),
        check=all_of(not_empty(), distinct()),
    )
    integrity: Seal | None = param(
        help="How readers can notice a change of the release.", default=None
    )
    reporters: tuple[Reporter, ...] | None = param(
        help="What writes a report for people; by default what is installed and declares itself "
        "a default.",
        default=None,
    )
    shuffle: bool = param(
        help="Publish rows in random order; the order of the input can tell who is who.",
        default=True,
    )
    transformation: bool = param(
        help="Publish transformation.json, with which others can replay the regions.",
        default=False,
    )
    intervals: Literal["cells", "bounds"] = param(
        help="In Parquet, an interval is one text, or two number columns NAME_min and NAME_max.",
        default="cells",
    )

    def __attrs_post_init__(self) -> None:
        """Refuse options that contradict each other."""
        if self.intervals == "bounds" and "parquet" not in self.formats:
            raise ValueError(
                "'intervals: bounds' is for Parquet; write 'formats: [parquet]', or "
                "'formats: [csv, parquet]'"
            )


@short_repr
@attrs.frozen
class GridCase:
    """One run of an experiment.

    Parameters
    ----------
    label : str
        Unique in the experiment.
    values : mapping
        Path -> plain value: what this run changes.
    spec : PipelineSpec
        The pipeline with these values.
    name : str
        The part of the label that somebody wrote.
    varied : tuple of str
        The paths whose values make the rest of the label.
    """

    label: str
    values: Mapping[str, object]
    spec: "PipelineSpec"
    name: str = ""
    varied: tuple[str, ...] = ()


@short_repr
@attrs.frozen(eq=False)
class PipelineSpec:
    """A checked pipeline.

    Parameters
    ----------
    name : str
        Its name; the file's stem if it says none.
    seed : int or None
        Seed of the algorithms; None lets the run draw one.
    data : Data
        Source, schema and holdout.
    privacy : tuple of MethodUse
        The privacy models; empty only if the file says ``privacy: none``.
    suppression : Suppression
        The limit, and what becomes of suppressed rows.
    collect : MethodUse
        The collector.
    stages : tuple of MethodUse
        Mechanisms, partitioners, outlier handlers, generalizers, samplers, in order.
    audit : tuple of Audit
        The auditors and what stops the release.
    sections : tuple of Audit
        Methods of kinds that have a section of their own; nothing they find stops the release.
    publish : Publish
        What is written.
    engine : MethodUse or None
        What runs it; None for the installed engine that is the default.
    local_code : bool
        Whether any method is code that belongs to no package.
    grid : tuple of GridCase
        The runs of an experiment; empty if nothing varies. The pipeline itself then is the
        first of them.
    document : Node
        What is written in the file, settings from the command line applied.
    file : Path or None
        The file, if there is one.
    """

    name: str
    seed: int | None = attrs.field(repr=False)
    data: Data
    privacy: tuple[MethodUse, ...]
    suppression: Suppression
    collect: MethodUse
    stages: tuple[MethodUse, ...]
    audit: tuple[Audit, ...]
    publish: Publish
    document: Node = attrs.field(repr=False)
    file: Path | None = None
    local_code: bool = False
    sections: tuple[Audit, ...] = ()
    engine: MethodUse | None = None
    grid: tuple[GridCase, ...] = attrs.field(default=(), repr=False)
    version: int = 1

    @property
    def uses(self) -> tuple[MethodUse, ...]:
        """Every method of the pipeline, in the order in which a run meets them."""
        return (
            self.data.source,
            self.collect,
            *self.privacy,
            *self.stages,
            *self.audit,
            *self.sections,
            *((self.engine,) if self.engine is not None else ()),
        )

    def as_written(self) -> object:
        """Return the document as plain values, for records."""
        return self.document.plain()
