"""NumPy's functions on tensors that move elements and compute nothing: shapes, parts, joints, orders. Ops are said to be
written where these are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from . import _core
from ._core import Tensor

Axes = int | Sequence[int] | None


def normal_axis(axis: int, ndim: int) -> int:
    """The axis counted from the front. ValueError where there is none."""
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} of a tensor of {ndim} axes")
    return axis % ndim


def expand_dims(a: Tensor, axis: int | Sequence[int]) -> Tensor:
    """With new axes of length 1 at these places of the result."""
    places = [axis] if isinstance(axis, int) else list(axis)
    ndim = a.ndim + len(places)
    new = {normal_axis(place, ndim) for place in places}
    old = iter(a.shape)
    return a.reshape([1 if i in new else next(old) for i in range(ndim)])


def squeeze(a: Tensor, axis: Axes = None) -> Tensor:
    """Without these axes, of length 1 (None: all of that length)."""
    if axis is None:
        return a.reshape([length for length in a.shape if length != 1])
    gone = {normal_axis(one, a.ndim) for one in ([axis] if isinstance(axis, int) else axis)}
    if any(a.shape[one] != 1 for one in gone):
        raise ValueError(f"squeeze of axes {sorted(gone)} of shape {a.shape}: only axes of length 1 can go")
    return a.reshape([length for i, length in enumerate(a.shape) if i not in gone])


def ravel(a: Tensor) -> Tensor:
    """All elements, row-major, in one axis."""
    return a.reshape(-1)


def flatten(a: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from `start_dim` to `end_dim` in one; by default all, as NumPy's method has it."""
    if a.ndim == 0:
        return a.reshape(1)
    first, last = normal_axis(start_dim, a.ndim), normal_axis(end_dim, a.ndim)
    if first > last:
        raise ValueError(f"flatten of the axes from {start_dim} to {end_dim}: the first lies behind the last")
    joined = int(numpy.prod(a.shape[first:last + 1]))
    return a.reshape([*a.shape[:first], joined, *a.shape[last + 1:]])


def swapaxes(a: Tensor, axis1: int, axis2: int) -> Tensor:
    """With two axes exchanged."""
    axes = list(range(a.ndim))
    first, second = normal_axis(axis1, a.ndim), normal_axis(axis2, a.ndim)
    axes[first], axes[second] = second, first
    return a.transpose(axes)


def moveaxis(a: Tensor, source: int, destination: int) -> Tensor:
    """With one axis at another place."""
    axes = [i for i in range(a.ndim) if i != normal_axis(source, a.ndim)]
    axes.insert(normal_axis(destination, a.ndim), normal_axis(source, a.ndim))
    return a.transpose(axes)


def stack(arrays: Sequence[Tensor], axis: int = 0) -> Tensor:
    """One behind the other along a new axis."""
    return _core.concatenate([expand_dims(a, axis) for a in arrays], axis)


def vstack(tup: Sequence[Tensor]) -> Tensor:
    """One below the other, along axis 0; vectors are rows."""
    return _core.concatenate([a.reshape([1, -1]) if a.ndim < 2 else a for a in tup], 0)


def hstack(tup: Sequence[Tensor]) -> Tensor:
    """One beside the other, along axis 1, or 0 of vectors."""
    parts = [a.reshape([1]) if a.ndim == 0 else a for a in tup]
    return _core.concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1)


def split(a: Tensor, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """The parts of a along `axis`: so many of equal length, or cut before these indices."""
    length = a.shape[normal_axis(axis, a.ndim)]
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


def take_along_axis(arr: Tensor, indices: Any, axis: int | None = -1) -> Tensor:
    """The elements of arr that `indices` name along `axis` (None: of all elements), each row by its own: int32 or int64,
    below 0 from the end, of as many axes as arr, whose others broadcast. One out of range gives NaN, 0 of integers.
    """
    if axis is None:
        return take_along_axis(ravel(arr), indices.reshape(-1), 0)
    if len(indices.shape) != arr.ndim:
        raise ValueError(f"take_along_axis of shape {arr.shape} with indices of shape {tuple(indices.shape)}: as many axes are needed")
    where = numpy.where if isinstance(indices, numpy.ndarray) else _core.where
    axis, length = normal_axis(axis, arr.ndim), arr.shape[axis]
    others = numpy.broadcast_shapes(*([*shape[:axis], 1, *shape[axis + 1:]] for shape in (arr.shape, indices.shape)))
    wide = [tuple(n if i == axis else other for i, other in enumerate(others)) for n in (length, indices.shape[axis])]
    rows = moveaxis(_core.broadcast_to(arr, wide[0]), axis, -1)
    first = length * numpy.arange(rows.size // max(length, 1)).reshape((*rows.shape[:-1], 1))  # of each row
    first = numpy.moveaxis(first, -1, axis)
    counted = indices.astype("int64")
    named = where((counted >= -length) & (counted < length), where(counted < 0, counted + length, counted) + first, rows.size)
    return _core.gather(ravel(rows), named)


def pad(a: Tensor, pad_width: int | Sequence[Any], constant_values: float = 0) -> Tensor:
    """`constant_values` around a: a number for all edges, (before, after) for all axes, or such a pair for each."""
    if isinstance(constant_values, str):  # NumPy's third argument is a mode
        raise TypeError("pad: widths, then the value: pad(a, pad_width, constant_values=0); there are no modes but 'constant'")
    try:
        pairs = numpy.broadcast_to(numpy.asarray(pad_width), (a.ndim, 2))
    except ValueError:
        raise TypeError(f"pad: pad_width is a number, (before, after) for all axes, or such a pair for each of the {a.ndim} "
                        f"axes, not {pad_width!r}") from None
    if pairs.dtype.kind not in "iu":
        raise TypeError(f"pad: pad_width is of whole numbers, not {pad_width!r}")
    pairs = pairs.tolist()
    return _core.pad_edges(a, [low for low, _ in pairs], [high for _, high in pairs], value=constant_values)


def tile(a: Tensor, reps: int | Sequence[int]) -> Tensor:
    """a repeated along each axis; the shorter of shape and `reps` gets ones in front."""
    repeats = [reps] if isinstance(reps, int) else list(reps)
    repeats = [1] * (a.ndim - len(repeats)) + repeats
    if len(repeats) > a.ndim:
        a = a.reshape([1] * (len(repeats) - a.ndim) + list(a.shape))
    return _core.tile_axes(a, repeats)


def repeat(a: Tensor, repeats: int | Sequence[int], axis: int | None = None) -> Tensor:
    """Every slice along `axis` (None: every element of all) so many times, one behind the other; `repeats`: one number,
    or one for each slice."""
    if axis is None:
        a, axis = ravel(a), 0
    axis = normal_axis(axis, a.ndim)
    places = numpy.repeat(numpy.arange(a.shape[axis]), repeats)
    return _core.gather(a, places, axis)


def flip(a: Tensor, axis: Axes = None) -> Tensor:
    """With the elements along these axes (None: all) in reverse order."""
    axes = range(a.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    for one in axes:
        at = normal_axis(one, a.ndim)
        a = _core.gather(a, numpy.arange(a.shape[at])[::-1].copy(), at)
    return a


def roll(a: Tensor, shift: int | Sequence[int], axis: Axes = None) -> Tensor:
    """With the elements moved on by `shift` along `axis`; what leaves at the end comes in at the beginning. None: of all
    elements, row-major."""
    if axis is None:
        return roll(ravel(a), shift, 0).reshape(a.shape)
    axes = [axis] if isinstance(axis, int) else list(axis)
    shifts = [shift] * len(axes) if isinstance(shift, int) else list(shift)
    if len(axes) != len(shifts):
        raise ValueError(f"roll by {len(shifts)} shifts along {len(axes)} axes")
    for one, by in zip(axes, shifts):
        at = normal_axis(one, a.ndim)
        behind = by % a.shape[at] if a.shape[at] else 0
        if behind:
            a = _core.concatenate(_core.split_sizes(a, [a.shape[at] - behind, behind], at)[::-1], at)
    return a


def sort(a: Tensor, axis: int | None = -1) -> Tensor:
    """In ascending order along `axis` (None: of all elements); NaN comes last."""
    if axis is None:
        a, axis = ravel(a), 0
    return _core.top_k(a, a.shape[normal_axis(axis, a.ndim)], axis, largest=False)[0]


def argsort(a: Tensor, axis: int | None = -1) -> Tensor:
    """The indices, int64, that `sort` takes the elements from; equal elements keep their order."""
    if axis is None:
        a, axis = ravel(a), 0
    return _core.top_k(a, a.shape[normal_axis(axis, a.ndim)], axis, largest=False)[1]
