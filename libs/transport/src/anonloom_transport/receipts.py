"""Receipts: a server's signature that it holds an upload."""

from anonloom_transport.codec import pack
from anonloom_transport.signing import Signer, verify_signature


def write_receipt(signer: Signer, bound: bytes, upload: bytes, fingerprint: bytes) -> bytes:
    """Confirm what was sealed to all servers under an id, and that this server holds its part."""
    return signer.sign("receipt", bound, pack(upload, fingerprint))


def confirms(pin: bytes, receipt: bytes, bound: bytes, upload: bytes, fingerprint: bytes) -> bool:
    """Whether a server has confirmed an upload."""
    return verify_signature(pin, receipt, "receipt", bound, pack(upload, fingerprint))
