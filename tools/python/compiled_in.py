"""Files of others that became part of a build's binaries: the headers that their sources include, and static libraries."""

import pathlib
import re
import subprocess


def ninja(build, *words):
    done = subprocess.run(["ninja", "-C", str(build), "-t", *words], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def headers_of(lines, objects):
    """Of ninja's dependency log: a line `object: …`, then its headers, indented."""
    headers, wanted = set(), False
    for line in lines:
        if line and not line[0].isspace():
            wanted = line.partition(": ")[0] in objects
        elif wanted and line.strip():
            headers.add(line.strip())
    return headers


def compiled_in(build, targets, source):
    """What outside the checkout `source`, or in an environment within it, is in the targets of the build folder."""
    build, source = pathlib.Path(build).resolve(), pathlib.Path(source).resolve()
    inputs = {line.strip() for line in ninja(build, "inputs", *targets)}
    found = headers_of(ninja(build, "deps"), {name for name in inputs if name.endswith(".o")})
    found |= {name for name in inputs if name.endswith(".a") and name.startswith("/")}
    files = {(build / name).resolve() for name in found}
    return sorted(file for file in files if not file.is_relative_to(source) or re.search("/(site|dist)-packages/", str(file)))
