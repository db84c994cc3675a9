"""What a run found out: figures with their meaning, charts as data, rows for the steward only."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom._attack_interval import excess_interval as excess_interval
from anonloom._attack_interval import normalized_excess as normalized_excess
from anonloom._attack_interval import percent as percent
from anonloom._representation import short_repr

__all__ = [
    "AttackResult",
    "Baseline",
    "Better",
    "Chart",
    "ChartKind",
    "Finding",
    "FindingBuilder",
    "Findings",
    "Item",
    "NotAssessable",
    "Notice",
    "PrivateRows",
    "Question",
    "Status",
    "excess_interval",
    "normalized_excess",
    "percent",
]

Better = Literal["lower", "higher", "neither"]
Status = Literal["measured", "bound", "not assessable", "none detected"]
#: What an attacker may want: the three questions of the European guidance (Article 29 Working
#: Party, Opinion 05/2014), and whether somebody is in the table at all.
Question = Literal["singling out", "linkability", "inference", "membership"]
#: Whom an attack is compared on: people who are known not to be in the release, or people of the
#: original who are taken out of it, which is weaker.
Baseline = Literal["control", "leave-one-out"]
ChartKind = Literal["line", "bars", "heat", "scatter", "density", "tree", "table"]


def _plain(value: Any) -> Any:
    """Turn numpy scalars into Python ones, so that findings are plain data."""
    scalar = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if scalar else value


def _plain_pair(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(_plain(value) for value in values)


def _tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    """Freeze a sequence; type checkers cannot follow a bare `tuple` as a converter."""
    return tuple(values)


@attrs.frozen(kw_only=True)
class Finding:
    """One figure.

    Attributes
    ----------
    name
        Unique within its auditor; `fail_if` refers to it.
    value
        The figure, or None when there is none; `status` then says why.
    interval
        Interval of uncertainty, where one was computed.
    better
        Which direction is good.
    meaning
        One sentence that a steward understands.
    assumptions
        What must hold for the figure to mean that.
    key
        Whether it is one of the few figures that a reader needs first.
    columns
        All columns whose cells it is made of: where too few of these can be read, there is no
        figure. None says that it may be any.
    """

    name: str
    value: float | int | str | None = attrs.field(converter=_plain)
    meaning: str
    better: Better = "neither"
    status: Status = "measured"
    interval: tuple[float, float] | None = attrs.field(default=None, converter=_plain_pair)
    assumptions: tuple[str, ...] = attrs.field(default=(), converter=_tuple)
    unit: str = ""
    key: bool = False
    columns: tuple[str, ...] | None = None

    @property
    def assessable(self) -> bool:
        """Whether a condition can be judged on it; one that cannot be judged has failed."""
        figure = isinstance(self.value, int | float) and not math.isnan(self.value)
        return figure and self.status != "not assessable"


class NotAssessable(Exception):
    """A figure cannot be computed on this table; the text says why."""


@attrs.frozen
class FindingBuilder:
    """Makes the findings of one audit, with what holds for all of them.

    Attributes
    ----------
    assumptions
        What must hold for every figure.
    unfit
        Why nothing can be said of this table, or nothing: then every figure is `not assessable`,
        because a figure of zero would read as safety.
    """

    assumptions: tuple[str, ...] = ()
    unfit: str = ""

    def __call__(
        self,
        name: str,
        value: float | int | str | None,
        meaning: str,
        better: Better = "lower",
        *,
        interval: tuple[float, float] | None = None,
        lacking: str = "",
        status: Status = "measured",
        assumptions: tuple[str, ...] = (),
        unit: str = "",
        key: bool = False,
    ) -> Finding:
        """Make a finding; `lacking` says which evidence there is none of."""
        reason = self.unfit or lacking
        if reason or value is None:
            value, interval, status = None, None, "not assessable"
        return Finding(
            name=name,
            value=value,
            meaning=meaning,
            better=better,
            status=status,
            interval=interval,
            assumptions=(*((reason,) if reason else ()), *self.assumptions, *assumptions),
            unit=unit,
            key=key,
        )

    def about_audit(
        self,
        name: str,
        value: float | int | str,
        meaning: str,
        columns: tuple[str, ...] | None = None,
    ) -> Finding:
        """Make a finding about the audit itself, which holds even where nothing can be said.

        Parameters
        ----------
        columns
            None of them, `()`, where it is made of no cell, such as the configuration.
        """
        return Finding(name=name, value=value, meaning=meaning, columns=columns)


@short_repr
@attrs.frozen(kw_only=True)
class Chart:
    """A picture, or a table, as data; only reporters draw.

    None stands wherever a number is missing.

    Attributes
    ----------
    data
        What its kind asks for:

        - `line`: {series: {"x": [...], "y": [...]}}; a series may carry "low" and "high", the
          interval around its line;
        - `scatter`: the same, and perhaps "labels", what each point is;
        - `density`: the same as `line`, drawn as a filled line;
        - `bars`: {"labels": [...], series: [...]};
        - `heat`: {"x": [...], "y": [...], "z": [[...]]}, a row of z for every y;
        - `tree`: {"label": str, "children": [...]};
        - `table`: {"columns": [names], "rows": [[...]]}, whose cells are texts, numbers or None.
    """

    name: str
    kind: ChartKind
    title: str
    data: Mapping[str, Any]
    x: str = ""
    y: str = ""
    meaning: str = ""


@attrs.frozen
class Notice:
    """What whoever reads the release must know before acting on it.

    Attributes
    ----------
    text
        One or two sentences with counts and names of columns; never a cell of the table.
    privacy
        Whether it concerns the protection of people; the verdict of the release is amber then.
    """

    text: str
    privacy: bool = False


@short_repr
@attrs.frozen(kw_only=True, eq=False)
class PrivateRows:
    """Rows of the original that need the steward's eye; written to the private output only."""

    name: str
    rows: NDArray[np.int64]
    meaning: str
    scores: NDArray[np.float64] | None = None


@attrs.frozen(kw_only=True)
class AttackResult:
    """What one attack on a release achieved, on the scale that all attacks share.

    Attributes
    ----------
    name
        Unique within its auditor.
    success, people
        Share of the people attacked who were found, and how many were attacked.
    baseline, strangers, baseline_kind
        The same of people who are not in the release, and where these come from.
    copy
        What the attack reaches on a copy of the original.
    of_strangers
        Interval of what it reaches on people who are not in the table that it attacks.
    exposed
        People attacked who are found because of the release.
    numbers
        How many people on either side, if all counted alike, would tell as much; None where all
        do.
    reason
        Why nothing can be concluded; empty when something can.
    """

    name: str
    question: Question
    meaning: str
    success: float
    people: int
    baseline: float
    strangers: int
    baseline_kind: Baseline
    copy: float
    of_strangers: tuple[float, float]
    exposed: int = 0
    numbers: tuple[float, float] | None = None
    reason: str = ""

    @property
    def assessable(self) -> bool:
        """Whether the figures say anything."""
        return not self.reason

    @property
    def risk(self) -> float:
        """Share of the people whom chance would not find that the attack finds; may be below 0."""
        return normalized_excess(self.success, self.baseline)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval of the risk; several attacks together need a higher level each."""
        people, strangers = self.numbers or (self.people, self.strangers)
        return excess_interval(self.success, people, self.baseline, strangers, level)

    def findings(self) -> "tuple[Finding, ...]":
        """Return the result as figures, named after the attack."""
        finding = FindingBuilder(unfit=self.reason)
        beside = f"{self.success:.4g} of {self.people:,} people attacked are found"
        outside = f"{self.baseline:.4g} of {self.strangers:,} people outside the release"
        if self.baseline_kind == "leave-one-out":
            outside = (
                f"{self.baseline:.4g} of {self.strangers:,} people of the original who are left "
                "out of the release, a weaker baseline than people who never were in it"
            )
        return (
            finding(
                f"{self.name}_risk",
                self.risk,
                f"{self.question.capitalize()}: share of the people who are found because of the "
                f"release, of those whom chance would not find. {self.meaning}",
                interval=self.interval(),
                assumptions=(beside, outside),
                key=True,
            ),
            finding(f"{self.name}_success", self.success, "Share of the people attacked who are "
                    "found.", "neither"),
            finding(f"{self.name}_baseline", self.baseline, "Share of people outside the release "
                    "who are found as well: what is no fault of the release.", "neither"),
            finding.about_audit(
                f"{self.name}_copy", self.copy, "What the attack reaches on a copy of the original."
            ),
        )  # fmt: skip


Item = Finding | Chart | PrivateRows | Notice | AttackResult


@short_repr
@attrs.frozen
class Findings:
    """All that one auditor, or one stage, found."""

    items: tuple[Item, ...] = attrs.field(default=(), converter=_tuple)

    @classmethod
    def of(cls, *items: "Item | Findings | Iterable[Any]") -> "Findings":
        """Collect findings, charts, private rows and notices, or iterables of them."""
        flat: list[Any] = []
        for item in items:
            if isinstance(item, Findings):
                flat.extend(item.items)
            else:
                flat.extend([item] if isinstance(item, Item) else item)
        return cls(tuple(flat))

    def __iter__(self) -> Iterator[Finding]:
        return (item for item in self.items if isinstance(item, Finding))

    @property
    def charts(self) -> tuple[Chart, ...]:
        """The charts."""
        return tuple(item for item in self.items if isinstance(item, Chart))

    @property
    def private(self) -> tuple[PrivateRows, ...]:
        """The rows for the steward only."""
        return tuple(item for item in self.items if isinstance(item, PrivateRows))

    @property
    def attacks(self) -> tuple[AttackResult, ...]:
        """What attacks achieved."""
        return tuple(item for item in self.items if isinstance(item, AttackResult))

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What readers must know before they act on the release."""
        return tuple(item for item in self.items if isinstance(item, Notice))

    def __getitem__(self, name: str) -> Finding:
        for finding in self:
            if finding.name == name:
                return finding
        raise KeyError(name)

    def get(self, name: str) -> Finding | None:
        """Return the finding with this name, or None."""
        return next((finding for finding in self if finding.name == name), None)

    def __contains__(self, name: object) -> bool:
        return any(finding.name == name for finding in self)
