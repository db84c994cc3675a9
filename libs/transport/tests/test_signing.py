"""A signature counts for one statement of one kind in one round, by one server."""

import pytest

from anonloom_testing.transport import SeededEntropy
from anonloom_transport.codec import pack
from anonloom_transport.receipts import confirms, write_receipt
from anonloom_transport.signing import (
    SIGNATURE_BYTES,
    Signer,
    new_identity,
    read_signed,
    verify_signature,
    write_signed,
)

ENTROPY = SeededEntropy("signing")
ONE, OTHER = new_identity(ENTROPY), new_identity(ENTROPY)
GIVEN = {"kind": "list", "bound": b"round", "statement": b"said"}


def test_identities_are_drawn_from_the_entropy_and_hide_their_secret():
    again = SeededEntropy("signing")
    assert ONE == new_identity(again)
    assert repr(ONE.secret)[2:-1] not in repr(ONE)
    assert (32, 32) == (len(ONE.secret), len(ONE.public))


@pytest.mark.parametrize(
    "change", [{}, {"kind": "lists"}, {"bound": b"other"}, {"statement": b"Said"}]
)
def test_a_signature_is_bound_to_kind_round_and_statement(change):
    signature = Signer(ONE).sign(**GIVEN)
    assert SIGNATURE_BYTES == len(signature)
    assert (not change) == verify_signature(ONE.public, signature, **{**GIVEN, **change})


def test_a_signature_is_of_its_signer():
    signature = Signer(ONE).sign(**GIVEN)
    assert not verify_signature(OTHER.public, signature, **GIVEN)
    assert not verify_signature(b"no key", signature, **GIVEN)
    assert not verify_signature(ONE.public, signature[:-1], **GIVEN)
    assert not verify_signature(ONE.public, b"", **GIVEN)


PINS = (ONE.public, OTHER.public)


def by_all(document=b"d", kind="k", bound=b"b"):
    return [Signer(item).sign(kind, bound, document) for item in (ONE, OTHER)]


def test_a_document_counts_with_the_signatures_of_all():
    first, second = by_all()
    assert b"d" == read_signed(write_signed(b"d", [first, second]), "k", b"b", PINS)


@pytest.mark.parametrize(
    "data",
    [
        write_signed(b"d", by_all()[:1]),
        write_signed(b"d", [*by_all(), by_all()[0]]),
        write_signed(b"d", by_all()[::-1]),
        write_signed(b"d", [by_all()[0]] * 2),
        write_signed(b"e", by_all()),
        write_signed(b"d", by_all(kind="l")),
        write_signed(b"d", by_all(bound=b"c")),
        write_signed(b"d", []),
        write_signed(b"d", by_all())[:-1],
        b"",
    ],
)
def test_a_document_that_not_all_have_signed_is_none(data):
    assert read_signed(data, "k", b"b", PINS) is None


@pytest.mark.parametrize("wrong", range(4))
def test_a_receipt_is_for_one_upload_of_one_content_in_one_round(wrong):
    given = [ONE.public, b"round", b"upload", b"fingerprint"]
    receipt = write_receipt(Signer(ONE), *given[1:])
    assert confirms(given[0], receipt, *given[1:])
    given[wrong] = OTHER.public if wrong == 0 else b"other"
    assert not confirms(given[0], receipt, *given[1:])


def test_parts_of_a_statement_cannot_be_moved_into_each_other():
    assert pack(b"a", b"bc") != pack(b"ab", b"c")
