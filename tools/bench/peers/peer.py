"""What the peers' scripts share: their arguments, how they time, and the form of what they print.

A script is told the keys of the rows to measure (`dfc-bench` rows of the same work) and prints a JSON object a line:
{"key", "who", "seconds", "least", "most", "samples"} with seconds of one step, or {"key", "who", "error"}.
One that samples in turn with dfc first prints "ready", then takes a sample for each line that it reads and prints
"sampled", and answers when there are no more lines.
"""

import argparse
import json
import sys
import time

WARM_SECONDS = 0.1  # when a turn comes, as dfc does: threads sleep and the caches are another's by then


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


def cannot(key, who, error):
    """Says why; a peer that cannot run is a row too, and must not end the others."""
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    say(key, who, error=f"{type(error).__name__}: {first}"[:300])
    print(f"{key} {who}: {error}", file=sys.stderr)


def timed_in_turn(key, makers, steps, asked=sys.stdin):
    """`makers`: for each name, what makes its step. A sample of each, of `steps` steps, for each line of `asked`."""
    samples = {}
    acts = {}
    for who, make in makers.items():
        try:
            acts[who] = make()
            for _ in range(5):
                acts[who]()
            samples[who] = []
        except Exception as error:
            cannot(key, who, error)
    print("ready", flush=True)
    for _ in asked:
        for who in list(samples):
            try:
                begin = time.perf_counter()
                while time.perf_counter() - begin < WARM_SECONDS:
                    acts[who]()
                begin = time.perf_counter()
                for _ in range(steps):
                    acts[who]()
                samples[who].append((time.perf_counter() - begin) / steps)
            except Exception as error:
                del samples[who]
                cannot(key, who, error)
        print("sampled", flush=True)
    for who, seconds in samples.items():
        if seconds:
            say(key, who, **spread(seconds))


def attempt(key, who, measure):
    """Prints what `measure` gives, or why it could not."""
    try:
        say(key, who, **measure())
    except Exception as error:
        cannot(key, who, error)


def precision_and_batch(key):
    """"B3/1gpu/tf32/8192" -> ("tf32", 8192)."""
    precision, batch = key.split("/")[-2:]
    return precision, int(batch)
