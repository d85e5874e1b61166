"""A build's compile database, and a memory of which of its files a check has passed. For names.py and tidy.py."""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shlex
import subprocess

from sources import ROOMS, ROOT, includes

CLANG_TIDY = "16"  # packaged by Debian 12 and Ubuntu 24.04; 14 cannot read std::source_location


@functools.cache
def compiler_headers():
    """Flags that let clang find, after its own, the headers that only GCC brings (omp.h)."""
    folder = subprocess.run(["c++", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout
    return [f"-idirafter{folder.strip()}"]


# How GCC makes code, which changes nothing that is read: Clang of that version has no such option, and ends with an error.
GCC_ALONE = ("-mtls-dialect=",)


def flags(command):
    """The compile flags of COMMAND that matter to reading: without compiler, file names, warnings and flags of GCC alone."""
    words = iter(shlex.split(command)[1:])
    kept = []
    for word in words:
        if word in ("-o", "-c", "-MF", "-MT"):
            next(words)
        elif not word.startswith(("-W", "-M", *GCC_ALONE)):
            kept.append(word)
    return kept


class Hasher:
    """Hashes source files together with the project headers that they reach."""

    def __init__(self, salt):
        self.salt = salt
        self.known = {}

    def direct(self, path):
        """The hash of one file's text and the project files it names, read once."""
        if path not in self.known:
            text = path.read_text(encoding="utf-8")
            named = {folder / name for _, name in includes(text) for folder in (ROOT, path.parent)}
            below = [p.resolve() for p in named if p.is_file()]
            self.known[path] = (hashlib.sha256(text.encode()).hexdigest(), [p for p in below if p.is_relative_to(ROOT)])
        return self.known[path]

    def key(self, path, command):
        """The hash of PATH, of all project files below it, and of COMMAND, which reads it."""
        reached, waiting = {}, [path.resolve()]
        while waiting:
            item = waiting.pop()
            if item not in reached:
                reached[item], below = self.direct(item)
                waiting += below
        return hashlib.sha256("\n".join([self.salt, command, str(path), *sorted(reached.values())]).encode()).hexdigest()


def sources_of(path):
    """The sources that a row of the compile database compiles: those that a unity source includes, else the file itself."""
    if path.parent.name != "Unity":
        return [path]
    return [pathlib.Path(name) for _, name in includes(path.read_text(encoding="utf-8"))]


def entries(build):
    """The compile database's rows for files below the rooms: {path: command}, one a file."""
    rows = {}
    for row in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        for path in sources_of((pathlib.Path(row["directory"]) / row["file"]).resolve()):
            if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ROOMS:
                rows.setdefault(path, row["command"])
    return rows


def singly(work):
    """Each item of WORK ({key: item}) as a call of its own: [([key], item)]."""
    return [([key], item) for key, item in work.items()]


def run(memory, work, check, divide=singly):
    """Runs CHECK on the items of WORK ({key: item}) whose keys are not remembered in the folder MEMORY, on all cores.

    DIVIDE makes the calls of CHECK of them: [(keys of the items, argument)]. Prints what CHECK finds and remembers the keys of
    calls that find nothing. Returns (how many items are checked, how many calls have findings).
    """
    memory.mkdir(parents=True, exist_ok=True)
    fresh = {key: item for key, item in work.items() if not (memory / key).exists()}
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        running = {pool.submit(check, argument): keys for keys, argument in divide(fresh)}
        for done in concurrent.futures.as_completed(running):
            findings = done.result()
            if findings:
                bad += 1
                print(findings, flush=True)
            else:
                for key in running[done]:
                    (memory / key).touch()
    for old in {entry.name for entry in memory.iterdir()} - set(work):
        (memory / old).unlink()
    return len(fresh), bad
