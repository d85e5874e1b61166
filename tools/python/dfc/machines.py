"""Machine files by name: those that come with dfc (samples/machines)."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from . import _core
from ._core import Machine

_FOLDER = Path(__file__).parent / "machines"


def machine_names() -> list[str]:
    """The machine files that come with dfc, each a name for `machine`."""
    return sorted(file.stem for file in _FOLDER.glob("*.json"))


def _nearest(wanted: Path) -> str | None:
    """A shipped machine, or a file beside the wanted one, with nearly its name."""
    shipped = difflib.get_close_matches(wanted.stem, [*machine_names(), "host"], n=1)
    if shipped:
        return shipped[0]
    beside = wanted.parent
    files = [file.name for file in beside.glob("*.json")] if beside.is_dir() else []
    near = difflib.get_close_matches(wanted.name, files, n=1)
    return str(beside / near[0]) if near else None


def machine(name: str | os.PathLike[str]) -> Machine:
    """The machine of a file (JSON), or the shipped one of this name; "host" is this computer as one cpu."""
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f"machine: a dfc.Machine, a machine file or the name of a shipped one, not {name!r}")
    if name == "host":
        return _core.estimated_host()
    shipped = _FOLDER / f"{os.fspath(name)}.json"
    if not os.path.exists(name) and shipped.is_file():
        return _core.read_machine(shipped)
    if not os.path.exists(name):
        near = _nearest(Path(name))
        guess = f"; did you mean '{near}'?" if near else "."
        raise FileNotFoundError(f"there is no machine file '{os.fspath(name)}'{guess} Shipped ones: {', '.join(machine_names())}")
    return _core.read_machine(name)
