"""NumPy's functions on tensors that are more than one op of the table, or say their arguments in another way. Ops are
said to be written where these are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from . import _core
from ._core import Builder, DType, Tensor

Axes = int | Sequence[int] | None


def _axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} of a tensor of {ndim} axes")
    return axis % ndim


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


def var(a: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The mean of the squared distances from the mean over `axis` (None: all), of floats."""
    return square(a - a.mean(axis, keepdims=True)).mean(axis, keepdims=keepdims)


def std(a: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The root of `var`."""
    return _core.sqrt(var(a, axis, keepdims))


def expand_dims(a: Tensor, axis: int | Sequence[int]) -> Tensor:
    """With new axes of length 1 at these places of the result."""
    places = [axis] if isinstance(axis, int) else list(axis)
    ndim = a.ndim + len(places)
    new = {_axis(place, ndim) for place in places}
    old = iter(a.shape)
    return a.reshape([1 if i in new else next(old) for i in range(ndim)])


def squeeze(a: Tensor, axis: Axes = None) -> Tensor:
    """Without these axes, of length 1 (None: all of that length)."""
    if axis is None:
        return a.reshape([length for length in a.shape if length != 1])
    gone = {_axis(one, a.ndim) for one in ([axis] if isinstance(axis, int) else axis)}
    if any(a.shape[one] != 1 for one in gone):
        raise ValueError(f"squeeze of axes {sorted(gone)} of shape {a.shape}: only axes of length 1 can go")
    return a.reshape([length for i, length in enumerate(a.shape) if i not in gone])


def ravel(a: Tensor) -> Tensor:
    """All elements, row-major, in one axis."""
    return a.reshape(-1)


def swapaxes(a: Tensor, axis1: int, axis2: int) -> Tensor:
    """With two axes exchanged."""
    axes = list(range(a.ndim))
    first, second = _axis(axis1, a.ndim), _axis(axis2, a.ndim)
    axes[first], axes[second] = second, first
    return a.transpose(axes)


def moveaxis(a: Tensor, source: int, destination: int) -> Tensor:
    """With one axis at another place."""
    axes = [i for i in range(a.ndim) if i != _axis(source, a.ndim)]
    axes.insert(_axis(destination, a.ndim), _axis(source, a.ndim))
    return a.transpose(axes)


def stack(arrays: Sequence[Tensor], axis: int = 0) -> Tensor:
    """One behind the other along a new axis."""
    return _core.concatenate([expand_dims(a, axis) for a in arrays], axis)


def split(a: Tensor, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """The parts of a along `axis`: so many of equal length, or cut before these indices."""
    length = a.shape[_axis(axis, a.ndim)]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count < 1 or length % count:
            raise ValueError(f"split of an axis of length {length} into {count} equal parts")
        sizes = [length // count] * count
    else:
        ends = [*indices_or_sections, length]
        sizes = [end - begin for begin, end in zip([0, *ends], ends)]
    return _core.split_sizes(a, sizes, axis)


def take(a: Tensor, indices: Any, axis: int | None = None) -> Tensor:
    """The slices of a along `axis` (None: of all elements) that `indices` name, int32 or int64 of any shape."""
    return _core.gather(ravel(a) if axis is None else a, indices, axis or 0)


def pad(a: Tensor, pad_width: int | Sequence[Any], constant_values: float = 0) -> Tensor:
    """`constant_values` around a: a number for all edges, (before, after) for all axes, or such a pair for each."""
    pairs: list[Any] = [pad_width] if isinstance(pad_width, int) else list(pad_width)
    if all(isinstance(one, int) for one in pairs):
        pairs = [(pairs[0], pairs[-1])] * a.ndim
    elif len(pairs) == 1:
        pairs = pairs * a.ndim
    return _core.pad_edges(a, [low for low, _ in pairs], [high for _, high in pairs], value=constant_values)


def tile(a: Tensor, reps: int | Sequence[int]) -> Tensor:
    """a repeated along each axis; the shorter of shape and `reps` gets ones in front."""
    repeats = [reps] if isinstance(reps, int) else list(reps)
    repeats = [1] * (a.ndim - len(repeats)) + repeats
    if len(repeats) > a.ndim:
        a = a.reshape([1] * (len(repeats) - a.ndim) + list(a.shape))
    return _core.tile_axes(a, repeats)


def arange(builder: Builder, stop: int, dtype: Any = DType.int64) -> Tensor:
    """0 … stop - 1."""
    return builder.iota([stop], dtype)
