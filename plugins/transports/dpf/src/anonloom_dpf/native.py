"""Which code evaluates keys: the C kernel where it was built and the CPU has AES, else numpy.

The environment variable ANONLOOM_DPF_KERNEL (numpy, aesni or vaes) asks for one by name.
"""
from typing import TYPE_CHECKING

from anonloom_dpf.aes import Bytes

if TYPE_CHECKING:
    from anonloom_dpf.tree import Tree


def chosen() -> str:
    """The name of the code that evaluates keys."""
    return "numpy"


def evaluate(
    tree: "Tree", party: int, keys: Bytes, share: Bytes, check_key: bytes | None
) -> Bytes | None:
    """As `Tree.accumulate`."""
    return None
