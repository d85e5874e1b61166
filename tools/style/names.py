#!/usr/bin/env python3
"""The naming rules of .clang-tidy over every source file in a build's compile database.

usage: names.py BUILD_FOLDER
Nearly all of clang-tidy's time goes into reading LLVM's and the standard library's headers, so files that are compiled
with equal flags are read together, a batch in one translation unit. Files of a batch may collide; the names are still
read, and only naming findings and unreadable files count, as the build itself checks that files compile. A finding in a
batch is repeated for each file alone, because after a collision a base class may be unknown, and its overrides look like
new names.
A batch that passed is remembered in BUILD_FOLDER/style by a hash of the project files that the check reads.
Exits 0 when all pass, 1 with the findings when not, 77 (skipped) where that clang-tidy is not installed.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from database import CLANG_TIDY, Hasher, compiler_headers, entries, flags, run
from sources import ROOMS, ROOT, versioned

SKIPPED = 77
BATCH = 60
ALONE = re.compile(r"HWY_TARGET_INCLUDE")  # files that include themselves, once for each instruction set
NAMELESS = re.compile(r"CATCH_CONFIG_MAIN")  # makes Catch2 compile itself here: slow to read, and no name of ours


def batches(rows):
    """[(paths, flags)]: files with equal flags, at most BATCH together, neighbours in the tree first."""
    alike = {}
    for path in sorted(rows):
        kept, text = flags(rows[path]), path.read_text(encoding="utf-8")
        lonely = (path,) if ALONE.search(text) else ()
        if not NAMELESS.search(text):
            alike.setdefault((tuple(kept), lonely), []).append(path)
    return [(paths[at:at + BATCH], list(kept))
            for (kept, _), paths in alike.items() for at in range(0, len(paths), BATCH)]


def findings(said):
    """What clang-tidy SAID about names, each with its lines of context, and about files that it could not read."""
    kept, relevant = [], False
    for line in said.splitlines():
        if re.search(r": (warning|error|note): ", line):
            relevant = "[readability-identifier-naming" in line or "file not found" in line
        if relevant:
            kept.append(line)
    return "\n".join(kept)


def read(tool, paths, kept):
    """The naming findings in PATHS, read together, or an empty string."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp", encoding="utf-8") as together:
        together.write("".join(f'#include "{path}"\n' for path in paths))
        together.flush()
        command = [tool, "--quiet", f"--config-file={ROOT}/.clang-tidy", "--checks=-*,readability-identifier-naming",
                   f"--header-filter=^{re.escape(str(ROOT))}/({'|'.join(ROOMS)})/", together.name, "--", *kept,
                   "-w", "-ferror-limit=0", "-Wno-unknown-warning-option", *compiler_headers()]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode not in (0, 1):
        return f"{' '.join(command)}: exit status {outcome.returncode}\n{outcome.stderr}"
    return findings(outcome.stdout)


def check(tool, paths, kept):
    """The naming findings in PATHS that stand when each file is read alone, or an empty string."""
    found = read(tool, paths, kept)
    if not found or len(paths) == 1:
        return found
    return "\n".join(filter(None, (read(tool, [path], kept) for path in paths)))


def main():
    build, tool = pathlib.Path(sys.argv[1]).resolve(), versioned("clang-tidy", CLANG_TIDY)
    if not tool:
        print(f"style.names: clang-tidy {CLANG_TIDY} is not installed (package clang-tidy-{CLANG_TIDY}); skipped")
        return SKIPPED
    hasher = Hasher(CLANG_TIDY + (ROOT / ".clang-tidy").read_text(encoding="utf-8"))
    rows = entries(build)
    work = {hasher.key(paths, " ".join(kept)): (paths, kept) for paths, kept in batches(rows)}
    ran, bad = run(build / "style" / "names", work, lambda item: check(tool, *item))
    print(f"style.names: {len(rows)} files in {len(work)} batches, {ran} checked now, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
