"""The slot authenticator: only who knows a slot's key can write into the slot.

Ranks are public and writes are sums, so that without it every donor could add a known difference
to somebody else's row. Slot v has a key alpha, which its donor and the servers know. It gives one
element of GF(2^128) per 16-byte word of the row, its weights:

    weights_v     = SHAKE128(context, iteration, alpha_v)           words x 16 bytes
    tag(m)        = <weights_v, m>                                  by the donor, for her row m at v
    tag           = tag_1 + .. + tag_n                              one share for each server
    claim_i       = <weights, share_i> + tag_i                      by server i, over all slots
    accepted  iff   claim_1 + .. + claim_n = 0

Shares of an honest write sum to m at v and to zero elsewhere, so the claims sum to
<weights_v, m> + tag = 0. A difference d other than zero at a slot whose weights the writer does not
know changes the sum by <weights, d>, which is uniform to her: whatever tag she gives, the claims
sum to zero with probability 2^-128 (SHAKE128 being a pseudorandom function of alpha).

Everything is linear: one claim over the sum of a block of uploads, and of their tags, answers for
the whole block, and halves of a refused block find guilty uploads. What is accepted is the *sum*:
two uploads in it may undo each other. So a block is kept or dropped whole, and if an upload is
taken out of an accepted block for whatever reason, the rest is claimed again.

Servers commit to their claims before they reveal them. Of honest uploads, one or many, the claim of
the last server is the sum of all other servers' true claims: they know it before it is said, and a
lie that has a block halved down to single uploads makes nobody say anything new. What a lie does is
to have an honest upload taken out like a wrong one, by nobody in particular, and the position that
then stays empty is its sender's: see `server.DpfServer.place` for what holds against it.

The check works for any number of servers, and holds whatever the keys of the point functions are.
It does not count writes: who knows a slot's key may write into the slot twice, and spoils nothing
but her own row.

What is promised of deposits: a record changed by anybody but its sender is never published; a donor
without a server's help can't change another's row; with that help it can destroy the row, never
alter it. The second part is given here, as servers keep alpha to themselves and publish only its
hash. The first and the third are given by the row's format, because a server knows every alpha: a
row holds the next link of a hash chain that only its donor can continue, and a MAC of the record
under that link; rows where either is wrong are contested and withheld. For this the servers commit
to their rows before they exchange them.
"""

import hashlib
import hmac
from collections.abc import Iterable
from functools import reduce

import numpy as np

from anonloom.typing import ByteArray
from anonloom_dpf.gf128 import SIZE, inner, multiply
from anonloom_transport import Entropy

__all__ = ["weights", "tags", "shares", "claim", "verify_claims"]


def weights(alphas: ByteArray, width: int, *, context: bytes, iteration: int) -> ByteArray:
    """Return the weights of slots: one element of the field per 16-byte word of a row.

    Parameters
    ----------
    alphas
        Keys of the slots; of shape (slots, 16).
    width
        Bytes of a row; the last word may be shorter than 16 bytes.
    context
        What the keys are used for: the digest of the signed round description.
    iteration
        Number of the deposit over the same slots.

    Returns
    -------
    array
        Of shape (slots, words, 16).
    """
    _check("alphas", alphas, (len(alphas), SIZE))
    words = -(-width // SIZE)
    # A hash of fixed length: no context can run into the iteration or the key.
    prefix = hashlib.sha256(b"anonloom slot authenticator 1\0" + context).digest()
    prefix += iteration.to_bytes(8, "little")
    shake = hashlib.shake_128
    drawn = b"".join([shake(prefix + alpha.tobytes()).digest(words * SIZE) for alpha in alphas])
    return np.frombuffer(drawn, np.uint8).reshape(len(alphas), words, SIZE)


def tags(rows: ByteArray, weights: ByteArray) -> ByteArray:
    """Return the tags of rows, each under the weights of its own slot.

    Parameters
    ----------
    rows
        What is written; of shape (rows, width).
    weights
        Of the slots that they are written to; of shape (rows, words, 16).
    """
    _check("rows", rows, (len(weights), rows.shape[-1]))
    sums: ByteArray = np.bitwise_xor.reduce(multiply(_words(rows, weights), weights), axis=1)
    return sums


def shares(tags: ByteArray, servers: int, entropy: Entropy) -> tuple[ByteArray, ...]:
    """Split tags into one random share per server, all of which sum to the tag.

    Parameters
    ----------
    tags
        Of shape (tags, 16).
    servers
        Number of shares.
    entropy
        Where all shares but the last come from.
    """
    _check("tags", tags, (len(tags), SIZE))
    drawn = np.frombuffer(entropy.bytes((servers - 1) * tags.size), np.uint8)
    random = drawn.reshape(servers - 1, *tags.shape)
    return (*random, np.bitwise_xor.reduce(random, axis=0) ^ tags)


def claim(share: ByteArray, weights: ByteArray, tag_share: bytes) -> bytes:
    """Return what a server says about a share of the table: 16 bytes.

    Parameters
    ----------
    share
        The server's share of the sum of some uploads; of shape (slots, width).
    weights
        Of all slots; of shape (slots, words, 16).
    tag_share
        Sum of the server's shares of the uploads' tags.
    """
    _check("share", share, (len(weights), share.shape[-1]))
    if len(tag_share) != SIZE:
        raise ValueError(f"tag_share must have {SIZE} bytes. Got {len(tag_share)} instead.")
    return _xor(inner(_words(share, weights), weights), tag_share)


def verify_claims(claims: Iterable[bytes]) -> bool:
    """Return whether the claims of all servers allow only writes by those who know the keys."""
    return hmac.compare_digest(reduce(_xor, claims, bytes(SIZE)), bytes(SIZE))


def _words(rows: ByteArray, weights: ByteArray) -> ByteArray:
    """Return rows as elements of the field, the last one filled up with zero bytes."""
    slots, words, _ = weights.shape
    missing = words * SIZE - rows.shape[1]
    if not 0 <= missing < SIZE:
        raise ValueError(f"weights are for {words} words of a row. Got {rows.shape[1]} bytes.")
    filled = np.pad(rows, ((0, 0), (0, missing))) if missing else rows
    return filled.reshape(slots, words, SIZE)


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _check(name: str, array: ByteArray, shape: tuple[int, ...]) -> None:
    if array.dtype != np.uint8 or array.shape != shape:
        raise ValueError(
            f"{name} must be bytes of shape {shape}. "
            f"Got {array.dtype} of shape {array.shape} instead."
        )
