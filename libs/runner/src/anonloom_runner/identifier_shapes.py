"""What cells look like that name one person whatever the table says: addresses, phones, numbers.

Numbers of persons are recognized by their check digits. A tenth of all numbers of the right length
pass such a check by chance, so that cells must pass it more often than texts of their form would
that somebody made up.
"""

import math
import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module

import attrs

__all__ = [
    "Shape",
    "identifier_shapes",
]

#: A sort of number is recognized where so many cells would pass its check by chance this rarely.
_CHANCE = 1e-4
#: How many texts are made up to see how often that is.
_TRIALS = 300
#: One cell that passes says nothing, however often it is repeated.
_DIFFERENT = 3

#: No number below has fewer characters, nor has a card or an account more.
_SHORTEST, _LONGEST = 8, 34

_EMAIL = re.compile(r"[^\s@<>,;]+@[^\s@<>,;.]+(\.[^\s@<>,;.]+)+")

#: International; national with a leading 0 and a gap; North American.
_PHONE = re.compile(
    r"\+[1-9][\d ()/.-]{6,20}\d"
    r"|\(?0\d{1,5}\)?([ /-]\d{2,}){1,5}"
    r"|\(?[2-9]\d{2}\)?[ -]\d{3}-\d{4}"
)
_DATE = re.compile(r"(\d{1,2}|\d{4})[./ -]\d{1,2}[./ -](\d{1,2}|\d{4})(\D.*)?")

#: No check digit, but a form that nothing else has.
_WRITTEN = {"us.ssn": re.compile(r"\d{3}-\d{2}-\d{4}"), "dk.cpr": re.compile(r"\d{6}-\d{4}")}

#: Modules of stdnum: what states, banks and health insurers number people and accounts by.
_NUMBERS = (
    "at.vnr be.nn bg.egn br.cpf ca.sin ch.ssn cn.ric cz.rc de.idnr ee.ik es.dni es.nie fi.hetu "
    "fr.nir gb.nhs gr.amka hr.oib iban ie.pps il.idnr in_.aadhaar it.codicefiscale kr.rrn luhn "
    "mx.curp nl.bsn no.fodselsnummer pl.pesel pt.cc ro.cnp se.personnummer tr.tckimlik za.idnr"
).split()


@attrs.frozen
class Shape:
    """A shape that cells of a column have.

    Attributes
    ----------
    noun
        What such cells are, in the plural.
    share
        Share of the cells that have it.
    cells
        How many do.
    """

    noun: str
    share: float
    cells: int


def identifier_shapes(texts: Sequence[str], *, contacts: bool = True) -> list[Shape]:
    """Return the shapes of identifiers that cells have, the most frequent first.

    Parameters
    ----------
    texts
        Cells of a column, missing ones left out.
    contacts
        Whether cells may be e-mail addresses or phone numbers at all.
    """
    texts = [text.strip() for text in texts]
    counts = {"id numbers (with their check digits)": _id_numbers(texts)}
    if contacts:
        counts["e-mail addresses"] = sum(bool(_EMAIL.fullmatch(text)) for text in texts)
        counts["phone numbers"] = sum(map(_is_phone, texts))
    results = [Shape(noun, count / len(texts), count) for noun, count in counts.items() if count]
    return sorted(results, key=lambda shape: -shape.cells)


def _is_phone(text: str) -> bool:
    digits = sum(character.isdigit() for character in text)
    return 7 <= digits <= 15 and bool(_PHONE.fullmatch(text)) and not _DATE.fullmatch(text)


def _id_numbers(texts: list[str]) -> int:
    """Count the cells that are numbers of one sort, of the sort that most of them are."""
    candidates = [text for text in texts if _may_be_number(text)]
    different = sorted(set(candidates))
    most = 0
    for name in (*_NUMBERS, *_WRITTEN, "kvnr") if len(different) >= _DIFFERENT else ():
        valid = _validator(name)
        passing = {text for text in different if valid(text)}
        if len(passing) < _DIFFERENT:
            continue
        if name in _WRITTEN or _by_chance(valid, different, len(passing)) < _CHANCE:
            most = max(most, sum(text in passing for text in candidates))
    return most


def _may_be_number(text: str) -> bool:
    digits = sum(map(str.isdigit, text))
    fits = _SHORTEST <= len(text) <= _LONGEST and digits >= len(text) // 3
    return fits and not _DATE.fullmatch(text)


def _by_chance(valid: Callable[[str], bool], texts: list[str], passing: int) -> float:
    """Probability that so many texts of this form pass, or more, if all of them are made up."""
    made_up = random.Random(0)
    trials = [_made_up(made_up, texts[index % len(texts)]) for index in range(_TRIALS)]
    # Never 0: what was not seen in these trials may happen all the same.
    rate = (sum(map(valid, trials)) + 1) / (_TRIALS + 2)
    n = len(texts)
    return math.fsum(
        math.exp(
            math.lgamma(n + 1)
            - math.lgamma(count + 1)
            - math.lgamma(n - count + 1)
            + count * math.log(rate)
            + (n - count) * math.log1p(-rate)
        )
        for count in range(passing, n + 1)
    )


def _made_up(source: random.Random, text: str) -> str:
    """Return a text of the same form: digits for digits, letters for letters."""
    return "".join(
        source.choice("0123456789")
        if character.isdigit()
        else source.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        if character.isalpha()
        else character
        for character in text
    )


@cache
def _validator(name: str) -> Callable[[str], bool]:
    if name == "kvnr":
        return _is_kvnr
    validate = import_module(f"stdnum.{name}").is_valid
    # A number of Luhn's alone is any number; that of a card has 15 or 16 digits.
    if name in _WRITTEN:
        return lambda text: bool(_WRITTEN[name].fullmatch(text)) and bool(validate(text))
    if name == "luhn":
        return lambda text: (
            bool(re.fullmatch(r"(\d[ -]?){14,15}\d", text))
            and bool(validate(re.sub(r"[ -]", "", text)))
        )
    return lambda text: bool(validate(text))


def _is_kvnr(text: str) -> bool:
    """Whether it is a German health insurance number: a letter, eight digits, a check digit."""
    if not re.fullmatch(r"[A-Z]\d{9}", text, re.ASCII):
        return False
    digits = [int(digit) for digit in f"{ord(text[0]) - ord('A') + 1:02d}{text[1:9]}"]
    weighted = (digit * (1 + index % 2) for index, digit in enumerate(digits))
    return sum(value // 10 + value % 10 for value in weighted) % 10 == int(text[9])
