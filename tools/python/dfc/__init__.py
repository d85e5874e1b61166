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
from .machines import machine, machine_names
from .numpy_names import (arange, expand_dims, logical_and, logical_not, logical_or, logical_xor, moveaxis, pad, ravel,
                          split, square, squeeze, stack, std, swapaxes, take, tile, var)
from .numpy_protocols import install as _install_numpy_protocols
from .plain import (CsvTable, Device, DeviceMemory, Explanation, LoadedWeights, Op, Parameter, Span, Step, TensorSpec,
                    Transfer)
from .planning import compile, explain, open, svg

_install_numpy_protocols()
float32, float64, float16, bfloat16 = DType.float32, DType.float64, DType.float16, DType.bfloat16
int32, int64, uint8, bool_ = DType.int32, DType.int64, DType.uint8, DType.bool
