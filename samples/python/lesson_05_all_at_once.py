"""Lesson 5: computation on a GPU, computation on the CPU and a copy between them, all at the same moment.

gpu0 multiplies; each product is copied to the CPU, which multiplies it again while gpu0 computes the next product and the
copy engine moves the one between. Streams, events and copies follow from the graph.
"""

import numpy as np

import dfc

SIZE, STAGES = 384, 6


def pipeline():
    g = dfc.Builder("all at once")
    x = g.input("x", (SIZE, SIZE))
    factor = (x * (2 / SIZE)).on("gpu0")  # keeps the numbers in range: the mean of x is a half
    product = factor
    for i in range(STAGES):
        product = (product @ factor).on("gpu0")
        on_cpu = (product @ product).on("cpu0")
        g.fetch(f"sum {i}", on_cpu.sum().on("cpu0"))
    return g.finish()


def triple_overlap(trace):
    """Seconds during which a gpu computes, the cpu computes and a transfer runs, all three."""
    events = []
    for span in trace.spans:
        kind = "copy" if span.kind == "transfer" else span.device[:3]
        events += [(span.begin, kind, 1), (span.end, kind, -1)]
    busy, since, total = {"copy": 0, "gpu": 0, "cpu": 0}, 0.0, 0.0
    for time, kind, change in sorted(events):
        total += time - since if all(busy.values()) else 0
        busy[kind] += change
        since = time
    return total


def main():
    plan = dfc.compile(pipeline(), "cpu-2gpu")
    session = dfc.Session(plan, gpu_backend="emulated", trace=True)
    x = np.random.default_rng(1).random((SIZE, SIZE), np.float32)
    first, measured, runs = session.run({"x": x}), 0.0, 0
    while runs < 3 or (measured == 0 and runs < 1000):  # a busy host emulates all devices with the cores that are free
        assert session.run({"x": x}) == first, "all runs give the same bits"
        measured += triple_overlap(session.take_trace())
        runs += 1
    predicted = triple_overlap(dfc.predicted_trace(plan))
    print(f"GPU, CPU and copy engine busy at once: predicted {predicted * 1e6:.1f} us a run, measured {measured * 1e6:.1f} us "
          f"in {runs} runs")
    assert predicted > 0 and measured > 0, "the schedule and the measured trace have all three at once"


if __name__ == "__main__":
    main()
