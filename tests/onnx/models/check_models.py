#!/usr/bin/env python3
"""Compares `dfc run` with ONNX Runtime on the models that export_models.py has written.

usage: check_models.py DFC FOLDER [--time] [NAME...]

Each model runs at batch 1 with the inputs of its NAME.data.npz, on the cpu backend and on an emulated GPU. The greatest
difference from ONNX Runtime's output, relative to the output's greatest magnitude, must stay within BOUND: both round
differently in f32, layer after layer. --time: seconds a step at batch 1 and 8, beside ONNX Runtime with as many threads:
the two in turns, ROUNDS times, and the least of all steps but the first of each, in which programs prepare their weights.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy

BOUND = 2e-4
ROUNDS, STEPS = 4, 10


def run(dfc, folder, name, batch, fed, more, scratch):
    data = os.path.join(scratch, "in.npz")
    numpy.savez(data, **fed)
    out = os.path.join(scratch, "y.npy")
    command = [dfc, "run", os.path.join(folder, name + ".onnx"), "--dim", f"batch={batch}", "--json", "--fetch",
               "y=" + out] + more
    for key in fed:
        command += ["--feed", f"{key}={data}:{key}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip()[:500])
    return numpy.load(out), json.loads(done.stdout)


def distance(got, wanted):
    if got.shape != wanted.shape:
        return math.inf
    return float(numpy.abs(got - wanted).max() / max(numpy.abs(wanted).max(), 1e-30))


def inputs_of(folder, name):
    data = numpy.load(os.path.join(folder, name + ".data.npz"))
    fed = {key[3:]: data[key] for key in data.files if key.startswith("in.")}
    return fed, next(data[key] for key in data.files if key.startswith("out."))


def seconds_of_steps(trace):
    """Of all steps but the first: from begin to end, or to the begin of the next step if that is longer."""
    with open(trace) as file:
        events = json.load(file)["traceEvents"]
    measured = {e["pid"] for e in events if e["ph"] == "M" and e["args"].get("name") == "measured"}
    begins, ends = {}, {}
    for event in events:
        if event["ph"] == "X" and event["pid"] in measured:
            step = event["args"]["step"]
            begins[step] = min(begins.get(step, math.inf), event["ts"])
            ends[step] = max(ends.get(step, 0), event["ts"] + event["dur"])
    return [1e-6 * (max(ends[step], begins.get(step + 1, 0)) - begins[step]) for step in begins if step > 0]


class Runtime:
    """ONNX Runtime, ready for one input."""

    def __init__(self, folder, name, fed):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = os.cpu_count()
        self.fed = fed
        self.session = onnxruntime.InferenceSession(os.path.join(folder, name + ".onnx"), options,
                                                    providers=["CPUExecutionProvider"])
        self.session.run(None, fed)

    def seconds(self):
        begin = time.perf_counter()
        self.session.run(None, self.fed)
        return time.perf_counter() - begin


def seconds_of_both(dfc, folder, name, fed, batch, scratch):
    trace = os.path.join(scratch, "trace.json")
    runtime = Runtime(folder, name, fed)
    ours, theirs = math.inf, math.inf
    for _ in range(ROUNDS):
        run(dfc, folder, name, batch, fed, ["--steps", str(STEPS + 2), "--trace", trace], scratch)
        ours = min([ours] + seconds_of_steps(trace))
        theirs = min([theirs] + [runtime.seconds() for _ in range(STEPS)])
    return ours, theirs


def main():
    words = [word for word in sys.argv[1:] if word != "--time"]
    dfc, folder, names = words[0], words[1], words[2:]
    names = names or sorted(f[:-len(".data.npz")] for f in os.listdir(folder) if f.endswith(".data.npz"))
    failed, ratios = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            fed, wanted = inputs_of(folder, name)
            for backend, more in (("cpu", []), ("emulated", ["-m", "gpu-only", "--backend", "gpu=emulated"])):
                if backend == "emulated":
                    more = ["-m", "cpu-2gpu", "--policy", "heft", "--pin", "*=gpu0", "--backend", "gpu=emulated"]
                try:
                    got, _ = run(dfc, folder, name, 1, fed, more, scratch)
                    apart = distance(got, wanted)
                    verdict = "passes" if apart <= BOUND else "FAILS"
                    print(f"{name} on {backend}: {verdict}, {apart:.1e} apart (bound {BOUND:.0e})", flush=True)
                except RuntimeError as failure:
                    verdict = "FAILS"
                    print(f"{name} on {backend}: FAILS: {failure}", flush=True)
                failed += verdict == "FAILS"
            if "--time" in sys.argv:
                for batch in (1, 8):
                    many = {key: numpy.repeat(value, batch, 0) for key, value in fed.items()}
                    ours, theirs = seconds_of_both(dfc, folder, name, many, batch, scratch)
                    ratios.append(ours / theirs)
                    print(f"{name}, batch {batch}: {1e3 * ours:.1f} ms, ONNX Runtime {1e3 * theirs:.1f} ms, "
                          f"ratio {ours / theirs:.2f}", flush=True)
    if ratios:
        print(f"geometric mean of {len(ratios)} ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    print(f"{2 * len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
