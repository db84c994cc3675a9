"""Write rfc9162.json: roots and proofs of small trees, by the second implementation alone.

    python make_vectors.py

Leaf number i is the letter `i` of the alphabet, i times: leaf 0 is empty.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from second_implementation import MTH, MULTIPATH, PATH, PROOF  # noqa: E402  # tests are no package

SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17)
#: Some leaves at once: both ends, neighbours, every third.
SOME = {
    "ends": lambda n: sorted({0, n - 1}),
    "neighbours": lambda n: range(n // 3, min(n, n // 3 + 4)),
    "thirds": lambda n: range(0, n, 3),
}


def leaves(n):
    """Return the leaves of the tree of this size."""
    return [bytes([97 + i]) * i for i in range(n)]


def vector(n):
    """Return everything that can be said of one tree."""
    D = leaves(n)
    some = [list(chosen(n)) for chosen in SOME.values() if n]
    return {
        "leaves": [leaf.decode() for leaf in D],
        "root": MTH(D).hex(),
        "inclusion": [_hex(PATH(m, D)) for m in range(n)],
        "some": [{"positions": index, "path": _hex(MULTIPATH(index, D))} for index in some],
        "consistency": [_hex(PROOF(m, D)) for m in range(1, n + 1)],
    }


def _hex(path):
    return b"".join(path).hex()


if __name__ == "__main__":
    lines = ",\n".join(" " + json.dumps(vector(n)) for n in SIZES)
    (HERE / "rfc9162.json").write_text(f"[\n{lines}\n]\n")
