"""Cells that name one person: addresses, phones, numbers with check digits; and what is none."""

import random

import pytest
from stdnum import iban, luhn
from stdnum.de import idnr
from stdnum.gb import nhs
from stdnum.nl import bsn

from anonloom_runner.identifier_shapes import identifier_shapes

ID_NUMBERS = "id numbers (with their check digits)"
RANDOM = random.Random(7)


def digits(count: int) -> str:
    return str(RANDOM.randint(1, 9)) + "".join(
        RANDOM.choice("0123456789") for _ in range(count - 1)
    )


def valid(make, check, count: int = 60) -> list[str]:
    results = []
    while len(results) < count:
        cell = make()
        if check(cell):
            results.append(cell)
    return results


def kvnr() -> str:
    """A German health insurance number by the rule of its directive: weights 1, 2, 1, 2 ..."""
    letter, body = RANDOM.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), digits(8)
    number = f"{ord(letter) - 64:02d}{body}"
    total = 0
    for index, digit in enumerate(number):
        product = int(digit) * (2 if index % 2 else 1)
        total += sum(int(d) for d in str(product))
    return f"{letter}{body}{total % 10}"


def german_iban() -> str:
    body = "DE00" + digits(18)
    return "DE" + iban.calc_check_digits(body) + body[4:]


NUMBERS = {
    "nhs": valid(lambda: digits(10), nhs.is_valid),
    "bsn": valid(lambda: digits(9), bsn.is_valid),
    "idnr": valid(lambda: digits(11), idnr.is_valid, 20),
    "card": [(body := digits(15)) + luhn.calc_check_digit(body) for _ in range(60)],
    "iban": [german_iban() for _ in range(60)],
    "kvnr": [kvnr() for _ in range(60)],
    "ssn": ["219-09-9998", "457-55-5461", "078-05-1121", "536-90-4398"],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_people_are_given_are_recognized(name):
    (shape,) = identifier_shapes(NUMBERS[name], contacts=False)
    assert (ID_NUMBERS, 1.0) == (shape.noun, shape.share)


@pytest.mark.parametrize("length", [8, 9, 10, 11, 12, 15, 16])
def test_other_numbers_of_the_same_length_are_not(length):
    assert [] == identifier_shapes([digits(length) for _ in range(2_000)])


def test_addresses_and_phones_are_recognized_among_other_texts():
    cells = ["flu"] * 97 + ["a.b@clinic.example", "+49 30 123456", "(212) 555-0123", "030/1234567"]
    results = {shape.noun: shape.cells for shape in identifier_shapes(cells)}
    assert {"phone numbers": 3, "e-mail addresses": 1} == results


@pytest.mark.parametrize(
    "cell",
    ["2024-01-31", "01.02.2024", "01-02-2024", "0-9", "0.12345678", "12345", "[20, 30)", "A10.9",
     "100,000.00", "01234", "12:30:00", "a@b", "@home", "0012345678", "2023-Q4"],
)  # fmt: skip
def test_dates_amounts_codes_and_postcodes_are_no_identifiers(cell):
    assert [] == identifier_shapes([cell] * 50)


def test_no_cell_is_no_shape():
    assert [] == identifier_shapes([])
