#!/usr/bin/env python3
"""Runs clang-tidy over every source file in a build's compile database.

usage: tidy.py BUILD_FOLDER names|all [--jobs N]    (N: by default the cores this process may use)

`names` applies the naming rules only (the default tests); `all` every check of .clang-tidy (label `heavy`).
A file that passed is remembered in BUILD_FOLDER/style by a hash of everything of ours that the check reads: its text, the
headers it includes, its compile command, .clang-tidy and the version of clang-tidy. Only what changed is checked again.
The version is 16, which Debian 12 and Ubuntu 24.04 both package: 14 knows neither std::source_location nor lambdas that
capture structured bindings.
Exits 0 when all pass, 1 with the findings when not, 77 (skipped) where clang-tidy is not installed.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

from sources import ROOMS, ROOT, includes, versioned

CHECKS = {"names": ["--checks=-*,readability-identifier-naming"], "all": []}
VERSION = "16"
SKIPPED = 77


class Hasher:
    """Hashes a source file together with the project headers that it reaches."""

    def __init__(self, salt):
        self.salt = salt
        self.known = {}

    def direct(self, path):
        """The hash of one file's text and the project files it names, read once."""
        if path not in self.known:
            text = path.read_text(encoding="utf-8")
            below = [ROOT / name for _, name in includes(text)] + [path.parent / name for _, name in includes(text)]
            self.known[path] = (hashlib.sha256(text.encode()).hexdigest(), [p for p in below if p.is_file()])
        return self.known[path]

    def key(self, path, command):
        reached, waiting = {}, [path]
        while waiting:
            item = waiting.pop().resolve()
            if item not in reached and item.is_relative_to(ROOT):
                reached[item], below = self.direct(item)
                waiting += below
        parts = [self.salt, command] + sorted(reached.values())
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def project_entries(build):
    """The compile database's rows for files below the rooms, one a file."""
    rows = {}
    for row in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = (pathlib.Path(row["directory"]) / row["file"]).resolve()
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ROOMS:
            rows.setdefault(path, row["command"])
    return rows


def check(tool, build, mode, path):
    """The findings in PATH, or an empty string."""
    command = [tool, "-p", str(build), "--quiet", *CHECKS[mode], "--extra-arg=-Wno-unknown-warning-option", str(path)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if outcome.returncode == 0 else outcome.stdout + outcome.stderr


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("mode", choices=sorted(CHECKS))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def main():
    given = arguments()
    tool = versioned("clang-tidy", VERSION)
    if not tool:
        print(f"style: clang-tidy {VERSION} is not installed (package clang-tidy-{VERSION}); skipped")
        return SKIPPED
    build, seen = given.build.resolve(), given.build.resolve() / "style" / given.mode
    seen.mkdir(parents=True, exist_ok=True)
    hasher = Hasher(VERSION + (ROOT / ".clang-tidy").read_text(encoding="utf-8"))
    keys = {path: hasher.key(path, command) for path, command in project_entries(build).items()}
    fresh = [path for path, key in keys.items() if not (seen / key).exists()]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        work = {pool.submit(check, tool, build, given.mode, path): path for path in fresh}
        for done in concurrent.futures.as_completed(work):
            findings, path = done.result(), work[done]
            if findings:
                bad += 1
                print(findings, flush=True)
            else:
                (seen / keys[path]).touch()
    for old in set(entry.name for entry in seen.iterdir()) - set(keys.values()):
        (seen / old).unlink()
    print(f"style: {len(keys)} files, {len(fresh)} checked now, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
