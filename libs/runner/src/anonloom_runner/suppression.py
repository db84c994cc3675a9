"""Suppressed rows: starred or dropped, withheld where a class fails, never more than allowed.

A starred row is in no class, and no model judges it. Therefore it says nothing: its
quasi-identifiers are `*`, and every other cell is missing, but for the columns that the pipeline
lets it keep. However a row came to be starred, `settle` sees to that.
"""

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Release
from anonloom.cells import STAR
from anonloom.errors import PrivacyError
from anonloom.spec import Suppression
from anonloom_runner.check import ModelVerdicts

__all__ = [
    "refuse_excess_suppression",
    "withhold_failing",
]


def star(release: Release, rows: NDArray[np.bool_]) -> Release:
    """Return the release with every quasi-identifier of these rows published as `*`."""
    frame = release.frame.copy(deep=False)
    for name in release.schema.quasi:
        cells = frame[name]
        if STAR not in cells.cat.categories:
            cells = cells.cat.add_categories(STAR)
        codes = cells.cat.codes.to_numpy().copy()
        codes[rows] = cells.cat.categories.get_loc(STAR)
        frame[name] = type(cells.array).from_codes(codes, dtype=cells.dtype)
    labels = None if release.classes is None else np.where(rows, -1, release.classes)
    return attrs.evolve(release, frame=frame, classes=labels)


def settle(release: Release, rule: Suppression) -> Release:
    """Return the release with its suppressed rows as the pipeline wants them: bare, or left out."""
    return (
        drop_suppressed(release) if rule.rows == "drop" else release.strip_starred_rows(rule.keep)
    )


def withhold_failing(
    release: Release,
    rule: Suppression,
    judge: Callable[[Release], ModelVerdicts],
    may_withhold: Callable[[], bool],
) -> tuple[Release, ModelVerdicts]:
    """Judge a release; withhold classes that fail until none does, where that is allowed.

    Parameters
    ----------
    judge
        Judges a release by every model.
    may_withhold
        Asked once, when a class fails: whether failing classes may be withheld at all. What is
        returned may still fail where they may not.
    """
    allowed: bool | None = None
    while True:
        release = settle(release, rule)
        verdicts = judge(release)
        failing = np.any([np.zeros(len(release), bool), *(v.failing for v in verdicts)], axis=0)
        # Without quasi-identifiers no row can be withheld.
        if not failing.any() or not release.schema.quasi:
            return release, verdicts
        if allowed is None:
            allowed = may_withhold()
        if not allowed:
            return release, verdicts
        release = star(release, failing)


def drop_suppressed(release: Release) -> Release:
    """Leave suppressed rows out of the frame; they still count as lost."""
    suppressed = release.suppressed_rows
    kept = release.take(np.flatnonzero(~suppressed))
    return attrs.evolve(kept, dropped=release.dropped + int(suppressed.sum()))


def rate(release: Release) -> float:
    """Share of the rows that suppression took, of all rows that could have been published."""
    total = len(release) + release.dropped
    return (int(release.suppressed_rows.sum()) + release.dropped) / total if total else 0.0


def refuse_excess_suppression(release: Release, at_most: float) -> None:
    """Refuse a release that suppresses more than was declared.

    Raises
    ------
    PrivacyError
        With the share and the limit that would pass.
    """
    result = rate(release)
    if result > at_most:
        total = len(release) + release.dropped
        count = int(release.suppressed_rows.sum()) + release.dropped
        # Rounded up, so that the figure that is named does pass.
        enough = np.ceil(result * 10_000) / 10_000
        raise PrivacyError(
            f"the release is not published: {count} of {total} rows are suppressed "
            f"({result:.2%}), more than 'suppression: at_most' allows ({at_most:.2%})",
            hint=f"Nothing was written. 'suppression: {{at_most: {enough:g}}}' would pass."
            + _of_classes(release),
        )


def _of_classes(release: Release) -> str:
    """Say how many rows no method suppressed: their class has nothing left but `*`."""
    if release.classes is None:
        return ""
    count = int((release.suppressed_rows & (release.classes >= 0)).sum())
    if not count:
        return ""
    return (
        f"\n{count} of them {'is' if count == 1 else 'are'} in classes whose values have only "
        f"'{STAR}' in common: a hierarchy with more levels, or 'publish: set', would help."
    )
