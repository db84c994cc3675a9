"""Write tree.json and refusals.json: keys, shares and tags that every implementation must give.

    python make_vectors.py

Seeds and payloads come from SHAKE-256 of the vector's name. Shares and tags are written by the slow
oracle of slow_tree.py, not by the code that the vectors test; keys are written by the numpy code.
"""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
from forged_keys import FORGERIES
from slow_tree import SlowKey

from anonloom_dpf.tree import Tree

HERE = Path(__file__).parent

CASES = [
    ("one leaf", 1, 5, True, [0]),
    ("two leaves", 2, 16, False, [1]),
    ("seven leaves", 7, 33, True, [0, 6, 3]),
    ("no power of two", 300, 16, True, [299, 17]),
    ("two tiles", 1500, 20, True, [1499, 3]),
    ("three tiles", 2049, 1, False, [2048]),
    ("wide", 3, 4096, False, [1]),
]


class Named:
    """Bytes that follow from a name; remembers what it gave."""

    def __init__(self, name: str) -> None:
        self.name, self.given = name, b""

    def bytes(self, n: int) -> bytes:
        """`n` bytes, once."""
        self.given = hashlib.shake_256(self.name.encode()).digest(n)
        return self.given


def vector(
    name: str, leaves: int, width: int, checked: bool, indices: list[int]
) -> dict[str, object]:
    """One case with everything that follows from its name."""
    tree = Tree(leaves, width, checked=checked)
    payloads = Named(name + " payloads").bytes(len(indices) * width)
    rows = np.frombuffer(payloads, np.uint8).reshape(-1, width)
    entropy, check_key = Named(name + " seeds"), Named(name + " check").bytes(32)
    keys = tree.keys(np.array(indices), rows, entropy)
    shares, tags = [], []
    for party in (0, 1):
        slow = [SlowKey(key.tobytes(), party, leaves, width) for key in keys[party]]
        total = np.zeros(leaves * width, np.uint8)
        for key in slow:
            total ^= np.frombuffer(key.share(), np.uint8)
        shares.append(hashlib.sha256(total).hexdigest())
        tags.append([key.tag(check_key).hex() for key in slow] if checked else [])
    return {
        "name": name, "leaves": leaves, "width": width, "checked": checked, "indices": indices,
        "payloads": payloads.hex(), "seeds": entropy.given.hex(),
        "keys": [[key.tobytes().hex() for key in both] for both in keys],
        "share_sha256": shares, "check_key": check_key.hex(), "tags": tags,
    }  # fmt: skip


def refusal(name: str) -> dict[str, object]:
    """One forged pair of keys, what it would write, and the two tags."""
    tree, first, second = FORGERIES[name](Named(name))
    check_key = Named(name + " check").bytes(32)
    slow = [SlowKey(k.tobytes(), b, tree.leaves, tree.width) for b, k in enumerate((first, second))]
    table = np.frombuffer(slow[0].share(), np.uint8) ^ np.frombuffer(slow[1].share(), np.uint8)
    written = np.flatnonzero(table.reshape(tree.leaves, -1).any(axis=1))
    return {
        "name": name, "leaves": tree.leaves, "width": tree.width,
        "keys": [first.tobytes().hex(), second.tobytes().hex()], "written": written.tolist(),
        "check_key": check_key.hex(), "tags": [key.tag(check_key).hex() for key in slow],
    }  # fmt: skip


def main() -> None:
    """Write both files beside this one."""
    os.environ["ANONLOOM_DPF_KERNEL"] = "numpy"
    for name, content in [
        ("tree.json", {"format": 1, "vectors": [vector(*case) for case in CASES]}),
        ("refusals.json", {"format": 1, "refusals": [refusal(name) for name in FORGERIES]}),
    ]:
        (HERE / name).write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
