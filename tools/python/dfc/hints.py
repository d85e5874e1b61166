"""What a tensor says of habits of NumPy and PyTorch that a graph has no room for: each with the way out."""

from __future__ import annotations

import difflib
import sys
from typing import Any

from ._core import Tensor

_NO_CONTENTS = "it has no contents while the graph is written; fetch it, and run a session"
_UNCHANGING = ("a graph has values, of which none is overwritten: choose by dfc.where(mask, a, b), join slices by "
               "dfc.concatenate, or write a part by dfc.dynamic_update_slice or dfc.scatter_add; a parameter's next value is "
               "that of g.assign")
# PyTorch's and NumPy's methods by what they are here.
_METHODS = {
    "view": "reshape(...)", "permute": "transpose(...)", "unsqueeze": "dfc.expand_dims(x, axis)", "mm": "x @ y",
    "bmm": "x @ y", "t": "x.T", "mT": "dfc.swapaxes(x, -1, -2)", "to": "astype(dtype), and on(device) to pin its op",
    "type": "astype(dtype)", "float": "astype('float32')", "half": "astype('float16')", "double": "astype('float64')",
    "long": "astype('int64')", "int": "astype('int32')", "bool": "astype('bool')", "cuda": "on('gpu0'), to pin its op",
    "backward": "dfc.gradients(loss, parameters)", "grad": "dfc.gradients(loss, parameters)",
    "detach": "dfc.stop_gradient(x)", "contiguous": "nothing: tensors are row-major", "clone": "nothing: no value is overwritten",
    "copy": "nothing: no value is overwritten", "expand": "dfc.broadcast_to(x, shape)",
    "masked_fill": "dfc.where(mask, value, x)", "gather": "dfc.take_along_axis(x, indices, axis)",
    "index_select": "dfc.take(x, indices, axis)", "dim": "ndim", "numel": "size", "chunk": "dfc.split(x, parts, axis)",
}
_CONTENTS = {"item", "numpy", "tolist", "cpu", "data", "tobytes"}
# PyTorch's and optax's functions by what they are here.
_FUNCTIONS = {
    "mse_loss": "squared_error(x, y)", "l1_loss": "absolute_error(x, y)", "l2_loss": "squared_error(x, y) / 2",
    "smooth_l1": "smooth_l1_loss(x, y)", "kl_div": "kl_divergence(log_predictions, targets)",
    "cross_entropy": "softmax_cross_entropy(logits, labels)", "nll_loss": "softmax_cross_entropy(logits, labels)",
    "binary_cross_entropy_with_logits": "sigmoid_cross_entropy(logits, targets)",
    "binary_cross_entropy": "sigmoid_cross_entropy(logits, targets), of logits, not of probabilities",
    "interpolate": "resize(x, sizes)", "conv_transpose": "conv_transpose2d(x, filter)",
    "sigmoid_binary_cross_entropy": "sigmoid_cross_entropy(logits, targets)",
}
_MAKERS = {"array", "asarray", "tensor", "zeros", "ones", "full", "eye", "linspace", "rand", "randn"}


def _missing_method(self: Tensor, name: str) -> Any:
    if name in _CONTENTS:
        why = _NO_CONTENTS
    elif name in _METHODS:
        why = f"write {_METHODS[name]}"
    elif callable(getattr(sys.modules[__package__], name, None)):
        why = f"write dfc.{name}(x, ...)"
    else:
        why = "dir(dfc) lists the functions of tensors"
    raise AttributeError(f"a dfc.Tensor has no '{name}': {why}")


def _set_item(self: Tensor, index: Any, value: Any) -> None:
    raise TypeError(f"a part of a dfc.Tensor cannot be set: {_UNCHANGING}")


def _int(self: Tensor) -> int:
    raise TypeError(f"int() of a dfc.Tensor: {_NO_CONTENTS}; astype('int64') is the op")


def _round(self: Tensor, digits: int | None = None) -> Tensor:
    if digits:
        raise TypeError(f"round() of a dfc.Tensor to {digits} digits: multiply, round and divide")
    return sys.modules[__package__].round(self)


def missing_function(name: str) -> Any:
    """Of the package's __getattr__."""
    if name.startswith("__"):
        raise AttributeError(name)
    package = sys.modules[__package__]
    near = difflib.get_close_matches(name, dir(package), n=1, cutoff=0.75)
    why = f"did you mean dfc.{near[0]}?" if near else "dir(dfc) lists all"
    if name in _FUNCTIONS:
        why = f"write dfc.{_FUNCTIONS[name]}"
    if name in _MAKERS:
        why = f"make the array by NumPy: beside a tensor it becomes a constant, as g.constant(np.{name}(...)) is"
    raise AttributeError(f"dfc has no '{name}': {why}")


def install() -> None:
    """Sets the methods."""
    Tensor.__getattr__ = _missing_method
    Tensor.__setitem__ = _set_item
    Tensor.__int__ = _int
    Tensor.__round__ = _round
