"""Masks: texts in which stars stand for characters."""

import numpy as np
from numpy.typing import NDArray

from anonloom_columns._notations.statements import Anything, Masked, Vocabulary


def read_stars(text: str, _: Vocabulary) -> Anything | None:
    return Anything() if text and not text.strip("*") else None


def read_mask(text: str, vocabulary: Vocabulary) -> Masked | None:
    """Read a text in which stars stand for characters, or one star for the rest.

    Tools that mask bring all values to the length of the longest one, so that a shorter value may
    be meant where it would be followed, or preceded, by stars only.
    """
    longest = vocabulary.lengths.max(initial=0)
    if "*" not in text or not longest or len(text) > longest:
        return None
    fixed = _fitting(text, vocabulary)
    if text.find("*") == len(text) - 1 and len(text) < longest:
        rest = np.char.startswith(vocabulary.letters, text[:-1])
        if fixed.any() and (fixed != rest).any():
            return None
        fixed = rest
    return Masked(np.flatnonzero(fixed)) if fixed.any() else None


def _fitting(mask: str, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    width = len(mask)
    result = vocabulary.lengths <= width
    if not result.any():
        return result
    short = vocabulary.letters[result].astype(f"U{width}")
    wanted = np.array([mask]).view(np.uint32)
    stars = wanted == ord("*")
    fits = np.zeros(len(short), bool)
    for align in (np.char.ljust, np.char.rjust):
        letters = align(short, width).astype(f"U{width}").view(np.uint32).reshape(-1, width)
        fits |= ((letters == wanted) | stars).all(axis=1)
    result[result] = fits
    return result
