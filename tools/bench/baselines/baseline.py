"""Shared by the baselines' scripts: arguments, timing and output.

A script gets the keys of the rows to measure (rows of `dfc-bench` with the same work) and prints a JSON object a line:
{"key", "program", "seconds", "least", "most", "samples"} with seconds of one step, or {"key", "program", "error"}.
A script whose samples alternate with those of dfc first prints "ready", then takes a sample for each line that it reads
and prints "sampled", and prints its results at the end of its input.
"""

import argparse
import json
import sys
import time

WARM_SECONDS = 0.1  # warm-up before a sample, as in dfc: threads sleep and the caches hold the other program's data


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--keys", default="", help="rows to measure, with commas between")
    parser.add_argument("--quick", action="store_true", help="few samples")
    parser.add_argument("--size", type=int, default=4000, help="rows and columns of the matrices of products_on_gpu")
    parser.add_argument("--count", type=int, default=50, help="products of products_on_gpu, or adds of stepwise_adds")
    options = parser.parse_args()
    options.keys = [key for key in options.keys.split(",") if key]
    return options


def cpu_arguments(description):
    """Of the scripts whose samples alternate with those of dfc."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--keys", default="", help="rows to measure, with commas between")
    parser.add_argument("--quick", action="store_true", help="small models")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--steps", type=int, default=5, help="steps of a sample")
    options = parser.parse_args()
    options.keys = [key for key in options.keys.split(",") if key]
    return options


def report(key, program, **what):
    print(json.dumps({"key": key, "program": program, **what}), flush=True)


def spread(seconds):
    """The median (of an even number the upper middle one), the least and the most of the samples."""
    ordered = sorted(seconds)
    return {"seconds": ordered[len(ordered) // 2], "least": ordered[0], "most": ordered[-1], "samples": len(ordered)}


def timed(step, wait, quick, steps=50, samples=7, before=lambda: None):
    """`steps` calls of `step` and one `wait`, `samples` times, after warming up; seconds of one step."""
    steps, samples = (min(steps, 5), 3) if quick else (steps, samples)
    for _ in range(5):
        step()
    wait()
    seconds = []
    for _ in range(samples):
        before()
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        seconds.append((time.perf_counter() - begin) / steps)
    return spread(seconds)


def report_failure(key, program, error):
    """Prints the reason as a row of its own; the other baselines go on."""
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    report(key, program, error=f"{type(error).__name__}: {first}"[:300])
    print(f"{key} {program}: {error}", file=sys.stderr)


def timed_interleaved(key, makers, steps, requests=sys.stdin):
    """`makers`: for each program, the function that makes its step. Takes a sample of each, of `steps` steps, for each line
    of `requests`."""
    samples = {}
    prepared = {}
    for program, make in makers.items():
        try:
            prepared[program] = make()
            for _ in range(5):
                prepared[program]()
            samples[program] = []
        except Exception as error:
            report_failure(key, program, error)
    print("ready", flush=True)
    for _ in requests:
        for program in list(samples):
            try:
                begin = time.perf_counter()
                while time.perf_counter() - begin < WARM_SECONDS:
                    prepared[program]()
                begin = time.perf_counter()
                for _ in range(steps):
                    prepared[program]()
                samples[program].append((time.perf_counter() - begin) / steps)
            except Exception as error:
                del samples[program]
                report_failure(key, program, error)
        print("sampled", flush=True)
    for program, seconds in samples.items():
        if seconds:
            report(key, program, **spread(seconds))


def attempt(key, program, measure):
    """Prints the result of `measure`, or the reason why there is none."""
    try:
        report(key, program, **measure())
    except Exception as error:
        report_failure(key, program, error)


def precision_and_batch(key):
    """"mlp_training/1gpu/tf32/8192" -> ("tf32", 8192)."""
    precision, batch = key.split("/")[-2:]
    return precision, int(batch)
