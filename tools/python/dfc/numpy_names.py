"""NumPy's functions on tensors that compute and are more than one op of the table, or say their arguments in another way.
Ops are said to be written where these are called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from . import _core
from ._core import Builder, DType, Tensor

Axes = int | Sequence[int] | None


def square(a: Tensor) -> Tensor:
    """a * a of numbers."""
    return a * a


def logical_not(a: Tensor) -> Tensor:
    """The opposite of each element, which counts as true unless it is 0."""
    return ~_bool(a)


def logical_and(a: Tensor, b: Tensor) -> Tensor:
    """Whether both hold, with broadcasting."""
    return _bool(a) & _bool(b)


def logical_or(a: Tensor, b: Tensor) -> Tensor:
    """Whether one holds at least, with broadcasting."""
    return _bool(a) | _bool(b)


def logical_xor(a: Tensor, b: Tensor) -> Tensor:
    """Whether exactly one holds, with broadcasting."""
    return _bool(a) ^ _bool(b)


def _bool(a: Any) -> Any:
    if not isinstance(a, Tensor):
        return numpy.asarray(a).astype(bool)
    return a if a.dtype == DType.bool else a.astype(DType.bool)


def var(a: Tensor, axis: Axes = None, keepdims: bool = False, *, ddof: int = 0) -> Tensor:
    """The mean of the squared distances from the mean over `axis` (None: all), of floats. ddof: what is taken from the
    number of elements that the sum is divided by; PyTorch's default is 1, NumPy's 0."""
    found = square(a - a.mean(axis, keepdims=True)).mean(axis, keepdims=keepdims)
    if ddof == 0:
        return found
    count = a.size // max(found.size, 1)
    if count <= ddof:
        raise ValueError(f"var and std of {count} elements with ddof={ddof}")
    return found * (count / (count - ddof))


def std(a: Tensor, axis: Axes = None, keepdims: bool = False, *, ddof: int = 0) -> Tensor:
    """The root of `var`."""
    return _core.sqrt(var(a, axis, keepdims, ddof=ddof))


def argmin(a: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index, int64, of the first smallest element along `axis` (None: of all elements). NaN counts as the smallest."""
    if _is_float(a):
        return _core.argmax(-a, axis, keepdims)
    along = a.reshape(-1) if axis is None else a
    found = _core.top_k(along, 1, 0 if axis is None else axis, largest=False)[1]
    return found if keepdims and axis is not None else found.reshape(_core.argmax(a, axis, keepdims).shape)


def all(a: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether all elements hold, which count as true unless they are 0."""
    return _bool(a).astype(DType.uint8).min(axis, keepdims) > 0


def any(a: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether one element holds at least, which count as true unless they are 0."""
    return _bool(a).astype(DType.uint8).max(axis, keepdims) > 0


def isnan(a: Tensor) -> Tensor:
    """Whether each element is NaN."""
    return a != a


def isinf(a: Tensor) -> Tensor:
    """Whether each element is infinite, of either sign."""
    return abs(a) == float("inf") if _is_float(a) else a != a


def isfinite(a: Tensor) -> Tensor:
    """Whether each element is neither NaN nor infinite."""
    return abs(a) < float("inf") if _is_float(a) else a == a


_FLOATS = (DType.float32, DType.float64, DType.float16, DType.bfloat16)


def _is_float(a: Tensor) -> bool:
    return a.dtype in _FLOATS


def _split(a: Tensor) -> tuple[Tensor, Tensor]:
    """Two float64 of half the digits, whose sum is a: their products have no error (Dekker 1971)."""
    large = a * float(2**27 + 1)
    high = large - (large - a)
    return high, a - high


def _product_error(a: Tensor, b: Tensor, product: Tensor) -> Tensor:
    """What the rounded product lacks of the exact one."""
    (a1, a2), (b1, b2) = _split(a), _split(b)
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def _divided(a: Any, b: Any, dtype: DType) -> tuple[Tensor, Tensor]:
    """The quotient, rounded down, and the exact remainder of floats, as NumPy has them, for quotients below 2**53: the
    quotient of float64 may have been rounded up to a whole number, which the sign of the remainder shows."""
    zero = zeros_like(a if isinstance(a, Tensor) else b)
    x, y = ((v if isinstance(v, Tensor) else _core.subtract(v, zero)).astype(DType.float64) for v in (a, b))
    quotient = _core.floor(x / y)
    product = quotient * y
    rest = _core.where(abs(y) == math.inf, x, (x - product) - _product_error(quotient, y, product))
    above = (rest != 0) & ((rest < 0) != (y < 0))
    quotient, rest = _core.where(above, quotient - 1, quotient), _core.where(above, rest + y, rest)
    infinite = abs(x) == math.inf
    return tuple(_core.where(infinite, math.nan, found).astype(dtype) for found in (quotient, rest))


def floor_divide(a: Any, b: Any) -> Tensor:
    """a // b, with broadcasting: the largest whole number not above the exact quotient, of floats below 2**53; of integers
    0 where b is 0."""
    quotient = _core.divide(a, b)
    if _is_float(quotient):
        return _divided(a, b, quotient.dtype)[0] if quotient.valid else quotient
    b = b if isinstance(b, Tensor) else numpy.asarray(b)
    left = _core.subtract(a, quotient * b)
    return _core.where((left != 0) & ((left < 0) != (b < 0)) & (b != 0), quotient - 1, quotient)


def remainder(a: Any, b: Any) -> Tensor:
    """a % b, with broadcasting: what floor_divide leaves, of the sign of b, exactly; of integers 0 where b is 0."""
    quotient = _core.divide(a, b)
    if _is_float(quotient):
        return _divided(a, b, quotient.dtype)[1] if quotient.valid else quotient
    b = b if isinstance(b, Tensor) else numpy.asarray(b)
    left = _core.subtract(a, floor_divide(a, b) * b)
    return left * (b != 0).astype(left.dtype.numpy if isinstance(b, numpy.ndarray) else left.dtype)


def mod(a: Any, b: Any) -> Tensor:
    """remainder."""
    return remainder(a, b)


def log2(a: Tensor) -> Tensor:
    """The logarithm of base 2, of floats."""
    return _core.log(a) * (1 / math.log(2))


def log10(a: Tensor) -> Tensor:
    """The logarithm of base 10, of floats."""
    return _core.log(a) * (1 / math.log(10))


def clip(a: Tensor, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Tensor:
    """The elements between two bounds, numbers or tensors, which broadcast; None: no bound."""
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is None and high is None:
        raise TypeError("clip without a bound: give a_min, a_max or both")
    if low is None:
        return _core.minimum(a, high)
    return _core.maximum(a, low) if high is None else _core.clip(a, low, high)


def dot(a: Any, b: Any) -> Tensor:
    """The inner product of vectors, the product of matrices, or of a's last axis with the matrix or vector b; of scalars
    their product."""
    if a.ndim == 0 or b.ndim == 0:
        return _core.multiply(a, b)
    if b.ndim > 2:
        raise ValueError(f"dot of shapes {tuple(a.shape)} and {tuple(b.shape)}: say which axes are summed by einsum, or by @")
    return _core.matmul(a, b)


def outer(a: Any, b: Any) -> Tensor:
    """Of vectors a and b the matrix of all products, [len(a), len(b)]."""
    return _core.multiply(a.reshape(-1, 1), b.reshape(1, -1))


def einsum(subscripts: str, *operands: Any, optimize: Any = None) -> Tensor:
    """Sums of products whose axes have letters: einsum("bhqd,bhkd->bhqk", q, k). Two operands at a time, from the left, by
    a matmul where letters are summed. `optimize` is passed over."""
    return _core.einsum_of(subscripts, list(operands))


def full_like(a: Tensor, fill_value: float, dtype: Any = None) -> Tensor:
    """This number everywhere, in the shape of a, and its element type unless `dtype` says another."""
    return _core.filled_like(a, fill_value, a.dtype if dtype is None else dtype)


def zeros_like(a: Tensor, dtype: Any = None) -> Tensor:
    """Zeros in the shape of a."""
    return full_like(a, 0, dtype)


def ones_like(a: Tensor, dtype: Any = None) -> Tensor:
    """Ones in the shape of a."""
    return full_like(a, 1, dtype)


def arange(builder: Builder, start: int | None = None, stop: int | None = None, step: int = 1,
           dtype: Any = DType.int64) -> Tensor:
    """0 … start - 1, or start, start + step, … before stop, in the graph that `builder` writes."""
    if not isinstance(builder, Builder):
        raise TypeError(f"arange({builder!r}, …): the first argument is the dfc.Builder of the graph, as in dfc.arange(g, 3); "
                        "np.arange(3) beside a tensor becomes a constant")
    if stop is None:
        start, stop = 0, start
    if not isinstance(stop, int) or not isinstance(step, int):
        raise TypeError(f"arange to {stop!r} by steps of {step!r}: give whole numbers; the element type is the keyword dtype=")
    if (start, step) == (0, 1):
        return builder.iota([max(stop, 0)], dtype)
    return builder.constant(numpy.arange(start, stop, step)).astype(dtype)
