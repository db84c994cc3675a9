"""Text at the door: every cell, label and name in one form, without characters that nobody sees.

Two spellings that look the same must be one value. Otherwise ten rows of one person pass for ten
persons, and one illness for ten. Comparing them as equal would not be enough: what is published
could still be told apart by a machine. So text is changed when it is read, in one way everywhere:

1. A tab, a line break and the separators of lines and paragraphs become a blank.
2. Code points of Unicode's categories Cf and Cc and all that are Default_Ignorable_Code_Point are
   taken out: zero-width and soft hyphens, marks of direction, variation selectors, tags, fillers.
3. The text is brought to the form NFC.
4. The joiners U+200C and U+200D stay where a script needs them to write a word: see
   `_needed_joiner`. Emoji are no words: a sequence falls into the emoji that it was made of.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from datetime import date
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonloom.errors import DataError
from anonloom.lazy import pa, pd

#: Cf, Cc and Default_Ignorable_Code_Point as of Unicode 17. Python knows the first two only, and
#: those of the Unicode that it was built with; a table makes results independent of that.
_HIDDEN_RANGES = (
    "0000-001F 007F-009F 00AD 034F 0600-0605 061C 06DD 070F 0890-0891 08E2 115F-1160 17B4-17B5 "
    "180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFFB 110BD 110CD "
    "13430-1343F 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)

#: Letters of the cursive scripts Arabic, Syriac, N'Ko, Mandaic and Adlam that join on both sides,
#: and those that join to the letter before them only (Joining_Type D and R).
_DUAL_JOINING_RANGES = (
    "0620 0626 0628 062A-062E 0633-063F 0641-0647 0649-064A 066E-066F 0678-0687 069A-06BF "
    "06C1-06C2 06CC 06CE 06D0-06D1 06FA-06FC 06FF 0712-0714 071A-071D 071F-0727 0729 072B "
    "072D-072E 074E-0758 075C-076A 076D-0770 0772 0775-0777 077A-077F 07CA-07EA 0841-0845 0848 "
    "084A-0853 0855 0860 0862-0865 0868 0886 0889-088D 088F 08A0-08A9 08AF-08B0 08B3-08B8 "
    "08BA-08C8 1E900-1E943"
)
_RIGHT_JOINING_RANGES = (
    "0622-0625 0627 0629 062F-0632 0648 0671-0673 0675-0677 0688-0699 06C0 06C3-06CB 06CD 06CF "
    "06D2-06D3 06D5 06EE-06EF 0710 0715-0719 071E 0728 072A 072C 072F 074D 0759-075B 076B-076C "
    "0771 0773-0774 0778-0779 0840 0846-0847 0849 0854 0856-0858 0867 0869-086A 0870-0882 088E "
    "08AA-08AC 08AE 08B1-08B2 08B9"
)

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_VIRAMA = 9  # canonical combining class

#: Ra of Bengali, Assamese and Kannada: a joiner between it and the virama chooses its shape.
_RA = frozenset("\u09b0\u09f0\u0cb0")


def _spans(ranges: str) -> list[tuple[int, int]]:
    ends = (span.partition("-") for span in ranges.split())
    return [(int(first, 16), int(last or first, 16)) for first, _, last in ends]


def _characters(ranges: str) -> frozenset[str]:
    return frozenset(chr(index) for lo, hi in _spans(ranges) for index in range(lo, hi + 1))


def _any_of(ranges: str) -> str:
    """Return a class of a regular expression."""
    return "[" + "".join(f"\\U{lo:08X}-\\U{hi:08X}" for lo, hi in _spans(ranges)) + "]"


_DUAL_JOINING = _characters(_DUAL_JOINING_RANGES)
_JOINS_BACK = _DUAL_JOINING | _characters(_RIGHT_JOINING_RANGES)

_BREAK = re.compile("\r\n|[\t-\r\x85\u2028\u2029]")
_JOINERS = re.compile(f"[{_ZWNJ}{_ZWJ}]+")
_HIDDEN = re.compile(_any_of(_HIDDEN_RANGES))
_CHANGES = re.compile(f"{_HIDDEN.pattern}|{_BREAK.pattern}")
_HIDDEN_BUT_JOINERS = re.compile(f"(?![{_ZWNJ}{_ZWJ}])(?:{_HIDDEN.pattern})")

#: Wider than a blank to a machine, the same to everybody else.
_BRAILLE_BLANK = "\u2800"

#: No text, and written without any character that is looked for here.
_NO_TEXT = (Number, date)


def normalize_text(text: str) -> str:
    """Bring a text to the one form in which cells, labels and names are used and published."""
    if _is_plain(text):
        return text
    if _CHANGES.search(text) is None and unicodedata.is_normalized("NFC", text):
        return text
    text = _compose(_HIDDEN_BUT_JOINERS.sub("", _BREAK.sub(" ", text)))
    if _JOINERS.search(text) is None:
        return text
    text = _compose(_JOINERS.sub(_needed_joiner, text))
    if _JOINERS.sub(_needed_joiner, text) != text:
        # Marks changed places where a joiner no longer parts them: this is no word of any script.
        text = _compose(_JOINERS.sub("", text))
    return text


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _compose(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _needed_joiner(joiners: re.Match[str]) -> str:
    """Keep one joiner where it changes how a word is written.

    Both kinds stay after a virama: they choose among the forms of a conjunct, and U+200C does so
    only before a letter. U+200D stays between ra and virama where that is a form of its own, and
    U+200C between two letters of a cursive script that would be joined without it.
    """
    text, start, stop = joiners.string, joiners.start(), joiners.end()
    joiner, before, after = text[start], text[max(start - 1, 0) : start], text[stop : stop + 1]
    if _is_virama(before):
        stays = joiner == _ZWJ or after.isalpha()
    elif joiner == _ZWJ:
        stays = before in _RA and _is_virama(after)
    else:
        # Places, not slices: a long text may hold many joiners.
        left = _letter(text, range(start - 1, -1, -1))
        stays = left in _DUAL_JOINING and _letter(text, range(stop, len(text))) in _JOINS_BACK
    return joiner if stays else ""


def _is_virama(character: str) -> bool:
    return character != "" and unicodedata.combining(character) == _VIRAMA


def _letter(text: str, places: Iterable[int]) -> str:
    """Return the first character that is no mark: marks do not part letters."""
    result = (
        text[index] for index in places if unicodedata.category(text[index]) not in ("Mn", "Me")
    )
    return next(result, "")


def visible_form(text: str) -> str:
    """Write a text as its readers take it, to count what they would count.

    'flu', 'Flu', 'flu ' and a 'flu' with a character in it that nobody sees are one illness:
    counted as four, they would make a class of one illness look diverse. So it is with persons.
    """
    if _is_plain(text):
        return " ".join(text.lower().split())
    plain = _HIDDEN.sub("", _BREAK.sub(" ", text)).replace(_BRAILLE_BLANK, " ")
    folded = unicodedata.normalize("NFKC", plain).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def changed_cells(series: Any) -> int:
    """Count the cells of a column that are not in the form of `normalize_text`."""
    return normalize_column(series)[1]


def normalize_column(series: Any, null: Collection[str] = ()) -> tuple[Any, int]:
    """Bring the texts of a column to one form; whatever is no text stays as it is.

    Each distinct cell is looked at once, and none where no byte of a column can be part of a text
    that changes.

    Parameters
    ----------
    null
        Texts that stand for a missing value; a cell that has become one of them is missing.

    Returns
    -------
    series
        The same object where nothing changed.
    changed
        How many cells changed.

    Raises
    ------
    DataError
        When cells are lists or the like, which have texts inside.
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _normalize_categories(series, null)
    if not _may_hold_text(series.dtype) or _plain(series):
        return series, 0
    try:
        codes, distinct = pd.factorize(series)
    except TypeError:
        raise DataError(
            f"column '{series.name}': its cells are no single values; a cell must be one text, "
            "number, date or truth value"
        ) from None
    texts, changed = _normalize_cells(distinct, null)
    # The code of a missing cell, -1, finds the last.
    hit = np.append(changed, False)[codes]
    if not hit.any():
        return series, 0
    cells = series.to_numpy(dtype=object, copy=True)
    cells[hit] = texts[codes[hit]]
    return pd.Series(cells, series.index, series.dtype, series.name), int(hit.sum())


def _normalize_categories(series: Any, null: Collection[str]) -> tuple[Any, int]:
    categories = series.cat.categories
    if not _may_hold_text(categories.dtype) or _plain(categories):
        return series, 0
    texts, changed = _normalize_cells(categories, null)
    if not changed.any():
        return series, 0
    codes = series.cat.codes.to_numpy()
    # Spellings of one text become one category; those of a missing value none.
    which, kept = pd.factorize(texts)
    merged = pd.Categorical.from_codes(
        np.append(which, -1)[codes],
        categories=pd.Index(kept, dtype=categories.dtype),
        ordered=series.cat.ordered,
    )
    count = int(np.append(changed, False)[codes].sum())
    return pd.Series(merged, series.index, name=series.name), count


def _normalize_cells(
    cells: Any, null: Collection[str]
) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
    """Return distinct cells with their texts in one form, and which of them changed."""
    result = np.empty(len(cells), object)
    result[:] = list(cells)
    changed = np.zeros(len(result), bool)
    for index, cell in enumerate(result):
        if not isinstance(cell, str) and isinstance(cell, _NO_TEXT):
            continue
        text = str(cell)
        normal = normalize_text(text)
        if normal != text:
            changed[index] = True
            result[index] = None if normal in null else normal
    return result, changed


def _may_hold_text(dtype: Any) -> bool:
    if isinstance(dtype, pd.ArrowDtype):
        kind = dtype.pyarrow_dtype
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    return isinstance(dtype, pd.StringDtype) or bool(pd.api.types.is_object_dtype(dtype))


def _plain(cells: Any) -> bool:
    """Whether Arrow holds these texts, and their bytes say that none of them changes."""
    dtype = cells.dtype
    if not isinstance(dtype, pd.ArrowDtype) and getattr(dtype, "storage", "") != "pyarrow":
        return False
    texts = cells.array.__arrow_array__()
    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    return all(map(_harmless, chunks))


def _harmless(texts: Any) -> bool:
    """Whether all characters are visible and below U+0300, where the first mark is.

    Texts of such characters are in the form NFC: most of those in Latin letters.
    """
    if pa.types.is_string(texts.type):
        width: type[np.integer] = np.int32
    elif pa.types.is_large_string(texts.type):
        width = np.int64
    else:
        return False
    _, ends, data = texts.buffers()
    if data is None or not len(texts):
        return True
    places = np.frombuffer(ends, width)[texts.offset : texts.offset + len(texts) + 1]
    written = np.frombuffer(data, np.uint8)[places[0] : places[-1]]
    if not len(written):
        return True
    lowest, highest = written.min(), written.max()
    if lowest < ord(" ") or highest >= 0xCC:  # the first byte of U+0300
        return False
    if highest < 0x7F:
        return True
    # U+0080 to U+009F and U+00AD are C2 and another byte.
    after = written[1:][written[:-1] == 0xC2]
    return not ((written == 0x7F).any() or ((after < 0xA0) | (after == 0xAD)).any())
