"""A slow and obvious evaluation of tree keys, written from the description alone: the oracle.

Nothing is shared with the package: AES one block at a time, one recursion from the root to every
leaf, plain integers and byte strings.
"""

import hashlib
from functools import cache

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


@cache
def _cipher(name: str) -> Cipher[modes.ECB]:
    key = hashlib.sha256(f"anonloom dpf 1: {name}".encode()).digest()[:16]
    return Cipher(algorithms.AES(key), modes.ECB())


def xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def one_way(name: str, x: bytes) -> bytes:
    return xor(_cipher(name).encryptor().update(x), x)


def depth_of(leaves: int) -> int:
    depth = 0
    tiles = (leaves + 1023) // 1024
    below = 10 if tiles > 1 else 0
    while tiles > 1:
        depth, tiles = depth + 1, (tiles + 1) // 2
    while depth == 0 and 2**below < leaves:
        below += 1
    return depth + below


def turns_to(leaf: int, leaves: int) -> list[int]:
    """Root first: through the halves of the list of tiles, then the bits of the place in a tile."""
    tiles = (leaves + 1023) // 1024
    up = []
    node = leaf // 1024
    while tiles > 1:
        tiles = (tiles + 1) // 2
        up.append(int(node >= tiles))
        node -= tiles * up[-1]
    inside = depth_of(leaves) - len(up)
    return up[::-1] + [leaf % 1024 >> i & 1 for i in range(inside)]


class SlowKey:
    """A key taken apart."""

    def __init__(self, key: bytes, party: int, leaves: int, width: int) -> None:
        self.leaves, self.width = leaves, width
        self.depth = depth_of(leaves)
        self.root = bytes([key[0] & 0xFE | party]) + key[1:16]
        index = 16
        self.words = []
        for _ in range(self.depth):
            self.words.append(key[index : index + 16])
            index += 16
        bits = int.from_bytes(key[index : index + (self.depth + 7) // 8], "little")
        self.right_bits = [bits >> i & 1 for i in range(self.depth)]
        index += (self.depth + 7) // 8
        self.last = key[index : index + width]
        self.check = key[index + width :]
        self.public = key[16:]

    def state(self, leaf: int) -> bytes:
        x = self.root
        for level, turn in enumerate(turns_to(leaf, self.leaves)):
            child = one_way("right 0" if turn else "left 0", x)
            if x[0] & 1:
                word = self.words[level]
                if turn:
                    word = bytes([word[0] & 0xFE | self.right_bits[level]]) + word[1:]
                child = xor(child, word)
            x = child
        return x

    def payload(self, leaf: int) -> bytes:
        x = self.state(leaf)
        blocks = [one_way(f"leaf {j}", x) for j in range((self.width + 15) // 16)]
        out = b"".join(blocks)[: self.width]
        return xor(out, self.last) if x[0] & 1 else out

    def share(self) -> bytes:
        return b"".join(self.payload(leaf) for leaf in range(self.leaves))

    def hash_of(self, leaf: int) -> bytes:
        x = self.state(leaf)
        out = b""
        for j in range(4):
            mark = leaf.to_bytes(4, "little").rjust(4 * j + 4, b"\0").ljust(16, b"\0")
            out += one_way(f"check {j}", xor(x, mark))
        return xor(out, self.check) if x[0] & 1 else out

    def tag(self, check_key: bytes) -> bytes:
        text = self.public + bytes(-len(self.public) % 16)
        for first in range(0, self.leaves, 1024):
            tile = [self.hash_of(i) for i in range(first, min(self.leaves, first + 1024))]
            for j in range(4):
                text += b"".join(value[16 * j : 16 * j + 16] for value in tile)
        mac = Cipher(algorithms.AES(check_key), modes.GCM(bytes(12))).encryptor()
        mac.authenticate_additional_data(text)
        mac.finalize()
        return mac.tag
