"""A signature is one scheme's, of one text, in one spelling."""

import stat

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import IntegrityError
from anonloom_seals import keys

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key()
ONE, OTHER = b"one signature 1\0", b"other signature 1\0"


@given(text=st.binary(max_size=50))
def test_a_signature_of_one_scheme_is_no_other_scheme_s(text):
    line = keys.sign(KEY, text, ONE)
    assert keys.fits(PUBLIC, text, line, ONE)
    assert not keys.fits(PUBLIC, text, line, OTHER)
    assert not keys.fits(Ed25519PrivateKey.generate().public_key(), text, line, ONE)


@given(text=st.binary(max_size=50), data=st.data())
def test_every_flipped_bit_of_text_or_signature_is_noticed(text, data):
    line = keys.sign(KEY, text, ONE)
    both = bytearray(text + line)
    bit = data.draw(st.integers(0, 8 * len(both) - 1))
    both[bit // 8] ^= 1 << bit % 8
    assert not keys.fits(PUBLIC, bytes(both[: len(text)]), bytes(both[len(text) :]), ONE)


@pytest.mark.parametrize(
    "other",
    [bytes.upper, bytes.strip, lambda line: line[:2] + b" " + line[2:], lambda line: line + b"\n"],
)
def test_a_signature_has_one_spelling(other):
    line = keys.sign(KEY, b"text", ONE)
    assert not keys.fits(PUBLIC, b"text", other(line), ONE)


@pytest.mark.parametrize("domain", [b"", b"no end", b"two\0ends\0", b"\0not at the end"])
def test_no_domain_is_the_beginning_of_another(domain):
    with pytest.raises(ValueError, match=r"^a domain must end in its only NUL$"):
        keys.sign(KEY, b"text", domain)
    with pytest.raises(ValueError, match=r"^a domain must end in its only NUL$"):
        keys.fits(PUBLIC, b"text", b"", domain)


def test_a_key_comes_back_from_its_file(tmp_path):
    key = keys.new(tmp_path / "a.key")
    assert 0o600 == stat.S_IMODE((tmp_path / "a.key").stat().st_mode)
    assert keys.same(key.public_key(), keys.read_private(tmp_path / "a.key").public_key())
    (tmp_path / "a.pub").write_bytes(keys.public_key_pem(key.public_key()))
    assert keys.same(key.public_key(), keys.read_pinned(tmp_path / "a.pub"))
    assert not keys.same(key.public_key(), PUBLIC)


def test_a_key_is_never_overwritten(tmp_path):
    keys.new(tmp_path / "a.key")
    with pytest.raises(IntegrityError) as caught:
        keys.new(tmp_path / "a.key")
    assert "'a.key' cannot be written: File exists" == str(caught.value)


def test_a_fingerprint_is_the_hash_of_the_raw_key():
    assert "56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c" == keys.fingerprint(
        PUBLIC
    )
