"""Bytes in JSON, in one spelling each."""

import base64
import binascii
from typing import Any


def base64_of(data: bytes) -> str:
    """Write bytes as base64."""
    return base64.b64encode(data).decode()


def bytes_of_base64(text: Any) -> bytes:
    """Read base64; `ValueError` when it is none.

    Whether it is the one spelling of these bytes is seen when all is written again.
    """
    if not isinstance(text, str):
        raise ValueError("what should be base64 is no text")
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise ValueError("what should be base64 is none") from None


def bytes_of_hex(text: Any, size: int) -> bytes:
    """Read hexadecimal digits of so many bytes; `ValueError` when they are none."""
    try:
        result = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        result = b""
    if len(result) != size:
        raise ValueError(f"what should be {size} bytes in hexadecimal digits is not")
    return result
