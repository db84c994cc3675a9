"""Which columns a projection drops, and why."""

import warnings
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from anonloom import Chart, Finding, StageContext, Table
from anonloom.cells import cell_text
from anonloom.data import Role
from anonloom.errors import UsageError
from anonloom.findings import NotAssessable
from anonloom_prism.admissible import Rule
from anonloom_prism.correlations import Measure
from anonloom_prism.cover import largest
from anonloom_prism.discovery import Question, search
from anonloom_prism.knowledge import absence, readable
from anonloom_prism.selection import Selection, Solver
from anonloom_prism.sensitive_column import sensitive_of
from anonloom_prism.svc import PrismSVC
from anonloom_prism.versions import MOST_LABELS

#: Roles of columns that may be dropped.
ATTRIBUTES: tuple[Role, ...] = ("quasi", "sensitive", "other")


@attrs.frozen(kw_only=True)
class ProjectionTask:
    """What a projection is asked for; see the parameters of the mechanism."""

    sensitive: str | None
    critical: tuple[str | int | float | bool, ...] | None
    correlations: tuple[tuple[str, ...], ...] | None
    measure: Measure
    threshold: float
    size: int
    alpha: float | None
    label: str | None
    max_attributes: int | None
    solver: Solver
    node_limit: int
    rows: int


@attrs.frozen(eq=False)
class Projection:
    """What was decided.

    Attributes
    ----------
    attributes
        All columns that could be dropped, in order, the sensitive one aside.
    kept
        Those that are published.
    correlations
        Sets of which none is published whole.
    selection
        How the choice was made; None when no label had a say.
    """

    sensitive: str
    attributes: tuple[str, ...]
    kept: frozenset[str]
    correlations: tuple[frozenset[str], ...]
    listed: bool
    selection: Selection | None
    label: str | None

    @property
    def dropped_columns(self) -> frozenset[str]:
        """Columns that are not published."""
        return frozenset(self.attributes) - self.kept | {self.sensitive}

    def why(self, name: str) -> str:
        """Why a column is dropped."""
        if name == self.sensitive:
            return "sensitive"
        sets = [correlation for correlation in self.correlations if name in correlation]
        if frozenset({name}) in sets:
            return f"gives critical values of '{self.sensitive}' away by itself"
        if sets:
            others = sorted({other for item in sets for other in item} - {name})
            together = ", ".join(f"'{other}'" for other in others)
            return f"gives critical values of '{self.sensitive}' away together with {together}"
        return "more attributes than may be published"

    def findings(self) -> Iterator[Finding | Chart]:
        """Say what was dropped."""
        order = [
            self.sensitive,
            *(name for name in self.attributes if name in self.dropped_columns),
        ]
        message = "; ".join(f"'{name}': {self.why(name)}" for name in order)
        result = (
            "they were named in the pipeline"
            if self.listed
            else "they were found in the very rows that are published: what is dropped depends on "
            "the data, and tells a little about them"
        )
        yield Finding(
            name="dropped",
            value=len(order),
            unit="columns",
            meaning=f"Columns that are not published. {message}.",
            assumptions=(self._how(),),
        )
        yield Finding(
            name="correlations",
            value=len(self.correlations),
            meaning=f"Sets of attributes that give critical values of '{self.sensitive}' away; at "
            "least one attribute of each is dropped.",
            assumptions=(result, "labels are published and belong to no set"),
        )
        if self.selection is not None:
            yield Finding(
                name="gap",
                value=self.selection.gap,
                better="lower",
                meaning="How much larger the loss of a linear classifier may be than with the best "
                "admissible attributes, as a part of it.",
                assumptions=(self._how(),),
            )
        yield Chart(
            name="attributes",
            kind="table",
            title="What is published, and what is not",
            meaning="Every attribute, and why it is dropped.",
            data={
                "columns": ["column", "published", "why not"],
                "rows": [
                    [name, "no", self.why(name)]
                    if name in self.dropped_columns
                    else [name, "yes", ""]
                    for name in (self.sensitive, *self.attributes)
                ],
            },
        )

    def _how(self) -> str:
        chosen = self.selection
        if chosen is None:
            return "no label says which attributes are worth more: as few as possible are dropped"
        if chosen.by == "settled":
            return "there was nothing to choose"
        size = f"{chosen.points} points that stand for {chosen.rows} rows"
        sure = (
            "no other choice is better" if chosen.exact else f"within {chosen.gap:.2g} of the best"
        )
        return f"chosen for a linear classifier of '{self.label}' on {size}; {sure} on them"


def project(how: ProjectionTask, table: Table, context: StageContext) -> Projection:
    """Decide what is published."""
    schema = table.schema
    sensitive = sensitive_of(schema, how.sensitive)
    labels = schema.names_with_role("label")
    label = how.label or (labels[0] if labels else None)
    attributes = tuple(
        name for name in schema.names_with_role(*ATTRIBUTES) if name not in (sensitive, label)
    )
    sets = _correlations(how, table, sensitive, attributes)
    kept, selection = _published_attributes(how, table, attributes, sets, label, context)
    return Projection(
        sensitive=sensitive,
        attributes=attributes,
        kept=kept,
        correlations=tuple(sorted(sets, key=lambda one: (len(one), sorted(one)))),
        listed=how.correlations is not None,
        selection=selection,
        label=label,
    )


def _correlations(
    how: ProjectionTask,
    table: Table,
    sensitive: str,
    attributes: tuple[str, ...],
) -> set[frozenset[str]]:
    """Return the sets of attributes that must not be published whole."""
    if how.correlations is not None:
        # With the sensitive column in it a set is broken up when that is dropped.
        return {frozenset(some) for some in how.correlations if sensitive not in some}
    try:
        question = Question(
            measure=how.measure, threshold=how.threshold, size=how.size, alpha=how.alpha
        )
        result = search(table.frame, table.schema, sensitive, how.critical, attributes, question)
    except NotAssessable as why:
        if table.column(sensitive).nunique() < 2:
            # Everybody has the same value, or none: no attribute adds to that.
            return set()
        raise UsageError(f"prism-projection: {why}") from None
    return {item.attributes for item in result.found}


def _published_attributes(
    how: ProjectionTask,
    table: Table,
    attributes: tuple[str, ...],
    sets: set[frozenset[str]],
    label: str | None,
    context: StageContext,
) -> tuple[frozenset[str], Selection | None]:
    """Return the attributes that are published, and how they were chosen."""
    number = {name: index for index, name in enumerate(attributes)}
    numbered = [[number[name] for name in item] for item in sets]
    rule = Rule.of(range(len(attributes)), (), numbered, how.max_attributes)
    if rule.is_unconstrained:
        chosen = frozenset(attributes[index] for index in rule.candidates)
        return chosen, Selection(attributes=(), by="settled")
    classes = None if label is None else _classes(table, label)
    if classes is None:
        return frozenset(attributes[index] for index in largest(rule)), None
    rows = np.flatnonzero(classes >= 0)
    seen = table.frame.take(rows)
    varying = [index for index in sorted(rule.candidates) if _varies(seen[attributes[index]])]
    if not varying:
        return frozenset(attributes[index] for index in largest(rule)), None
    types = {column.name: column.type for column in table.schema}
    frame = readable(seen, [attributes[index] for index in varying], dict(types))
    model = PrismSVC(
        correlations=[
            [attributes[index] for index in correlation]
            for correlation in rule.correlations
            if correlation <= set(varying)
        ],
        max_attributes=how.max_attributes,
        solver=how.solver,
        node_limit=how.node_limit,
        rows=how.rows,
        # Whether a number is there belongs to it.
        groups={name: [name, mark] for name in attributes if (mark := absence(name)) in frame},
    )
    with warnings.catch_warnings():
        # The stage says it in its own words.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(frame, classes[rows])
    if how.solver != "greedy" and not model.exact_:
        context.warn(_unproved_warning(how, model.selection_))
    useful = frozenset(number[name] for name in model.attributes_in_.tolist())
    # What never varies helps no classifier, and may still be published.
    every = rule.extend(useful, sorted(rule.candidates - set(varying)))
    return frozenset(attributes[index] for index in every), model.selection_


def _unproved_warning(how: ProjectionTask, selection: Selection) -> str:
    """Say that there may be better attributes, and what helps."""
    why = (
        f"the exact search ended at its limit of {how.node_limit} nodes ('node_limit')"
        if selection.by == "exact"
        else "there are too many attributes for an exact search ('solver: exact' tries it)"
    )
    return (
        "The published attributes are admissible but were not proved to be the best ones for the "
        f"label: {why}. The loss of a linear classifier may be up to {selection.gap:.2g} of it "
        "above the least one."
    )


def _varies(series: Any) -> bool:
    return bool(series.nunique(dropna=False) > 1)


def _classes(table: Table, label: str) -> np.ndarray[tuple[int], np.dtype[np.int64]] | None:
    """Number of every row's label, -1 for missing; None when there is no class to learn."""
    series = table.column(label)
    texts = [
        None if missing else cell_text(value)
        for value, missing in zip(series, series.isna(), strict=True)
    ]
    values = sorted({text for text in texts if text is not None})
    if not 2 <= len(values) <= MOST_LABELS:
        return None
    number = {text: index for index, text in enumerate(values)}
    return np.array([-1 if text is None else number[text] for text in texts], np.int64)
