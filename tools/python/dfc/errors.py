"""Exceptions and warnings of dfc, with what went wrong as plain objects."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """One mistake, where it is, and the way out. `line` and `column` count from 1; 0 means not known."""

    severity: str  #: "error" or "warning"
    message: str
    hint: str
    file: str
    line: int
    column: int
    text: str  #: the source line; "" when there is none
    note: str  #: the scope that it is in, …


class Error(ValueError):
    """Mistakes in a graph, a file, an option or a feed: all of them at once, each with its place and the way out.

    `str(error)` renders them as compilers do; `error.diagnostics` has them as objects.
    """

    def __init__(self, text: str, diagnostics: list[Diagnostic] | None = None) -> None:
        super().__init__(text)
        self.diagnostics: list[Diagnostic] = diagnostics or []


class NotFiniteError(Error, ArithmeticError):
    """Of a session with check_finite: an op gave a value that is NaN or infinite."""


class CustomError(Error):
    """The function of a custom op failed."""


class MachineError(RuntimeError):
    """Out of memory, a device lost, a library missing, a step over its time limit."""


class PlanWarning(UserWarning):
    """Something about a graph or a plan that its author should know."""
