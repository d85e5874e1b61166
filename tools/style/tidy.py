#!/usr/bin/env python3
"""Every check of .clang-tidy over every source file in a build's compile database. Slow: a test with the label `heavy`.

usage: tidy.py BUILD_FOLDER
A file that passed is remembered in BUILD_FOLDER/style by a hash of the project files that the check reads, and not run again.
Exits 0 when all pass, 1 with the findings when not, 77 (skipped) where that clang-tidy is not installed.
"""

import pathlib
import subprocess
import sys

from database import CLANG_TIDY, Hasher, compiler_headers, entries, flags, run
from sources import ROOT, versioned

SKIPPED = 77


def check(tool, path, command):
    """The findings in PATH, compiled as COMMAND says, or an empty string."""
    command = [tool, "--quiet", str(path), "--", *flags(command), "-Wno-unknown-warning-option", *compiler_headers()]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if outcome.returncode == 0 else outcome.stdout + outcome.stderr


def main():
    build, tool = pathlib.Path(sys.argv[1]).resolve(), versioned("clang-tidy", CLANG_TIDY)
    if not tool:
        print(f"style.tidy: clang-tidy {CLANG_TIDY} is not installed (package clang-tidy-{CLANG_TIDY}); skipped")
        return SKIPPED
    hasher = Hasher(CLANG_TIDY + (ROOT / ".clang-tidy").read_text(encoding="utf-8"))
    work = {hasher.key(path, command): (path, command) for path, command in entries(build).items()}
    ran, bad = run(build / "style" / "tidy", work, lambda item: check(tool, *item))
    print(f"style.tidy: {len(work)} files, {ran} checked now, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
