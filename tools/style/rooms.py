#!/usr/bin/env python3
"""Checks the include rules of the rooms, and some rules on text. Needs no compiler.

Each rule is a row: the files that it applies to, the forbidden text, excused files, and the reason. Exits 1 with every breach
as file:line when there is one.
"""

import re
import subprocess
import sys

from sources import ROOMS, ROOT, SUFFIXES, files, includes

TOP_LEVEL = {"CMakeLists.txt", "CMakePresets.json", "README.md",
             "compiler", "runtime", "ir", "tests", "samples", "tools"}
OURS_TO_IGNORE = {"build", "out"}

# (files it applies to, forbidden include, excused files, reason): all regular expressions from the start of the path.
# The rooms that a room may include are in CMakeLists.txt: the rows dfc_room(FOLDER … ROOMS …).
INCLUDE_RULES = [
    (r"(ir|compiler|runtime)/", r"(tools|samples|tests)/", r"$^", "a library room includes no program"),
    (r"tools/", r"(samples|tests)/", r"tools/bench/graphs/lessons\.h$",
     "tools stand on the library, not on lessons or tests; benchmarks time the models of two lessons"),
    (r"tools/(dfc|library)/", r"tools/bench/", r"$^", "benchmarks are a program of their own"),
    (r"compiler/", r"runtime/", r"$^", "compiler and runtime meet only in ir/plan/executable.h"),
    (r"runtime/", r"compiler/", r"$^", "compiler and runtime meet only in ir/plan/executable.h"),
    (r"ir/", r"(thread|mutex|shared_mutex|condition_variable|future|semaphore|barrier|latch|stop_token|pthread\.h)$",
     r"$^", "ir holds no threads"),
    (r"", r"boost/", r"compiler/.*\.cpp$|tests/.*\.cpp$", "Boost belongs in .cpp files of compiler"),
    (r".*\.h$", r"nlohmann/(?!json_fwd)", r"$^", "nlohmann-json is slow to compile: .cpp files only"),
    (r"", r"(oneapi/|dnnl)", r"runtime/cpu/onednn/", "oneDNN lives in its own module"),
    (r"", r"(cuda|cublas|nvrtc|cudnn)", r"runtime/cuda/|tools/bench/cublaslt/|tests/runtime/cuda/nvrtc_compile\.cpp$|tests/cuda/",
     "CUDA lives in its own module; tests of its kernels ask NVRTC whether they compile, a baseline calls cuBLASLt itself"),
    (r"", r"CLI/", r"tools/|samples/data/arguments\.cpp$", "command lines belong to tools, and to the lessons' one file"),
    (r"", r"catch2/", r"tests/support/catch\.h$", "tests include tests/support/catch.h, which knows the version"),
]

# (files it applies to, forbidden text, excused files, reason)
TEXT_RULES = [
    (r"(ir|compiler|runtime)/", r"\bstd::(cout|cerr|clog)\b|\b(fmt::print|std::printf|std::fprintf|printf|puts)\s*\(",
     r"ir/assert\.cpp$", "the library never prints"),
    (r"(ir|compiler|runtime)/", r"\bstd::(abort|exit|_Exit|quick_exit)\s*\(", r"ir/assert\.cpp$",
     "the library never exits or aborts, except in DFC_ASSERT"),
    (r"(ir|compiler|runtime)/", r"\b(secure_)?getenv\s*\(", r"$^", "no environment variables below tools/"),
]
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


MOST_FILES = 40  # sources in one folder; a room that outgrows it is divided by subject


def room_rows(text):
    """{room: rooms that its row names} of the dfc_room(...) rows in TEXT."""
    rows = {}
    for row in re.finditer(r"dfc_room\(([^()]*)\)", re.sub(r"#.*", "", text)):
        words = row.group(1).split()
        rooms = words[words.index("ROOMS") + 1:] if "ROOMS" in words else []
        known = [word in ("EXCLUDE", "LINKS", "BATCH") for word in rooms]
        rows[words[0]] = rooms[:known.index(True)] if True in known else rooms
    return rows


def reachable(rows):
    """{room: all rooms that it may include}: itself, those of its row, and theirs."""
    reached = {}
    for room, direct in rows.items():  # a row names only rooms above it
        reached[room] = {room}.union(*(reached[other] for other in direct))
    return reached


def room_of(name, rooms):
    """The innermost of ROOMS that the file NAME lies in, or None."""
    return max((room for room in rooms if name.startswith(room + "/")), key=len, default=None)


def wrong_arrows(name, text, reached):
    here = room_of(name, reached)
    if here is None:
        return
    for line, included in includes(text):
        there = room_of(included, reached)
        if there is not None and there not in reached[here]:
            yield f"{name}:{line}: includes {included}: {here} may not include {there} (CMakeLists.txt)"


def full_folders():
    """Folders of the tree that hold more than MOST_FILES sources."""
    counts = {}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*"):
            if path.suffix in SUFFIXES | {".py"} and path.is_file():
                counts[path.parent] = counts.get(path.parent, 0) + 1
    return [f"{folder.relative_to(ROOT)}: {count} files in one folder; divide it by subject (at most {MOST_FILES})"
            for folder, count in sorted(counts.items()) if count > MOST_FILES]


def without_comments(text):
    """TEXT with comments and string literals blanked, line numbers kept."""
    return COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def breaches(name, text):
    for where, forbidden, excused, reason in INCLUDE_RULES:
        if re.match(where, name) and not re.match(excused, name):
            for line, included in includes(text):
                if re.match(forbidden, included):
                    yield f"{name}:{line}: includes {included}: {reason}"
    code = without_comments(text)
    for where, forbidden, excused, reason in TEXT_RULES:
        if re.match(where, name) and not re.match(excused, name):
            for match in re.finditer(forbidden, code):
                yield f"{name}:{code.count(chr(10), 0, match.start()) + 1}: {match.group().strip()}: {reason}"
    if not text.startswith("//") and not (ROOT / name).with_suffix(".h").is_file():
        yield f"{name}:1: a file opens with a comment that says what it is for"
    if name.endswith(".h") and "#pragma once" not in text:
        yield f"{name}:1: a header needs #pragma once"


def top_level():
    """The top-level files and folders: those that git tracks in a checkout, else all."""
    git = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "ls-files"], cwd=ROOT, capture_output=True, text=True,
                         check=False) if (ROOT / ".git").exists() else None
    if git and git.returncode == 0:
        return {name.split("/")[0] for name in git.stdout.splitlines()}
    return {entry.name for entry in ROOT.iterdir()} - OURS_TO_IGNORE


def main():
    found = [f"{name}: not a name of the top level" for name in sorted(top_level() - TOP_LEVEL)
             if not name.startswith(".")]
    reached = reachable(room_rows((ROOT / "CMakeLists.txt").read_text(encoding="utf-8")))
    sources = files()
    for path in sources:
        text = (ROOT / path).read_text(encoding="utf-8")
        found += breaches(path.as_posix(), text)
        found += wrong_arrows(path.as_posix(), text, reached)
    found += full_folders()
    print("\n".join(found + [f"style.rooms: {len(sources)} files, {len(found)} breaches"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
