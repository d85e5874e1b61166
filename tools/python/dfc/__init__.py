"""dfc: a static dataflow graph compiler. A graph is written like NumPy, compiled once for a machine, and run as often as
you like, with nothing left to decide.

    import dfc

    g = dfc.Builder("smallest")
    x = g.input("x", 3)
    g.fetch("z", x * x + 2)
    session = dfc.open(g.finish())
    print(session.run({"x": [1, 2, 3]})["z"])  # [ 3.  6. 11.]

Mistakes in a graph are collected while it is written, and raised by `finish` as dfc.Error, each at its line of Python.
"""

from . import init
from ._core import (Array, Batches, Builder, Calibration, DType, Graph, Initialiser, KvCache, Layers, LossScaling, Machine,
                    Pending, Plan, RenameRules, Session, Tensor, Trace, Trainer)
from ._core import *  # noqa: F403: the functions of the DSL
from .arrays import aligned, empty
from .errors import CustomError, Diagnostic, Error, MachineError, NotFiniteError, PlanWarning
from .hints import install as _install_hints
from .hints import missing_function as __getattr__
from .machines import machine, machine_names
from .numpy_names import (all, any, arange, argmin, clip, dot, einsum, floor_divide, full_like, isfinite, isinf, isnan, log2,
                          log10, logical_and, logical_not, logical_or, logical_xor, mod, ones_like, outer, remainder, square,
                          std, var, zeros_like)
from .numpy_protocols import install as _install_numpy_protocols
from .numpy_shapes import (argsort, expand_dims, flatten, flip, hstack, moveaxis, pad, ravel, repeat, roll, sort, split,
                           squeeze, stack, swapaxes, take, take_along_axis, tile, vstack)
from .plain import (CsvTable, Device, DeviceMemory, Explanation, LoadedWeights, Op, Parameter, Span, Step, TensorSpec,
                    Transfer)
from .planning import compile, explain, open, svg

_install_numpy_protocols()
_install_hints()
float32, float64, float16, bfloat16 = DType.float32, DType.float64, DType.float16, DType.bfloat16
int32, int64, uint8, bool_ = DType.int32, DType.int64, DType.uint8, DType.bool
