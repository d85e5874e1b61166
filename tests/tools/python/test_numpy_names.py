"""Functions and methods with NumPy's names give what NumPy's give."""

import numpy as np
import pytest

import dfc

RANDOM = np.random.default_rng(1)
A = RANDOM.standard_normal((2, 3, 4)).astype(np.float32)
B = RANDOM.standard_normal((3, 4)).astype(np.float32)
I = RANDOM.integers(0, 3, (2, 5))


def both(name, *arguments, **options):
    """The same function of NumPy and of dfc, with the same arguments behind the first."""
    return (lambda a: getattr(np, name)(a, *arguments, **options)), (lambda a: getattr(dfc, name)(a, *arguments, **options))


ONE = [both(name) for name in ("absolute", "sign", "floor", "ceil", "round", "exp", "sin", "cos", "tanh", "negative",
                               "square", "sum", "mean", "max", "min", "prod", "var", "std", "argmax", "cumsum", "ravel",
                               "transpose", "tril", "triu", "squeeze")]
ONE += [both("sum", axis=1), both("mean", axis=(0, -1), keepdims=True), both("max", axis=2), both("argmax", axis=1),
        both("cumsum", axis=-1), both("reshape", (4, -1)), both("transpose", (1, 0, 2)), both("swapaxes", 0, -1),
        both("moveaxis", 0, 2), both("expand_dims", (0, 2)), both("clip", -0.5, 0.5), both("pad", 1),
        both("pad", ((0, 1), (2, 0), (1, 1)), constant_values=7), both("tile", 2), both("tile", (2, 1, 1, 3)),
        both("take", [2, 0, 1], axis=1), both("take", [5, 0]), both("tril", 1), both("triu", -1),
        both("broadcast_to", (5, 2, 3, 4)), both("astype", dfc.int32), both("var", axis=1, keepdims=True)]
ONE[[i for i, (f, _) in enumerate(ONE)][-2]] = (lambda a: a.astype(np.int32)), (lambda a: dfc.astype(a, "int32"))


@pytest.mark.parametrize("case", range(len(ONE)))
def test_of_one(evaluate, case):
    ours, expected = evaluate(ONE[case][1], A), ONE[case][0](A)
    np.testing.assert_allclose(ours, expected, rtol=2e-6, atol=2e-6)
    assert ours.shape == expected.shape


TWO = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "equal", "not_equal", "less", "less_equal",
       "greater", "greater_equal", "logical_and", "logical_or", "logical_xor")


def test_of_two(evaluate):
    ours = evaluate(lambda a, b: [getattr(dfc, name)(a, b) for name in TWO], A, B)
    for name, result in zip(TWO, ours):
        np.testing.assert_allclose(result, getattr(np, name)(A, B), rtol=1e-6, err_msg=name)


def test_operators(evaluate):
    cases = [lambda a, b: a + b, lambda a, b: 2 - a, lambda a, b: a * b / 3, lambda a, b: -a, lambda a, b: abs(a) ** 2,
             lambda a, b: a @ b.T, lambda a, b: (a > 0) & ~(b < 0), lambda a, b: a.sum(1).mean(), lambda a, b: a.T]
    for ours, case in zip(evaluate(lambda a, b: [case(a, b) for case in cases], A, B), cases):
        np.testing.assert_allclose(ours, case(A, B), rtol=1e-5, atol=1e-6)


INDICES = [0, -1, (1, 2), slice(1, None), (slice(None), slice(0, 3, 2)), (..., 1), (None, 0), (slice(None), None, -2),
           (0, ..., slice(1, 3)), (slice(2, 1),), ([1, 0, 1],), (slice(None), np.array([[2, 0], [1, 1]])),
           (1, np.array([0, 2])), (slice(None), slice(None), np.array([3]))]


def test_indexing(evaluate):
    for ours, index in zip(evaluate(lambda a: [a[index] for index in INDICES], A), INDICES):
        expected = A[index]
        assert ours.shape == expected.shape, index
        np.testing.assert_array_equal(ours, expected, err_msg=str(index))


def test_rows_by_iteration(evaluate):
    for ours, row in zip(evaluate(lambda b: [row * 2 for row in b], B), B):
        np.testing.assert_array_equal(ours, row * 2)


def test_indices_that_there_are_not():
    x = dfc.Builder().input("x", (2, 3))
    for index, error in ((2, IndexError), ((0, 0, 0), IndexError), (slice(None, None, -1), ValueError), (x > 0, TypeError),
                         (([0], [1]), TypeError), ("a", Exception)):
        with pytest.raises(error):
            x[index]


def test_parts_and_joints(evaluate):
    first, second = evaluate(lambda a: dfc.split(a, [1], axis=2), A)
    np.testing.assert_array_equal(np.concatenate([first, second], 2), A)
    np.testing.assert_array_equal(evaluate(lambda a: dfc.stack(dfc.split(a, 3, 1), 0), A), np.stack(np.split(A, 3, 1), 0))
    np.testing.assert_array_equal(evaluate(lambda a, b: dfc.concatenate([a, b[None]], 0), A, B), np.concatenate([A, B[None]]))


def test_arrays_are_constants(evaluate):
    np.testing.assert_array_equal(evaluate(lambda b: np.ones((3, 4), np.float32) + b * A[0], B), 1 + B * A[0])
    np.testing.assert_array_equal(evaluate(lambda b: b * np.float32(3), B), B * 3)


def test_where_one_hot_top_k(evaluate):
    np.testing.assert_array_equal(evaluate(lambda a: dfc.where(a > 0, a, 0), A), np.where(A > 0, A, 0))
    np.testing.assert_array_equal(evaluate(lambda i: dfc.one_hot(i, 3), I), np.eye(3)[I])
    values, indices = evaluate(lambda b: dfc.top_k(b, 2), B)
    np.testing.assert_array_equal(indices, np.argsort(-B, axis=-1)[:, :2])
    np.testing.assert_array_equal(values, np.take_along_axis(B, indices, -1))


def test_softmax_and_loss(evaluate):
    e = np.exp(B - B.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    labels = np.array([0, 3, 1])
    softmax, loss = evaluate(lambda b, i: [dfc.softmax(b), dfc.softmax_cross_entropy(b, i)], B, labels)
    np.testing.assert_allclose(softmax, p, rtol=1e-5)
    np.testing.assert_allclose(loss, -np.log(p[np.arange(3), labels]).mean(), rtol=1e-5)


def test_norms_windows_attention(evaluate):
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    normed = evaluate(lambda a, s, z: dfc.layer_norm(a, s, z), A, ones, zeros)
    np.testing.assert_allclose(normed, (A - A.mean(-1, keepdims=True)) / np.sqrt(A.var(-1, keepdims=True) + 1e-5), atol=1e-5)
    images = RANDOM.standard_normal((1, 1, 4, 4)).astype(np.float32)
    pooled, summed = evaluate(lambda i, f: [dfc.max_pool(i, [2, 2], strides=2 * [2]), dfc.conv2d(i, f, strides=[2, 2])],
                              images, np.ones((1, 1, 2, 2), np.float32))
    blocks = images.reshape(2, 2, 2, 2)
    np.testing.assert_array_equal(pooled[0, 0], blocks.max((1, 3)))
    np.testing.assert_allclose(summed[0, 0], blocks.sum((1, 3)), rtol=1e-5, atol=1e-6)
    q = RANDOM.standard_normal((1, 2, 3, 4)).astype(np.float32)
    first = evaluate(lambda q: dfc.attention(q, q, q, causal=True), q)[:, :, 0]
    np.testing.assert_allclose(first, q[:, :, 0], rtol=1e-5)  # the first query sees its own key alone


def test_dynamic_slices(evaluate):
    start = np.array([1, 2])
    taken, put = evaluate(lambda b, i: [dfc.dynamic_slice(b, i, [2, 2]), dfc.dynamic_update_slice(b, b[:1, :2] * 0, i)], B, start)
    np.testing.assert_array_equal(taken, B[1:3, 2:4])
    expected = B.copy()
    expected[1, 2:4] = 0
    np.testing.assert_array_equal(put, expected)


def test_draws(evaluate):
    logits = np.log(np.tile(np.array([0.1, 0.0, 0.6, 0.3], np.float32) + 1e-30, (4000, 1)))
    drawn, kept, nucleus, even = evaluate(
        lambda a, step: [dfc.categorical(a, step, 3), dfc.keep_top_k(a, 2), dfc.keep_top_p(a, 0.5),
                         dfc.random_uniform(step, (1000,), seed=5)], logits, np.int64(7))
    shares = np.bincount(drawn, minlength=4) / len(drawn)
    np.testing.assert_allclose(shares, [0.1, 0, 0.6, 0.3], atol=0.04)  # 5 standard deviations of 0.008
    assert np.isfinite(kept[0]).tolist() == [False, False, True, True]
    assert np.isfinite(nucleus[0]).tolist() == [False, False, True, False]
    assert even.min() > 0 and even.max() < 1 and abs(even.mean() - 0.5) < 0.05


def test_normal_draws(evaluate):
    drawn, again, other = evaluate(lambda step: [dfc.random_normal(step, (40, 100), seed=5), dfc.random_normal(step, 4000, seed=5),
                                                 dfc.random_normal(step + 1, (40, 100), seed=5)], np.int64(7))
    assert drawn.shape == (40, 100) and np.array_equal(drawn.ravel(), again) and not np.any(drawn == other)
    assert abs(drawn.mean()) < 0.08 and abs(drawn.std() - 1) < 0.06  # 5 standard deviations of 1 / sqrt(n), 1 / sqrt(2 n)
    below = [(drawn < z).mean() for z in (-2, -1, 0, 1, 2)]
    np.testing.assert_allclose(below, [0.0228, 0.1587, 0.5, 0.8413, 0.9772], atol=0.04)


@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 5), (2, 6, 3, 4)])
def test_group_norm(evaluate, shape):
    a, scale, bias = RANDOM.standard_normal(shape), RANDOM.standard_normal(6), RANDOM.standard_normal(6)
    for groups in (1, 3, 6):
        parts = a.reshape(2, groups, -1)
        normal = ((parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)).reshape(shape)
        line = (6,) + (1,) * (len(shape) - 2)
        given = (each.astype(np.float32) for each in (a, scale, bias))
        made = evaluate(lambda x, s, b: dfc.group_norm(x, s, b, groups), *given)
        np.testing.assert_allclose(made, normal * scale.reshape(line) + bias.reshape(line), rtol=1e-4, atol=1e-5)
    g = dfc.Builder(strict=True)
    with pytest.raises(dfc.Error, match="4 groups of 6 channels"):
        dfc.group_norm(g.input("x", shape), scale, bias, 4)


def test_quantised_weights(evaluate):
    matrix = RANDOM.standard_normal((5, 32)).astype(np.float32)
    a = RANDOM.standard_normal((2, 32)).astype(np.float32)
    for bits, group in ((8, 0), (4, 16)):
        weights, scales = dfc.quantize(matrix, bits, group)
        assert weights.shape == (5, 32 * bits // 8) and scales.shape == (5, 32 // group if group else 1)
        y, whole = evaluate(lambda a, w, s, b=bits: [dfc.quantized_matmul(a, w, s, b), dfc.dequantized(w, s, b)],
                            a, weights, scales)
        steps = np.repeat(scales, 32 // scales.shape[1], axis=1)
        assert (np.abs(whole - matrix) <= 0.51 * steps).all()
        np.testing.assert_allclose(y, a @ whole.T, rtol=1e-4, atol=1e-5)
    with pytest.raises(dfc.Error, match="3 bits"):
        dfc.quantize(matrix, 3)


def test_a_cache_gives_what_the_whole_text_gives(evaluate):
    q, k, v = (RANDOM.standard_normal((1, 2, 5, 4)).astype(np.float32) for _ in range(3))
    whole = evaluate(lambda q, k, v: dfc.attention(q, k, v, causal=True), q, k, v)
    g = dfc.Builder()
    cache = dfc.KvCache(g, "layer", heads=2, rows=8, width=4)
    inputs = [g.input(name, (1, 2, 1, 4)) for name in "qkv"]
    g.fetch("y", cache.attend(*inputs, dfc.counted_position(g, "position", 1)))
    session = dfc.open(g.finish(), "cpu")
    for i in range(5):
        y = session.run({name: array[:, :, i:i + 1] for name, array in zip("qkv", (q, k, v))})["y"]
        np.testing.assert_allclose(y, whole[:, :, i:i + 1], rtol=1e-5, atol=1e-6)


def test_numpys_own_functions_take_tensors():
    """np.sqrt(x), array + x: NumPy's protocols lead to dfc's ops."""
    x, a = np.abs(A[0]) + 1, B
    calls = [lambda x: np.sqrt(x), lambda x: np.exp(-x), lambda x: np.tanh(x), lambda x: a + x, lambda x: a / x,
             lambda x: a @ x.T, lambda x: np.maximum(a, x), lambda x: a > x, lambda x: np.power(x, 2), lambda x: np.square(x),
             lambda x: np.logical_and(a > 0, x > 2), lambda x: np.concatenate([x, a]), lambda x: np.where(x > 2, x, a),
             lambda x: np.sum(x, axis=0), lambda x: np.mean(x), lambda x: np.float32(2) * x]
    g = dfc.Builder("ufuncs")
    tensor = g.input("x", x.shape)
    for i, call in enumerate(calls):
        g.fetch(str(i), call(tensor))
    found = dfc.open(g.finish()).run({"x": x})
    for i, call in enumerate(calls):
        np.testing.assert_allclose(found[str(i)], call(x), rtol=1e-5, atol=1e-6)


def test_numpys_functions_that_dfc_lacks_say_so():
    g = dfc.Builder("none")
    x = g.input("x", (3, 4))
    for call, message in ((lambda: np.cbrt(x), "np.cbrt of a dfc.Tensor: dfc has no op of that name"),
                          (lambda: np.add.reduce(x), "call dfc's function on the tensor"),
                          (lambda: np.add(x, B, out=B), "out= makes no sense in a graph"),
                          (lambda: np.median(x), "np.median of a dfc.Tensor"),
                          (lambda: np.asarray(x), "no contents while the graph is written")):
        with pytest.raises(TypeError, match=message):
            call()
    np.add(B[:, :2], x)
    with pytest.raises(dfc.Error, match=r"test_numpy_names.py:\d+:\d+: error: add of f32\[3, 2\]"):
        g.finish()
