"""Make square.json: keys and shares of the square-root point function, from seeded entropy.

Nothing of the package is used but the seeded entropy of `anonloom_testing`: Gen and Eval are written
out here once more, in plain Python, so that the vectors are a second opinion.

    python make_square_vectors.py > square.json
"""

import hashlib
import json
import sys
from itertools import permutations
from math import ceil, factorial

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from anonloom_testing.transport import SeededEntropy

KEY = hashlib.sha256(b"anonloom dpf 1: square 0").digest()[:16]

#: servers, leaves, width, index
SHAPES = [(2, 1, 1, 0), (2, 11, 17, 10), (3, 5, 3, 2), (3, 13, 40, 7), (4, 3, 5, 0), (4, 7, 70, 6)]


def fold(servers: int, leaves: int, width: int) -> tuple[int, int, int]:
    """Return key size, rows and columns of the shortest key."""
    sizes = []
    for columns in range(1, leaves + 1):
        rows = ceil(leaves / columns)
        size = rows * 16 * 2 ** (servers - 2) + ceil(rows / 8) + columns * width
        sizes.append((size, rows, columns))
    return min(sizes)


def xor(left: bytes, right: bytes) -> bytes:
    """Return the sum of two strings of the same length."""
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def expanded(seed: bytes, size: int) -> bytes:
    """Return G(seed)."""
    encrypt = Cipher(algorithms.AES(KEY), modes.ECB()).encryptor().update
    blocks = (xor(seed, i.to_bytes(16, "little")) for i in range(ceil(size / 16)))
    return b"".join(xor(encrypt(block), block) for block in blocks)[:size]


def case(servers: int, leaves: int, width: int, index: int) -> dict[str, object]:
    """Return one vector."""
    name = f"{servers} servers, {leaves} leaves of {width} bytes, index {index}"
    size, rows, columns = fold(servers, leaves, width)
    payload = hashlib.shake_128(name.encode()).digest(width)
    count = 2 ** (servers - 1)
    entropy = SeededEntropy(name)
    drawn = entropy.bytes(rows * count * 16)
    seeds = [[drawn[(r * count + j) * 16 :][:16] for j in range(count)] for r in range(rows)]
    drawn = entropy.bytes(4 * rows)
    orders = [int.from_bytes(drawn[4 * r : 4 * r + 4], "little") for r in range(rows)]
    assert max(orders) < 2**32 // factorial(count) * factorial(count)
    row, column = divmod(index, columns)

    correction = bytes(column * width) + payload + bytes((columns - column - 1) * width)
    for seed in seeds[row]:
        correction = xor(correction, expanded(seed, columns * width))
    keys, shares = [b""] * servers, [b""] * servers
    bits = [0] * servers
    order_of = list(permutations(range(count)))
    for r in range(rows):
        of_parity = [word for word in range(2**servers) if word.bit_count() % 2 == (r == row)]
        words = [of_parity[position] for position in order_of[orders[r] % factorial(count)]]
        for p in range(servers):
            held = [j for j in range(count) if words[j] >> p & 1]
            line = correction if words[-1] >> p & 1 else bytes(len(correction))
            for j in held:
                keys[p] += seeds[r][j]
                line = xor(line, expanded(seeds[r][j], columns * width))
            shares[p] += line
            bits[p] |= (words[-1] >> p & 1) << r
    keys = [
        key + bit.to_bytes(ceil(rows / 8), "little") + correction
        for key, bit in zip(keys, bits, strict=True)
    ]
    assert {size} == {len(key) for key in keys}
    return {
        "name": name,
        "servers": servers,
        "leaves": leaves,
        "width": width,
        "index": index,
        "payload": payload.hex(),
        "key_size": size,
        "keys": [key.hex() for key in keys],
        "shares": [share[: leaves * width].hex() for share in shares],
    }


vectors = {
    "about": "square-root point functions; entropy: anonloom_testing SeededEntropy(name)",
    "made_by": "make_square_vectors.py",
    "cases": [case(*shape) for shape in SHAPES],
}
json.dump(vectors, sys.stdout, indent=1)
sys.stdout.write("\n")
