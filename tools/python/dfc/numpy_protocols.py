"""NumPy's own functions called on tensors: np.sqrt(x), array + x, array @ x, np.concatenate([x, y]) write dfc's op of that
name, and say so where there is none. NumPy calls the two hooks; it stands in no frame of Python, so that ops are said to be
written where NumPy's function is called."""

from __future__ import annotations

import sys
from typing import Any

from ._core import Tensor

# NumPy's names that are others here.
_ALIASES = {"true_divide": "divide", "fabs": "absolute", "float_power": "power"}


def _counterpart(name: str) -> Any:
    package = sys.modules[__package__]
    found = getattr(package, name, None)
    return found if callable(found) else None


def _refused(name: str, why: str) -> TypeError:
    return TypeError(f"np.{name} of a dfc.Tensor: {why}")


def _no_counterpart(name: str) -> TypeError:
    return _refused(name, "dfc has no op of that name; write it by others (dir(dfc) lists them), or fetch the tensor and "
                          "call NumPy on the result of a step")


def _array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    name = ufunc.__name__
    if method != "__call__":
        raise _refused(f"{name}.{method}", "call dfc's function on the tensor (dfc.sum, dfc.max, dfc.cumsum, ...)")
    if options:
        raise _refused(name, f"{', '.join(options)}= makes no sense in a graph, in which nothing is overwritten; "
                             "leave it out, or use dfc.where and astype")
    if name == "invert":
        return ~inputs[0]
    function = _counterpart(_ALIASES.get(name, name))
    if function is None:
        raise _no_counterpart(name)
    return function(*inputs)


def _array_function(self: Tensor, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    counterpart = _counterpart(function.__name__)
    if counterpart is None:
        raise _no_counterpart(function.__name__)
    return counterpart(*args, **kwargs)


def _array(self: Tensor, dtype: Any = None, copy: Any = None) -> Any:
    raise TypeError("a dfc.Tensor has no contents while the graph is written; fetch it, and run a session")


def install() -> None:
    """Sets the hooks of NumPy's protocols."""
    Tensor.__array_ufunc__ = _array_ufunc
    Tensor.__array_function__ = _array_function
    Tensor.__array__ = _array
