"""dfc's C++ library. Use the package `dfc`, which hands on what is here."""

from collections.abc import Callable, Mapping, Sequence
import enum
import os
from typing import Any

import numpy
import numpy.typing

from dfc.hints import (
    _int as __int__,
    _missing_method as __getattr__,
    _round as __round__,
    _set_item as __setitem__
)
from dfc.numpy_protocols import (
    _array as __array__,
    _array_function as __array_function__,
    _array_ufunc as __array_ufunc__
)
import dfc.plain


class DType(enum.Enum):
    """
    The element types: floats of 32, 64 and 16 bits (IEEE 754 binary16 and bfloat16), integers, bool.
    """

    float32 = 0

    float64 = 1

    float16 = 2

    bfloat16 = 3

    int32 = 4

    int64 = 5

    uint8 = 6

    bool = 7

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""

    @property
    def short_name(self) -> str:
        """The name in a graph file: 'f32', 'bf16', …"""

    @property
    def numpy(self) -> object:
        """
        NumPy's dtype. That of bfloat16 is the package ml_dtypes' (ImportError without it).
        """

class Array:
    """
    A tensor of known contents in host memory, 64-byte aligned, row-major. NumPy reads it by `numpy()` or `np.asarray`, PyTorch and JAX by their `from_dlpack`: copies, which may be written.
    """

    def __init__(self, value: numpy.typing.ArrayLike, dtype: object | None = None) -> None:
        """A copy of `value`, which feeds sessions without another."""

    @staticmethod
    def zeros(shape: int | Sequence[int], dtype: DType | numpy.typing.DTypeLike = DType.float32) -> Array:
        """Of zeros."""

    @property
    def shape(self) -> tuple:
        """Dimensions."""

    @property
    def dtype(self) -> DType:
        """Element type."""

    @property
    def ndim(self) -> int:
        """How many axes."""

    @property
    def size(self) -> int:
        """How many elements."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""

    def numpy(self) -> object:
        """
        As a NumPy array. bfloat16 needs the package ml_dtypes (ImportError without it).
        """

    def item(self) -> object:
        """The only element, as a number of Python."""

    def tolist(self) -> object:
        """Nested lists of numbers of Python."""

    def __float__(self) -> float: ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: object) -> object: ...

    def __array__(self, dtype: object | None = None, *, copy: object | None = None) -> object: ...

    def __dlpack__(self, **kwargs) -> object: ...

    def __dlpack_device__(self) -> tuple:
        """(1, 0): the host's memory, in DLPack's numbers."""

    def __eq__(self, other: Array) -> bool:
        """The same type and the same bits of every element."""

    def __repr__(self) -> str: ...

class Tensor:
    """
    A value of a graph under construction: a shape, an element type and a name, and no contents before a session runs. Operators and methods are NumPy's.
    """

    @property
    def shape(self) -> tuple:
        """Dimensions. Of a tensor after a mistake eight of length 1."""

    @property
    def dtype(self) -> DType:
        """Element type."""

    @property
    def ndim(self) -> int:
        """How many axes."""

    @property
    def size(self) -> int:
        """How many elements."""

    @property
    def valid(self) -> bool:
        """False after a mistake, which Builder.finish tells."""

    @property
    def name(self) -> str:
        """Its name in the graph."""

    @property
    def T(self) -> Tensor:
        """With the axes in reverse order."""

    def named(self, name: str) -> Tensor:
        """
        Renames the value and gives it back. A name that is taken gets a suffix.
        """

    def on(self, device: str) -> Tensor:
        """Pins the op that makes it to a device ('gpu0') and gives it back."""

    def cut(self, axis: int, devices: str) -> Tensor:
        """
        Itself, and the wish that it be cut along `axis`, a part on each device that the glob `devices` names ('gpu*').
        """

    def __add__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """Sum, with broadcasting."""

    def __radd__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor: ...

    def __sub__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """Difference, with broadcasting."""

    def __rsub__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor: ...

    def __mul__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """Product, element by element, with broadcasting."""

    def __rmul__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor: ...

    def __truediv__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """
        Quotient, with broadcasting; of integers it truncates towards zero, and is 0 for a divisor of 0.
        """

    def __rtruediv__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor: ...

    def __pow__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """Power of floats, with broadcasting; edge cases as C's pow."""

    def __rpow__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor: ...

    def __matmul__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """
        Matrix products of the last two axes: [..., m, k] @ [..., k, n] is [..., m, n]. A vector is a row before a matrix or a column behind one, and its axis goes.
        """

    def __rmatmul__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor: ...

    def __and__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """And, of bool or bit by bit."""

    def __rand__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor: ...

    def __or__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """Or, of bool or bit by bit."""

    def __ror__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor: ...

    def __xor__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """Exclusive or, of bool or bit by bit."""

    def __rxor__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor: ...

    def __eq__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """a == b, element by element, as bool."""

    def __ne__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """a != b, element by element, as bool."""

    def __lt__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """a < b, element by element, as bool."""

    def __le__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """a <= b, element by element, as bool."""

    def __gt__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """a > b, element by element, as bool."""

    def __ge__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """a >= b, element by element, as bool."""

    def __neg__(self) -> Tensor:
        """Of numbers."""

    def __invert__(self) -> Tensor:
        """The opposite of bool; of integers every bit turned."""

    def __abs__(self) -> Tensor:
        """Magnitude of numbers."""

    def __getitem__(self, index: Tensor | numpy.typing.ArrayLike | None) -> Tensor:
        """
        As NumPy's: whole numbers, slices with steps above 0, `...`, None, one tensor of indices.
        """

    def __len__(self) -> int: ...

    def __bool__(self) -> bool: ...

    def __float__(self) -> float: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """
        The sum over `axis` (None: all; negative ones count from the end), of numbers.
        """

    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """
        The mean over `axis` (None: all), of floats. An axis of length 0 is refused.
        """

    def max(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """
        The largest over `axis` (None: all), NaN if any is NaN. An axis of length 0 is refused.
        """

    def min(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """
        The smallest over `axis` (None: all), NaN if any is NaN. An axis of length 0 is refused.
        """

    def prod(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The product over `axis` (None: all), of numbers; of no elements 1."""

    def astype(self, dtype: DType | numpy.typing.DTypeLike) -> Tensor:
        """
        In another element type. Float to integer truncates and saturates, NaN gives 0.
        """

    def reshape(self, *shape) -> Tensor:
        """
        The same elements, row-major, under another shape; one dimension may be -1: the rest.
        """

    def transpose(self, *axes) -> Tensor:
        """Axis i of the result is axis axes[i]; none given reverses the axes."""

    def __floordiv__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """
        The largest whole number not above the quotient; of integers 0 for a divisor of 0.
        """

    def __mod__(self, other: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """
        What // leaves, of the divisor's sign; of integers 0 for a divisor of 0.
        """

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """The axes from start_dim to end_dim in one: by default all."""

    def ravel(self) -> Tensor:
        """All elements, row-major, in one axis."""

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """Without these axes, of length 1 (None: all of that length)."""

    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """With two axes exchanged."""

    def repeat(self, repeats: int | Sequence[int], axis: int | None = None) -> Tensor:
        """Every slice along `axis` (None: every element) so many times."""

    def clip(self, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Tensor:
        """The elements between two bounds, which broadcast; None: no bound."""

    def dot(self, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """The inner product of vectors, the product with a matrix."""

    def cumsum(self, axis: int | None = None) -> Tensor:
        """Running sums along `axis` (None: of all elements)."""

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """The index, int64, of the first largest element."""

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """The index, int64, of the first smallest element."""

    def all(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """Whether all elements hold, which do unless they are 0."""

    def any(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """Whether one element holds at least."""

    def var(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, ddof: int = 0) -> Tensor:
        """
        The mean of the squared distances from the mean over `axis` (None: all).
        """

    def std(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, ddof: int = 0) -> Tensor:
        """The root of the variance over `axis` (None: all)."""

    def __rfloordiv__(self, other: numpy.typing.ArrayLike) -> Tensor: ...

    def __rmod__(self, other: numpy.typing.ArrayLike) -> Tensor: ...

class Initialiser:
    """
    How a parameter starts. Made by the functions of dfc.init. Kinds that draw give the same bits for the same seed, anywhere.
    """

    def __repr__(self) -> str: ...

def init_zeros() -> Initialiser:
    """Every element 0."""

def init_constant(value: float) -> Initialiser:
    """Every element `value`."""

def init_uniform(low: float, high: float, seed: int = 0) -> Initialiser:
    """Evenly in [low, high)."""

def init_normal(mean: float = 0.0, deviation: float = 1.0, seed: int = 0) -> Initialiser:
    """Normally distributed."""

def init_glorot(seed: int = 0) -> Initialiser:
    """Uniform by fan-in and fan-out (Glorot and Bengio 2010)."""

def init_he_normal(seed: int = 0) -> Initialiser:
    """Normal by fan-in, for layers that end in ReLU (He et al. 2015)."""

def init_he_uniform(seed: int = 0) -> Initialiser:
    """Uniform by fan-in, likewise."""

def init_from_file(path: str | os.PathLike[str]) -> Initialiser:
    """
    From a .npy file, or 'weights.safetensors#name'; relative paths start at Session's data_folder.
    """

class Builder:
    """
    Writes a graph, op by op, until `finish`. Shapes are checked where the call is written; a mistake is recorded with the Python file and line, its result is passed over by later calls, and `finish` raises all of them at once. With strict=True each mistake is raised by its call. For one thread.
    """

    def __init__(self, name: str = 'main', *, strict: bool = False) -> None: ...

    def input(self, name: str, shape: int | Sequence[int], dtype: DType | numpy.typing.DTypeLike = DType.float32) -> Tensor:
        """
        A value that each step is fed, by name. Two inputs or parameters of one name are a mistake.
        """

    def parameter(self, name: str, shape: int | Sequence[int], init: Initialiser | float | None = None, dtype: DType | numpy.typing.DTypeLike = DType.float32) -> Tensor:
        """
        A value that outlives a step, saved and restored by name. It starts as `init` says (None: zeros; a number: that everywhere); assign() gives its next value.
        """

    def constant(self, value: numpy.typing.ArrayLike, dtype: object | None = None) -> Tensor:
        """
        A value known when the graph is written, copied. dtype: of its elements; those of arrays are converted as feeds are.
        """

    def scalar(self, value: float, dtype: DType | numpy.typing.DTypeLike = DType.float32) -> Tensor:
        """A constant of no axes."""

    def step(self) -> Tensor:
        """
        How many steps were run before this one, an int64 scalar: a parameter 'step' that dfc counts up. What is drawn by it (dropout) never repeats, and a checkpoint keeps it.
        """

    def iota(self, shape: int | Sequence[int], dtype: DType | numpy.typing.DTypeLike = DType.int64, axis: int = 0) -> Tensor:
        """Each element is its own index along `axis`."""

    def assign(self, parameter: Tensor, value: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """The parameter's next value; gives that value."""

    def fetch(self, name: str, value: Tensor) -> None:
        """Gives `value` back to the caller of each step, under `name`."""

    def finish(self) -> Graph:
        """
        The graph. Raises dfc.Error with every mistake that was made while it was written, each at its line of Python. Once: afterwards the builder and its tensors raise RuntimeError.
        """

    def scope(self, name: str, device: str | None = None) -> Region:
        """
        `with g.scope('fc1'):` names the ops of the block as a group, and pins them where a device is given. Scopes nest with '/'.
        """

    def on(self, device: str) -> Region:
        """
        `with g.on('gpu0'):` pins the ops of the block; the innermost pin holds.
        """

class Region:
    """A scope or pin of Builder, for `with`."""

    def __enter__(self) -> None: ...

    def __exit__(self, *exception) -> None: ...

def absolute(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """Magnitude of numbers; that of the least integer wraps."""

def sign(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """-1, 0 or 1 of numbers; a zero keeps its sign, NaN stays."""

def floor(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The largest whole number not above a, of floats."""

def ceil(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The smallest whole number not below a, of floats."""

def round(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The nearest whole number of floats, halves to the even one."""

def exp(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """e to the power a, of floats."""

def log(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The natural logarithm of floats."""

def log1p(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """log(1 + a) of floats, with all digits where a is small."""

def expm1(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """exp(a) - 1 of floats, with all digits where a is small."""

def sqrt(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The square root of floats."""

def sin(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The sine of floats, in radians."""

def cos(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The cosine of floats, in radians."""

def erf(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The error function of floats."""

def tanh(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The hyperbolic tangent of floats."""

def relu(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """max(a, 0) of numbers; NaN stays; the derivative at 0 is 0."""

def negative(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """-a of numbers."""

def invert(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The opposite of bool; of integers every bit turned."""

def gelu(a: Tensor | numpy.typing.ArrayLike, approximate: bool = False) -> Tensor:
    """
    a times the normal distribution function of a, of floats; with approximate=True by tanh (Hendrycks and Gimpel 2016).
    """

def astype(a: Tensor | numpy.typing.ArrayLike, dtype: DType | numpy.typing.DTypeLike) -> Tensor:
    """
    a in another element type. Float to integer truncates and saturates, NaN gives 0; to bool: a != 0.
    """

def add(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a + b of numbers, with broadcasting; integers wrap."""

def subtract(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a - b of numbers, with broadcasting; integers wrap."""

def multiply(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a * b, element by element, with broadcasting."""

def divide(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """
    a / b, with broadcasting; integers truncate towards zero, a zero divisor gives 0.
    """

def maximum(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The larger of two numbers, with broadcasting; NaN if either is NaN."""

def minimum(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """The smaller of two numbers, with broadcasting; NaN if either is NaN."""

def power(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a to the power b of floats, with broadcasting; edge cases as C's pow."""

def bitwise_and(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """And of bool or, bit by bit, of integers."""

def bitwise_or(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """Or of bool or, bit by bit, of integers."""

def bitwise_xor(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """Exclusive or of bool or, bit by bit, of integers."""

def equal(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a == b as bool, with broadcasting; false with NaN."""

def not_equal(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a != b as bool, with broadcasting; true with NaN."""

def less(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a < b as bool, with broadcasting; false with NaN."""

def less_equal(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a <= b as bool, with broadcasting; false with NaN."""

def greater(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a > b as bool, with broadcasting; false with NaN."""

def greater_equal(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a >= b as bool, with broadcasting; false with NaN."""

def hard_swish(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """
    hard_swish(a): a clip(a/6 + 1/2, 0, 1), silu's likeness without an exponential (Howard et al. 2019; ONNX
    HardSwish). Exactly 0 up to -3 and exactly a from 3 on (6 times the rounded sixth is 1); of -infinity it is
    NaN, as the formula has it. At -3 and 3 the derivatives of the straight sides, 0 and 1.
    """

def leaky_relu(a: Tensor | numpy.typing.ArrayLike, slope: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """
    leaky_relu(a, slope): a where a >= 0, slope times a below, with broadcasting: one slope for all, or one for
    each channel (ONNX LeakyRelu and PRelu). At 0 the derivative of the upper side.
    """

def mish(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """
    mish(a): a tanh(softplus(a)), a smooth likeness of relu that dips below 0 (Misra 2019, "Mish: a self
    regularized non-monotonic activation function"; ONNX Mish). Element type: a float.
    """

def reciprocal(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """reciprocal(a): 1 / a (ONNX Reciprocal). Exact: one quotient."""

def rsqrt(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """rsqrt(a): 1 / sqrt(a), rounded as the two are (StableHLO rsqrt)."""

def selu(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """
    selu(a): gamma a where a > 0, gamma alpha (exp(a) - 1) below, with alpha 1.67326… and gamma 1.05070…, for
    which layers keep mean 0 and variance 1 (Klambauer et al. 2017, "Self-normalizing neural networks"; ONNX
    Selu without attributes). Element type: a float. At 0 the derivative of the lower side.
    """

def sigmoid(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """sigmoid(a): 1 / (1 + exp(-a)), without overflow (ONNX Sigmoid)."""

def silu(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """
    silu(a): a sigmoid(a), also called swish (Elfwing, Uchibe and Doya 2018; ONNX Swish). Where exp(a) is
    subnormal it has fewer bits, and so has the result: |a| units of them.
    """

def softplus(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """
    softplus(a): log(1 + exp(a)), without overflow, and with all bits of small results (ONNX Softplus).
    """

def where(condition: Tensor | numpy.typing.ArrayLike, a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """a where the bool condition holds, else b; all three broadcast."""

def clip(a: Tensor | numpy.typing.ArrayLike, low: Tensor | numpy.typing.ArrayLike, high: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """
    min(max(a, low), high) of numbers, with broadcasting; NaN in any operand gives NaN.
    """

def sum(a: Tensor | numpy.typing.ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """
    The sum over `axis` (None: all; negative ones count from the end), of numbers.
    """

def mean(a: Tensor | numpy.typing.ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """
    The mean over `axis` (None: all), of floats. An axis of length 0 is refused.
    """

def max(a: Tensor | numpy.typing.ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """
    The largest over `axis` (None: all), NaN if any is NaN. An axis of length 0 is refused.
    """

def min(a: Tensor | numpy.typing.ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """
    The smallest over `axis` (None: all), NaN if any is NaN. An axis of length 0 is refused.
    """

def prod(a: Tensor | numpy.typing.ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The product over `axis` (None: all), of numbers; of no elements 1."""

def argmax(a: Tensor | numpy.typing.ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """
    The index, int64, of the first largest element along `axis` (None: of all elements). NaN counts as the largest.
    """

def cumsum(a: Tensor | numpy.typing.ArrayLike, axis: int | Sequence[int] | None = None, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """
    Running sums along `axis` (None: of all elements), of numbers; exclusive: without the element itself; reverse: from the end.
    """

def top_k(a: Tensor | numpy.typing.ArrayLike, k: int, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """
    The k largest (or smallest) elements along `axis`, in order, and their indices, int64; of equal ones the lower index first.
    """

def reshape(a: Tensor | numpy.typing.ArrayLike, shape: int | Sequence[int]) -> Tensor:
    """
    The same elements, row-major, under another shape; one dimension may be -1: the rest.
    """

def transpose(a: Tensor | numpy.typing.ArrayLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """Axis i of the result is axis axes[i] of a; None reverses the axes."""

def broadcast_to(a: Tensor | numpy.typing.ArrayLike, shape: int | Sequence[int]) -> Tensor:
    """a stretched to `shape`."""

def filled_like(a: Tensor | numpy.typing.ArrayLike, value: float, dtype: DType | numpy.typing.DTypeLike) -> Tensor:
    """This number everywhere, in the shape of a."""

def cut(a: Tensor | numpy.typing.ArrayLike, axis: int, devices: str) -> Tensor:
    """
    a itself, and the wish that it be cut along `axis`, a part on each device that the glob `devices` names ('gpu*'). The other ops follow as costs have it. On a machine with one device nothing is cut.
    """

def stop_gradient(a: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """
    a itself, and a constant to `gradients`: no gradient passes through it. Parameters that a loss depends on only through it are not trained. Of any element type; it costs nothing.
    """

def concatenate(arrays: Sequence[Tensor | numpy.typing.ArrayLike], axis: int = 0) -> Tensor:
    """One behind the other along `axis`; the other dimensions agree."""

def split_sizes(a: Tensor | numpy.typing.ArrayLike, sizes: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """
    The parts of a along `axis`, one for each size; the sizes add up to the dimension.
    """

def slice(a: Tensor | numpy.typing.ArrayLike, starts: int | Sequence[int], ends: int | Sequence[int], strides: int | Sequence[int] | None = None) -> Tensor:
    """
    Elements starts, starts + strides, … below ends, on every axis; strides left out are 1. a[i:j] is shorter.
    """

def pad_edges(a: Tensor | numpy.typing.ArrayLike, low: int | Sequence[int], high: int | Sequence[int], interior: int | Sequence[int] | None = None, value: float = 0.0) -> Tensor:
    """
    `value` before, after and between (interior) the elements of every axis.
    """

def tile_axes(a: Tensor | numpy.typing.ArrayLike, repeats: int | Sequence[int]) -> Tensor:
    """a repeated along each of its axes."""

def gather(a: Tensor | numpy.typing.ArrayLike, indices: Tensor | numpy.typing.ArrayLike, axis: int = 0) -> Tensor:
    """
    The slices of a along `axis` that `indices` (int32 or int64, any shape) name; below 0 they count from the end, out of range they give NaN, or 0 for integers.
    """

def scatter_add(a: Tensor | numpy.typing.ArrayLike, indices: Tensor | numpy.typing.ArrayLike, updates: Tensor | numpy.typing.ArrayLike, axis: int = 0) -> Tensor:
    """
    a with every slice of `updates` added to the slice along `axis` that its index names, in the updates' order.
    """

def one_hot(indices: Tensor | numpy.typing.ArrayLike, depth: int, axis: int = -1, dtype: DType | numpy.typing.DTypeLike = DType.float32) -> Tensor:
    """
    1 where the index along the new axis is the one named, else 0. indices: int32 or int64.
    """

def triu(a: Tensor | numpy.typing.ArrayLike, k: int = 0) -> Tensor:
    """
    Of each matrix the part on and above the k-th diagonal; zeros elsewhere.
    """

def tril(a: Tensor | numpy.typing.ArrayLike, k: int = 0) -> Tensor:
    """
    Of each matrix the part on and below the k-th diagonal; zeros elsewhere.
    """

def einsum_of(subscripts: str, operands: Sequence[Tensor | numpy.typing.ArrayLike]) -> Tensor:
    """
    Sums of products whose axes have letters: einsum is shorter. '...' stands for axes that broadcast.
    """

def matmul(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike, *, transpose_a: bool = False, transpose_b: bool = False, precision: str | None = None) -> Tensor:
    """
    Matrix products of the last two axes, batched over the axes before them, which broadcast: [..., m, k] x [..., k, n] -> [..., m, n]. A vector is a row before b or a column behind a, and its axis goes. float16 and bfloat16 are summed in float32. precision: 'ieee', 'tf32', 'bf16' or 'f16' of float32 operands; None: as the plan is compiled.
    """

def attention(q: Tensor | numpy.typing.ArrayLike, k: Tensor | numpy.typing.ArrayLike, v: Tensor | numpy.typing.ArrayLike, *, causal: bool = False, scale: float | None = None, mask: Tensor | numpy.typing.ArrayLike | None = None, precision: str | None = None) -> Tensor:
    """
    Scaled dot-product attention (Vaswani et al. 2017). q: [batch…, heads, queries, width], k: [batch…, key_heads, keys, width], v: [batch…, key_heads, keys, value_width]; result: [batch…, heads, queries, value_width]. heads is a multiple of key_heads. scale: None for 1 / sqrt(width). mask: bool, broadcasts to the scores, true where a query may see a key. A query that sees no key gives zeros.
    """

def embedding(table: Tensor | numpy.typing.ArrayLike, ids: Tensor | numpy.typing.ArrayLike) -> Tensor:
    """
    The rows of `table` [entries, width] that `ids` (int32 or int64, any shape) name: [ids…, width]. An id below 0 counts from the end; one out of range gives NaN.
    """

def layer_norm(a: Tensor | numpy.typing.ArrayLike, scale: Tensor | numpy.typing.ArrayLike, bias: Tensor | numpy.typing.ArrayLike, axis: int = -1, epsilon: float = 1e-05) -> Tensor:
    """
    (a - mean) / sqrt(variance + epsilon) * scale + bias, mean and variance over `axis` and all after it; scale and bias have the shape of those axes (Ba, Kiros and Hinton 2016).
    """

def group_norm(a: Tensor | numpy.typing.ArrayLike, scale: Tensor | numpy.typing.ArrayLike, bias: Tensor | numpy.typing.ArrayLike, groups: int, epsilon: float = 1e-05) -> Tensor:
    """
    a [batch, channels, ...], each of `groups` groups of channels by its own mean and variance, times scale plus bias, one of each for a channel (Wu and He 2018).
    """

def rms_norm(a: Tensor | numpy.typing.ArrayLike, scale: Tensor | numpy.typing.ArrayLike, axis: int = -1, epsilon: float = 1e-05) -> Tensor:
    """
    a / sqrt(mean of a^2 + epsilon) * scale, the mean over `axis` and all after it (Zhang and Sennrich 2019).
    """

def batch_norm(a: Tensor | numpy.typing.ArrayLike, scale: Tensor | numpy.typing.ArrayLike, bias: Tensor | numpy.typing.ArrayLike, mean: Tensor | numpy.typing.ArrayLike, variance: Tensor | numpy.typing.ArrayLike, axis: int = 1, epsilon: float = 1e-05) -> Tensor:
    """
    (a - mean) / sqrt(variance + epsilon) * scale + bias with a number of each for each channel, which is `axis`; for inference (Ioffe and Szegedy 2015).
    """

def batch_norm_training(a: Tensor | numpy.typing.ArrayLike, scale: Tensor | numpy.typing.ArrayLike, bias: Tensor | numpy.typing.ArrayLike, axis: int = 1, epsilon: float = 1e-05) -> tuple[Tensor, Tensor, Tensor]:
    """
    a normalised by its own mean and variance over all axes but `axis`, scaled and shifted; the mean and the variance (not corrected) of each channel.
    """

def dropout(a: Tensor | numpy.typing.ArrayLike, step: Tensor | numpy.typing.ArrayLike, rate: float = 0.5, seed: int = 0) -> Tensor:
    """
    Each element is 0 with probability `rate`, else a / (1 - rate) (Srivastava et al. 2014), by seed, index and `step`, an int64 scalar: count it up to draw anew.
    """

def conv2d(a: Tensor | numpy.typing.ArrayLike, filter: Tensor | numpy.typing.ArrayLike, *, strides: int | Sequence[int] | None = None, low: int | Sequence[int] | None = None, high: int | Sequence[int] | None = None, dilations: int | Sequence[int] | None = None, groups: int = 1, precision: str | None = None) -> Tensor:
    """
    Cross-correlation of a [N, C, H, W] with filter [M, C / groups, KH, KW]: [N, M, H', W'], of floats. low, high: padding before and behind each of the last two axes. None: strides and dilations of 1, no padding.
    """

def conv_transpose2d(a: Tensor | numpy.typing.ArrayLike, filter: Tensor | numpy.typing.ArrayLike, *, strides: int | Sequence[int] | None = None, low: int | Sequence[int] | None = None, high: int | Sequence[int] | None = None, dilations: int | Sequence[int] | None = None, output_padding: int | Sequence[int] | None = None, groups: int = 1, precision: str | None = None) -> Tensor:
    """
    The transpose of conv2d: each element of a [N, C, H, W] adds filter [C, M / groups, KH, KW], times itself, to its window of the result [N, M, H', W']; H' = (H - 1) * stride - low - high + dilation * (KH - 1) + 1 + output_padding, which is behind, and below the stride or the dilation. A number stands for both axes.
    """

def resize(a: Tensor | numpy.typing.ArrayLike, sizes: int | Sequence[int], method: str = 'nearest', *, align_corners: bool = False) -> Tensor:
    """
    a with its last axes as long as `sizes` say, one for each, as PyTorch's interpolate makes them. method: 'nearest' (of any dtype), 'linear' or 'cubic'. But for the nearest, the corners of both pictures coincide, or with align_corners the centres of their corner elements. No antialiasing.
    """

def max_pool(a: Tensor | numpy.typing.ArrayLike, size: int | Sequence[int], *, strides: int | Sequence[int] | None = None, low: int | Sequence[int] | None = None, high: int | Sequence[int] | None = None, dilations: int | Sequence[int] | None = None) -> Tensor:
    """
    The largest element of each window of size [h, w] over the last two axes of a [N, C, H, W]. A number stands for both axes. strides: None for the windows' size, so that they lie side by side.
    """

def average_pool(a: Tensor | numpy.typing.ArrayLike, size: int | Sequence[int], *, strides: int | Sequence[int] | None = None, low: int | Sequence[int] | None = None, high: int | Sequence[int] | None = None, dilations: int | Sequence[int] | None = None, count_padding: bool = False) -> Tensor:
    """
    The mean of each window of size [h, w]; with count_padding the padding counts as elements. A number stands for both axes. strides: None for the windows' size.
    """

def softmax(a: Tensor | numpy.typing.ArrayLike, axis: int = -1) -> Tensor:
    """exp(a) / sum(exp(a)) along `axis`, of floats."""

def log_softmax(a: Tensor | numpy.typing.ArrayLike, axis: int = -1) -> Tensor:
    """a - log(sum(exp(a))) along `axis`, of floats."""

def squared_error(predictions: Tensor | numpy.typing.ArrayLike, targets: Tensor | numpy.typing.ArrayLike, *, reduction: str = 'mean') -> Tensor:
    """
    (predictions - targets)^2: the mean squared error, or with reduction 'sum' or 'none' the sum or one for each element. Both have one shape, or the targets are a number or a scalar.
    """

def absolute_error(predictions: Tensor | numpy.typing.ArrayLike, targets: Tensor | numpy.typing.ArrayLike, *, reduction: str = 'mean') -> Tensor:
    """|predictions - targets|: the L1 loss. reduction: of squared_error."""

def huber_loss(predictions: Tensor | numpy.typing.ArrayLike, targets: Tensor | numpy.typing.ArrayLike, *, delta: float = 1.0, reduction: str = 'mean') -> Tensor:
    """
    error^2 / 2 up to an error of `delta`, delta * (|error| - delta / 2) beyond (Huber 1964). reduction: of squared_error.
    """

def smooth_l1_loss(predictions: Tensor | numpy.typing.ArrayLike, targets: Tensor | numpy.typing.ArrayLike, *, beta: float = 1.0, reduction: str = 'mean') -> Tensor:
    """
    huber_loss / beta with delta = beta; with beta = 0 absolute_error. reduction: of squared_error.
    """

def sigmoid_cross_entropy(logits: Tensor | numpy.typing.ArrayLike, targets: Tensor | numpy.typing.ArrayLike, *, reduction: str = 'mean', positive_weight: Tensor | numpy.typing.ArrayLike = 1.0) -> Tensor:
    """
    The binary cross-entropy of sigmoid(logits), without overflow. targets: probabilities, or bools or integers that are 0 or 1. positive_weight: of targets that are 1, a number or a tensor that broadcasts to the logits. reduction: of squared_error.
    """

def softmax_cross_entropy(logits: Tensor | numpy.typing.ArrayLike, labels: Tensor | numpy.typing.ArrayLike, *, in_float32: bool = False, label_smoothing: float = 0.0, ignore_index: int | None = None, reduction: str = 'mean') -> Tensor:
    """
    The mean over rows of -log_softmax(logits)[row, label], a scalar. logits: [n, classes] of a float; labels: [n] of int32 or int64; one outside of [0, classes) gives NaN, and is refused in what a session is fed. Several axes of rows, [batch, length, classes] and [batch, length], are joined. labels may be probabilities [n, classes] instead. in_float32: the loss of 16-bit logits is float32, which it is anyway with one of the other options. label_smoothing: the share of each target that is spread evenly over all classes. ignore_index: rows of this label do not count. reduction: of squared_error, over rows.
    """

def kl_divergence(log_predictions: Tensor | numpy.typing.ArrayLike, targets: Tensor | numpy.typing.ArrayLike, *, reduction: str = 'mean') -> Tensor:
    """
    Of each row along the last axis the sum of targets * (log targets - log_predictions); a target of 0 adds 0. log_predictions: such as log_softmax gives. reduction: of squared_error, over rows.
    """

def cosine_similarity(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike, axis: int = -1, epsilon: float = 1e-08) -> Tensor:
    """
    Along `axis`, which goes, the product of a and b over that of their norms, each at least `epsilon`; a and b broadcast.
    """

def contrastive_loss(a: Tensor | numpy.typing.ArrayLike, b: Tensor | numpy.typing.ArrayLike, temperature: Tensor | numpy.typing.ArrayLike = 0.07) -> Tensor:
    """
    Rows of a and b [n, width] that belong together, told from all other pairs: the mean of softmax_cross_entropy over rows and over columns of cosine similarities / temperature (CLIP, Radford et al. 2021).
    """

class Layers:
    """
    Layers that own their parameters: each call makes them, by name, with the initialiser of its kind, and writes the formula. The same calls in a second graph (an evaluation) make parameters of the same names. Names and shapes are those that PyTorch publishes weights with, but for linear layers, whose weight is [in, out] unless out_first.
    """

    def __init__(self, builder: Builder, *, training: bool = True, seed: int = 0, dtype: DType | numpy.typing.DTypeLike = DType.float32) -> None:
        """
        training: batch norms take the batch's statistics, and dropout drops; else the running statistics, and all passes. seed: of the first weights; those of each parameter differ. dtype: of all parameters; what goes into a layer has the same.
        """

    @property
    def trained(self) -> list[Tensor]:
        """
        All parameters that are trained, in the order in which they were made: what gradients and optimisers take.
        """

    @property
    def training(self) -> bool:
        """What the layers are for."""

    def next_seed(self) -> int:
        """
        A seed that no other parameter of these layers has, for an initialiser of one's own.
        """

    def parameter(self, name: str, shape: int | Sequence[int], init: Initialiser | float) -> Tensor:
        """
        A parameter of one's own that is trained with the others, of the layers' dtype.
        """

    def linear(self, name: str, x: Tensor | numpy.typing.ArrayLike, to: int, *, bias: bool = True, out_first: bool = False, init: Initialiser | None = None) -> Tensor:
        """
        x: [..., in]. Result: [..., to], x times '<name>.weight' plus '<name>.bias'. out_first: the weight is [out, in], as PyTorch's, else [in, out]. init: of the weight; None: Glorot's.
        """

    def embedding(self, name: str, ids: Tensor | numpy.typing.ArrayLike, entries: int, width: int) -> Tensor:
        """
        The rows of the table '<name>.weight' [entries, width] that `ids` name: [ids..., width].
        """

    def attention(self, name: str, x: Tensor | numpy.typing.ArrayLike, heads: int, *, causal: bool = False, key_heads: int | None = None, bias: bool = True, init: Initialiser | None = None, memory: Tensor | numpy.typing.ArrayLike | None = None, mask: Tensor | numpy.typing.ArrayLike | None = None) -> Tensor:
        """
        Self-attention with linear layers '<name>.q', '.k', '.v' and '.out'. x: [batch, length, width], `heads` divide the width. key_heads: heads of keys and values; None: as many. memory: [batch, positions, any width], what keys and values are made of (cross-attention); None: x. mask: of attention. Result: of the shape of x.
        """

    def convolution(self, name: str, x: Tensor | numpy.typing.ArrayLike, to: int, size: int, *, stride: int = 1, padding: int | None = None, groups: int = 1, bias: bool = False, init: Initialiser | None = None, dilation: int = 1, causal: bool = False) -> Tensor:
        """
        x: [batch, channels, h, w]; a filter of size x size. Result: [batch, to, ...]. Or x: [batch, channels, length] and a filter of size. padding: on all sides; None: as many as keep the length at stride 1. init: of the filter; None: He's, normal. causal: of one axis, all padding before, so that no position sees a later one.
        """

    def transposed_convolution(self, name: str, x: Tensor | numpy.typing.ArrayLike, to: int, size: int, *, stride: int = 1, padding: int = 0, output_padding: int = 0, groups: int = 1, bias: bool = False, init: Initialiser | None = None) -> Tensor:
        """
        x: [batch, channels, h, w]; conv_transpose2d with a filter '<name>.weight' of [channels, to / groups, size, size]. Result: [batch, to, ...]. padding: taken off on all sides; output_padding: added behind. init: of the filter; None: He's, normal.
        """

    def batch_norm(self, name: str, x: Tensor | numpy.typing.ArrayLike, kept: float = 0.9, epsilon: float = 1e-05) -> Tensor:
        """
        x: [batch, channels, ...], normalised for each channel. The running statistics '<name>.running_mean' and '<name>.running_var' keep `kept` of what they were at each step.
        """

    def layer_norm(self, name: str, x: Tensor | numpy.typing.ArrayLike, epsilon: float = 1e-05) -> Tensor:
        """
        x normalised along its last axis, scaled by '<name>.weight', shifted by '<name>.bias'.
        """

    def group_norm(self, name: str, x: Tensor | numpy.typing.ArrayLike, groups: int, epsilon: float = 1e-05) -> Tensor:
        """
        x: [batch, channels, ...], each of `groups` groups of channels normalised by itself, scaled by '<name>.weight', shifted by '<name>.bias', one of each for a channel.
        """

    def rms_norm(self, name: str, x: Tensor | numpy.typing.ArrayLike, epsilon: float = 1e-05) -> Tensor:
        """
        x over its root mean square along the last axis, scaled by '<name>.weight'.
        """

    def dropout(self, x: Tensor | numpy.typing.ArrayLike, rate: float = 0.5) -> Tensor:
        """
        In training each element is 0 with probability `rate`, else x / (1 - rate). No two calls, and no two steps, drop alike.
        """

    def lstm(self, name: str, x: Tensor | numpy.typing.ArrayLike, width: int) -> tuple[Tensor, Tensor]:
        """
        LSTM (Hochreiter and Schmidhuber 1997, with a forget gate). x: [batch, length, in]. Gives the hidden state behind every position, [batch, length, width], and behind the last one, [batch, width]. Parameters as PyTorch's: '<name>.weight_ih', '.weight_hh', '.bias_ih' and '.bias_hh'.
        """

    def gru(self, name: str, x: Tensor | numpy.typing.ArrayLike, width: int) -> tuple[Tensor, Tensor]:
        """GRU (Cho et al. 2014) likewise."""

def dynamic_slice(a: Tensor | numpy.typing.ArrayLike, starts: Tensor | numpy.typing.ArrayLike, sizes: int | Sequence[int], axes: int | Sequence[int] | None = None) -> Tensor:
    """
    Along axes[i], sizes[i] elements of a from starts[i] on; all along the other axes. starts: int32 or int64, a vector, or a scalar for one axis; clamped, so that what is taken lies inside. None: all axes, in order.
    """

def dynamic_update_slice(a: Tensor | numpy.typing.ArrayLike, update: Tensor | numpy.typing.ArrayLike, starts: Tensor | numpy.typing.ArrayLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """
    a with `update` in the place of as many of its elements, from starts[i] on along axes[i].
    """

def random_uniform(step: Tensor | numpy.typing.ArrayLike, shape: int | Sequence[int], dtype: DType | numpy.typing.DTypeLike = DType.float32, seed: int = 0) -> Tensor:
    """
    Numbers between 0 and 1, both exclusive, float32 or float64, by seed, index and `step`, an int64 scalar: count it up to draw anew. The same on every device, whatever their number.
    """

def random_normal(step: Tensor | numpy.typing.ArrayLike, shape: int | Sequence[int], dtype: DType | numpy.typing.DTypeLike = DType.float32, seed: int = 0) -> Tensor:
    """
    Normally distributed numbers of mean 0 and deviation 1. step, shape, dtype, seed: of random_uniform.
    """

def categorical(logits: Tensor | numpy.typing.ArrayLike, step: Tensor | numpy.typing.ArrayLike, seed: int = 0) -> Tensor:
    """
    Of each row along the last axis an index, int64, drawn with the probabilities softmax(logits). Divide the logits by a temperature first. step, seed: of random_uniform.
    """

def keep_top_k(logits: Tensor | numpy.typing.ArrayLike, k: int) -> Tensor:
    """
    logits, with -infinity in the place of all but the k largest along the last axis.
    """

def keep_top_p(logits: Tensor | numpy.typing.ArrayLike, p: float, among: int = 0) -> Tensor:
    """
    logits, with -infinity in the place of all but the smallest set along the last axis whose probabilities add up to p or more (Holtzman et al. 2019). among: how many of the largest are looked at, 0 for all.
    """

def quantize(matrix: numpy.typing.ArrayLike, bits: int = 8, group: int = 0) -> tuple[numpy.ndarray, numpy.ndarray]:
    """
    A matrix of floats, [n, k], as arrays for quantized_matmul: (weights, scales). Every run of `group` elements of a row has a scale of its own, the whole row where it is 0.
    """

def quantized_matmul(a: Tensor | numpy.typing.ArrayLike, weights: Tensor | numpy.typing.ArrayLike, scales: Tensor | numpy.typing.ArrayLike, bits: int = 8) -> Tensor:
    """
    a, [..., m, k], times the transpose of a quantised matrix [n, k], dequantised as it is read: weights uint8 [n, k * bits / 8], scales [n, runs] of a's type, as quantize gives them.
    """

def dequantized(weights: Tensor | numpy.typing.ArrayLike, scales: Tensor | numpy.typing.ArrayLike, bits: int = 8) -> Tensor:
    """The matrix [n, k] that weights and scales hold."""

class KvCache:
    """
    The keys and values of the tokens that a decoder has seen, kept from step to step as the parameters '<name>.keys' and '<name>.values', [batch, heads, rows, width].
    """

    def __init__(self, builder: Builder, name: str, *, batch: int = 1, heads: int, rows: int, width: int, dtype: DType | numpy.typing.DTypeLike = DType.float32, ring: bool = False, window: int = 0) -> None:
        """
        rows: tokens that are kept. ring: a token takes the row of the one `rows` before it. window: tokens that a query sees, 0 for all that are kept.
        """

    def attend(self, q: Tensor | numpy.typing.ArrayLike, k: Tensor | numpy.typing.ArrayLike, v: Tensor | numpy.typing.ArrayLike, position: Tensor | numpy.typing.ArrayLike, scale: float | None = None) -> Tensor:
        """
        Causal attention of the step's tokens over the cache and themselves. q: [batch, query heads, tokens, width]; k and v: [batch, heads, tokens, width], which become rows of the cache. position: int64 of no axes, that of the first of the tokens; a text begins anew at 0. Once in a graph.
        """

def counted_position(builder: Builder, name: str, tokens: int, reset: Tensor | numpy.typing.ArrayLike | None = None) -> Tensor:
    """
    A position that the plan keeps: a parameter `name`, int64, from 0 on, to which each step adds `tokens`. reset: bool of no axes, true in a step that begins a text anew.
    """

def gradients(loss: Tensor, wrt: Sequence[Tensor | numpy.typing.ArrayLike]) -> list[Tensor]:
    """
    d loss / d x for each x of `wrt`, as ops of the same graph. loss: a float scalar; x: a float tensor. Each result is named '<x>.gradient'. An x that loss does not depend on gets zeros, with a warning where x is a parameter.
    """

def clip_by_global_norm(gradients: Sequence[Tensor | numpy.typing.ArrayLike], most: Tensor | numpy.typing.ArrayLike) -> list[Tensor]:
    """
    The gradients times min(1, most / norm), where norm is the root of the sum of the squares of all their elements (Pascanu et al. 2013). `most` is above 0.
    """

def accumulate_gradients(parameters: Sequence[Tensor | numpy.typing.ArrayLike], gradients: Sequence[Tensor | numpy.typing.ArrayLike], steps: int) -> tuple[list[Tensor], Tensor]:
    """
    The means of the gradients over the steps so far since the last update, and whether this step is the last of `steps`: bool of no axes, for the optimisers' only_if.
    """

def moving_averages(parameters: Sequence[Tensor | numpy.typing.ArrayLike], next: Sequence[Tensor | numpy.typing.ArrayLike], decay: float = 0.999) -> list[Tensor]:
    """
    Exponential moving averages of the parameters' next values, kept as state beside them.
    """

def sgd(parameters: Sequence[Tensor | numpy.typing.ArrayLike], gradients: Sequence[Tensor | numpy.typing.ArrayLike], rate: Tensor | numpy.typing.ArrayLike) -> list[Tensor]:
    """
    w <- w - rate * g. rate: a number, or a scalar of the graph. Gives the new weights.
    """

def momentum(parameters: Sequence[Tensor | numpy.typing.ArrayLike], gradients: Sequence[Tensor | numpy.typing.ArrayLike], rate: Tensor | numpy.typing.ArrayLike = 0.1, momentum: float = 0.9, *, weight_decay: float = 0.0, nesterov: bool = False, no_decay: Sequence[str] = [], only_if: Tensor | numpy.typing.ArrayLike | None = None) -> list[Tensor]:
    """
    v <- momentum * v + g + weight_decay * w;  w <- w - rate * v (Polyak 1964, as PyTorch's SGD without dampening). no_decay: patterns of names ('*.bias') without weight decay. only_if: bool of no axes; a step in which it is false changes nothing. Gives the new weights.
    """

def adam(parameters: Sequence[Tensor | numpy.typing.ArrayLike], gradients: Sequence[Tensor | numpy.typing.ArrayLike], rate: Tensor | numpy.typing.ArrayLike = 0.001, beta1: float = 0.9, beta2: float = 0.999, *, epsilon: float = 1e-08, weight_decay: float = 0.0, no_decay: Sequence[str] = [], only_if: Tensor | numpy.typing.ArrayLike | None = None) -> list[Tensor]:
    """
    Adam with bias correction (Kingma and Ba 2015) and decoupled weight decay (Loshchilov and Hutter 2019). Keeps m, v and the powers of beta1 and beta2 as state. Otherwise as momentum().
    """

def lion(parameters: Sequence[Tensor | numpy.typing.ArrayLike], gradients: Sequence[Tensor | numpy.typing.ArrayLike], rate: Tensor | numpy.typing.ArrayLike = 0.0001, beta1: float = 0.9, beta2: float = 0.99, *, weight_decay: float = 0.0, no_decay: Sequence[str] = [], only_if: Tensor | numpy.typing.ArrayLike | None = None) -> list[Tensor]:
    """
    Lion (Chen et al. 2023): the sign of a moment. The rate is a third to a tenth of Adam's. Otherwise as momentum().
    """

def adafactor(parameters: Sequence[Tensor | numpy.typing.ArrayLike], gradients: Sequence[Tensor | numpy.typing.ArrayLike], rate: Tensor | numpy.typing.ArrayLike = 0.01, *, scale_by_parameter: bool = True, decay_exponent: float = 0.8, epsilon1: float = 1e-30, epsilon2: float = 0.001, clip: float = 1.0, weight_decay: float = 0.0, no_decay: Sequence[str] = [], only_if: Tensor | numpy.typing.ArrayLike | None = None) -> list[Tensor]:
    """
    Adafactor (Shazeer and Stern 2018): second moments of rows and columns. The rate is relative to the root mean square of the weight, which counts as epsilon2 at least, unless scale_by_parameter is False. epsilon1: added to the square of a gradient. clip: the largest root mean square of an update, before the rate. Otherwise as momentum().
    """

def warm_up(step: Tensor, steps: int) -> Tensor:
    """
    A factor of a rate: (step + 1) / steps, and 1 from step `steps` - 1 on.
    """

def linear_decay(step: Tensor, steps: int, end: float = 0.0) -> Tensor:
    """
    A factor of a rate: from 1 at step 0 evenly to `end` at step `steps`, where it stays.
    """

def cosine_decay(step: Tensor, steps: int, end: float = 0.0) -> Tensor:
    """
    A factor of a rate: from 1 at step 0 along half a cosine to `end` at step `steps`, where it stays (Loshchilov and Hutter 2017).
    """

def step_decay(step: Tensor, steps: int, factor: float = 0.1) -> Tensor:
    """A factor of a rate: factor ^ floor(step / steps)."""

class LossScaling:
    """
    Dynamic loss scaling, for training in float16 (Micikevicius et al. 2018): the loss is multiplied by a scale that is as large as the gradients bear, and a step whose gradients are not finite changes nothing but the scale. A plan compiled with precision='f16' does it by itself.
    """

    def __init__(self, builder: Builder, *, initial: float = 65536.0, growth: float = 2.0, backoff: float = 0.5, interval: int = 2000, least: float = 1.0, most: float = 16777216.0) -> None:
        """
        Scale of the first step; factors after `interval` steps with finite gradients and after a step without; bounds of the scale.
        """

    def scaled(self, loss: Tensor | numpy.typing.ArrayLike) -> Tensor:
        """The loss times the scale, to take gradients of."""

    def unscaled(self, gradients: Sequence[Tensor | numpy.typing.ArrayLike]) -> list[Tensor]:
        """
        Gradients of the scaled loss as those of the loss, in float32 or wider; of all gradients of a step at once.
        """

    def finite(self) -> Tensor:
        """
        Whether all gradients of this step are finite: bool of no axes, for the optimisers' only_if.
        """

def all_reduce(values: Sequence[Tensor | numpy.typing.ArrayLike], devices: Sequence[str], form: str = 'scatter', chunks: int = 4) -> list[Tensor]:
    """
    The sum of `values`, value i on devices[i], once on each device. form: 'exchange' (every device is sent all values), 'scatter' (every device sums its part), 'ring' (parts go round in `chunks` pieces).
    """

def reduce_scatter(values: Sequence[Tensor | numpy.typing.ArrayLike], devices: Sequence[str], form: str = 'scatter', chunks: int = 4) -> list[Tensor]:
    """Part j of the sum, along axis 0, on devices[j]."""

def all_gather(parts: Sequence[Tensor | numpy.typing.ArrayLike], devices: Sequence[str]) -> list[Tensor]:
    """
    Parts that lie on their devices, one behind the other along axis 0, on each device.
    """

def custom(operands: Sequence[Tensor], *, function: str, results: Sequence[tuple[Sequence[int], DType]], cpu_seconds: float = 0.0, gpu_seconds: float = 0.0, pure: bool = False, kernel_source: str = '', kernel_entry: str = '', grid: Sequence[int] = (), block: Sequence[int] = (), shared_bytes: int = 0) -> list[Tensor]:
    """
    A task of your own under dfc's schedules: an op that calls the session's function of this name, f(operands, results) with tuples of NumPy arrays, of which it writes the results; or, on a real GPU, the CUDA kernel `kernel_entry` of `kernel_source`. results: (shape, dtype) of each. Seconds of one run on a cpu and on a gpu; 0: it does not run there. pure: equal ops may be one, and one that nothing reads is left out.
    """

class Graph:
    """
    A whole computation, which never changes. Made by Builder.finish, or read from a graph file. `str(graph)` is its text, a .dfg file.
    """

    @property
    def name(self) -> str:
        """The name that the author gave."""

    @property
    def inputs(self) -> dict:
        """What a step is fed: TensorSpec by name, in the order of writing."""

    @property
    def parameters(self) -> dict:
        """What outlives a step: TensorSpec by name."""

    @property
    def results(self) -> dict:
        """What a step gives back: TensorSpec by name of the fetch."""

    @property
    def ops(self) -> list:
        """Every op: dfc.Op with its name, kind, operands, scope, pin and place."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the text as a .dfg file: whole or not at all."""

    def dot(self) -> str:
        """The graph in Graphviz' DOT language."""

    def __len__(self) -> int:
        """How many ops."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

def read_graph(path: str | os.PathLike[str]) -> Graph:
    """
    Reads a graph file (.dfg). Raises dfc.Error with every mistake, located.
    """

def parse_graph(text: str, file_name: str = '<text>') -> Graph:
    """The same of a text; `file_name` is for messages."""

class Machine:
    """
    The devices that a plan is made for, and the links between them. `str(machine)` is its JSON, a machine file.
    """

    @property
    def name(self) -> str:
        """For messages and pictures."""

    @property
    def devices(self) -> list:
        """dfc.Device of each: name, kind, model, memory in bytes, threads."""

    def with_memory(self, device: str, bytes: int) -> Machine:
        """The same machine with another capacity of one device."""

    def with_host_gpus(self, measure: bool = False) -> Machine:
        """
        The same machine with the real GPUs of this host and their links. Raises dfc.Error without any.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

def read_machine(path: str | os.PathLike[str]) -> Machine:
    """
    Reads a machine file (JSON). Raises dfc.Error with every mistake, located.
    """

def parse_machine(json: str, file_name: str = '<text>') -> Machine:
    """The same of a text; `file_name` is for messages."""

def estimated_host() -> Machine:
    """
    This host as one cpu with all its cores and estimated rates: 10 GB/s of memory and 16 GFLOP/s of float32 a core.
    """

def measured_host() -> Machine:
    """The same with measured rates; takes some seconds."""

class Calibration:
    """How long ops take on one model of device, as `dfc calibrate` measured."""

    @property
    def device(self) -> str:
        """The model of device."""

    @property
    def ops(self) -> dict:
        """Seconds of one run by the op's signature."""

    def __repr__(self) -> str: ...

def read_calibrations(path: str | os.PathLike[str]) -> list[Calibration]:
    """The tables of a file that `dfc calibrate -o` wrote."""

class CompileOptions:
    """The options of dfc.compile, as it hands them on."""

    def __init__(self) -> None: ...

    @property
    def policy(self) -> str: ...

    @policy.setter
    def policy(self, arg: str, /) -> None: ...

    @property
    def skip_passes(self) -> list[str]: ...

    @skip_passes.setter
    def skip_passes(self, arg: Sequence[str], /) -> None: ...

    @property
    def merge_launches(self) -> bool: ...

    @merge_launches.setter
    def merge_launches(self, arg: bool, /) -> None: ...

    @property
    def peer_reads(self) -> bool: ...

    @peer_reads.setter
    def peer_reads(self, arg: bool, /) -> None: ...

    @property
    def plan_seconds(self) -> float: ...

    @plan_seconds.setter
    def plan_seconds(self, arg: float, /) -> None: ...

    @property
    def calibrations(self) -> list[Calibration]: ...

    @calibrations.setter
    def calibrations(self, arg: Sequence[Calibration], /) -> None: ...

    @property
    def plan_steps(self) -> int | None: ...

    @plan_steps.setter
    def plan_steps(self, value: int | None) -> None: ...

    def pin(self, pattern: str, device: str) -> None: ...

    def split(self, pattern: str, axis: int, devices: str) -> None: ...

    def set_precision(self, word: str) -> None: ...

class Trace:
    """Which op ran on which queue from when to when; seconds."""

    @property
    def measured(self) -> bool:
        """Whether a session measured it, or the plan predicts it."""

    @property
    def backends(self) -> dict:
        """
        The backend that ran each device: 'cpu', 'cuda', 'emulated'. Empty for a predicted trace.
        """

    @property
    def makespan(self) -> float:
        """Seconds from the first begin to the last end."""

    @property
    def overlap(self) -> float:
        """
        Seconds in which at least one transfer and one computation were both under way.
        """

    @property
    def spans(self) -> list:
        """dfc.Span of each, by begin."""

    def chrome(self) -> str:
        """Chrome's trace-event JSON: opens in Perfetto."""

    def __len__(self) -> int: ...

class Plan:
    """
    A sealed plan: which device computes what, in which order, on which bytes. Never changes; threads and sessions may share it. Pickled by its bytes.
    """

    @property
    def graph(self) -> Graph:
        """With the transfers that the plan needs."""

    @property
    def machine(self) -> Machine:
        """What the plan was made for."""

    @property
    def placement(self) -> str:
        """
        How the ops were placed, in words: "cpu0 alone", "split over gpu0 to gpu7".
        """

    @property
    def predicted_seconds(self) -> float:
        """Predicted seconds of a step among many."""

    @property
    def lower_bound_seconds(self) -> float:
        """
        Seconds that such a step takes at least in any schedule of this placement.
        """

    @property
    def steps(self) -> list:
        """dfc.Step of each op that works, in the order of their predicted start."""

    @property
    def transfers(self) -> list:
        """dfc.Transfer of each copy between devices."""

    @property
    def memory(self) -> list:
        """dfc.DeviceMemory of each device, in bytes."""

    def dot(self, what: str = 'figure', *, by_scope: bool = True) -> str:
        """
        A picture in Graphviz' DOT language: 'figure' (a box a scope and device), 'placed' (every op) or 'schedule' (a row a queue).
        """

    def page(self, trace: Trace | None = None) -> str:
        """
        The page that `dfc view` writes, as one HTML text that needs nothing else: the graph by scopes, the timeline, memory and the explanation. trace: of a session of this plan, to be drawn beside the prediction.
        """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan: whole or not at all. `dfc run` takes it, too."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Plan:
        """
        Reads a plan; every stage is rebuilt and verified. Raises dfc.Error for a damaged one.
        """

    def __bytes__(self) -> bytes: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

    def __repr__(self) -> str: ...

def compile_graph(graph: Graph, machine: Machine, options: CompileOptions) -> Plan:
    """What dfc.compile calls, the interpreter's lock released."""

def predicted_trace(plan: Plan) -> Trace:
    """The schedule's own predicted times."""

def simulate(plan: Plan) -> Trace:
    """
    A discrete-event simulation of one step on the machine that the plan was made for, with contention for links and devices.
    """

def explain_graph(graph: Graph, machine: Machine, options: CompileOptions, scope_depth: int, changes: bool) -> tuple[Plan, str, str]:
    """What dfc.explain calls: the plan, its explanation as JSON and as text."""

def import_onnx(path: str | os.PathLike[str], *, dims: Mapping[str, int] = {}, values: Mapping[str, numpy.typing.ArrayLike] = {}, weight_file: str = '') -> Graph:
    """
    The graph of a model. dims: lengths of free dimensions by the model's names ('batch'), or by input and axis ('x.0'). values: inputs that are to be constants. weight_file: how parameters name the model's file, from which a session reads the weights when it opens ('': as `path`). Raises dfc.Error with all that is missing: free dimensions, ops that dfc lacks with their nodes, mistakes of the model.
    """

def export_onnx(graph: Graph, path: str | os.PathLike[str], *, state: Mapping[str, numpy.typing.ArrayLike] = {}, data_folder: str | os.PathLike[str] = '.', most_inline: int = 67108864) -> None:
    """
    Writes a model of opset 20. state: values of parameters by name, such as Session.state(); others start as the graph says, from files in `data_folder`. A parameter that the graph assigns is an input with its value as default, and its next value an output NAME.next. Of more than most_inline bytes of weights, large ones go to a second file, 'model.onnx.data'. Raises dfc.Error with all ops that ONNX cannot say.
    """

class RenameRules:
    """
    Rules that give tensors other names, other orders of their axes and other element types. A rule is a line, and the first that matches a name decides: 'transformer.h.*.mlp.*.weight -> h.*.mlp.*.weight transposed', '/layers\\.(\\d+)/ -> h.$1 as f32', 'drop *.masked_bias'.
    """

    def __init__(self, text: str = '', file_name: str = '<text>') -> None:
        """Raises dfc.Error with every mistake, located; `file_name` is for that."""

    @staticmethod
    def read(path: str | os.PathLike[str]) -> RenameRules:
        """The rules of a file."""

    def apply(self, arrays: Mapping[str, numpy.typing.ArrayLike]) -> dict[str, Any]:
        """
        The arrays by their new names. Raises dfc.Error for two that get one name, and for axes that an array does not have.
        """

class Session:
    """
    A plan on opened devices, with the parameters from step to step. Threads may share it: steps run one after another in the order of their submission. Also a context manager, which closes it.
    """

    def __init__(self, plan: Plan, *, cpu_backend: str = '', gpu_backend: str = '', max_in_flight: int = 2, trace: bool = False, timeout_seconds: float = 0.0, check_finite: bool = False, check_indices: bool = True, data_folder: str | os.PathLike[str] = '.', module_folder: str | os.PathLike[str] = '', kernel_cache: str | os.PathLike[str] = '', functions: Mapping[str, Callable[..., None]] | str | os.PathLike[str] | None = None, state: Session | None = None) -> None:
        """
        Backends by name ('cpu', 'emulated', 'cuda', 'null'; '': the first that can). timeout_seconds: of a step, 0 for none. check_finite: a step fails at the first value that is NaN or infinite (slow). check_indices: feeds with labels that name no class and indices that name no slice are refused, where the graph takes them from an input. data_folder: where initialisers' relative files are. functions: what custom ops call, by name, or the path of a C library. state: another session; parameters that it has, too, by name, are one with its own, without a copy, and keep its values: the plans of a prompt and of decoding, or of training and evaluation, work on one set of weights.
        """

    def run(self, feeds: Mapping[str, numpy.typing.ArrayLike] | None = None, arrays: str = 'numpy') -> dict[str, Any]:
        """
        One step. `feeds`: an array for each input, by name, of its shape, of NumPy or any library that speaks DLPack, on the host. Of its element type, or of another that is converted: floats to floats, which are rounded, integers where the numbers stay the same; not floats to integers. Read where it lies if it is row-major and 64-byte aligned (dfc.empty makes such arrays), else copied. Gives the fetches by name: as NumPy arrays, or with arrays='torch', 'jax' or 'dfc' (dfc.Array), without a copy. Raises dfc.Error with every mistake of the feeds, dfc.MachineError where the machine fails.
        """

    def submit(self, feeds: Mapping[str, numpy.typing.ArrayLike] | None = None) -> Pending:
        """
        Queues a step and returns; blocks only while max_in_flight steps are under way. An array that is read where it lies must not change before the step has ended.
        """

    def wait_all(self) -> None:
        """
        Until the steps submitted so far have ended. Raises the failure of one that nobody has waited for.
        """

    def predict(self, data: Mapping[str, numpy.typing.ArrayLike], fetches: str | Sequence[str] = (), arrays: str = 'numpy', every_step: str | Sequence[str] = ()) -> dict[str, Any]:
        """
        What becomes of every row of a data set, in its order: arrays by name, whose first axis counts the rows. `data`: an array of as many rows as you like for each input, or of exactly the input's shape, which is fed at every step; one that is as long as a batch is refused where others have more rows, unless `every_step` names its input. A last batch that is not full is filled up with copies of the last row, whose results are cut off, so a row's result must not depend on other rows. `fetches`: which; none: all whose first axis is the batch. float64 and int64 become what the inputs are, where nothing but floats' last digits is lost. Raises dfc.Error with every mistake, and for a plan that trains.
        """

    def state(self, arrays: str = 'numpy') -> dict:
        """
        Copies of the parameters by name, between steps: waits for those under way.
        """

    def view(self, parameter: str) -> Any:
        """
        A parameter where it lies, without a copy and without waiting: a NumPy array that cannot be written, and changes with the next step that assigns the parameter. It keeps the memory. Raises dfc.Error for a parameter that is cut over devices or lies on a GPU: `state` copies those.
        """

    def set_state(self, values: Mapping[str, numpy.typing.ArrayLike]) -> None:
        """
        Sets parameters by name, between steps. Names, types and shapes must agree; none is set unless all do (dfc.Error).
        """

    def save(self, path: str | os.PathLike[str]) -> None:
        """
        Writes the parameters as a checkpoint, a .safetensors file: whole or not at all.
        """

    def load(self, path: str | os.PathLike[str]) -> None:
        """
        Reads a checkpoint. Every parameter must be in the file with its type and shape; nothing is set unless all is well (dfc.Error).
        """

    def load_weights(self, path: str | os.PathLike[str], *, rules: RenameRules | None = None, partial: bool = False) -> dfc.plain.LoadedWeights:
        """
        Reads a .safetensors file of another's weights, through `rules`. partial: parameters that the file lacks keep their values, and tensors of no parameter are passed over. Nothing is set unless all is well (dfc.Error). Gives dfc.LoadedWeights: how many were set, of how many, and how many of the file were not used.
        """

    def set_weights(self, values: Mapping[str, numpy.typing.ArrayLike], *, rules: RenameRules | None = None, partial: bool = False) -> dfc.plain.LoadedWeights:
        """The same of arrays in memory, such as a state_dict of PyTorch."""

    def copy_state_from(self, other: Session, *, rules: RenameRules | None = None, partial: bool = False) -> dfc.plain.LoadedWeights:
        """
        The same of another session's parameters, between the steps of both, whatever the devices of the two plans: a training on several devices gives an evaluation on one its weights (partial=True, where the training has more: those of its optimiser). Where devices are the same, the option `state` of Session makes two sessions work on one set of weights, without a copy.
        """

    @property
    def plan(self) -> Plan:
        """What it runs."""

    @property
    def inputs(self) -> dict:
        """TensorSpec of each input, by name."""

    @property
    def fetches(self) -> dict:
        """TensorSpec of each fetch, by name."""

    @property
    def parameters(self) -> list:
        """dfc.Parameter of each."""

    @property
    def devices(self) -> list[str]:
        """'gpu0: cuda, NVIDIA H200 (sm_90)', … for each device of the plan."""

    def take_trace(self) -> Trace:
        """The measured spans since the last call, of a session with trace=True."""

    def close(self) -> None:
        """Waits for the steps under way, and lets the devices go."""

    def __enter__(self) -> object: ...

    def __exit__(self, *exception) -> None: ...

class Pending:
    """A step on its way. May outlive its session."""

    def wait(self, fetch: str | None = None, arrays: str = 'numpy') -> object:
        """
        Blocks until the step has ended, or this one fetch is there while the rest may still run. Gives the fetches by name, or that one: without a copy, so the same array each time that it is asked.
        """

    @property
    def done(self) -> bool:
        """Whether `wait` would return at once."""

class Batches:
    """
    A data set cut into batches of equal size, in its own order or in one drawn anew for each epoch. What is left over at the end of an epoch is left out.
    """

    def __init__(self, columns: Mapping[str, numpy.typing.ArrayLike], batch: int, seed: int | None = None) -> None:
        """columns: arrays by name, with first axes of one length; copied once."""

    def __len__(self) -> int:
        """Batches in an epoch."""

    @property
    def rows(self) -> int:
        """Rows of the data set."""

    def at(self, epoch: int, index: int) -> dict[str, Array]:
        """
        Batch `index` of `epoch`, both from 0, by column: what Session.run is fed, without another copy. Raises IndexError.
        """

    def at_step(self, step: int) -> dict[str, Array]:
        """The batch of a training's step, from 0: epoch after epoch."""

    @property
    def seed(self) -> int | None:
        """What the orders are drawn from; None: rows in their order."""

def read_csv(path: str | os.PathLike[str], *, columns: Sequence[str] = (), words: Sequence[str] = (), separator: str = ',', header: bool | None = None, gaps: bool = False) -> dfc.plain.CsvTable:
    """
    A table of numbers. columns: those that are read, in this order; none: all. words: columns of words, each of which becomes a number, 0, 1, ... in the order in which they first stand. header: whether the first row holds names; None: it does where none of its cells is a number. gaps: an empty cell is NaN, and 'nan' may stand there. Raises dfc.Error with every mistake, each with its line and column.
    """

def read_array(source: str, preferred: str = '') -> object:
    """
    An array by a word that names a file and what of it, as `dfc run --feed` takes it: 'x.npy', 'x.npz:member', 'w.safetensors:name', 'images.gz' (IDX), 't.csv:a,b', 'book.txt:64' (bytes in rows of 64), 'fashion-mnist/train/images'. preferred: the member where the word does not say.
    """

def read_safetensors(path: str | os.PathLike[str]) -> dict:
    """
    The arrays of a .safetensors file, by name. Raises dfc.Error for a damaged one.
    """

def write_safetensors(path: str | os.PathLike[str], arrays: Mapping[str, numpy.typing.ArrayLike]) -> None:
    """Writes arrays by name as a .safetensors file: whole or not at all."""

def read_idx(path: str | os.PathLike[str]) -> object:
    """The uint8 array of an IDX file, gzipped or plain, the form of MNIST."""

def fashion_mnist(part: str = 'train') -> dict:
    """
    Fashion-MNIST of the Debian package dataset-fashion-mnist, 'train' (60,000 rows) or 'test' (10,000): 'images' float32 [n, 784] in [0, 1], 'labels' int64 [n].
    """

def shuffled_rows(rows: int, seed: int, epoch: int) -> list[int]:
    """
    A permutation of 0 … rows - 1, drawn from seed and epoch; the same on every computer.
    """

class Trainer:
    """
    The steps of a training, in such a way that it can be interrupted and go on: killed at any moment and started again with resume=, it ends with the same parameters to the bit. Assumes that feeds depend on the step's number alone. The session takes no steps of others meanwhile. Used by one thread.
    """

    def __init__(self, session: Session, *, steps: int, feeds: Batches | Callable[[int], Mapping[str, numpy.typing.ArrayLike]] | Sequence[Mapping[str, numpy.typing.ArrayLike]] | Mapping[str, numpy.typing.ArrayLike] | None = None, steps_per_epoch: int | None = None, evaluation: Session | None = None, evaluation_feeds: Batches | Callable[[int], Mapping[str, numpy.typing.ArrayLike]] | Sequence[Mapping[str, numpy.typing.ArrayLike]] | Mapping[str, numpy.typing.ArrayLike] | None = None, evaluation_batches: int | None = None, evaluate_every: int = 0, checkpoint: str | os.PathLike[str] = '', checkpoint_every: int = 0, resume: str | os.PathLike[str] = '', best: str | os.PathLike[str] = '', best_by: str = 'loss', largest_is_best: bool = False, log: str | os.PathLike[str] = '', after_step: Callable[[int, dict[str, Any]], None] | None = None, after_evaluation: Callable[[int, dict[str, float]], None] | None = None) -> None:
        """
        steps: of the whole training; one that resumes at 300 of 600 runs 300. feeds: Batches, whose columns take the inputs' element types; a function of the step, from 0; a list of feeds, which begins anew; or one dictionary, fed at every step. evaluation: another session, whose parameters are set to the training's of the same name; it runs `evaluation_feeds` once, after every `evaluate_every` steps and after the last, and the means of its scalar fetches are the result. checkpoint: a .safetensors file, replaced every `checkpoint_every` steps and in the end. resume: a checkpoint to go on from; where it is the same as `checkpoint` and not there yet, from the beginning. best: where the checkpoint with the best evaluation of the fetch `best_by` is kept. log: a CSV file, a row a step. after_step and after_evaluation are called with the number of steps run and the fetches by name.
        """

    def run(self) -> None:
        """
        All steps that are left, and `finish`. After Ctrl-C call `finish`, or resume.
        """

    def advance(self) -> None:
        """
        Submits the next step while the one before is under way, and does what is due behind it.
        """

    def drain(self) -> None:
        """Waits for the steps under way."""

    def finish(self) -> None:
        """
        Waits, evaluates if all steps are done, writes the last checkpoint and the log.
        """

    @property
    def begun(self) -> int:
        """The step that it began at: 0, or that of the checkpoint."""

    @property
    def submitted(self) -> int:
        """Steps submitted so far, those before `begun` included."""

    @property
    def steps(self) -> int:
        """Steps of the whole training."""

    @property
    def done(self) -> bool:
        """Whether all steps are submitted."""

    @property
    def last(self) -> dict:
        """Fetches of the last step that has ended; empty before the first."""

    @property
    def evaluated(self) -> dict[str, float]:
        """Means of the last evaluation; empty before the first."""

    @property
    def best(self) -> float | None:
        """The best value of an evaluation so far; None before the first."""

def learning_curve(log: str | os.PathLike[str], title: str = '') -> str:
    """The curves of a training's log, or of any CSV file of numbers, as SVG."""
