#!/usr/bin/env python3
"""Exports graph files with `dfc export` and holds ONNX Runtime's outputs against `dfc run`.

usage: check_exports.py DFC GRAPH...

Floats are drawn, integers are 0 or 1, so that they are indices of any table. Parameters that a graph assigns are inputs of
its model, with their values as defaults; their next values are outputs. A graph that dfc cannot export, cannot run alone or
that ONNX Runtime has no kernels for is listed, not counted as a failure; a difference and a model that the checker of the
`onnx` package refuses are.
"""

import os
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime

BOUNDS = {"float32": 2e-4, "float64": 1e-6, "float16": 2e-2}


def drawn(kind, shape, rng):
    if "float" in kind or "double" in kind:
        return rng.uniform(0.25, 1.5, shape).astype(
            {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16"}[kind])
    return rng.integers(0, 2, shape).astype(
        {"tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(uint8)": "uint8", "tensor(bool)": "bool"}[kind])


def last_line(text):
    lines = [line for line in text.strip().split("\n") if line.strip()]
    return lines[0][:200] if lines else ""


def apart(got, wanted, halves):
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
    bound = BOUNDS.get(str(wanted.dtype), 0)
    bound = max(bound, BOUNDS["float16"]) if halves and bound else bound  # ONNX Runtime leaves out roundings
    got = numpy.where(wanted != wanted, wanted, got)  # dfc's attention gives 0 where a query sees no key
    if numpy.allclose(got.astype("float64"), wanted.astype("float64"), bound, bound, equal_nan=True):
        return ""
    return f"differs by {numpy.nanmax(numpy.abs(got.astype('float64') - wanted.astype('float64')))}"


def check(dfc, graph, folder):
    """A verdict: (word, reason)."""
    model = os.path.join(folder, "model.onnx")
    done = subprocess.run([dfc, "export", graph, "-o", model], capture_output=True, text=True)
    if done.returncode != 0:
        return "not exported", last_line(done.stderr)
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as fault:  # the checker has several kinds
        return "FAILS", "the checker: " + last_line(str(fault))
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # parameters that are inputs as well are meant to be
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        rng = numpy.random.default_rng(1)
        fed = {one.name: drawn(one.type, one.shape, rng) for one in session.get_inputs()}
        names = [one.name for one in session.get_outputs() if not one.name.endswith(".next")]
        wanted = dict(zip(names, session.run(names, fed)))
    except (Exception, KeyError) as fault:
        return "no kernel", last_line(str(fault))
    data = os.path.join(folder, "in.npz")
    numpy.savez(data, **fed)
    command = [dfc, "run", graph]
    for name in fed:
        command += ["--feed", f"{name}={data}:{name}"]
    for index, name in enumerate(names):
        command += ["--fetch", f"{name}={os.path.join(folder, str(index))}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return "not run", last_line(done.stderr)
    with open(graph, encoding="utf-8") as file:
        halves = "f16" in file.read()
    for index, name in enumerate(names):
        wrong = apart(numpy.load(os.path.join(folder, f"{index}.npy")), wanted[name], halves)
        if wrong:
            return "FAILS", f"{name} {wrong}"
    return "agrees", f"{len(names)} outputs"


def main():
    counts = {}
    for graph in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            word, reason = check(sys.argv[1], graph, folder)
        counts[word] = counts.get(word, 0) + 1
        print(f"{graph}: {word}: {reason}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    return 1 if counts.get("FAILS", 0) else 0


if __name__ == "__main__":
    sys.exit(main())
