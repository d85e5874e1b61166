#!/usr/bin/env python3
"""Checks that every C++ file is laid out as .clang-format specifies; `--fix` lays them out.

The layout differs a little from version to version, so one version decides everywhere: 14, which both Debian 12 and
Ubuntu 24.04 package. Exits 0 when all agree, 1 with the differing places when not, 77 (skipped) without that version.
"""

import subprocess
import sys

from sources import ROOT, files, versioned

VERSION = "14"
SKIPPED = 77


def main():
    tool = versioned("clang-format", VERSION)
    if not tool:
        print(f"style.format: clang-format {VERSION} is not installed (package clang-format-{VERSION}); skipped")
        return SKIPPED
    how = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror", "--ferror-limit=40"]
    names = [str(path) for path in files()]
    outcome = subprocess.run([tool, "--style=file", *how, *names], cwd=ROOT, check=False)
    if outcome.returncode:
        print("style.format: mend it with tools/style/format.py --fix")
        return 1
    print(f"style.format: {len(names)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
