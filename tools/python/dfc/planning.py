"""compile and explain: the options of planning by name, and the pictures of what comes out."""

from __future__ import annotations

import difflib
import inspect
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._core import Calibration, CompileOptions, Graph, Machine, Plan, Session
from .machines import machine as machine_named
from .plain import Explanation, explanation_of

MachineLike = Machine | str | os.PathLike[str] | None
Calibrations = str | os.PathLike[str] | Sequence[Calibration]
Splits = Sequence[tuple[str, int, str]]


def _machine_of(given: MachineLike, memory: Mapping[str, int]) -> Machine:
    machine = _core.estimated_host() if given is None else given if isinstance(given, Machine) else machine_named(given)
    for device, size in memory.items():
        machine = machine.with_memory(device, size)
    return machine


def _options_of(policy: str, pins: Mapping[str, str], splits: Splits, precision: str, skip_passes: Sequence[str],
                merge_launches: bool, peer_reads: bool, plan_seconds: float, plan_steps: int | None,
                calibrations: Calibrations) -> CompileOptions:
    options = CompileOptions()
    options.policy = policy
    for pattern, device in pins.items():
        options.pin(pattern, device)
    for pattern, axis, devices in splits:
        options.split(pattern, axis, devices)
    options.set_precision(precision)
    options.skip_passes = list(skip_passes)
    options.merge_launches = merge_launches
    options.peer_reads = peer_reads
    options.plan_seconds = plan_seconds
    options.plan_steps = plan_steps
    options.calibrations = _tables_of(calibrations)
    return options


def _tables_of(calibrations: Calibrations) -> list[Calibration]:
    if isinstance(calibrations, (str, os.PathLike)):
        return _core.read_calibrations(calibrations)
    tables = list(calibrations)
    if not all(isinstance(table, Calibration) for table in tables):
        raise TypeError("calibrations: a file of `dfc calibrate`, or the tables of such files (dfc.read_calibrations), not "
                        f"{tables!r}")
    return tables


def compile(graph: Graph, machine: MachineLike = None, *, policy: str = "auto", pins: Mapping[str, str] = {},
            splits: Splits = (), precision: str = "ieee", memory: Mapping[str, int] = {},
            calibrations: Calibrations = (), plan_seconds: float = 0, plan_steps: int | None = None,
            skip_passes: Sequence[str] = (), merge_launches: bool = True, peer_reads: bool = True) -> Plan:
    """Plans the graph for a machine, the interpreter's lock released. No device is asked anything: a plan for eight
    GPUs is made on a laptop.

    machine: a Machine, a machine file, the name of a shipped one ("cpu-2gpu"), or None: this host as one cpu.
    policy: "auto" (the best of all), "split", "heft", "peft", "single" or "pins".
    pins: devices of ops by a glob over names and scopes: {"fc1*": "gpu0"}.
    splits: (pattern, axis, devices): cut these values along that axis: ("images", 0, "gpu*").
    precision: of float32 products: "ieee", "tf32", "bf16" or "f16" (mixed precision). In f16 a number beyond 65504
        becomes infinite, one of a float32 feed too, as in PyTorch and JAX: Session(check_finite=True) finds it.
    memory: capacities in bytes, in place of the machine's: {"gpu0": 2**30}.
    calibrations: a file of `dfc calibrate`, or its tables (read_calibrations).
    plan_seconds, plan_steps: of a search for a quicker plan.

    Raises dfc.Error with all mistakes; says warnings as dfc.PlanWarning.
    """
    options = _options_of(policy, pins, splits, precision, skip_passes, merge_launches, peer_reads, plan_seconds,
                          plan_steps, calibrations)
    return _core.compile_graph(graph, _machine_of(machine, memory), options)


def explain(graph: Graph, machine: MachineLike = None, *, scope_depth: int = 2, changes: bool = True,
            policy: str = "auto", pins: Mapping[str, str] = {}, splits: Splits = (), precision: str = "ieee",
            memory: Mapping[str, int] = {}, calibrations: Calibrations = (), plan_seconds: float = 0,
            plan_steps: int | None = None, skip_passes: Sequence[str] = (), merge_launches: bool = True,
            peer_reads: bool = True) -> Explanation:
    """Compiles the graph and says why the plan is as it is: devices and their shares, ops by scope, layouts of
    parameters, copies and how much of them computation hides, the other candidates, and (changes=True, which plans
    again) what another machine would give. scope_depth: how many of the nested scopes are told apart. Otherwise as
    `compile`; the plan is in the explanation."""
    options = _options_of(policy, pins, splits, precision, skip_passes, merge_launches, peer_reads, plan_seconds,
                          plan_steps, calibrations)
    plan, facts, text = _core.explain_graph(graph, _machine_of(machine, memory), options, scope_depth, changes)
    return explanation_of(plan, facts, text)


_OPTIONS = [name for name in inspect.signature(compile).parameters if name not in ("graph", "machine")]
_SESSION_OPTIONS = ("cpu_backend", "gpu_backend", "max_in_flight", "trace", "timeout_seconds", "check_finite", "check_indices",
                    "data_folder", "module_folder", "kernel_cache", "functions", "state")


def _near(name: str) -> str:
    if name in _SESSION_OPTIONS:
        return f": it is an option of Session, session={{'{name}': ...}}"
    near = difflib.get_close_matches(name, _OPTIONS, n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


def open(graph: Graph | Plan, machine: MachineLike = None, *, session: Mapping[str, Any] = {},
         **options: Any) -> Session:
    """A session of a plan, or of a graph that is compiled first with these options. session: options of Session."""
    if not isinstance(graph, (Graph, Plan)):
        way = "; finish it first: g.finish()" if isinstance(graph, _core.Builder) else ""
        kind = "a dfc.Builder" if way else f"a {type(graph).__name__}"
        raise TypeError(f"open(): 'graph' takes dfc.Graph or dfc.Plan, not {kind}{way}")
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise TypeError(f"open(): there is no argument '{unknown[0]}'{_near(unknown[0])}")
    plan = graph if isinstance(graph, Plan) else compile(graph, machine, **options)
    return Session(plan, **session)


def svg(dot: str) -> str:
    """The picture of a DOT text as SVG, by Graphviz' program `dot`. FileNotFoundError where that is not installed."""
    if shutil.which("dot") is None:
        raise FileNotFoundError("Graphviz' program dot is not installed; on Debian: apt-get install graphviz")
    done = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True)
    return done.stdout[max(0, done.stdout.find("<svg")):]


_LARGEST_PICTURE = 2000  # ops; beyond, dot takes minutes


def _graph_picture(self: Graph) -> str | None:
    """For notebooks; None without Graphviz, and of a graph too large to look at."""
    return svg(self.dot()) if shutil.which("dot") and len(self) <= _LARGEST_PICTURE else None


def _plan_picture(self: Plan) -> str | None:
    """For notebooks: the figure of the plan, a box a scope and device."""
    return svg(self.dot("figure")) if shutil.which("dot") and len(self.steps) <= _LARGEST_PICTURE else None


Graph._repr_svg_ = _graph_picture
Plan._repr_svg_ = _plan_picture
