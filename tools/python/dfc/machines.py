"""Machine files by name: those that come with dfc (samples/machines)."""

from __future__ import annotations

import os
from pathlib import Path

from . import _core
from ._core import Machine

_FOLDER = Path(__file__).parent / "machines"


def machine_names() -> list[str]:
    """The machine files that come with dfc, each a name for `machine`."""
    return sorted(file.stem for file in _FOLDER.glob("*.json"))


def machine(name: str | os.PathLike[str]) -> Machine:
    """The machine of a file (JSON), or the shipped one of this name; "host" is this computer as one cpu."""
    if name == "host":
        return _core.estimated_host()
    shipped = _FOLDER / f"{os.fspath(name)}.json"
    if not os.path.exists(name) and shipped.is_file():
        return _core.read_machine(shipped)
    if not os.path.exists(name):
        raise FileNotFoundError(f"there is no machine file '{name}'; shipped ones: {', '.join(machine_names())}")
    return _core.read_machine(name)
