"""Sessions: steps, state, checkpoints, traces, threads, functions of Python."""

import gc
import os
import signal
import threading
import time
import types
import weakref

import numpy as np
import pytest

import dfc


def counting(dtype="int64"):
    """Each step adds its feed to the parameter "sum", and fetches what it was before and is then."""
    g = dfc.Builder("counting")
    total = g.parameter("sum", (), 5, dtype)
    x = g.input("x", (), dtype)
    g.fetch("before", total * 1)
    g.fetch("after", g.assign(total, total + x))
    return dfc.compile(g.finish(), "cpu")


def test_steps_and_state(tmp_path):
    session = dfc.Session(counting())
    assert session.run({"x": 2}) == {"before": 5, "after": 7}
    pending = [session.submit({"x": 1}) for _ in range(5)]
    assert [int(p.wait("after")) for p in pending] == [8, 9, 10, 11, 12] and pending[0].done
    session.wait_all()
    session.save(tmp_path / "state.safetensors")
    session.set_state({"sum": 100})
    assert session.state() == {"sum": 100}
    session.load(tmp_path / "state.safetensors")
    assert session.state()["sum"] == 12 and dfc.read_safetensors(tmp_path / "state.safetensors")["sum"] == 12
    with pytest.raises(dfc.Error, match="'sun'"):
        session.set_state({"sun": 1})
    with pytest.raises(dfc.Error, match="fetches nothing named"):
        session.submit({"x": 1}).wait("afterwards")


def test_feeds_by_name():
    session = dfc.Session(counting())
    assert session.run(types.MappingProxyType({"x": 1}))["after"] == 6 and session.run({"".join(["x"]): 1})["after"] == 7
    for feeds, message in (({}, "'x' is not fed"), ({"y": 1}, "no input named 'y'"), ({"x": 1, "y": 1}, "no input named 'y'")):
        with pytest.raises(dfc.Error, match=message):
            session.run(feeds)
    with pytest.raises(dfc.Error, match=r"test_sessions.py:\d+:\d+: error: input 'x' is not fed"):
        session.run({})
    assert session.state()["sum"] == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_opens_sessions_of_its_own():
    session = dfc.Session(counting())
    session.run({"x": 1})
    child = os.fork()
    if child == 0:
        wanted = 1
        try:
            session.run({"x": 1})
        except RuntimeError as error:
            wanted = 0 if "open a session of the plan here" in str(error) else 2
        del session
        gc.collect()
        os._exit(wanted if dfc.Session(counting()).run({"x": 1})["after"] == 6 else 3)
    assert os.waitpid(child, 0)[1] == 0 and session.run({"x": 1})["after"] == 7


def test_a_fetch_of_an_unknown_name():
    session = dfc.Session(counting())
    for results in (session.run({"x": 1}), session.run({"x": 1}, arrays="dfc"), session.submit({"x": 1}).wait()):
        assert isinstance(results, dict) and set(results) == {"before", "after"} and results.get("lss") is None
        with pytest.raises(KeyError, match="nothing named 'aftr' is fetched; did you mean 'after'?"):
            results["aftr"]
    with pytest.raises(KeyError, match="the fetches are 'after', 'before'"):
        results["lss"]


def test_results_of_each_step_are_its_own():
    """Their arrays are made while the step runs, over memory that is used again once nobody holds it."""
    session = dfc.Session(counting())
    results = [session.run({"x": 1})["after"] for _ in range(4)]
    assert [int(one) for one in results] == [6, 7, 8, 9] and len({one.ctypes.data for one in results}) == 4
    results[0][...] = 100
    assert session.run({"x": 1})["after"] == 10 and results[0] == 100 and results[0].flags.writeable
    del results
    assert [int(session.run({"x": 1})["after"]) for _ in range(10)] == list(range(11, 21))


def test_small_results_are_kept_until_the_next_step_and_large_ones_are_not():
    g = dfc.Builder()
    x = g.input("x", 20000)
    g.fetch("large", x + 1)
    g.fetch("small", x[:3] + 1)
    session = dfc.open(g.finish(), "cpu")

    def freed(results):
        gone = {}
        for name, array in results.items():
            weakref.finalize(array, gone.setdefault, name, True)
        return gone

    results = session.run({"x": np.zeros(20000, np.float32)})
    first = freed(results)
    results = second = None
    assert first == {"large": True}
    results = session.run({"x": np.ones(20000, np.float32)})
    assert first == {"large": True, "small": True} and results["small"].tolist() == [2, 2, 2]
    second = freed(results)
    results = None
    session.close()
    assert second == {"large": True, "small": True}


def test_views_of_parameters():
    session = dfc.Session(counting())
    view = session.view("sum")
    assert view == 5 and view.shape == () and not view.flags.writeable
    session.run({"x": 2})
    assert view == 7 and session.view("sum").ctypes.data == view.ctypes.data
    session.set_state({"sum": 100})
    assert view == 100
    with pytest.raises(ValueError, match="read-only"):
        view[...] = 3
    session.close()
    assert view == 100
    with pytest.raises(dfc.Error, match="did you mean 'sum'"):
        dfc.Session(counting()).view("sun")
    g = dfc.Builder()
    w = g.parameter("w", 4, 1.0)
    g.fetch("y", (w * 2).on("gpu0"))
    on_gpu = dfc.open(g.finish(), "cpu-2gpu", policy="pins", session={"gpu_backend": "emulated"})
    with pytest.raises(dfc.Error, match="memory of the host"):
        on_gpu.view("w")


def test_reports():
    session = dfc.Session(counting(), trace=True)
    assert session.inputs == {"x": dfc.TensorSpec((), dfc.int64)} and list(session.fetches) == ["before", "after"]
    assert session.parameters == [dfc.Parameter("sum", (), dfc.int64, True)]
    assert session.devices == ["cpu0: cpu"]
    for _ in range(3):
        session.run({"x": 1})
    trace = session.take_trace()
    assert trace.backends == {"cpu0": "cpu"} and dfc.predicted_trace(session.plan).backends == {}
    assert trace.measured and {span.step for span in trace.spans} == {0, 1, 2} and trace.makespan > 0
    assert all(span.device == "cpu0" and span.begin <= span.end for span in trace.spans) and "traceEvents" in trace.chrome()


def test_a_session_closes():
    with dfc.Session(counting()) as session:
        pending = session.submit({"x": 1})
    assert pending.wait()["after"] == 6
    with pytest.raises(ValueError, match="closed"):
        session.run({"x": 1})


def test_threads_share_a_session():
    session = dfc.Session(counting())

    def work():
        for _ in range(50):
            session.run({"x": 1})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.state()["sum"] == 205


def doubling(function, **options):
    g = dfc.Builder()
    x = g.input("x", 4)
    (y,) = dfc.custom([x], function="double", results=[((4,), dfc.float32)], cpu_seconds=1e-6)
    g.fetch("y", y + 1)
    return dfc.Session(dfc.compile(g.finish(), "cpu"), functions={"double": function}, **options)


def test_functions_of_python():
    def double(operands, results):
        np.multiply(operands[0], 2, out=results[0])

    assert doubling(double).run({"x": [1, 2, 3, 4]})["y"].tolist() == [3, 5, 7, 9]


def test_feeds_live_until_their_step_has_ended():
    feeds = {}

    def double(operands, results):
        feeds.clear()  # the last reference but the step's
        np.multiply(operands[0], 2, out=results[0])

    g = dfc.Builder("custom")
    x, late = g.input("x", 4), g.input("late", 100000)
    (y,) = dfc.custom([x], function="double", results=[((4,), dfc.float32)], cpu_seconds=1e-6)
    g.fetch("y", late + y.sum())
    session = dfc.open(g.finish(), "cpu", session={"functions": {"double": double}})
    for value in range(3):
        feeds.update(x=dfc.aligned(np.ones(4, np.float32)), late=dfc.aligned(np.full(100000, value, np.float32)))
        died = weakref.ref(feeds["late"])
        assert (session.run(feeds)["y"] == 8 + value).all() and died() is None


def test_a_function_that_fails():
    def double(operands, results):
        operands[0][0] = 1

    with pytest.raises(dfc.CustomError, match="(?s)double.*read-only"):
        doubling(double).run({"x": [1, 2, 3, 4]})


def test_the_lock_is_released_while_a_step_runs():
    """The step waits for a thread of Python, which could never run if the step held the lock."""
    let_go = threading.Event()

    def double(operands, results):
        assert let_go.wait(30)
        results[0][:] = operands[0]

    thread = threading.Timer(0.01, let_go.set)
    session = doubling(double)
    thread.start()
    session.run({"x": [1, 2, 3, 4]})


def test_time_limit():
    with pytest.raises(dfc.MachineError):
        doubling(lambda operands, results: time.sleep(0.2), timeout_seconds=0.05).run({"x": [1, 2, 3, 4]})


def test_check_finite():
    g = dfc.Builder()
    g.fetch("y", dfc.log(g.input("x", 2)) * 2)
    session = dfc.open(g.finish(), "cpu", session={"check_finite": True})
    assert np.isfinite(session.run({"x": [1, 2]})["y"]).all()
    with pytest.raises(dfc.NotFiniteError) as caught:
        session.run({"x": [0, 1]})
    assert caught.value.diagnostics[0].file == __file__


def test_initialisers(tmp_path):
    np.save(tmp_path / "w.npy", np.array([1.5, 2.5], np.float32))
    g = dfc.Builder()
    starts = {"z": None, "c": 3.0, "u": dfc.init.uniform(1, 2, 7), "n": dfc.init.normal(0, 1, 7), "g": dfc.init.glorot(1),
              "h": dfc.init.he_normal(1), "f": dfc.init.from_file("w.npy")}
    for name, start in starts.items():
        w = g.parameter(name, (2,) if name == "f" else (50, 40), start)
        g.fetch(name, w * 1)
    state = dfc.open(g.finish(), "cpu", session={"data_folder": tmp_path}).state()
    assert (state["z"] == 0).all() and (state["c"] == 3).all() and state["f"].tolist() == [1.5, 2.5]
    assert state["u"].min() >= 1 and state["u"].max() < 2 and abs(state["n"].std() - 1) < 0.1
    assert abs(state["g"]).max() <= (6 / 90) ** 0.5 and abs(state["h"].std() - (2 / 50) ** 0.5) < 0.02


OPTIMISERS = {
    "sgd": lambda w, d: dfc.sgd(w, d, 0.1),
    "momentum": lambda w, d: dfc.momentum(w, d, 0.1, weight_decay=0.01),
    "lion": lambda w, d: dfc.lion(w, d, 0.1),
    "adafactor": lambda w, d: dfc.adafactor(w, d, 0.1, scale_by_parameter=False),
    "adam": lambda w, d: dfc.adam(w, dfc.clip_by_global_norm(d, 1.0), 0.1),
}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimisers_minimise(name):
    g = dfc.Builder()
    w = g.parameter("w", 3, 1.0)
    loss = dfc.square(w - np.array([1, 2, 3], np.float32)).sum()
    OPTIMISERS[name]([w], dfc.gradients(loss, [w]))
    g.fetch("loss", loss)
    session = dfc.open(g.finish(), "cpu")
    losses = [float(session.run()["loss"]) for _ in range(40)]
    assert losses[0] == 5 and losses[-1] < 0.5


def test_loss_scaling():
    g = dfc.Builder()
    w = g.parameter("w", 2, 1.0)
    scaling = dfc.LossScaling(g, initial=8)
    loss = dfc.square(w).sum()
    d = scaling.unscaled(dfc.gradients(scaling.scaled(loss), [w]))
    dfc.adam([w], d, 0.1, only_if=scaling.finite())
    g.fetch("loss", loss)
    session = dfc.open(g.finish(), "cpu")
    assert session.run()["loss"] == 2 and session.run()["loss"] < 2 and session.state()["lossScale"] == 8


def test_schedules():
    g = dfc.Builder()
    step = g.step()
    rates = {"warm": dfc.warm_up(step, 4), "linear": dfc.linear_decay(step, 4), "cosine": dfc.cosine_decay(step, 4, 0.5),
             "step": dfc.step_decay(step, 2)}
    for name, rate in rates.items():
        g.fetch(name, rate)
    w = g.parameter("w", 1, 1.0)
    dfc.sgd([w], [w * 0 + 1], 0.1 * rates["warm"])
    session = dfc.open(g.finish(), "cpu")
    steps = [session.run() for _ in range(4)]
    assert [float(one["warm"]) for one in steps] == [0.25, 0.5, 0.75, 1]
    assert [float(one["linear"]) for one in steps] == [1, 0.75, 0.5, 0.25]
    np.testing.assert_allclose([one["step"] for one in steps], [1, 1, 0.1, 0.1], rtol=1e-6)
    np.testing.assert_allclose(float(steps[2]["cosine"]), 0.75, rtol=1e-6)  # half way from 1 to 0.5
    np.testing.assert_allclose(session.state()["w"], 1 - 0.1 * (0.25 + 0.5 + 0.75 + 1), rtol=1e-5)


def test_accumulated_gradients():
    g = dfc.Builder()
    w = g.parameter("w", (), 1.0)
    x = g.input("x", ())
    means, ready = dfc.accumulate_gradients([w], dfc.gradients(w * x, [w]), 2)
    dfc.momentum([w], means, 1.0, 0.0, only_if=ready)
    session = dfc.open(g.finish(), "cpu")
    states = []
    for fed in (1, 3, 5, 7):
        session.run({"x": fed})
        states.append(float(session.state()["w"]))
    assert states == [1, -1, -1, -7]  # 1 - (1 + 3) / 2, -1 - (5 + 7) / 2


def test_predict_joins_the_rows_of_all_batches():
    g = dfc.Builder("rows")
    x, k = g.input("x", (4, 3)), g.input("k", (4,), "int32")
    g.fetch("double", x * 2)
    g.fetch("next", k + 1)
    g.fetch("total", dfc.sum(x))
    session = dfc.open(g.finish())
    data = {"x": np.arange(15).reshape(5, 3), "k": np.arange(5)}  # of int64, NumPy's own
    found = session.predict(data)
    assert set(found) == {"double", "next"} and np.array_equal(found["double"], 2 * data["x"])
    assert found["double"].dtype == np.float32 and np.array_equal(found["next"], [1, 2, 3, 4, 5])
    one = session.predict({"x": [[1, 2, 3]], "k": [7]}, ["next"])
    assert list(one) == ["next"] and one["next"].tolist() == [8]
    for wrong, fetches, message in ((data, ["total"], "its first axis is not the batch, 4 rows"),
                                    ({**data, "k": np.arange(6)}, [], "'x' 5"), ({"x": data["x"]}, [], "'k'.* has no data"),
                                    ({**data, "k": np.arange(5) * 2**40}, [], "which i32 cannot hold"),
                                    ({**data, "k": np.ones(5)}, [], "floats become no integers")):
        with pytest.raises(dfc.Error, match=message):
            session.predict(wrong, fetches)
    training = dfc.Builder("training")
    w = training.parameter("w", (1,), 1.0)
    training.fetch("w", training.assign(w, w + training.input("x", (1,))))
    with pytest.raises(dfc.Error, match="predictions would train it"):
        dfc.open(training.finish()).predict({"x": [1.0]})


def test_fractions_are_not_cut_off_for_integers():
    session = dfc.Session(counting())
    with pytest.raises((TypeError, ValueError), match="numbers with fractions, where the elements are i64"):
        session.run({"x": 1.5})
    assert session.run({"x": 1})["after"] == 6


def test_predict_pairs_entries_with_batches_of_one_and_wants_rows():
    g = dfc.Builder()
    x, k = g.input("x", (1, 2)), g.input("k", ())
    g.fetch("y", x * k)
    session = dfc.open(g.finish())
    assert session.predict({"x": np.ones((3, 2)), "k": np.arange(3)})["y"].tolist() == [[0, 0], [1, 1], [2, 2]]
    with pytest.raises(dfc.Error, match=r"the data of input 'x' have no rows: they are f32\[0, 2\]"):
        session.predict({"x": np.zeros((0, 2), np.float32), "k": 1})


def test_ctrl_c_ends_predict():
    g = dfc.Builder()
    g.fetch("y", g.input("x", 1, dfc.uint8) + 1)
    session = dfc.open(g.finish())
    rows = np.zeros(4_000_000, np.uint8)
    timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        session.predict({"x": rows})
    timer.join()
    assert session.predict({"x": rows[:3] + np.uint8(4)})["y"].tolist() == [5, 5, 5], "the session goes on"
    assert session.run({"x": rows[:1]})["y"] == 1


def test_results_of_a_submitted_step_are_its_arrays_without_a_copy():
    g = dfc.Builder()
    g.fetch("y", g.input("x", 3) + 1)
    session = dfc.open(g.finish(), "cpu")
    pending = session.submit({"x": np.zeros(3)})
    first, again = pending.wait("y"), pending.wait()["y"]
    assert first is again and first.flags.writeable
    first[...] = 7  # whoever holds it may write, and no later step does
    kept = pending.wait("y", arrays="dfc")
    first[...] = 8
    session.run({"x": np.ones(3)})
    assert again.tolist() == [8] * 3 and kept.tolist() == [7] * 3
    other = session.submit({"x": np.ones(3)})
    kept = other.wait("y", arrays="dfc")
    other.wait("y")[...] = 0
    assert kept.tolist() == [2] * 3


def perceptron(trained):
    """A net of two layers, of which a training moves each parameter and its velocity."""
    g = dfc.Builder("perceptron")
    x, y = g.input("x", (64, 32)), g.input("y", (64, 8))
    w = [g.parameter("w0", (32, 64), dfc.init.glorot(1)), g.parameter("w1", (64, 8), dfc.init.glorot(2))]
    loss = ((dfc.tanh(x @ w[0]) @ w[1] - y) ** 2).mean()
    g.fetch("loss", loss)
    if trained:
        dfc.momentum(w, dfc.gradients(loss, w), 0.1)
    return g.finish()


def test_a_training_on_two_gpus_gives_an_evaluation_on_one_cpu_its_weights():
    """No file between them; the same way where a plan's parameters are cut over devices."""
    training = dfc.open(perceptron(True), "cpu-2gpu", policy="split", splits=[("x", 0, "gpu*")],
                        session={"gpu_backend": "emulated"})
    evaluation = dfc.open(perceptron(False), "cpu")
    feeds = {"x": np.ones((64, 32)), "y": np.ones((64, 8))}
    for _ in range(3):
        training.run(feeds)
    with pytest.raises(dfc.Error, match="copy_state_from of Python"):
        dfc.open(perceptron(False), "cpu", session={"state": training})
    with pytest.raises(dfc.Error, match="2 of its values are of no parameter.*\n.*partial"):
        evaluation.copy_state_from(training)
    assert evaluation.copy_state_from(training, partial=True) == dfc.LoadedWeights(2, 2, 2)
    expected = training.run(feeds)["loss"]
    assert abs(evaluation.run(feeds)["loss"] - expected) <= 1e-5 * abs(expected)
    theirs = {"net." + name: array for name, array in evaluation.state().items()}
    with pytest.raises(dfc.Error, match="'w0' may be its 'net.w0'"):
        training.set_weights(theirs, partial=True)
    assert training.set_weights(theirs, rules=dfc.RenameRules("net.* -> *"), partial=True).set == 2
    assert (training.state()["w1"] == theirs["net.w1"]).all()
