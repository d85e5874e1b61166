"""What the peers' scripts share: their arguments, how they time, and the form of what they print.

A script is told the keys of the rows to measure (`dfc bench` rows of the same work) and prints a JSON object a line:
{"key", "who", "seconds", "least", "most", "samples"} with seconds of one step, or {"key", "who", "error"}.
"""

import argparse
import json
import sys
import time


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--keys", default="", help="rows to measure, with commas between")
    parser.add_argument("--quick", action="store_true", help="few samples")
    parser.add_argument("--size", type=int, default=4000, help="rows and columns of A1's matrices")
    parser.add_argument("--count", type=int, default=50, help="products of A1, or adds of B2")
    options = parser.parse_args()
    options.keys = [key for key in options.keys.split(",") if key]
    return options


def say(key, who, **what):
    print(json.dumps({"key": key, "who": who, **what}), flush=True)


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


def attempt(key, who, measure):
    """Prints what `measure` gives, or why it could not."""
    try:
        say(key, who, **measure())
    except Exception as error:  # a peer that cannot run is a row too, and must not end the others
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        say(key, who, error=f"{type(error).__name__}: {first}"[:300])
        print(f"{key} {who}: {error}", file=sys.stderr)


def precision_and_batch(key):
    """"B3/1gpu/tf32/8192" -> ("tf32", 8192)."""
    precision, batch = key.split("/")[-2:]
    return precision, int(batch)
