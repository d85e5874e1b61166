#!/usr/bin/env python3
"""The naming rules of .clang-tidy over every source file in a build's compile database.

usage: names.py BUILD_FOLDER
Nearly all of clang-tidy's time goes into reading headers and instantiating templates, so files are read together, a batch
for each core in one translation unit, with all flags that tell them what to read. Files that include themselves once for
each instruction set are read for one of them. Files of a batch may collide; the names are still read, and only naming
findings and unreadable files count, as the build itself checks that files compile. A file with a finding in a batch is read
again, at last alone, because after a collision a base class may be unknown, and its overrides look like new names.
The rules come from the .clang-tidy above each file, not from an option: then headers of the system have no rules, and none
of their names is looked at.
A file that passed is remembered in BUILD_FOLDER/style by a hash of the project files that the check reads.
Exits 0 when all pass, 1 with the findings when not, 77 (skipped) where that clang-tidy is not installed.
"""

import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from database import CLANG_TIDY, Hasher, compiler_headers, entries, flags, run
from sources import ROOMS, ROOT, versioned

SKIPPED = 77
FEWEST = 100  # files in a batch: fewer cost less than reading their headers once more
NAMELESS = re.compile(r"CATCH_CONFIG_MAIN")  # makes Catch2 compile itself here: slow to read, and no name of ours
READING = re.compile(r"-D|-I|-std=|-fopenmp$|-isystem.")  # flags that change what is read; others change what is made of it
ONE_INSTRUCTION_SET = "-DHWY_COMPILE_ONLY_STATIC"


def reading_flags(command):
    """The flags of COMMAND that change what is read, a tuple each: ("-DX",), ("-isystem", "folder")."""
    words = iter(flags(command))
    pairs = [(word, next(words)) if word in ("-I", "-isystem") else (word,) for word in words]
    return [pair for pair in pairs if len(pair) == 2 or READING.match(pair[0])]


def setting(flag):
    """What FLAG sets, where two flags cannot stand together if they set it to different values, or None."""
    word = flag[0]
    return word.split("=")[0] if word.startswith(("-D", "-std=")) else None


def joined(known, more):
    """KNOWN flags and those of MORE that are not among them, or None where they contradict each other."""
    settings = {setting(flag): flag for flag in known if setting(flag)}
    if any(settings.get(setting(flag), flag) != flag for flag in more):
        return None
    return known + [flag for flag in more if flag not in known]


def compatible(rows):
    """[(paths, flags)]: the files of ROWS ({path: flags}) whose flags can stand together, neighbours in the tree together."""
    groups = []  # [paths, flags of all of them]
    for path in sorted(rows):
        for group in groups:
            together = joined(group[1], rows[path])
            if together is not None and group[0][0].suffix == path.suffix:
                group[0].append(path)
                group[1] = together
                break
        else:
            groups.append([[path], rows[path]])
    return [(paths, [*(word for flag in kept for word in flag), ONE_INSTRUCTION_SET]) for paths, kept in groups]


def batches(rows, cores):
    """[(paths, flags)]: the compatible files of ROWS in at most CORES batches of nearly equal length."""
    divided = []
    for paths, kept in compatible(rows):
        count = max(1, min(cores, len(paths) // FEWEST))
        size = math.ceil(len(paths) / count)
        divided += [(paths[at:at + size], kept) for at in range(0, len(paths), size)]
    return divided


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
        command = [tool, "--quiet", "--checks=-*,readability-identifier-naming",
                   f"--header-filter=^{re.escape(str(ROOT))}/({'|'.join(ROOMS)})/", together.name, "--", *kept,
                   "-w", "-ferror-limit=0", "-Wno-unknown-warning-option", *compiler_headers()]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode not in (0, 1):
        return f"{' '.join(command)}: exit status {outcome.returncode}\n{outcome.stderr}"
    return findings(outcome.stdout)


def blamed(found, paths):
    """The files that FOUND names, where a finding begins, as far as they are ours; PATHS where it names none of ours."""
    named = {pathlib.Path(match) for match in re.findall(r"^(/[^:\n]+):\d+:\d+: (?:warning|error): ", found, re.MULTILINE)}
    return sorted(path for path in named if path.is_relative_to(ROOT) and path.is_file()) or paths


def check(tool, paths, kept):
    """The naming findings in PATHS that stand when the file of each is read alone, or an empty string."""
    found = read(tool, paths, kept)
    if not found or len(paths) == 1:
        return found
    again = blamed(found, paths)
    if len(again) < len(paths):
        return check(tool, again, kept)
    return "\n".join(filter(None, (read(tool, [path], kept) for path in again)))


def main():
    build, tool = pathlib.Path(sys.argv[1]).resolve(), versioned("clang-tidy", CLANG_TIDY)
    if not tool:
        print(f"style.names: clang-tidy {CLANG_TIDY} is not installed (package clang-tidy-{CLANG_TIDY}); skipped")
        return SKIPPED
    hasher = Hasher(CLANG_TIDY + (ROOT / ".clang-tidy").read_text(encoding="utf-8"))
    rows = {path: reading_flags(command) for path, command in entries(build).items()
            if not NAMELESS.search(path.read_text(encoding="utf-8"))}
    keys = {path: hasher.key(path, str(kept)) for path, kept in rows.items()}

    def divide(fresh):
        known = batches({path: rows[path] for path in fresh.values()}, len(os.sched_getaffinity(0)))
        return [([keys[path] for path in paths], (paths, kept)) for paths, kept in known]

    work = {key: path for path, key in keys.items()}
    ran, bad = run(build / "style" / "names", work, lambda item: check(tool, *item), divide)
    print(f"style.names: {len(rows)} files, {ran} checked now, {bad} batches with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
