"""The check of a two-server key: both servers hold equal leaf states everywhere but at one leaf.

For n = 2 an accepted key changes at most one leaf (= S slots) per sub-table, if the hash is
collision and XOR-collision resistant and both servers follow the check. It does not show that the
record is true, well formed, placed where its tag says, the same in all sub-tables, or from one
person; a server may still refuse an honest donor.

How it works. Server b holds the state x_b(i) of leaf i: seed and control bit t_b(i) in one word. It
computes v_b(i) = h(i, x_b(i)) xor t_b(i) cs, where cs comes with the key's public part, and the tag
of all v_b under a key that was drawn after the upload. An honest sender sets
cs = h(a, x_0(a)) xor h(a, x_1(a)) for its leaf a, and both servers find equal tags.

Why equal v mean at most one leaf. Let leaf i differ, x_0(i) != x_1(i). If the control bits agree,
v_0(i) = v_1(i) is a collision of h. If not, h(i, x_0(i)) xor h(i, x_1(i)) = cs; two such leaves
give four different inputs (i, .), (i, .), (j, .), (j, .) whose hashes add up to zero: an XOR
collision.
Where the states agree, the two evaluations are equal and cancel, given equal public parts; these
are covered by the tag and compared by the caller as well (`Tree.public`). The control bit has to be
hashed: a hash of the seed alone accepts a key whose seeds agree and whose bits do not.

The hash has 64 bytes: block j is p_j(z) xor z with z = x xor (i at byte 4j) and a permutation p_j
of its own. Two different (i, x) share their z in at most one of the four blocks. A 4-sum of random
512-bit values costs about 2^(512/3) by lists, of 256-bit ones 2^(256/3), hence 64 bytes, not 32.

The tag is GMAC (AES-256, nonce zero: it is a universal hash here, not an authenticator) of the
public part, padded to whole blocks, and of the v's, tile by tile, block j of all leaves of a tile
before block j + 1. Two different inputs of L blocks get equal tags with probability at most
(L + 1) / 2^128 over a key that their sender did not know, L = 4 leaves + public blocks.
"""

import numpy as np
from cryptography.hazmat.primitives.ciphers import AEADEncryptionContext, Cipher, algorithms, modes
from numpy.typing import NDArray

from anonloom.typing import ByteArray
from anonloom_dpf.aes import BLOCK, SLACK, flat, one_way, permutation

CHECK_BLOCKS = 4
CHECK_BYTES = CHECK_BLOCKS * BLOCK
CHECK_KEY_BYTES = 32
TAG_BYTES = 16


def leaf_hash(leaves: NDArray[np.int64], states: ByteArray) -> ByteArray:
    """The hash h(i, x) of leaf numbers (m,) and states (m, 16), as rows of 64 bytes."""
    out = np.empty((len(states), CHECK_BLOCKS, BLOCK), np.uint8)
    for block in range(CHECK_BLOCKS):
        marked = states.copy()
        marked.view("<u4")[:, block] ^= leaves.astype("<u4")
        out[:, block] = one_way("check", block, marked)
    return out.reshape(len(states), CHECK_BYTES)


def check_cipher(check_key: bytes) -> Cipher[modes.GCM]:
    """The cipher whose GMAC is the tag."""
    if len(check_key) != CHECK_KEY_BYTES:
        message = f"The check key must be {CHECK_KEY_BYTES} bytes. Got {len(check_key)} instead."
        raise ValueError(message)
    return Cipher(algorithms.AES(check_key), modes.GCM(bytes(12)))


def pad_to_blocks(public: ByteArray) -> ByteArray:
    """Public parts (m, size) with zeros up to whole blocks."""
    return np.pad(public, ((0, 0), (0, -public.shape[1] % BLOCK)))


class Tags:
    """The running tags of several keys; leaves are absorbed tile by tile, in order."""

    def __init__(self, check_key: bytes, public: ByteArray, check: ByteArray) -> None:
        cipher = check_cipher(check_key)
        self.running: list[AEADEncryptionContext] = []
        for part in pad_to_blocks(public):
            context = cipher.encryptor()
            context.authenticate_additional_data(part)
            self.running.append(context)
        # Row 2k is nothing, row 2k + 1 the cs of key k: one `take` by control bit adds it.
        self.rows = np.zeros((CHECK_BLOCKS, len(check), 2, BLOCK), np.uint8)
        self.rows[:, :, 1] = check.reshape(-1, CHECK_BLOCKS, BLOCK).transpose(1, 0, 2)

    def absorb(self, first: int, states: ByteArray) -> None:
        """Take in one tile: states (keys, leaves, 16) of the leaves from number `first` on."""
        keys, leaves, _ = states.shape
        numbers = np.arange(first, first + leaves, dtype="<u4")
        row = (states[:, :, 0] & 1).astype(np.intp)
        row += 2 * np.arange(keys)[:, None]
        added = np.empty((keys, leaves), np.complex128)
        room = np.empty(states.size + SLACK, np.uint8)
        hashed = room[: states.size].reshape(states.shape)
        words = states.view("<u4")
        for block in range(CHECK_BLOCKS):
            words[:, :, block] ^= numbers
            permutation("check", block).update_into(flat(states), room)
            table = self.rows[block].reshape(-1, BLOCK).view(np.complex128)[:, 0]
            np.take(table, row, out=added, mode="clip")
            hashed ^= states
            hashed ^= added.view(np.uint8).reshape(states.shape)
            words[:, :, block] ^= numbers
            for context, part in zip(self.running, hashed, strict=True):
                context.authenticate_additional_data(part.reshape(-1))

    def finish(self) -> ByteArray:
        """The tags, one row of 16 bytes per key."""
        tags = []
        for context in self.running:
            context.finalize()
            tags.append(context.tag)
        return np.frombuffer(b"".join(tags), np.uint8).reshape(-1, TAG_BYTES)
