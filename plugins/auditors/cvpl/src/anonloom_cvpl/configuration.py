"""An attacker: which records are compared, in which space, by which similarity."""

from collections.abc import Mapping, Sequence
from typing import Literal

import attrs
import numpy as np

from anonloom import Release, Schema, Source, StageContext, Table, short_repr
from anonloom_cvpl.evidence import Beyond, LinkageTask
from anonloom_cvpl.hashing import hash_schemes
from anonloom_cvpl.projection import Embedding, Linear, ProjectionSpec
from anonloom_cvpl.similarity import Similarity, Space, space
from anonloom_linkage.aligned_columns import AlignedColumn, align_columns, shared_columns
from anonloom_linkage.blocking import Granularity, Scheme, guess_scheme, guess_schemes, scheme
from anonloom_linkage.features import Encoding
from anonloom_linkage.vectors import SIDES, Fit, Vectors

#: What an attacker may know and compare: Q and A of section 2.1, never the sensitive S.
COMPARED = frozenset({"quasi", "other", "label"})

#: A guessed scheme beside the first makes no more comparisons than this.
MOST_COMPARISONS = 1e9

#: Why `prepared` returns None.
NOTHING = "the tables share no column that varies and of which the release says anything"

#: `reference` is an external projection: it depends on neither of the two tables (Table 4).
FittedOn = Fit | Literal["reference"]
Blocking = dict[str, Granularity] | tuple[str, ...] | None


@attrs.frozen(kw_only=True)
class Configuration:
    """CVPL = tau . s . psi . phi . B (5), but for the threshold, which is swept.

    Attributes
    ----------
    columns
        What is compared; by default every column that both tables show, but sensitive ones.
    blocking
        Keys of the blocks; by default some complementary schemes are guessed; none if empty.
    also
        Further schemes; pairs of any scheme are compared.
    hash_bits, hash_tables
        Block by random corners of the projected space instead.
    fit, reference
        What scales and projection are fitted on; with `reference`, the table of this source.
    exact, beyond
        Blocks with more candidates than this are not searched exactly, and what is done instead;
        all are by default.
    """

    columns: tuple[str, ...] | None = None
    blocking: Blocking = None
    also: tuple[dict[str, Granularity], ...] = ()
    hash_bits: int = 0
    hash_tables: int = 3
    exact: int | None = None
    beyond: Beyond = "approximate"
    encoding: Encoding = attrs.field(factory=Encoding)
    fit: FittedOn = "joint"
    reference: Source | None = None
    projection_spec: ProjectionSpec = attrs.field(factory=ProjectionSpec)
    similarity: Similarity = "cosine"

    def prepare(
        self, original: Table, others: Sequence[Release | Table], context: StageContext
    ) -> "LinkageSetup | None":
        """Bring the tables into one space; None when nothing can be compared."""
        sides = (len(others) + 1,) if self.fit == "reference" else SIDES[self.fit]
        if self.reference is not None:
            others = [*others, self._external(original, context)]
        names = shared_columns(original, others, COMPARED)
        wanted = names if self.columns is None else tuple(n for n in self.columns if n in names)
        keys = self._key_columns()
        aligned = align_columns(original, others, [n for n in names if n in {*wanted, *keys}])
        columns = tuple(column for column in aligned if column.name in wanted)
        vectors = Vectors.of(columns, self.encoding, sides, context.workers)
        if not vectors.parts or not any(_speaks(column) for column in columns):
            return None
        projection = self.projection_spec.fit(vectors, sides, context.rng)
        if isinstance(projection, Linear) and not projection.total > 0:
            return None
        return LinkageSetup(
            configuration=self,
            columns=columns,
            projection=projection,
            space=space(self.similarity, projection, columns),
            schemes=self._schemes(original, aligned, projection, len(others) + 1, context),
            fitted_on=sides,
        )

    def _external(self, original: Table, context: StageContext) -> Table:
        """Load the table that scales and projection are fitted on."""
        assert self.reference is not None
        compared = tuple(column for column in original.schema if column.role in COMPARED)
        # Values that the hierarchies of this pipeline lack may occur elsewhere.
        plain = (attrs.evolve(c, hierarchy=None, publish=None, missing="own") for c in compared)
        return self.reference.load(Schema(tuple(plain)), context)

    def _key_columns(self) -> set[str]:
        return {*(self.blocking or ()), *(name for item in self.also for name in item)}

    def _schemes(
        self,
        original: Table,
        aligned: Sequence[AlignedColumn],
        projection: Linear | Embedding,
        sides: int,
        context: StageContext,
    ) -> tuple[Scheme, ...]:
        if self.hash_bits:
            return hash_schemes(projection, sides, self.hash_bits, self.hash_tables, context.rng)  # type: ignore[return-value]  # it does all that a Scheme does
        if self.blocking is not None:
            first = scheme(aligned, _shared_keys(self.blocking, aligned))
        elif self.also:
            first = guess_scheme(aligned, original.schema.quasi)
        else:
            most = MOST_COMPARISONS / max(len(original), 1)
            return guess_schemes(aligned, original.schema.quasi, most=most)
        return (first, *(scheme(aligned, _shared_keys(asked, aligned)) for asked in self.also))


def _shared_keys(
    asked: Mapping[str, Granularity] | tuple[str, ...], aligned: Sequence[AlignedColumn]
) -> dict[str, Granularity]:
    """Leave out the keys that some table does not show: they divide nobody."""
    names = {column.name for column in aligned}
    auto: Granularity = "auto"
    keys = asked if isinstance(asked, Mapping) else dict.fromkeys(asked, auto)
    return {name: how for name, how in keys.items() if name in names}


def _speaks(column: AlignedColumn) -> bool:
    """Whether any cell of the release says anything."""
    return bool((~column.open[column.sides[1]]).any())


@short_repr
@attrs.frozen(eq=False)
class LinkageSetup:
    """Two or more tables in the space of one configuration."""

    configuration: Configuration
    columns: tuple[AlignedColumn, ...]
    projection: Linear | Embedding
    space: Space
    schemes: tuple[Scheme, ...]
    fitted_on: tuple[int, ...] = (0, 1)

    def task(self, published: int = 1, attacked: int = 0) -> LinkageTask:
        """Compare one table with another."""
        own = self.configuration
        return LinkageTask(
            self.space, self.schemes, attacked, published, exact=own.exact, beyond=own.beyond
        )

    def null_task(self, size: int, rng: np.random.Generator) -> LinkageTask:
        """Compare the original with itself, among as many candidates as the release has."""
        task = self.task(published=0)
        records = task.records
        if size + 1 >= records:
            return task
        among = np.sort(rng.choice(records, size, replace=False))
        return attrs.evolve(task, among=among)

    def has_larger_blocks(self, most: int) -> bool:
        """Whether a block has more candidates than this."""
        whole = attrs.evolve(self.task(), exact=None)
        return any(
            np.diff(blocks.candidates.starts).max(initial=0) > most
            for some in whole.blocks()
            for blocks in some
        )

    @property
    def words(self) -> str:
        """What a report says of the configuration."""
        own = self.configuration
        names = ", ".join(column.name for column in self.columns)
        blocks = " or ".join(scheme_.words for scheme_ in self.schemes)
        projection: str = own.projection_spec.method
        if isinstance(self.projection, Linear) and projection == "pca":
            number = self.projection.components
            projection = f"pca with {number} components, fitted on {own.fit}"
        return (
            f"columns: {names}; blocks: {blocks}; categories: {own.encoding.categories}; "
            f"projection: {projection}; similarity: {own.similarity}"
        )
