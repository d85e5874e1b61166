"""Update rules beside PyTorch's: the same weights after the same gradients. What PyTorch gives stands in
tests/golden/optimisers.json, so that nothing but NumPy is needed; where PyTorch is installed it is asked again, and
DFC_BLESS=1 writes the file anew. Lion, which PyTorch lacks, is its paper's formula."""

import json

import numpy as np
import pytest

from conftest import blessing

import dfc

STEPS = 12
START = {"w": np.linspace(-1, 1, 20, dtype=np.float32).reshape(4, 5), "b": np.linspace(0.5, -0.25, 5, dtype=np.float32)}


def gradients():
    """Of each step, some large and some small."""
    random = np.random.default_rng(7)
    return [{name: (random.standard_normal(start.shape) * 10.0 ** random.integers(-3, 1)).astype(np.float32)
             for name, start in START.items()} for _ in range(STEPS)]


# dfc's rule of weights, gradients; PyTorch's of the weights.
RULES = {
    "sgd": (lambda w, g: dfc.sgd(w, g, 0.1), lambda torch, w: torch.optim.SGD(w, 0.1)),
    "momentum": (lambda w, g: dfc.momentum(w, g, 0.1, 0.9), lambda torch, w: torch.optim.SGD(w, 0.1, momentum=0.9)),
    "nesterov": (lambda w, g: dfc.momentum(w, g, 0.05, 0.8, nesterov=True, weight_decay=0.01),
                 lambda torch, w: torch.optim.SGD(w, 0.05, momentum=0.8, nesterov=True, weight_decay=0.01)),
    "adam": (lambda w, g: dfc.adam(w, g, 0.01, 0.8, 0.95), lambda torch, w: torch.optim.Adam(w, 0.01, (0.8, 0.95))),
    "adamw": (lambda w, g: dfc.adam(w, g, 0.02, weight_decay=0.1, no_decay=["b"]),
              lambda torch, w: torch.optim.AdamW([{"params": w[:1], "weight_decay": 0.1},
                                                  {"params": w[1:], "weight_decay": 0}], 0.02)),
    "clipped": (lambda w, g: dfc.sgd(w, dfc.clip_by_global_norm(g, 0.5), 0.3),
                lambda torch, w: Clipped(torch, w, torch.optim.SGD(w, 0.3))),
    "adafactor": (lambda w, g: dfc.adafactor(w, g, 0.05, weight_decay=0.01),
                  lambda torch, w: torch.optim.Adafactor(w, 0.05, weight_decay=0.01)),
}


class Clipped:
    def __init__(self, torch, weights, optimiser):
        self.clip = lambda: torch.nn.utils.clip_grad_norm_(weights, 0.5)
        self.optimiser = optimiser

    def step(self):
        self.clip()
        self.optimiser.step()


def of_dfc(rule):
    """The weights after each step."""
    g = dfc.Builder()
    weights = [g.parameter(name, start.shape) for name, start in START.items()]
    rule(weights, [g.input("d" + name, start.shape) for name, start in START.items()])
    session = dfc.open(g.finish(), "cpu")
    session.set_state(START)
    after = []
    for given in gradients():
        session.run({"d" + name: gradient for name, gradient in given.items()})
        after.append({name: session.state()[name] for name in START})
    return after


def of_torch(torch, rule):
    weights = [torch.nn.Parameter(torch.tensor(start)) for start in START.values()]
    optimiser, after = rule(torch, weights), []
    for given in gradients():
        for weight, gradient in zip(weights, given.values()):
            weight.grad = torch.tensor(gradient)
        optimiser.step()
        after.append({name: weight.detach().numpy().copy() for name, weight in zip(START, weights)})
    return after


def of_lion(rate, beta1, beta2, decay):
    weights, moments, after = dict(START), {name: np.float32(0) for name in START}, []
    for given in gradients():
        for name, g in given.items():
            m, w = moments[name], weights[name]
            weights[name] = w - np.float32(rate) * (np.sign(np.float32(beta1) * m + np.float32(1 - beta1) * g) + np.float32(decay) * w)
            moments[name] = np.float32(beta2) * m + np.float32(1 - beta2) * g
        after.append(dict(weights))
    return after


def check(after, expected, name):
    """float32 rounds at 6e-8 of values up to 1, some roundings in each of 12 steps."""
    for step, (ours, theirs) in enumerate(zip(after, expected, strict=True)):
        for which, value in ours.items():
            np.testing.assert_allclose(value, np.asarray(theirs[which], np.float32), rtol=0, atol=2e-6,
                                       err_msg=f"{name}: {which} after step {step + 1}")


def golden(root):
    return root / "tests/golden/optimisers.json"


@pytest.mark.parametrize("name", RULES)
def test_as_pytorch_gave_it(name, root):
    kept = json.loads(golden(root).read_text())
    check(of_dfc(RULES[name][0])[::STEPS - 1], kept[name], name)  # the first step and the last


def test_pytorch_gives_it_still(root):
    torch = pytest.importorskip("torch")
    given = {name: of_torch(torch, rule) for name, (_, rule) in RULES.items()}
    if blessing():
        rows = [f'"{name}": {json.dumps([{which: value.tolist() for which, value in row.items()} for row in after[::STEPS - 1]])}'
                for name, after in given.items()]
        golden(root).write_text("{\n" + ",\n".join(rows) + "\n}\n")
    kept = json.loads(golden(root).read_text())
    for name, after in given.items():
        check(after[::STEPS - 1], kept[name], name)
        check(of_dfc(RULES[name][0]), after, name)  # all steps


def test_lion_is_its_formula():
    check(of_dfc(lambda w, g: dfc.lion(w, g, 0.01, 0.9, 0.99, weight_decay=0.1)), of_lion(0.01, 0.9, 0.99, 0.1), "lion")


FILE = """graph regression {
  input x : f32[8, 4]
  input y : f32[8]
  parameter "fc.weight" : f32[4, 1] = glorot(seed=3)
  parameter "fc.bias" : f32[1] = zeros()
  error = reshape(matmul(x, "fc.weight") + "fc.bias", shape=[8]) - y
  loss = reduceMean(error * error)
  rate = 0.05 * warmUp(step(), steps=4) * cosineDecay(step(), steps=20, end=0.1)
  adam(loss, rate=rate, weightDecay=0.1, noDecay="*.bias", clipNorm=2)
  fetch loss
}
"""


def regression():
    g = dfc.Builder("regression")
    x, y = g.input("x", (8, 4)), g.input("y", 8)
    w = [g.parameter("fc.weight", (4, 1), dfc.init.glorot(3)), g.parameter("fc.bias", 1)]
    error = (x @ w[0] + w[1]).reshape(8) - y
    loss = (error * error).mean()
    rate = 0.05 * dfc.warm_up(g.step(), 4) * dfc.cosine_decay(g.step(), 20, 0.1)
    dfc.adam(w, dfc.clip_by_global_norm(dfc.gradients(loss, w), 2), rate, weight_decay=0.1, no_decay=["*.bias"])
    g.fetch("loss", loss)
    return g.finish()


def test_a_graph_file_trains_as_python_does():
    sessions = [dfc.open(graph, "cpu") for graph in (dfc.parse_graph(FILE), regression())]
    x = np.random.default_rng(5).standard_normal((8, 4), np.float32)
    losses = [[float(session.run({"x": x, "y": x.sum(1)})["loss"]) for session in sessions] for _ in range(25)]
    assert all(file == ours for file, ours in losses) and losses[-1][0] < 0.8 * losses[0][0]
    assert {name: value.tobytes() for name, value in sessions[0].state().items()} == {
        name: value.tobytes() for name, value in sessions[1].state().items()}
