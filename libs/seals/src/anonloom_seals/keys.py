"""Ed25519 keys: made from the system's randomness, read from PEM, signing in a scheme's name."""

import hashlib
import hmac
import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from anonloom.errors import IntegrityError
from anonloom.files import read_bytes

__all__ = [
    "fingerprint",
    "fits",
    "new",
    "public_key_pem",
    "read_pinned",
    "read_private",
    "read_public",
    "same",
    "sign",
    "signing",
]


def new(path: Path) -> Ed25519PrivateKey:
    """Draw a key and keep it in a file that only its owner can read.

    Raises
    ------
    IntegrityError
        When the file exists already, or cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        # Made with its mode, not changed to it: there is no moment at which others can read it.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise IntegrityError(f"'{path.name}' cannot be written: {error.strerror}") from None
    with os.fdopen(handle, "wb") as file:
        file.write(pem)
    return key


def signing(given: Path | None, public: Path, new_key: Path) -> Ed25519PrivateKey:
    """Return the key to sign a folder with: the one that was given, or a new one.

    Raises
    ------
    IntegrityError
        When the key cannot be read or written, or would be published.
    """
    if given is None:
        return new(new_key)
    if given.resolve().is_relative_to(public.resolve()):
        raise IntegrityError("the private key lies in the folder that is to be published")
    return read_private(given)


def read_private(path: Path) -> Ed25519PrivateKey:
    """Read a private key.

    Raises
    ------
    IntegrityError
        When the file holds no private Ed25519 key in PEM, or an encrypted one.
    """
    try:
        key = load_pem_private_key(read_bytes(path), password=None)
    except OSError as error:
        raise IntegrityError(f"the private key {path} cannot be read: {error.strerror}") from None
    except TypeError:
        raise IntegrityError("the private key is encrypted; decrypt it first") from None
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise IntegrityError(
            "the key file holds no private Ed25519 key in PEM",
            hint="make one with: openssl genpkey -algorithm ed25519 -out release.key",
        )
    return key


def read_public(pem: bytes, where: str) -> Ed25519PublicKey:
    """Read a public key from PEM.

    Raises
    ------
    IntegrityError
        Naming where it was looked for.
    """
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise IntegrityError(f"{where} holds no public Ed25519 key in PEM")
    return key


def read_pinned(path: Path) -> Ed25519PublicKey:
    """Read the publisher's public key, obtained elsewhere; raises as `read_public` does."""
    try:
        pem = read_bytes(path)
    except OSError as error:
        raise IntegrityError(f"the pinned key {path} cannot be read: {error.strerror}") from None
    return read_public(pem, f"the pinned key {path}")


def public_key_pem(key: Ed25519PublicKey) -> bytes:
    """Return a public key in PEM."""
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _raw(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def same(one: Ed25519PublicKey, other: Ed25519PublicKey) -> bool:
    """Whether two keys are one."""
    return hmac.compare_digest(_raw(one), _raw(other))


def fingerprint(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a public key: what people compare by eye."""
    return hashlib.sha256(_raw(key)).hexdigest()


def sign(key: Ed25519PrivateKey, text: bytes, domain: bytes) -> bytes:
    """Return the signature as one line of hexadecimal digits.

    Parameters
    ----------
    domain
        What stands before the text, ends in a NUL and is the scheme's own: a signature of one
        scheme can then be taken for no other's, even if both use the same key.
    """
    return key.sign(_in_domain(domain, text)).hex().encode() + b"\n"


def fits(key: Ed25519PublicKey, text: bytes, line: bytes, domain: bytes) -> bool:
    """Whether a line is the signature of a text in a scheme's name, in its one spelling."""
    signed = _in_domain(domain, text)
    try:
        signature = bytes.fromhex(line.decode("ascii"))
        key.verify(signature, signed)
    except (ValueError, InvalidSignature):
        return False
    # Capital letters or spaces would be the same number, but not the same file.
    return line == signature.hex().encode() + b"\n"


def _in_domain(domain: bytes, text: bytes) -> bytes:
    if domain.count(0) != 1 or domain[-1] != 0:
        # Otherwise one domain and the beginning of a text could be another domain.
        raise ValueError("a domain must end in its only NUL")
    return domain + text
