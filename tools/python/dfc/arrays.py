"""Arrays that sessions read where they lie: on a boundary of 64 bytes, which NumPy does not promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._core import Array, DType


def empty(shape: int | Sequence[int], dtype: Any = DType.float32) -> Any:
    """A NumPy array of zeros on a boundary of 64 bytes."""
    return Array.zeros(shape, dtype).numpy()


def aligned(array: Any) -> Any:
    """The array as a NumPy array on a boundary of 64 bytes: copied once, fed without a copy as often as you like."""
    return Array(array).numpy()
