"""Evidence: the releases, who is known to be in which, and whether they can be put together."""

import attrs
import numpy as np

from anonloom import AuditInput, Release, Table, short_repr
from anonloom.typing import BoolArray, IntArray
from anonloom_intersection.candidates import Attack, Candidates

#: A column of which more cells than this cannot be read says nothing.
MOST_UNREAD = 0.01
#: A truthful release covers its people; so many may be missed, by a slip of rounding perhaps.
MOST_UNCOVERED = 0.01


@short_repr
@attrs.frozen(eq=False)
class Evidence:
    """Releases of one population.

    Attributes
    ----------
    releases
        The one that is audited, then the others.
    members
        For every release who of the original is in it, and None where nobody says so.
    published
        The same without those whose rows are suppressed.
    """

    original: Table
    releases: tuple[Release, ...]
    members: tuple[BoolArray | None, ...]
    published: tuple[BoolArray | None, ...]
    known_members: bool = True

    @classmethod
    def of(cls, case: AuditInput, *, known_members: bool = True) -> "Evidence":
        """Collect the releases of a case."""
        assert case.original is not None
        releases = (case.release, *case.other_releases)
        members: list[BoolArray | None] = []
        published: list[BoolArray | None] = []
        for release in releases:
            rows = release.rows_in(case.original)
            if release is case.release and case.truth is not None and (case.truth >= 0).any():
                rows = case.truth
            kept = None if rows is None else rows[~release.suppressed_rows]
            members.append(_marked(rows, len(case.original)))
            published.append(_marked(kept, len(case.original)))
        return cls(case.original, releases, tuple(members), tuple(published), known_members)

    @property
    def attacked(self) -> BoolArray:
        """People who are in every release of which that is known."""
        result = np.ones(len(self.original), bool)
        if self.known_members:
            for members in self.members:
                result &= True if members is None else members
        return result

    @property
    def assumption(self) -> str:
        """What the attacker knows of who is in which release."""
        if not self.known_members:
            return "the attacker takes everybody for a member of every release"
        unknown = sum(members is None for members in self.members)
        if not unknown:
            return "the attacker knows who is in every release"
        return (
            f"nobody says who is in {unknown} of the {len(self.members)} releases: everybody of "
            "the original whom they cover is taken for a member"
        )

    def problem(self, attack: Attack) -> str:
        """Say why the releases cannot be intersected; nothing when they can."""
        reasons = (self._problem_of(number, attack) for number in range(len(self.releases)))
        return next(filter(None, reasons), "")

    def problem_of_values(self, shown: tuple[int, ...], singles: tuple[Candidates, ...]) -> str:
        """Say which release changes the sensitive values of its people; nothing when none does."""
        for number, candidates in zip(shown, singles, strict=True):
            published = self.published[number]
            if published is None:
                continue
            people = published & (candidates.own >= 0)
            wrong = int((people & ~candidates.right).sum())
            if wrong > MOST_UNCOVERED * people.sum():
                return (
                    f"{self._name(number)} lacks the sensitive value of {wrong} of its "
                    f"{int(people.sum())} people where their quasi-identifiers are: values are "
                    "changed"
                )
        return ""

    def _problem_of(self, number: int, attack: Attack) -> str:
        release, regions = self.releases[number], attack.regions[number]
        if not release.truthful:
            return f"{self._name(number)} changes values or makes them up: nothing follows from it"
        unread = {column.name: column.unread[1] for column in regions.columns}
        unread |= {
            name: values.column.unread[shown.index(number) + 1]
            for name, (values, shown) in attack.sensitive.items()
            if number in shown
        }
        for name, cells in unread.items():
            if cells > MOST_UNREAD * len(release):
                return (
                    f"column '{name}': {cells} of {len(release)} cells of {self._name(number)} "
                    "cannot be read"
                )
        covered = np.diff(attack.covering[number].indptr) > 0
        published = self.published[number]
        if published is None:
            people, found = min(len(regions.rows), len(self.original)), int(covered.sum())
        else:
            people, found = int(published.sum()), int((covered & published).sum())
        if found < (1 - MOST_UNCOVERED) * people:
            return (
                f"{self._name(number)} has {people} people of the original, and only {found} of "
                "the original's people lie in its rows: values are changed, or the rows are others'"
            )
        return ""

    def _name(self, number: int) -> str:
        return f"other release {number}" if number else "the release"


def _marked(rows: IntArray | None, people: int) -> BoolArray | None:
    """Mark the people of these rows, -1 for none; None when nobody knows them."""
    if rows is None:
        return None
    result = np.zeros(people, bool)
    result[rows[rows >= 0]] = True
    return result
