"""Who is looked for, and in which shadow releases each of them is."""

import attrs
import numpy as np

from anonloom import Table, short_repr
from anonloom.errors import DataError
from anonloom.kinds import stream
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_linkage.aligned_columns import align_columns, shared_columns
from anonloom_linkage.features import Encoding
from anonloom_linkage.vectors import Vectors
from anonloom_risk.nearest_rows import KNOWN, nearest_two

#: The attacker knows a target's whole record.
ROLES = KNOWN | {"sensitive"}
#: People among whom the most isolated are looked for.
MOST_CANDIDATES = 5_000
#: Parts of the releases, by turns: in each of them everybody is in one half. The second and the
#: fourth are judged by what the others say; who is worst, by what the third says after the first.
PARTS = 4
ORIGINAL = 0


@short_repr
@attrs.frozen(eq=False)
class ShadowPlan:
    """An experiment: every target is in one half of the releases, the others are drawn anew.

    Attributes
    ----------
    targets
        A row of each target.
    isolation
        Squared distance of each target from the nearest other row.
    inside
        (releases x targets): who is in which.
    persons
        By row, number of the person.
    share
        Share of the other people that each release is made of.
    seed
        From which the draws and the releases' own seeds come.
    """

    targets: IntArray
    isolation: FloatArray
    inside: BoolArray
    persons: IntArray
    share: float
    seed: int = attrs.field(repr=False)

    @classmethod
    def of(cls, table: Table, targets: int, releases: int, share: float, seed: int) -> "ShadowPlan":
        """Choose the targets: one half the most isolated people, the other half at random.

        Raises
        ------
        DataError
            When there are too few people.
        """
        rng = stream(seed, "shadow targets")
        persons = np.arange(len(table)) if table.persons is None else table.persons.astype(np.int64)
        usable = ~table.incomplete
        if table.unknown_persons is not None:
            usable &= ~table.unknown_persons
        # One row of everybody, in no order.
        rows = rng.permutation(np.flatnonzero(usable))
        rows = rows[np.sort(np.unique(persons[rows], return_index=True)[1])][:MOST_CANDIDATES]
        if len(rows) < 2 * targets:
            raise DataError(
                f"shadow releases with {targets} targets take at least {2 * targets} complete "
                f"persons; there are {len(rows)}",
                hint="choose fewer targets: --targets N",
            )
        distance = _isolation(table, rows)
        by_isolation = np.argsort(-distance, kind="stable")
        most = by_isolation[: targets // 2]
        others = rng.permutation(by_isolation[targets // 2 :])[: targets - len(most)]
        chosen = np.concatenate([most, others])
        inside = np.zeros((releases, targets), bool)
        for part in range(PARTS):
            coins = np.arange(len(inside[part::PARTS])) % 2 == 0
            inside[part::PARTS] = rng.permuted(np.tile(coins, (targets, 1)), axis=1).T
        return cls(rows[chosen], distance[chosen], inside, persons, share, seed)

    def rows_of(self, release: int) -> IntArray:
        """Return the rows of the table that a release is made of, in their order."""
        rng = stream(self.seed, f"people of shadow release {release}")
        targets = self.persons[self.targets]
        everybody = np.unique(self.persons)
        others = np.setdiff1d(everybody, targets)
        drawn = rng.permutation(others)[: max(round(self.share * len(others)), 1)]
        chosen = np.concatenate([drawn, targets[self.inside[release]]])
        return np.flatnonzero(np.isin(self.persons, chosen))

    def seed_of(self, release: int) -> int:
        """Return the seed of a release's stages: none is that of another, nor the pipeline's."""
        return int(stream(self.seed, f"shadow release {release}").integers(1 << 62))


def _isolation(table: Table, rows: IntArray) -> FloatArray:
    """Squared distances from the nearest other row."""
    names = shared_columns(table, [], ROLES)
    vectors = Vectors.of(align_columns(table, [], names), Encoding(), (ORIGINAL,))
    if not vectors.parts:
        return np.zeros(len(rows))
    offset, _ = vectors.moments(ORIGINAL)
    points = vectors.project(ORIGINAL, np.eye(vectors.width), offset)
    # The nearest is oneself, or a twin.
    return nearest_two(points[rows], points)[2]
