"""The versions of a table that are learned from: original, anonymized, sampled; as features."""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import AuditInput, Release, Table
from anonloom.cells import cell_text
from anonloom.findings import NotAssessable
from anonloom.typing import BoolArray, IntArray
from anonloom_learning.encoding import Features, encode
from anonloom_linkage.aligned_columns import AlignedColumn, align_columns, shared_columns

ROLES = frozenset({"quasi", "sensitive", "label", "other"})

#: A label with more values is no class.
MOST_CLASSES = 50


@attrs.frozen(eq=False)
class Version:
    """One version of the table; rows without a label are left out.

    Attributes
    ----------
    name
        What it is called: original, anonymized or sampled.
    rows
        (rows x features).
    labels
        Number of every row's label.
    people
        Number of every row's person in the original, -1 where that is not known.
    """

    name: str
    rows: Features = attrs.field(repr=False)
    labels: IntArray = attrs.field(repr=False)
    people: IntArray = attrs.field(repr=False)


@attrs.frozen(eq=False)
class Lesson:
    """What is to be learned, and what from.

    Attributes
    ----------
    versions
        The original first, the release last.
    label
        Name of the column that is predicted.
    classes
        How many values it has.
    shares
        Which features are shares of values of a category.
    positive
        The value whose precision and recall are asked for; None for means over all values.
    about
        Says which value that is.
    people
        How many persons the original has.
    notes
        What every figure assumes.
    """

    versions: tuple[Version, ...]
    label: str
    classes: int
    shares: BoolArray = attrs.field(repr=False)
    positive: int | None
    about: str
    people: int
    notes: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Question:
    """What was asked for, see the parameters of the auditor."""

    label: str
    positive: str | None
    features: tuple[str, ...] | None
    rows: int | None
    widths: bool

    def lesson(self, case: AuditInput, rng: np.random.Generator) -> Lesson:
        """Encode all versions.

        Raises
        ------
        NotAssessable
            When there is nothing to learn, or nothing to learn from, or the label never takes the
            value that is to be the positive one.
        """
        assert case.original is not None
        before = [] if case.before_sampling is None else [case.before_sampling]
        releases = [*before, case.release]
        names = ("original", "anonymized", "sampled")[: 1 + len(releases)]
        present = shared_columns(case.original, releases, ROLES)
        label = self._label(case.original, releases, present)
        wanted = self._feature_names(case.original)
        columns = align_columns(
            case.original, releases, [name for name in wanted if name in present]
        )
        people, count = _people(case, releases)
        kept, notes = self._select_rows(label, names, people, count, rng)
        sides = [side[rows] for side, rows in zip(label.sides, kept, strict=True)]
        encoded = encode(
            [
                attrs.evolve(
                    column,
                    sides=tuple(side[rows] for side, rows in zip(column.sides, kept, strict=True)),
                )
                for column in columns
            ],
            [len(rows) for rows in kept],
            widths=self.widths,
        )
        if not len(encoded.shares):
            raise NotAssessable("no column varies that the label could be learned from")
        absent = tuple(name for name in wanted if name not in present)
        positive, about = self._positive(label)
        return Lesson(
            versions=tuple(
                Version(name, rows, side.astype(np.int64), of[which])
                for name, rows, side, of, which in zip(
                    names, encoded.rows, sides, people, kept, strict=True
                )
            ),
            label=self.label,
            classes=label.axis.value_count,
            shares=encoded.shares,
            positive=positive,
            about=about,
            people=count,
            notes=(*notes, *_not_learned(encoded.left_out, absent), *_unread(columns, names)),
        )

    def _label(
        self, original: Table, releases: Sequence[Release], present: Sequence[str]
    ) -> AlignedColumn:
        if self.label not in present:
            raise NotAssessable(f"the release lacks the label '{self.label}'")
        values = original.encode_column(self.label).axis.value_count
        if values < 2:
            raise NotAssessable(f"the label '{self.label}' takes fewer than two values")
        if values > MOST_CLASSES:
            raise NotAssessable(f"the label '{self.label}' takes more than {MOST_CLASSES} values")
        return align_columns(original, releases, [self.label])[0]

    def _feature_names(self, original: Table) -> tuple[str, ...]:
        every = original.schema.names_with_role("quasi", "sensitive", "label", "other")
        asked = every if self.features is None else self.features
        # Without a say of the user, a second label is no feature: it is an answer, too.
        answers = original.schema.names_with_role("label") if self.features is None else ()
        return tuple(name for name in asked if name not in (self.label, *answers))

    def _positive(self, label: AlignedColumn) -> tuple[int | None, str]:
        """Number of the positive value, and which one it is."""
        axis, name = label.axis, self.label
        if self.positive is not None:
            texts = axis.texts(np.arange(axis.value_count))
            if self.positive not in texts:
                raise NotAssessable(
                    f"'positive' must be a value of the label '{name}'. "
                    f"Got {self.positive!r} instead."
                )
            return texts.index(self.positive), f"Positive is {self.positive!r} of '{name}'."
        if axis.value_count > 2:
            return None, f"The plain mean over the values of '{name}', each positive in its turn."
        none, some = label.counts(0)[:2].tolist()
        which = "last of the two equally frequent values" if none == some else "rarer value"
        # Of two equally frequent values the last: 1 rather than 0, yes rather than no.
        return int(some <= none), f"Positive is the {which} of '{name}'."

    def _select_rows(
        self,
        label: AlignedColumn,
        names: Sequence[str],
        people: Sequence[IntArray],
        count: int,
        rng: np.random.Generator,
    ) -> tuple[list[IntArray], list[str]]:
        """Rows of every version that are used, the same people as far as they are published."""
        turn = rng.permutation(count).astype(float)
        kept, notes, cut = [], [], []
        for name, side, of in zip(names, label.sides, people, strict=True):
            labelled = np.flatnonzero(side < label.axis.value_count)
            unknown = len(side) - len(labelled)
            if unknown:
                notes.append(
                    f"{unknown} of {len(side)} rows of the {name} table have no single value of "
                    "the label and are left out"
                )
            if self.rows is not None and len(labelled) > self.rows:
                cut.append(name)
                turns = np.where(of >= 0, turn[of], rng.random(len(of)) * count)[labelled]
                labelled = np.sort(labelled[np.argsort(turns, kind="stable")[: self.rows]])
            kept.append(labelled)
        if cut:
            notes.append(f"random samples of {self.rows} rows: {', '.join(cut)}")
        if not all(map(len, kept)):
            raise NotAssessable("a version has no row with a label")
        return kept, notes


def positive_text(value: str | int | float | bool | None) -> str | None:
    """Write a value of the label as its axis does."""
    return None if value is None else cell_text(value)


def _people(case: AuditInput, releases: Sequence[Release]) -> tuple[list[IntArray], int]:
    """Person of every row of every version, and how many there are."""
    assert case.original is not None
    persons = case.original.persons
    own = np.arange(len(case.original)) if persons is None else persons.astype(np.int64)
    results = [own]
    for release in releases:
        rows = case.truth if release is case.release else None
        rows = release.rows_in(case.original) if rows is None else np.asarray(rows)
        unknown = np.full(len(release), -1)
        results.append(unknown if rows is None else np.where(rows >= 0, own[rows], -1))
    return results, int(own.max()) + 1


def _not_learned(left_out: Sequence[str], absent: Sequence[str]) -> list[str]:
    return [
        f"not learned from, as {why}: {', '.join(repr(name) for name in some)}"
        for some, why in (
            (left_out, "they have many values and no hierarchy that groups them"),
            (absent, "the release lacks them"),
        )
        if some
    ]


def _unread(columns: Sequence[AlignedColumn], names: Sequence[str]) -> list[str]:
    unread = np.array([column.unread for column in columns]).sum(axis=0)
    return [
        f"{count} cells of the {name} table cannot be read and count as '*'"
        for count, name in zip(unread.tolist(), names, strict=True)
        if count
    ]
