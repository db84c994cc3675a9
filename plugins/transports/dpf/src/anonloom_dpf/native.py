"""Which code evaluates keys: the C kernel where it was built and the CPU can run it, else numpy.

All give the same bytes. The environment variable ANONLOOM_DPF_KERNEL (`numpy`, `aesni` or `vaes`)
asks for one by name; a name that cannot be had is an error, not a silent change.
"""

import importlib
import os
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from anonloom.errors import UsageError
from anonloom.typing import ByteArray
from anonloom_dpf.aes import BLOCK, blocks_of, fixed_key
from anonloom_dpf.columns import Columns
from anonloom_dpf.key_check import CHECK_BLOCKS, TAG_BYTES
from anonloom_dpf.prime_field import Elements
from anonloom_dpf.shape import TILE

if TYPE_CHECKING:
    from anonloom_dpf.tree import Tree

VARIABLE = "ANONLOOM_DPF_KERNEL"

_NOTHING: NDArray[Any] = np.empty(0, np.uint8)

#: AES bytes per call of the kernel: about a tenth of a second, so that a run can be interrupted.
PER_CALL = 1 << 30


def _built() -> ModuleType | None:
    try:
        return importlib.import_module("anonloom_dpf._kernel")
    except ImportError:  # installed without a compiler
        return None


_kernel = _built()


def available() -> tuple[str, ...]:
    """The names that can be asked for on this machine, slowest first."""
    return ("numpy", *(_kernel.features() if _kernel else ()))


def kernel_name() -> str:
    """The name of the code that evaluates keys: `numpy`, `aesni` or `vaes`."""
    names = available()
    asked = os.environ.get(VARIABLE, "")
    if not asked:
        return names[-1]
    if asked not in names:
        can = ", ".join(names)
        raise UsageError(f"{VARIABLE} must be one of {can} on this machine. Got {asked} instead.")
    return asked


def kernel_description() -> str:
    """The chosen kernel, with the reason where it is the slowest one: for findings and logs."""
    name = kernel_name()
    if name != "numpy":
        return name
    if _kernel is None:
        return "numpy (the C kernel was not built)"
    if len(available()) == 1:
        return "numpy (the CPU lacks AES instructions, or the C kernel knows none of its kind)"
    return "numpy (asked for)"


@lru_cache(maxsize=16)
def _schedules(blocks: int) -> bytes:
    """The round keys of all permutations, in the order that the kernel numbers them."""
    assert _kernel is not None
    keys = [fixed_key("left"), fixed_key("right")]
    keys += [fixed_key("check", block) for block in range(CHECK_BLOCKS)]
    keys.append(fixed_key("numbers"))
    keys += [fixed_key("leaf", block) for block in range(blocks)]
    result: bytes = _kernel.schedule(b"".join(keys))
    return result


def _hash_key(check_key: bytes | None) -> bytes:
    """Hash key and mask of GMAC with nonce zero."""
    if check_key is None:
        return b""
    first = bytes(BLOCK - 1) + b"\x01"
    return Cipher(algorithms.AES(check_key), modes.ECB()).encryptor().update(bytes(BLOCK) + first)


def evaluate(
    tree: "Tree",
    party: int,
    keys: ByteArray,
    share: ByteArray,
    check_key: bytes | None,
    columns: Columns | None = None,
) -> ByteArray | None:
    """As `Tree.accumulate`, with arguments that were checked there."""
    assert _kernel is not None
    tags = np.empty((len(keys) if check_key is not None else 0, TAG_BYTES), np.uint8)
    hash_key = _hash_key(check_key)
    sums, weights, sketches = _NOTHING, _NOTHING, np.empty((len(keys), 0), np.uint64)
    if columns is not None:
        sums, weights, sketches = columns.sums, _tile_weights(columns), columns.sketches
    schedules = _schedules(blocks_of(tree.width))
    fast = kernel_name() == "vaes"
    step = max(64, PER_CALL // tree.aes_bytes)
    for start in range(0, len(keys), step):
        some = slice(start, start + step)
        _kernel.evaluate(
            fast, schedules, tree.leaves, tree.width, tree.checked, tree.counted, party,
            keys[some], share, hash_key, tags[some], sums, weights, sketches[some],
        )  # fmt: skip
    return None if check_key is None else tags


def _tile_weights(columns: Columns) -> NDArray[np.uint64]:
    """Weights and their squares as the kernel reads them: tile by tile."""
    tiled = np.zeros((-(-len(columns.weights) // TILE), 2, TILE), np.uint64)
    padded = np.pad(columns.weights, (0, -len(columns.weights) % TILE))
    tiled[:, 0] = padded.reshape(-1, TILE)
    np.multiply(tiled[:, 0], tiled[:, 0], out=tiled[:, 1])
    return tiled


def generate(
    tree: "Tree",
    indices: NDArray[np.int64],
    payloads: ByteArray,
    first: ByteArray,
    second: ByteArray,
    numbers: Elements | None = None,
) -> None:
    """Write the public parts of keys that hold their seeds already."""
    assert _kernel is not None
    schedules = _schedules(blocks_of(tree.width))
    _kernel.generate(
        schedules, tree.leaves, tree.width, tree.checked, indices, payloads,
        _NOTHING if numbers is None else np.ascontiguousarray(numbers), first, second,
    )  # fmt: skip
