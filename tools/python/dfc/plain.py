"""Plain objects: what graphs, plans, traces and explanations say of themselves. Seconds and bytes throughout."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import DType, Plan


@dataclass(frozen=True)
class TensorSpec:
    """What is known of a value before it has contents."""

    shape: tuple[int, ...]
    dtype: DType


@dataclass(frozen=True)
class Parameter:
    """A parameter of a plan."""

    name: str
    shape: tuple[int, ...]
    dtype: DType
    assigned: bool  #: whether each step gives it a new value


class Results(dict[str, Any]):
    """What a step gives: an array for each fetch, by name."""

    __slots__ = ()

    def __missing__(self, name: object) -> Any:
        near = difflib.get_close_matches(str(name), self, n=1)
        raise KeyError(f"nothing named {name!r} is fetched; " +
                       (f"did you mean {near[0]!r}?" if near else f"the fetches are {', '.join(map(repr, self))}"))


@dataclass(frozen=True)
class CsvTable:
    """A CSV file: an array for each column, int64 or float64, and what the numbers of columns of words stand for."""

    columns: dict[str, Any]
    words: dict[str, list[str]]

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]


@dataclass(frozen=True)
class LoadedWeights:
    """What became of a file of weights."""

    set: int  #: parameters that were given their value
    parameters: int  #: of the plan
    unused: int  #: tensors of the file that are of no parameter


@dataclass(frozen=True)
class Op:
    """An op of a graph. `line` and `column` of the call that wrote it count from 1; 0: not known."""

    name: str
    kind: str
    operands: list[str]
    results: list[TensorSpec]
    scope: str
    device: str  #: that it is pinned to; "" for none
    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Device:
    """A device of a machine. A memory of 0 has no limit."""

    name: str
    kind: str  #: "cpu" or "gpu"
    model: str
    memory_bytes: int
    threads: int


@dataclass(frozen=True)
class Step:
    """An op that works, in the schedule: predicted seconds from the start of the step."""

    name: str
    kind: str
    scope: str
    device: str
    queue: str
    begin: float
    end: float


@dataclass(frozen=True)
class Span:
    """One execution of one op: seconds from the beginning of the trace."""

    name: str
    kind: str
    scope: str
    device: str
    queue: str
    step: int  #: which execution of the plan, from 0
    begin: float
    end: float


@dataclass(frozen=True)
class Transfer:
    """A copy between two devices."""

    name: str
    source: str
    destination: str
    bytes: int


@dataclass(frozen=True)
class DeviceMemory:
    """Memory of a device under a plan."""

    device: str
    arena_bytes: int  #: all that the plan takes
    resident_bytes: int  #: parameters and constants
    capacity_bytes: int  #: 0: no limit


@dataclass(frozen=True)
class Explanation:
    """What a plan does on its devices and why it was chosen. `str(explanation)` is a text for people; `facts` is
    what `dfc explain --json` says: devices, scopes, parameters, traffic, candidates, changes."""

    plan: Plan
    text: str
    facts: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def __getitem__(self, key: str) -> Any:
        return self.facts[key]


def explanation_of(plan: Plan, facts: str, text: str) -> Explanation:
    """Of what the module gives."""
    return Explanation(plan, text, json.loads(facts))
