"""Plans: options, files, explanations, pictures, plain objects."""

import pickle
import shutil
import signal

import numpy as np
import pytest

import dfc


def step(rows=64):
    """A training step whose batch may be cut."""
    g = dfc.Builder("step")
    x, y = g.input("x", (rows, 32)), g.input("y", rows, dfc.int64)
    with g.scope("fc"):
        w = g.parameter("w", (32, 10), dfc.init.glorot(1))
        loss = dfc.softmax_cross_entropy(x @ w, y)
    dfc.sgd([w], dfc.gradients(loss, [w]), 0.5)
    g.fetch("loss", loss)
    return g.finish()


FEEDS = {"x": np.random.default_rng(0).standard_normal((64, 32)).astype(np.float32), "y": np.arange(64) % 10}


def losses(plan, **options):
    session = dfc.Session(plan, **options)
    return [float(session.run(FEEDS)["loss"]) for _ in range(3)]


def test_ctrl_c_ends_planning():
    def stop(*_):
        raise InterruptedError

    g = dfc.Builder()
    h = g.input("x", (64, 64))
    for i in range(8):
        h = dfc.tanh(h @ g.parameter(f"w{i}", (64, 64)))
    g.fetch("y", h)
    graph, before = g.finish(), signal.signal(signal.SIGALRM, stop)
    try:
        for plan in (dfc.compile, dfc.explain):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(InterruptedError):
                plan(graph, "cpu-2gpu", plan_seconds=3600)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_saved_plans(tmp_path):
    plan = dfc.compile(step())
    plan.save(tmp_path / "a.plan")
    copies = [dfc.Plan.load(tmp_path / "a.plan"), pickle.loads(pickle.dumps(plan))]
    assert all(bytes(copy) == bytes(plan) and losses(copy) == losses(plan) for copy in copies)
    (tmp_path / "b.plan").write_bytes(bytes(plan)[:-10])
    with pytest.raises(dfc.Error):
        dfc.Plan.load(tmp_path / "b.plan")


def test_options():
    graph = step()
    cut = dfc.compile(graph, "cpu-2gpu", splits=[("x", 0, "gpu*")])
    assert cut.placement != "single" and sum(row.resident_bytes > 0 for row in cut.memory) == 2
    np.testing.assert_allclose(losses(cut, gpu_backend="emulated"), losses(dfc.compile(graph, "cpu")), rtol=1e-5)
    pinned = dfc.compile(graph, "cpu-2gpu", policy="pins", pins={"*": "gpu1"})
    assert {row.device for row in pinned.steps if row.kind == "fusedMatmul"} <= {"gpu1"}
    assert pinned.transfers and {one.destination for one in pinned.transfers} == {"gpu1", "cpu0"}
    dfc.compile(graph, "cpu-2gpu", precision="bf16", merge_launches=False, peer_reads=False, plan_seconds=0.01,
                skip_passes=["fuse_elementwise"])
    with pytest.raises(dfc.Error, match="does not fit|memory"):
        dfc.compile(graph, "cpu", memory={"cpu0": 1000})
    with pytest.raises(dfc.Error, match="best"):
        dfc.compile(graph, policy="best")
    with pytest.raises(ValueError, match="'gpu9'"):
        dfc.compile(graph, "cpu", memory={"gpu9": 1})


def test_calibrations(tmp_path):
    (tmp_path / "t.json").write_text('{"tables": [{"device": "X", "ops": [{"signature": "relu(f32[4])", "seconds": 1e-05}]}]}')
    (table,) = dfc.read_calibrations(tmp_path / "t.json")
    assert table.device == "X" and table.ops == {"relu(f32[4])": 1e-5}
    dfc.compile(step(), calibrations=tmp_path / "t.json")
    dfc.compile(step(), calibrations=[table])


def test_graphs(tmp_path):
    graph = step()
    graph.save(tmp_path / "g.dfg")
    assert str(dfc.read_graph(tmp_path / "g.dfg")) == str(graph) == str(dfc.parse_graph(str(graph)))
    assert graph.inputs["x"] == dfc.TensorSpec((64, 32), dfc.float32) and list(graph.parameters) == ["w"]
    assert {op.scope for op in graph.ops if op.kind == "matmul"} >= {"fc"} and len(graph) == len(graph.ops)


def test_machines():
    assert "cpu-2gpu" in dfc.machine_names()
    machine = dfc.machine("cpu-2gpu")
    assert [device.kind for device in machine.devices] == ["cpu", "gpu", "gpu"]
    assert str(dfc.parse_machine(str(machine))) == str(machine)
    assert dfc.machine("host").devices[0].kind == "cpu"
    assert machine.with_memory("gpu0", 123456).devices[1].memory_bytes == 123456


def test_traces_and_explanations():
    explanation = dfc.explain(step(), "cpu-2gpu", changes=False)
    plan = explanation.plan
    assert "considered" in str(explanation) and explanation["placement"] == plan.placement
    assert explanation.facts["devices"][0]["name"] in {"cpu0", "gpu0"}
    simulated, predicted = dfc.simulate(plan), dfc.predicted_trace(plan)
    assert not predicted.measured and len(predicted) == len(plan.steps) and simulated.makespan > 0
    assert plan.lower_bound_seconds <= plan.predicted_seconds
    assert all(step.begin <= step.end for step in plan.steps)


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_pictures():
    graph = step()
    plan = dfc.compile(graph, "cpu-2gpu")
    for picture in (graph._repr_svg_(), plan._repr_svg_(), dfc.svg(plan.dot("placed")), dfc.svg(plan.dot("schedule"))):
        assert picture.startswith("<svg") and "</svg>" in picture
    with pytest.raises(ValueError, match="'figure'"):
        plan.dot("pretty")


def test_pins_and_scopes():
    g = dfc.Builder()
    with g.on("gpu0"), g.scope("a"):
        x = g.input("x", 2)
        with g.scope("b", "gpu1"):
            y = (x + 1).named("y")
    g.fetch("z", (y * 2).on("cpu0"))
    ops = {op.name: op for op in g.finish().ops}
    assert (ops["y"].scope, ops["y"].device, ops["x"].device, ops["mul"].device) == ("a/b", "gpu1", "gpu0", "cpu0")


def test_collectives(evaluate):
    g = dfc.Builder()
    parts = [(g.input(f"x{i}", (4, 2)) * 1).on(f"gpu{i}") for i in range(2)]
    for i, total in enumerate(dfc.all_reduce(parts, ["gpu0", "gpu1"], form="ring", chunks=2)):
        g.fetch(f"y{i}", total)
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    results = dfc.open(g.finish(), "cpu-2gpu", policy="pins").run({"x0": x, "x1": x * 10})
    assert all(np.array_equal(result, x * 11) for result in results.values())


def test_the_page_of_a_plan_and_of_a_trace():
    session = dfc.open(step(), "cpu", session={"trace": True})
    page = session.plan.page()
    assert page.startswith("<!doctype html>") and "of median length" not in page
    with pytest.raises(ValueError, match="no whole step"):
        session.plan.page(session.take_trace())
    for _ in range(3):
        session.run(FEEDS)
    trace = session.take_trace()
    assert "of median length among 3" in session.plan.page(trace)
    with pytest.raises(ValueError, match="of another plan"):
        dfc.compile(step(32), "cpu").page(trace)
