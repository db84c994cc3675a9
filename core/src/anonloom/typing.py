"""Types of the arrays that methods, libraries and core hand to each other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AnyArray",
    "BoolArray",
    "ByteArray",
    "CodeArray",
    "Float32Array",
    "FloatArray",
    "IntArray",
]

#: Of whatever type.
AnyArray = NDArray[Any]

BoolArray = NDArray[np.bool_]
ByteArray = NDArray[np.uint8]
#: Codes of cells on an axis.
CodeArray = NDArray[np.int32]
Float32Array = NDArray[np.float32]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
