"""Among whom the published hide: classes before sampling, and whom an earlier draw left out."""

import attrs
import numpy as np

from anonloom import AuditInput, Release
from anonloom.lazy import pd
from anonloom.typing import FloatArray, IntArray
from anonloom_disclosure.counting import PublishedClasses, class_sizes, persons_of

UNKNOWN = "no population beyond the release is known: the same as the prosecutor's"


@attrs.frozen(eq=False)
class Population:
    """What is known of the table from which the release was drawn.

    Attributes
    ----------
    sizes
        |EC|: size of every published class before the sampler that follows the generalizer; its
        size in the release where there was none.
    before
        All classes as they were before that sampler, or None without one.
    drawn
        Share of the table that samplers kept before there were classes, 1 without any.
    known
        In which words the population is known; `UNKNOWN` when no sample was drawn.
    complete
        Whether it is known that nobody beyond `sizes` was left out.
    """

    sizes: IntArray
    before: PublishedClasses | None
    drawn: float
    known: str
    complete: bool

    @classmethod
    def of(cls, case: AuditInput, published: PublishedClasses) -> "Population":
        """Find the classes of a release among those before sampling."""
        before = case.before_sampling
        drawn, words = _sampling_share(case, published.unit)
        if before is None:
            sizes, whole = published.sizes, None
        else:
            sizes = _sizes_before(case, before, published)
            whole = PublishedClasses.of(before, persons_of(case, before))
        if words:
            known = words
        elif before is not None:
            known = "the population is the table before sampling"
        else:
            known = UNKNOWN
        return cls(sizes, whole, drawn, known, known != UNKNOWN or _all_are_there(case))

    @property
    def is_sample(self) -> bool:
        """Whether it is known that a sample was drawn."""
        return self.known != UNKNOWN

    def risk(self, sizes: IntArray) -> FloatArray:
        """JR: the chance to link a person to her record, in classes of these sizes.

        Section 6.3.1 of Anonify: the chance that her record was kept, times that of picking it
        among those kept, |EC^mu| / |EC| times 1 / |EC^mu|. An earlier draw kept it with the chance
        `drawn`.
        """
        return np.asarray(self.drawn / sizes, np.float64)

    def certainty(self, published: PublishedClasses) -> FloatArray:
        """C: the chance that the record of a person of each class was kept (section 6.3.2)."""
        return np.asarray(self.drawn * published.sizes / self.sizes, np.float64)


def _sizes_before(case: AuditInput, before: Release, published: PublishedClasses) -> IntArray:
    names = list(case.release.schema.quasi)
    both = pd.concat([before.frame[names], case.release.frame[names]], ignore_index=True)
    groups = Release(schema=case.release.schema, frame=both).groups()
    earlier, later = groups[: len(before)], groups[len(before) :]
    # Classes of the release, found again among those before sampling.
    of_group = np.full(int(groups.max(initial=-1)) + 1, -1, np.int64)
    kept = published.label >= 0
    of_group[later[kept]] = published.label[kept]
    sizes = class_sizes(of_group[earlier], persons_of(case, before))
    sizes = np.r_[sizes, np.zeros(len(published) - len(sizes), np.int64)]
    return np.maximum(sizes, published.sizes)


def _sampling_share(case: AuditInput, unit: str) -> tuple[float, str]:
    """Share of the persons, or rows, that were drawn before there were classes, and its words."""
    draw = case.presample
    if draw is None or case.release.origin is None or not len(draw.among):
        return 1.0, ""
    kept, among = len(draw.kept), len(draw.among)
    if unit == "persons":
        assert case.original is not None
        assert case.original.origin is not None
        assert case.original.persons is not None
        person = np.full(int(case.original.origin.max()) + 1, -1, np.int64)
        person[case.original.origin] = case.original.persons
        kept, among = len(np.unique(person[draw.kept])), len(np.unique(person[draw.among]))
    return kept / among, (
        f"the population is the table before any sample: {kept} of {among} {unit} were drawn "
        "before there were classes, and whoever is sought was drawn with that chance"
    )


def _all_are_there(case: AuditInput) -> bool:
    """Whether every row of the original is in the release, suppressed ones included."""
    if case.original is None or case.release.rows_in(case.original) is None:
        return False
    return len(case.release) + case.release.dropped == len(case.original)
