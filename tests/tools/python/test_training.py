"""Trainings that can be interrupted, data sets, weights of others, sessions that share state, models of ONNX."""

import _thread
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import dfc

ROWS, BATCH = 50, 8


def data(seed=None):
    random = np.random.default_rng(0)
    x = random.standard_normal((ROWS, 4)).astype(np.float32)
    return dfc.Batches({"x": x, "y": x @ np.array([1, -2, 3, 0.5], np.float32)}, BATCH, seed)


def regression(training=True):
    g = dfc.Builder("regression")
    net = dfc.Layers(g, training=training)
    x, y = g.input("x", (BATCH, 4)), g.input("y", BATCH)
    loss = dfc.square(net.dropout(net.linear("fc", x, 1).reshape(-1), 0.1) - y).mean()
    if training:
        dfc.adam(net.trained, dfc.gradients(loss, net.trained), 0.05)
    g.fetch("loss", loss)
    return g.finish()


def opened(**options):
    return dfc.open(regression(), "cpu", session=options)


def test_a_training_that_diverged_raises():
    g = dfc.Builder("falls")
    w = g.parameter("w", 2, 1.0)
    g.fetch("loss", g.assign(w, dfc.log(w - 0.4)).sum())
    trainer = dfc.Trainer(dfc.open(g.finish(), "cpu"), steps=100000)
    with pytest.raises(dfc.Error, match=r"the training has failed: 1 of 1 parameters hold NaN behind step \d+: 'w'"):
        trainer.run()
    assert trainer.submitted < 10


def test_an_evaluation_that_would_train_is_refused():
    with pytest.raises(dfc.Error, match="the graph of the evaluation changes"):
        dfc.Trainer(opened(), steps=3, feeds=data(), evaluation=opened(), evaluation_feeds=data())


def state_of(session):
    return {name: value.tobytes() for name, value in session.state().items()}


def test_batches():
    batches = data(seed=5)
    assert len(batches) == 6 and batches.rows == ROWS and batches.seed == 5 and data().seed is None
    for step in (0, 5, 6, 13):
        one, same = batches.at_step(step), batches.at(step // 6, step % 6)
        assert one["x"] == same["x"] and one["y"] == same["y"]
    rows = np.concatenate([batches.at(1, i)["y"].numpy() for i in range(6)])
    assert len(set(rows.tolist())) == 48 and (batches.at(0, 0)["y"] == batches.at(1, 0)["y"]) is False


def test_interrupted_and_resumed_is_uninterrupted(tmp_path):
    files = {"checkpoint": tmp_path / "a.safetensors", "resume": tmp_path / "a.safetensors", "checkpoint_every": 7}
    whole, first, second = opened(), opened(), opened()
    dfc.Trainer(whole, steps=30, feeds=data(seed=2), log=tmp_path / "whole.csv").run()
    interrupted = dfc.Trainer(first, steps=30, feeds=data(seed=2), log=tmp_path / "parts.csv", **files)
    for _ in range(17):
        interrupted.advance()
    del interrupted, first  # the last checkpoint is of step 14
    resumed = dfc.Trainer(second, steps=30, feeds=data(seed=2), log=tmp_path / "parts.csv", **files)
    assert (resumed.begun, resumed.submitted, resumed.steps, resumed.done) == (14, 14, 30, False)
    resumed.run()
    assert resumed.done and state_of(second) == state_of(whole)
    assert (tmp_path / "parts.csv").read_text() == (tmp_path / "whole.csv").read_text()
    assert dfc.learning_curve(tmp_path / "whole.csv", "regression").startswith("<svg")
    with pytest.raises(dfc.Error, match="seed"):
        dfc.Trainer(opened(), steps=30, feeds=data(seed=3), **files)


def test_evaluation_and_the_best(tmp_path):
    seen, evaluated = [], {}
    session, judge = opened(), dfc.open(regression(training=False), "cpu")
    trainer = dfc.Trainer(session, steps=60, feeds=data(seed=1), evaluation=judge, evaluation_feeds=data(),
                          evaluate_every=20, best=tmp_path / "best.safetensors", best_by="loss",
                          after_step=lambda step, results: seen.append((step, float(results["loss"]))),
                          after_evaluation=lambda step, means: evaluated.update({step: means["loss"]}))
    assert trainer.evaluated == {} and trainer.best is None
    trainer.run()
    assert [step for step, _ in seen] == list(range(1, 61)) and seen[-1][1] == trainer.last["loss"]
    assert list(evaluated) == [20, 40, 60] and trainer.best == min(evaluated.values()) and evaluated[60] == trainer.evaluated["loss"]
    losses = [float(judge.run(data().at(0, i))["loss"]) for i in range(6)]
    assert abs(np.mean(losses) - evaluated[60]) < 1e-6 * evaluated[60] and (tmp_path / "best.safetensors").exists()
    with pytest.raises(dfc.Error, match="evaluation"):
        dfc.Trainer(session, steps=60, feeds=data(), best="b.safetensors")


def test_a_function_feeds_a_training():
    asked = []

    def feed(step):
        asked.append((step, threading.current_thread() is threading.main_thread()))
        return {"x": np.full((BATCH, 4), step, np.float32), "y": np.zeros(BATCH, np.float32)}

    dfc.Trainer(opened(), steps=3, feeds=feed).run()
    assert asked == [(0, True), (1, True), (2, True)]

    def broken(step):
        raise LookupError(f"no row of step {step}")

    with pytest.raises(LookupError, match="no row of step 0"):
        dfc.Trainer(opened(), steps=3, feeds=broken).run()


def test_ctrl_c_ends_a_training(tmp_path):
    """Python's own, KeyboardInterrupt between two steps; `finish` keeps what was done."""
    checkpoint, session = tmp_path / "a.safetensors", opened()
    interrupt = lambda step, results: _thread.interrupt_main() if step == 12 else None  # noqa: E731
    trainer = dfc.Trainer(session, steps=400000, feeds=data(), checkpoint=checkpoint, after_step=interrupt)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    trainer.finish()
    assert 12 <= trainer.submitted < 20
    assert dfc.Trainer(opened(), steps=400000, feeds=data(), resume=checkpoint).begun == trainer.submitted


def test_sessions_share_state():
    graph = regression()
    first = dfc.open(graph, "cpu")
    second = dfc.open(regression(training=False), "cpu", session={"state": first})
    batch = data().at(0, 0)
    before = second.run(batch)["loss"]
    for _ in range(20):
        first.run(batch)
    assert second.run(batch)["loss"] < 0.5 * before
    weight = first.state()["fc.weight"]
    first.close()
    assert np.array_equal(second.state()["fc.weight"], weight)
    g = dfc.Builder()
    g.fetch("y", g.parameter("other", 3) * 1)
    with pytest.raises(dfc.Error, match="no parameter|in common"):
        dfc.open(g.finish(), "cpu", session={"state": second})
    with pytest.raises(ValueError, match="closed"):
        dfc.open(graph, "cpu", session={"state": first})


def test_weights_of_others(tmp_path):
    weight = np.arange(4, dtype=np.float16).reshape(1, 4)
    dfc.write_safetensors(tmp_path / "w.safetensors", {"model.fc.weight": weight, "model.head": np.zeros(2)})
    rules = dfc.RenameRules("model.fc.* -> fc.* transposed as f32")
    renamed = rules.apply({"model.fc.weight": weight, "other": weight})
    assert renamed["fc.weight"].dtype == np.float32 and renamed["fc.weight"].shape == (4, 1) and "other" in renamed
    session = dfc.open(regression(training=False), "cpu")
    bias = session.state()["fc.bias"]
    with pytest.raises(dfc.Error, match="fc.bias"):
        session.load_weights(tmp_path / "w.safetensors", rules=rules)
    loaded = session.load_weights(tmp_path / "w.safetensors", rules=rules, partial=True)
    assert loaded == dfc.LoadedWeights(set=1, parameters=len(session.parameters), unused=1)
    assert session.state()["fc.weight"].ravel().tolist() == [0, 1, 2, 3] and session.state()["fc.bias"] == bias
    (tmp_path / "rules").write_text("drop model.head\nmodel.* -> *\n")
    assert list(dfc.RenameRules.read(tmp_path / "rules").apply({"model.a": bias, "model.head": bias})) == ["a"]
    with pytest.raises(dfc.Error) as caught:
        dfc.RenameRules("a -> b\nc -> -> d", "mine.rules")
    assert (caught.value.diagnostics[0].file, caught.value.diagnostics[0].line) == ("mine.rules", 2)


def test_tables_and_arrays(tmp_path):
    (tmp_path / "t.csv").write_text("height,kind\n1.5,cat\n2,dog\n,cat\n")
    table = dfc.read_csv(tmp_path / "t.csv", columns=["kind", "height"], words=["kind"], gaps=True)
    assert list(table.columns) == ["kind", "height"] and table["kind"].tolist() == [0, 1, 0] and table.words == {"kind": ["cat", "dog"]}
    assert np.isnan(table["height"][2])
    with pytest.raises(dfc.Error, match="t.csv"):
        dfc.read_csv(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="one byte"):
        dfc.read_csv(tmp_path / "t.csv", separator="::")
    (tmp_path / "book.txt").write_bytes(bytes(range(10)))
    np.savez(tmp_path / "x.npz", a=np.arange(3), b=np.arange(4))
    assert dfc.read_array(f"{tmp_path}/book.txt:4").tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert dfc.read_array(f"{tmp_path}/x.npz", "b").tolist() == [0, 1, 2, 3]
    assert dfc.read_array(f"{tmp_path}/x.npz:a").tolist() == [0, 1, 2]


def test_models_of_onnx(root, tmp_path):
    graph = dfc.import_onnx(root / "samples/04_graph_file/classifier.onnx", dims={"batch": 2})
    (name, spec), = graph.inputs.items()
    assert spec.shape[0] == 2
    results = dfc.open(graph, "cpu").run({name: np.zeros(spec.shape, np.float32)})
    assert all(np.isfinite(result).all() for result in results.values())
    g = dfc.Builder()
    net = dfc.Layers(g, training=False)
    g.fetch("y", dfc.relu(net.linear("fc", g.input("x", (2, 4)), 3)))
    ours, x = g.finish(), np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
    session = dfc.open(ours, "cpu")
    session.set_state({"fc.bias": [0.5, 0.25, -1]})
    dfc.export_onnx(ours, tmp_path / "m.onnx", state=session.state())
    again = dfc.open(dfc.import_onnx(tmp_path / "m.onnx"), "cpu").run({"x": x})
    np.testing.assert_allclose(again["y"], session.run({"x": x})["y"], rtol=1e-6)
    with pytest.raises(dfc.Error, match="batch"):
        dfc.import_onnx(root / "samples/04_graph_file/classifier.onnx")
    with pytest.raises(dfc.Error, match="README.md"):
        dfc.import_onnx(root / "README.md")


GLOBALS = """
import test_training, dfc
session = test_training.opened()
trainer = dfc.Trainer(session, steps=3, feeds=lambda step: test_training.data().at_step(step), after_step=lambda *_: None)
trainer.run()
"""


def test_the_process_ends_in_silence(tmp_path):
    """Globals of a script that refer to one another are no leak to speak of."""
    done = subprocess.run([sys.executable, "-c", GLOBALS], capture_output=True, text=True, cwd=tmp_path, check=True,
                          env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert done.stderr == "" and done.stdout == ""
