"""Finding cells of a table in whatever somebody published, printed or logged.

A cell may come out in another notation than the one in which it went in: rounded, with thousands
separators, as seconds since 1970, as the third of March, escaped, compressed. So nothing is looked
for letter by letter. What was said is read in every way in which a reader could read it
(`anonloom_testing.decoders`), and the words, numbers and days found there are compared with those
of the table.

It is made for tables of `anonloom_testing.canaries`, whose cells occur nowhere by chance.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date
from urllib.parse import unquote

import attrs
import numpy as np

from anonloom import Schema
from anonloom.typing import FloatArray
from anonloom_testing.decoders import readable_texts
from anonloom_testing.oracle import Row

#: Letters of a text by which it is known, so that one that was cut off is known, too.
_LETTERS = 10
#: Digits by which a number is known: six of nine say nearly as much as all of them.
_FEWEST_DIGITS, _MOST_DIGITS = 6, 9
#: Units of a day in which moments are counted: days, hours, minutes, s, ms, us, ns.
_PER_DAY = (1.0, 24.0, 1440.0, 86_400.0, 86_400e3, 86_400e6, 86_400e9)
_MINUTE = 1 / 1440

# Nothing that is part of a longer word: digits of a digest are no numbers.
_NUMBER = re.compile(
    r"(?<![^\W_])(?<!\d[.])-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?(?![^\W_])", re.ASCII | re.IGNORECASE
)
# Two numbers of a picture may stand beside each other with a comma or a blank: one such mark is one
# of thousands only before many decimals.
_GROUPED = re.compile(
    r"(?<![^\W_])\d{1,3}"
    r"(?:(?P<many>[.,'_ \u00a0\u2009\u202f\u2019])\d{3}(?:(?P=many)\d{3})+(?:[.,]\d+)?"
    r"|(?P<clear>['_\u00a0\u2009\u202f\u2019])\d{3}(?:[.,]\d+)?"
    r"|(?P<one>[., ])\d{3}[.,]\d{3,})(?![^\W_])"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = "|".join(_MONTHS)
_DAYS = (
    # Year, month, day; then in the other order, which is read in two ways.
    re.compile(r"(?<!\d)(?P<y>\d{4})(?P<s>[-/. _])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)(?!\d)"),
    re.compile(r"(?<!\d)(?P<d>\d{1,2})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<y>\d{4})(?!\d)"),
    re.compile(r"(?<!\d)(?P<m>\d{1,2})(?P<s>[-/.])(?P<d>\d{1,2})(?P=s)(?P<y>\d{4})(?!\d)"),
    re.compile(r"(?<!\d)(?P<y>\d{4}), (?P<m>\d{1,2}), (?P<d>\d{1,2})(?!\d)"),
    # With a short year only where nothing stands beside it: coordinates and versions look alike.
    re.compile(r"(?<![\w./-])(?P<d>\d\d)(?P<s>[-/.])(?P<m>\d\d)(?P=s)(?P<y>\d\d)(?![\w./-])"),
    re.compile(r"(?<![\w./-])(?P<m>\d\d)(?P<s>[-/.])(?P<d>\d\d)(?P=s)(?P<y>\d\d)(?![\w./-])"),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[-/. ]{{0,2}}(?:of )?"
        rf"(?P<n>{_NAMES})[a-z]*[-/., ]{{1,3}}(?P<y>\d{{4}}|\d\d)(?!\d)"
    ),
    re.compile(
        rf"(?<![a-z])(?P<n>{_NAMES})[a-z]*[-/. ]{{1,2}}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
        rf"[-/., ]{{1,3}}(?P<y>\d{{4}}|\d\d)(?!\d)"
    ),
    re.compile(rf"(?<!\d)(?P<y>\d{{4}})[-/. ](?P<n>{_NAMES})[a-z]*[-/. ](?P<d>\d{{1,2}})(?!\d)"),
)
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8}))")
_EPOCH = date(1970, 1, 1).toordinal()


@attrs.frozen
class Sighting:
    """A cell of the table that was found where it must not be.

    Attributes
    ----------
    column, value
        Which cell it is.
    seen
        What stood there, or how it was found.
    """

    column: str
    value: str
    seen: str

    def __str__(self) -> str:
        return f"'{self.value}' of column '{self.column}', written {self.seen!r}"


@attrs.frozen(eq=False)
class _Word:
    column: str
    value: str
    letters: str


@attrs.frozen(eq=False)
class _Place:
    """A number, or a moment in days since 1970; `unit` is one in the last place of it."""

    column: str
    value: str
    at: float
    unit: float


@attrs.frozen(eq=False)
class _Line:
    """Places in ascending order."""

    cells: tuple[_Place, ...]
    places: FloatArray = attrs.field(init=False)

    @places.default
    def _places(self) -> FloatArray:
        return np.array([cell.at for cell in self.cells])

    @classmethod
    def of(cls, cells: Iterable[_Place]) -> "_Line":
        return cls(tuple(sorted(cells, key=lambda place: place.at)))

    def closest(self, at: float, within: float) -> list[_Place]:
        """Return the place that is next to one, if it is near; several cells may lie there."""
        first = int(np.searchsorted(self.places, at - within, side="left"))
        last = int(np.searchsorted(self.places, at + within, side="right"))
        if first == last:
            return []
        apart = np.abs(self.places[first:last] - at)
        return [self.cells[first + int(which)] for which in np.flatnonzero(apart == apart.min())]


@attrs.frozen(eq=False)
class CellDetector:
    """Knows the cells of a table, and finds them again.

    Attributes
    ----------
    words, numbers, moments, days
        What is looked for, by the kind of its column; moments count as the days that they are on,
        too.
    allowed
        Cells, by column and value, that may be told.
    """

    words: tuple[_Word, ...]
    numbers: _Line
    moments: _Line
    days: _Line
    allowed: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(cls, rows: Iterable[Row], schema: Schema) -> "CellDetector":
        """Look for every cell of these rows; a text of few letters says nothing and is left out."""
        words: dict[tuple[str, str], _Word] = {}
        numbers: dict[tuple[str, str], _Place] = {}
        moments: dict[tuple[str, str], _Place] = {}
        for row in rows:
            for column in schema:
                cell = row[column.name]
                if cell is None:
                    continue
                key = (column.name, str(cell))
                letters = _letters(key[1])
                # A column may hold a text where a number should be.
                if letters.isdecimal() and column.type == "number":
                    numbers[key] = _Place(*key, abs(float(key[1])), _unit(key[1]))
                elif letters.isdecimal() and column.type != "category":
                    when = np.datetime64(key[1].replace(" ", "T"), "m").astype(np.int64) * _MINUTE
                    unit = 1.0 if column.type == "date" else _MINUTE
                    moments[key] = _Place(*key, float(when), unit)
                elif len(letters) >= _LETTERS:
                    words[key] = _Word(*key, letters[:_LETTERS])
        days = [attrs.evolve(moment, at=float(np.floor(moment.at))) for moment in moments.values()]
        return cls(
            tuple(words.values()),
            _Line.of(numbers.values()),
            _Line.of(moments.values()),
            _Line.of(days),
        )

    def __len__(self) -> int:
        """Return how many cells are looked for."""
        return len(self.words) + len(self.numbers.cells) + len(self.days.cells) - len(self.allowed)

    def allow_published(self, *published: bytes | str) -> "CellDetector":
        """Return a detector that allows the cells of these texts: the release, a pipeline file."""
        known = {
            (sighting.column, sighting.value)
            for text in published
            for sighting in self.sightings(text)
        }
        return attrs.evolve(self, allowed=self.allowed | known)

    def sightings(self, said: bytes | str) -> list[Sighting]:
        """Return every cell that can be read in something, each once."""
        results: dict[tuple[str, str], Sighting] = {}
        for text in readable_texts(said):
            for item in self._read(text):
                results.setdefault((item.column, item.value), item)
        return [item for key, item in results.items() if key not in self.allowed]

    def _read(self, text: str) -> Iterator[Sighting]:
        plain = _unescape(text)
        for reading in {text, plain}:
            yield from self._words(reading)
            yield from self._numbers(reading)
            yield from self._days(reading.casefold())

    def _words(self, text: str) -> Iterator[Sighting]:
        letters = _letters(text)
        for word in self.words:
            if word.letters in letters:
                yield Sighting(word.column, word.value, word.letters)

    def _numbers(self, text: str) -> Iterator[Sighting]:
        tokens = [result[0] for result in _NUMBER.finditer(text)]
        tokens += [_strip_separators(result) for result in _GROUPED.finditer(text)]
        # Shorter ones are counts and shares.
        tokens = [token for token in dict.fromkeys(tokens) if len(token) > 4]
        for token in tokens:
            number = float(token)
            if not np.isfinite(number):
                continue
            known = _digits(token)
            if known >= _FEWEST_DIGITS:
                width = max(1.0, _last_place(abs(number), known)) * (1 + 1e-9)
                for item in self.numbers.closest(abs(number), width):
                    if abs(abs(number) - item.at) <= max(item.unit, _last_place(item.at, known)):
                        yield Sighting(item.column, item.value, token)
            # All moments lie before 1970, so that no count and no clock is taken for one.
            if number < 0:
                yield from self._epoch_sightings(token, number)

    def _epoch_sightings(self, token: str, at: float) -> Iterator[Sighting]:
        for scale in _PER_DAY:
            days = at / scale
            # As many digits as are written say which day it is.
            precise = min(max(1e-9, abs(days) * 10.0 ** (1 - _digits(token))), 0.05)
            if abs(days - round(days)) < precise:
                yield from self._on(float(round(days)), token)
            for item in self.moments.closest(days, _MINUTE + 1e-9):
                if item.unit < 1:
                    yield Sighting(item.column, item.value, token)

    def _days(self, text: str) -> Iterator[Sighting]:
        for form in _DAYS:
            for result in form.finditer(text):
                for day in _day(result.groupdict()):
                    yield from self._on(day, result[0])

    def _on(self, day: float, written: str) -> Iterator[Sighting]:
        """Yield what lies on a day; a date may also be the day before or after it."""
        for item in self.days.closest(day, 1.0):
            if item.unit >= 1 or item.at == day:
                yield Sighting(item.column, item.value, written)


def _strip_separators(found: re.Match[str]) -> str:
    """Take the marks between thousands out of a number; what is left is that of decimals."""
    mark = found["many"] or found["clear"] or found["one"]
    return found[0].replace(mark, "").replace(",", ".")


def _unit(text: str) -> float:
    """One in the last place of a written number."""
    _, _, decimals = text.partition(".")
    return 10.0 ** -len(decimals) * (1 + 1e-9)


def _digits(token: str) -> int:
    """How many digits of a written number say something, at most as many as are told apart."""
    mantissa = token.casefold().partition("e")[0].replace(".", "").strip("-0")
    return min(len(mantissa), _MOST_DIGITS)


def _last_place(value: float, digits: int) -> float:
    """One in the place of the last of so many digits; none where all digits are there."""
    if digits >= _MOST_DIGITS or not value:
        return 0.0
    return float(10.0 ** (np.floor(np.log10(value)) - digits + 1))


def _day(parts: dict[str, str | None]) -> Iterator[float]:
    """Yield the day, in days since 1970, that a date says; a short year is of either century."""
    named = parts.get("n")
    month = _MONTHS.index(named) + 1 if named else int(parts["m"] or 0)
    year = str(parts["y"])
    for full in [int(year)] if len(year) == 4 else [1800 + int(year), 1900 + int(year)]:
        try:
            yield float(date(full, month, int(parts["d"] or 0)).toordinal() - _EPOCH)
        except ValueError:
            continue


def _letters(text: str) -> str:
    """Return letters and digits only: no quotes, blanks or marks, no case, one form of each."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _unescape(text: str) -> str:
    """Undo the escapes of JSON, Python, HTML and URLs."""
    if "\\" in text:
        text = _ESCAPED.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16)), text)
    if "%" in text:
        text = unquote(text)
    return html.unescape(text) if "&" in text else text
