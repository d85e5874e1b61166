"""What users of NumPy and PyTorch write out of habit works, or says what to write."""

import warnings

import numpy as np
import pytest

import dfc

RANDOM = np.random.default_rng(2)
A = RANDOM.standard_normal((2, 3, 4)).astype(np.float32)
V = RANDOM.standard_normal(4).astype(np.float32)
W = RANDOM.standard_normal(3).astype(np.float32)


def test_products_with_vectors(evaluate):
    cases = [lambda a, v, w: a @ v, lambda a, v, w: w @ a, lambda a, v, w: v @ v, lambda a, v, w: w @ a[0] @ v]
    for ours, case in zip(evaluate(lambda *x: [case(*x) for case in cases], A, V, W), cases):
        np.testing.assert_allclose(ours, case(A, V, W), rtol=1e-5, atol=1e-6)
        assert ours.shape == np.shape(case(A, V, W))


def test_a_loss_of_every_position(evaluate):
    logits, labels = RANDOM.standard_normal((2, 3, 5)).astype(np.float32), RANDOM.integers(0, 5, (2, 3))
    shifted = logits - logits.max(-1, keepdims=True)
    p = np.take_along_axis(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)), labels[..., None], -1)
    np.testing.assert_allclose(evaluate(dfc.softmax_cross_entropy, logits, labels), -p.mean(), rtol=1e-5)


def test_pools_of_square_windows(evaluate):
    images = RANDOM.standard_normal((1, 2, 4, 6)).astype(np.float32)
    blocks = images.reshape(1, 2, 2, 2, 3, 2)
    largest, mean, dense = evaluate(lambda x: [dfc.max_pool(x, 2), dfc.average_pool(x, 2), dfc.max_pool(x, 2, strides=1)], images)
    np.testing.assert_array_equal(largest, blocks.max((3, 5)))
    np.testing.assert_allclose(mean, blocks.mean((3, 5)), rtol=1e-5, atol=1e-6)
    assert dense.shape == (1, 2, 3, 5)


def test_arrays_of_numpys_default_types_take_the_tensors_type(evaluate):
    cases = [lambda a: a * np.ones(4), lambda a: np.arange(4) + a, lambda a: a > np.zeros((3, 1)), lambda a: a @ np.eye(4),
             lambda a: dfc.where(a > 0, a, np.zeros(4)), lambda a: a * [1, 2, 3, 4], lambda a: dfc.concatenate([a, np.ones((2, 3, 1))], -1)]
    for ours, case in zip(evaluate(lambda a: [case(a) for case in cases], A), cases[:4]):
        np.testing.assert_allclose(ours, case(A), rtol=1e-5, atol=1e-6)
    found = evaluate(lambda a: [case(a) for case in cases], A)
    assert found[4].dtype == np.float32 and found[6].shape == (2, 3, 5)


def test_arrays_of_other_types_are_not_converted():
    g = dfc.Builder()
    x, i = g.input("x", 3), g.input("i", 3, dfc.int32)
    x + np.ones(3, np.float16)
    i + np.array([0.5, 1, 2])
    i + np.array([2**40, 0, 0])
    with pytest.raises(dfc.Error) as caught:
        g.finish()
    assert len(caught.value.diagnostics) == 3


def session_of(dtype=dfc.float32):
    g = dfc.Builder("double")
    x = g.input("x", (4, 2), dtype)
    g.fetch("y", x + x)
    return dfc.open(g.finish(), "cpu")


def test_feeds_are_converted_as_predictions_are():
    session, wide = session_of(), np.arange(8.0).reshape(4, 2)
    assert np.array_equal(session.run({"x": wide})["y"], 2 * wide)
    assert np.array_equal(session.submit({"x": wide.astype(np.int64)}).wait("y"), 2 * wide)
    for dtype, wrong, message in ((dfc.float32, wide * 1e39, "which f32 cannot hold"),
                                  (dfc.int32, wide.astype(np.int64) << 40, "which i32 cannot hold"),
                                  (dfc.int32, wide, "input 'x' is i32"), (dfc.float32, wide > 1, "input 'x' is f32")):
        with pytest.raises(dfc.Error, match=message):
            session_of(dtype).run({"x": wrong})
    with pytest.raises(dfc.Error, match="f16 ends at 65504: declare it as f32 or bf16"):
        session_of(dfc.float16).run({"x": wide * 1e5})


@pytest.mark.parametrize("numbers", [[1e6, 1.0], [10**6, 1], np.array([1e6, 1]), np.array([10**6, 1])])
def test_what_would_become_infinite_is_refused_wherever_it_comes_in(numbers):
    g = dfc.Builder("half")
    w = g.parameter("w", 2, 1.0, dfc.float16)
    g.fetch("y", g.input("x", 2, dfc.float16) * w)
    session = dfc.open(g.finish(), "cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (lambda: session.run({"x": numbers}), lambda: session.submit({"x": numbers}), lambda: session.set_state({"w": numbers}),
                     lambda: dfc.Array(numbers, dfc.float16), lambda: dfc.Builder().constant(numbers, dfc.float16)):
            with pytest.raises(dfc.Error, match="element 0 is 1000000, which f16 cannot hold"):
                call()
    assert session.run({"x": [np.inf, 2]})["y"].tolist() == [np.inf, 2]


def test_state_and_constants_are_converted_as_feeds_are():
    g = dfc.Builder("converted")
    w, n = g.parameter("w", 2), g.parameter("n", (), 0, dfc.int32)
    g.fetch("y", w + g.constant(np.array([0.5, 1.5]), dfc.float32))
    g.fetch("m", n + 1)
    with pytest.raises(TypeError, match="constant: elements of f64, not i32: floats become no integers by themselves"):
        g.constant(np.array([0.5, 1.5]), dfc.int32)
    session = dfc.open(g.finish(), "cpu")
    session.set_state({"w": np.array([1.0, 2.0]), "n": np.int64(4)})
    assert session.run()["y"].tolist() == [1.5, 3.5] and session.state()["n"] == 4
    with pytest.raises(dfc.Error, match="parameter 'n': error: element 0 is 1099511627776, which i32 cannot hold"):
        session.set_state({"n": 2**40})


def test_feeds_without_names_say_the_inputs():
    session = session_of()
    for call in (session.run, session.submit, session.predict):
        with pytest.raises(TypeError, match=r"as \{'x': array\}, not <class 'numpy.ndarray'>; the inputs: 'x' f32\[4, 2\]"):
            call(np.zeros((4, 2), np.float32))
    assert session.predict({"x": np.ones((5, 2))}, "y")["y"].shape == (5, 2)
    with pytest.raises(TypeError, match="fetches: a name or a list of names, not 3"):
        session.predict({"x": np.ones((5, 2))}, 3)


def counting():
    g = dfc.Builder("count")
    x, w = g.input("x", 2), g.parameter("w", 2)
    g.fetch("total", g.assign(w, w + x).sum())
    return dfc.open(g.finish(), "cpu")


def total(feeds, steps=3):
    trainer = dfc.Trainer(counting(), steps=steps, feeds=feeds)
    trainer.run()
    return float(trainer.last["total"])


def test_feeds_of_a_training():
    assert total({"x": [1, 2]}) == 9
    assert total([{"x": [1, 0]}, {"x": np.array([10.0, 0])}]) == 12  # the first again
    assert total(dfc.Batches({"x": np.arange(12)}, 2)) == 0 + 1 + 2 + 3 + 4 + 5  # int64 becomes float32
    with pytest.raises(ValueError, match=r"'x' is f32\[12\], and the input f32\[2\]; of a data set make batches: dfc.Batches"):
        total({"x": np.zeros(12, np.float32)})
    with pytest.raises(TypeError, match="generator.*what can be gone through once cannot be resumed, so make a list of it"):
        total({"x": [1, 2]} for _ in range(3))
    with pytest.raises(TypeError, match="feeds: <class 'int'>: give dfc.Batches"):
        total(3)


def test_what_a_graph_has_no_room_for():
    g = dfc.Builder()
    x = g.input("x", (3, 4))
    with pytest.raises(TypeError, match=r"cannot be set.*dfc.where\(mask, a, b\)"):
        x[0] = 1
    with pytest.raises(TypeError, match="first argument is the dfc.Builder"):
        dfc.arange(3)
    with pytest.raises(TypeError, match="no contents"):
        int(x)
    for name, message in (("view", "reshape"), ("item", "no contents"), ("backward", "dfc.gradients"), ("sqrt", r"dfc.sqrt\(x"),
                          ("nonsense", r"dir\(dfc\)")):
        with pytest.raises(AttributeError, match=f"no '{name}': .*{message}"):
            getattr(x, name)
    with pytest.raises(AttributeError, match="did you mean dfc.softmax?"):
        dfc.sofmax
    with pytest.raises(AttributeError, match=r"g.constant\(np.zeros"):
        dfc.zeros
    assert not hasattr(x, "__array_interface__")
