"""The C++ files of this checkout, for the style checks. Uses the standard library only, and neither git nor a build."""

import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("ir", "compiler", "runtime", "tools", "samples", "tests")
SUFFIXES = {".cpp", ".h", ".cu", ".cuh", ".inc"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


def files():
    """Every C++ source and header below the rooms, sorted, as paths relative to ROOT."""
    found = (path for room in ROOMS for path in (ROOT / room).rglob("*"))
    return sorted(path.relative_to(ROOT) for path in found if path.suffix in SUFFIXES and path.is_file())


def includes(text):
    """The (line, name) of each #include in TEXT, in order; names are as written, without quotes or brackets."""
    return [(text.count("\n", 0, match.start()) + 1, match.group(2)) for match in INCLUDE.finditer(text)]


def versioned(tool, version):
    """The path of TOOL at major VERSION (as NAME-VERSION or NAME), or None."""
    for name in (f"{tool}-{version}", tool):
        path = shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            if re.search(rf"version {version}\.", said):
                return path
    return None
