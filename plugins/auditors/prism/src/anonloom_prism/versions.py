"""Original and release as an attacker sees them: what is known, and whose values are inferred."""

from collections.abc import Sequence

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import AuditInput, Schema, Table
from anonloom.cells import cell_text
from anonloom.findings import NotAssessable
from anonloom.typing import IntArray
from anonloom_prism.attack import People, logistic
from anonloom_prism.knowledge import Both, Cells, Knowledge, Outputs, as_features, readable
from anonloom_prism.targets import Targets, targets

#: A label with more values is no class that a model would learn.
MOST_LABELS = 50
#: With fewer people nothing can be learned and judged.
FEWEST = 20


@attrs.frozen(eq=False)
class Version:
    """One version of the table: sorts of knowledge, and the people that they are about."""

    known: dict[str, Knowledge]
    people: People


@attrs.frozen(kw_only=True)
class InferenceTask:
    """What is to be inferred; see the parameters of the auditor."""

    sensitive: str
    critical: tuple[str | int | float | bool, ...] | None
    label: str | None
    rows: int | None
    bins: int

    def original(self, table: Table, rng: np.random.Generator) -> tuple[Version, Targets, IntArray]:
        """Return the original; targets of all its rows, and the rows that are used."""
        wanted = self._targets(table.column(self.sensitive), table.schema)
        rows = self._sample_rows(wanted, rng)
        persons = np.arange(len(table)) if table.persons is None else table.persons
        version = self._version(
            table.frame,
            table.schema,
            wanted,
            rows,
            persons[rows],
            ("before", "outputs_before", "both_before"),
        )
        return version, wanted, rows

    def release(
        self, case: AuditInput, wanted: Targets, used: IntArray, rng: np.random.Generator
    ) -> tuple[Version, str]:
        """Return the release, and what must be said about whose values are meant."""
        assert case.original is not None
        release = case.release
        names = ("published", "outputs", "both")
        origin = release.rows_in(case.original)
        if origin is not None:
            rows = np.flatnonzero(np.isin(origin, used))
            of = origin[rows]
            known = case.original.persons
            persons = of if known is None else known[of]
            classes = np.full(len(release), -1, np.int64)
            classes[rows] = wanted.classes[of]
            wanted = attrs.evolve(wanted, classes=classes)
            message = "the values to infer are those of the original rows"
        elif self.sensitive in release.frame:
            wanted = self._targets(release.frame[self.sensitive], release.schema)
            rows = self._sample_rows(wanted, rng)
            persons = np.arange(len(rows))
            message = "published rows correspond to no known person: their own values are inferred"
        else:
            raise NotAssessable(
                "published rows correspond to no known person, and the release lacks "
                f"'{self.sensitive}'"
            )
        if len(rows) < FEWEST:
            raise NotAssessable(f"fewer than {FEWEST} published rows have a value to infer")
        version = self._version(release.frame, release.schema, wanted, rows, persons, names)
        return version, message

    def _targets(self, series: pd.Series, schema: Schema) -> Targets:
        return targets(series, schema[self.sensitive].type, self.critical, self.bins)

    def _sample_rows(self, wanted: Targets, rng: np.random.Generator) -> IntArray:
        rows = np.flatnonzero(wanted.classes >= 0)
        if len(rows) < FEWEST:
            raise NotAssessable(f"fewer than {FEWEST} rows have a value to infer")
        if self.rows is not None and len(rows) > self.rows:
            rows = np.sort(rng.choice(rows, self.rows, replace=False))
        return rows

    def _version(
        self,
        frame: pd.DataFrame,
        schema: Schema,
        wanted: Targets,
        rows: IntArray,
        persons: NDArray[np.integer],
        names: Sequence[str],
    ) -> Version:
        """Make the knowledge: of attributes, of a model's answers, and of both."""
        frame = frame.take(rows).reset_index(drop=True)
        types = {column.name: column.type for column in schema}
        attributes = [
            name
            for name in schema.names_with_role("quasi", "sensitive", "other")
            if name != self.sensitive and name in frame
        ]
        cells = Cells(as_features(readable(frame, attributes, dict(types))))
        known: dict[str, Knowledge] = {names[0]: cells}
        labels = self._labels(frame)
        if labels is not None:
            # The model may use whatever its version of the table has, the sensitive column too.
            every = [*attributes, *([self.sensitive] if self.sensitive in frame else [])]
            if every:
                learned = as_features(readable(frame, every, dict(types)))
                known[names[1]] = Outputs(logistic, learned, labels)
                known[names[2]] = Both(cells, known[names[1]])
        people = People(
            attrs.evolve(wanted, classes=wanted.classes[rows]), persons.astype(np.int64)
        )
        return Version(known, people)

    def _labels(self, frame: pd.DataFrame) -> IntArray | None:
        """Number of every row's label; None when there is none that could be learned."""
        if self.label is None or self.label not in frame:
            return None
        texts = [cell_text(value) for value in frame[self.label]]
        codes, values = pd.factorize(np.array(texts, object), sort=True)
        return codes.astype(np.int64) if 2 <= len(values) <= MOST_LABELS else None
