"""Columns of a release that have other names than in the original: told, or asked for.

A column that is not found is not attacked, which would make a release look safer than it is. So an
audit does not go on while a column of the release may be one of the original's.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher

import pandas as pd

from anonloom.errors import UsageError, comma_list

#: Names that are so much alike, or values that so largely occur in the original, make a guess.
_ALIKE, _SHARED = 0.6, 0.5
#: Distinct values of a column that are compared.
_COMPARED = 5_000


def parse_renames(texts: Sequence[str]) -> dict[str, str]:
    """Read ``age=AGE_YEARS``: the column of the original, and what releases call it.

    Raises
    ------
    UsageError
        When it is not of this form, or says two things of one column.
    """
    results: dict[str, str] = {}
    for text in texts:
        name, equals, other = text.partition("=")
        if not (equals and name and other):
            raise UsageError(
                f"--column must be a column of the original and its name in the release, "
                f"'age=AGE_YEARS'. Got {text!r} instead."
            )
        others = {known for key, known in results.items() if key != name}
        if results.get(name, other) != other or other in others:
            raise UsageError(f"--column {text} contradicts another --column")
        results[name] = other
    return results


def rename_columns(
    original: pd.DataFrame, release: pd.DataFrame, renames: Mapping[str, str], named: str
) -> pd.DataFrame:
    """Give columns of a release the names of the original's.

    Raises
    ------
    UsageError
        When the original lacks a column, or one would be there twice.
    """
    here = {str(name) for name in release.columns}
    for name, other in renames.items():
        if name not in original.columns:
            raise UsageError(f"--column {name}={other}: the original has no column '{name}'")
        if other in here and name in here:
            raise UsageError(
                f"--column {name}={other}: {named} has both columns",
                hint=f"Leave it out, or rename '{name}' in the release.",
            )
    back = {other: name for name, other in renames.items()}
    return release.rename(columns=back)


def refuse_unmatched(
    original: pd.DataFrame,
    release: pd.DataFrame,
    named: str,
    *,
    ignored: Collection[str] = (),
    unpublished: Collection[str] = (),
) -> None:
    """Refuse to go on while a column of the release may be one of the original's.

    Parameters
    ----------
    ignored
        Columns of the release that are none of the original's.
    unpublished
        Columns of the original that are declared not to be published.

    Raises
    ------
    UsageError
        With the unmatched columns of both sides, and what to say.
    """
    before = [str(name) for name in original.columns]
    after = [str(name) for name in release.columns]
    missing = [name for name in before if name not in after and name not in unpublished]
    strange = [name for name in after if name not in before and name not in ignored]
    guesses = _guess_matches(original[missing], release[strange])
    if not guesses:
        return
    lines = "\n".join(
        f"--column {name}={other}    (or, if it is another column, --ignore {other})"
        for name, other in guesses.items()
    )
    raise UsageError(
        f"columns of {named} may be those of the original by another name. Only the original has "
        f"{comma_list(map(repr, missing))}; only the release has {comma_list(map(repr, strange))}",
        hint=f"What is not compared looks safe. Say which is which:\n{lines}",
    )


def _guess_matches(missing: pd.DataFrame, strange: pd.DataFrame) -> dict[str, str]:
    """Pair columns, the likeliest first, each at most once."""
    scores = {
        (name, other): max(_alike(name, other), _overlap(missing[name], strange[other]))
        for name in missing.columns
        for other in strange.columns
    }
    results: dict[str, str] = {}
    for (name, other), score in sorted(scores.items(), key=lambda item: -item[1]):
        if score > 0 and name not in results and other not in results.values():
            results[name] = other
    return results


def _alike(first: str, second: str) -> float:
    """How much alike two names are, from 0; 0 below what makes a guess."""
    words = (re.sub(r"[\W_]+", "", name).casefold() for name in (first, second))
    short, long = sorted(words, key=len)
    if len(short) >= 3 and short in long:
        return 1.0
    ratio = SequenceMatcher(None, short, long).ratio()
    return ratio if ratio >= _ALIKE else 0.0


def _overlap(before: "pd.Series[str]", after: "pd.Series[str]") -> float:
    """Return the share of a release's values that the original has; 0 below what makes a guess."""
    values = after.dropna().unique()[:_COMPARED]
    share = float(pd.Series(values).isin(set(before.dropna())).mean()) if len(values) else 0.0
    return share if share >= _SHARED else 0.0
