"""Whose a signed text is: the key in it must be one key, the pinned one, and fit."""

import attrs
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from anonloom.errors import IntegrityError
from anonloom_seals import keys
from anonloom_seals.signed_text import Names, SignedText

NAMES = Names("flat.json", "flat.sig", "flat.pub")
DOMAIN = b"anonloom flat signature 1\0"
SECRET = Ed25519PrivateKey.from_private_bytes(bytes(32))
PEM = keys.public_key_pem(SECRET.public_key())
TEXT = b"text\n"


@pytest.fixture
def signed():
    return SignedText(TEXT, keys.sign(SECRET, TEXT, DOMAIN), PEM)


def refusal(signed, pinned=None, domain=DOMAIN):
    with pytest.raises(IntegrityError) as caught:
        signed.signer(NAMES, domain, pinned)
    return str(caught.value)


def test_the_signer_is_found(signed, tmp_path):
    (tmp_path / "pinned.pub").write_bytes(b"From the publisher's page:\n" + PEM)
    for pinned in (None, tmp_path / "pinned.pub"):
        assert keys.same(SECRET.public_key(), signed.signer(NAMES, DOMAIN, pinned))


def test_all_three_are_read_from_a_folder(signed, tmp_path):
    for name, data in zip(attrs.astuple(NAMES), attrs.astuple(signed), strict=True):
        (tmp_path / name).write_bytes(data)
    assert signed == SignedText.read(tmp_path, NAMES)
    (tmp_path / "flat.sig").unlink()
    with pytest.raises(IntegrityError) as caught:
        SignedText.read(tmp_path, NAMES)
    assert "'flat.sig' is missing: the folder is not sealed, or its seal was removed" == str(
        caught.value
    )


DOES_NOT_FIT = "the signature in 'flat.sig' does not fit 'flat.json'"


def test_a_signature_is_for_one_text_one_key_and_one_scheme(signed):
    assert DOES_NOT_FIT == refusal(attrs.evolve(signed, text=b"test\n"))
    assert DOES_NOT_FIT == refusal(signed, domain=b"anonloom other signature 1\0")
    assert DOES_NOT_FIT == refusal(attrs.evolve(signed, signature=b""))
    assert DOES_NOT_FIT == refusal(attrs.evolve(signed, signature=signed.signature.upper()))
    other = keys.public_key_pem(Ed25519PrivateKey.from_private_bytes(b"1" * 32).public_key())
    assert DOES_NOT_FIT == refusal(attrs.evolve(signed, key=other))


def test_another_key_than_the_pinned_one(signed, tmp_path):
    other = Ed25519PrivateKey.from_private_bytes(b"1" * 32).public_key()
    (tmp_path / "pinned.pub").write_bytes(keys.public_key_pem(other))
    assert (
        "the release is signed with another key than the pinned one: "
        f"{keys.fingerprint(SECRET.public_key())}"
    ) == refusal(signed, tmp_path / "pinned.pub")
    absent = tmp_path / "absent.pub"
    assert f"the pinned key {absent} cannot be read: No such file or directory" == refusal(
        signed, absent
    )
    (tmp_path / "pinned.pub").write_bytes(b"words")
    assert f"the pinned key {tmp_path / 'pinned.pub'} holds no public Ed25519 key in PEM" == (
        refusal(signed, tmp_path / "pinned.pub")
    )


def test_a_key_that_is_none_of_ours(signed):
    none = "'flat.pub' holds no public Ed25519 key in PEM"
    curve = generate_private_key(SECP256R1()).public_key()
    pem = curve.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for key in (b"", b"words", pem, PEM[:40]):
        assert none == refusal(attrs.evolve(signed, key=key))


def test_a_key_has_one_spelling(signed):
    """Otherwise a second key, or any text, could stand beside the one that is checked."""
    more = "'flat.pub' holds more than a public key in its one spelling"
    other = keys.public_key_pem(Ed25519PrivateKey.from_private_bytes(b"1" * 32).public_key())
    spellings = (b"words\n" + PEM, PEM + b"words\n", PEM + other, PEM.replace(b"\n", b"\r\n"))
    for key in spellings:
        assert more == refusal(attrs.evolve(signed, key=key))
