#!/usr/bin/env python3
"""Does every file keep to its room? Reads only text, so it needs no compiler.

Each rule is a row: where it applies, what is forbidden there, which files are excused, and why. Exits 1 with every breach
as file:line when there is one.
"""

import re
import subprocess
import sys

from sources import ROOT, files, includes

TOP_LEVEL = {"CMakeLists.txt", "CMakePresets.json", "README.md",
             "compiler", "runtime", "ir", "tests", "samples", "tools"}
OURS_TO_IGNORE = {"build", "out"}

# (files it applies to, forbidden include, excused files, reason): all regular expressions from the start of the path.
INCLUDE_RULES = [
    (r"ir/", r"(compiler|runtime)/", r"$^", "ir is what the other rooms stand on"),
    (r"(ir|compiler|runtime)/", r"(tools|samples|tests)/", r"$^", "a library room includes no program"),
    (r"compiler/", r"runtime/", r"$^", "compiler and runtime meet only in ir/executable.h"),
    (r"runtime/", r"compiler/", r"$^", "compiler and runtime meet only in ir/executable.h"),
    (r"ir/", r"(thread|mutex|shared_mutex|condition_variable|future|semaphore|barrier|latch|stop_token|pthread\.h)$",
     r"$^", "ir holds no threads"),
    (r"", r"boost/", r"compiler/.*\.cpp$|compiler/analysis/graph_view\.h$|tests/.*\.cpp$",
     "Boost belongs in .cpp files of compiler, behind compiler/analysis/graph_view.h"),
    (r".*\.h$", r"compiler/analysis/graph_view\.h$", r"$^", "graph_view.h brings Boost, so only a .cpp includes it"),
    (r".*\.h$", r"nlohmann/(?!json_fwd)", r"$^", "nlohmann-json is slow to compile: .cpp files only"),
    (r"", r"(oneapi/|dnnl)", r"runtime/cpu/onednn/", "oneDNN lives in its own module"),
    (r"", r"(cuda|cublas|nvrtc|cudnn)", r"runtime/cuda/|tools/bench/cublaslt/|tests/runtime/nvrtc_compile\.cpp$",
     "CUDA lives in its own module; tests of its kernels ask NVRTC whether they compile, a peer calls cuBLASLt itself"),
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
    """What lies at the top: what git tracks where this is a checkout, else what is there."""
    git = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "ls-files"], cwd=ROOT, capture_output=True, text=True,
                         check=False) if (ROOT / ".git").exists() else None
    if git and git.returncode == 0:
        return {name.split("/")[0] for name in git.stdout.splitlines()}
    return {entry.name for entry in ROOT.iterdir()} - OURS_TO_IGNORE


def main():
    found = [f"{name}: not a name of the top level" for name in sorted(top_level() - TOP_LEVEL)
             if not name.startswith(".")]
    sources = files()
    for path in sources:
        found += breaches(path.as_posix(), (ROOT / path).read_text(encoding="utf-8"))
    print("\n".join(found + [f"style.rooms: {len(sources)} files, {len(found)} breaches"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
