"""Lesson 4: a graph as a text, written by hand. It is read, compiled, simulated, drawn, saved as a plan, loaded and run;
and it is planned for eight GPUs that this computer does not have."""

import tempfile
from pathlib import Path

import numpy as np

import dfc

TEXT = """
graph regression {
  input x : f32[64, 8]
  input y : f32[64, 1]
  parameter w : f32[8, 1] = zeros()
  error = sub(matmul(x, w), y)
  loss = reduceMean(mul(error, error))
  g = gradients(loss, w)
  next = assign(w, sub(w, mul(g, 0.1)))
  fetch loss
}
"""


def main():
    try:
        dfc.parse_graph(TEXT.replace("matmul", "matmult"))
    except dfc.Error as error:  # a mistake is told with its line and the way out
        print(error)

    graph = dfc.parse_graph(TEXT)
    plan = dfc.compile(graph, "cpu")
    with tempfile.TemporaryDirectory() as folder:
        plan.save(Path(folder) / "regression.plan")
        plan = dfc.Plan.load(Path(folder) / "regression.plan")
    print(f"predicted {plan.predicted_seconds * 1e6:.1f} us a step, simulated {dfc.simulate(plan).makespan * 1e6:.1f} us")

    random = np.random.default_rng(1)
    w = random.standard_normal((8, 1)).astype(np.float32)
    session = dfc.Session(plan)
    for _ in range(200):
        x = random.standard_normal((64, 8)).astype(np.float32)
        loss = session.run({"x": x, "y": x @ w})["loss"]
    print(f"loss after 200 steps: {float(loss):.2g}")
    assert np.allclose(session.state()["w"], w, atol=1e-3), "the weights are found"

    eight = dfc.compile(graph, "cpu-8gpu-nvlink", splits=[("x", 0, "gpu*")])
    print(f"for eight GPUs: {len(eight.steps)} steps, {len(eight.transfers)} transfers")
    assert sum(row.resident_bytes > 0 for row in eight.memory) >= 8, "every GPU has its part"


if __name__ == "__main__":
    main()
