"""Functions that are formulas of other ops give what NumPy's give."""

import numpy as np
import pytest

import dfc

RANDOM = np.random.default_rng(3)
A = RANDOM.standard_normal((2, 3, 4)).astype(np.float32)
B = RANDOM.standard_normal((3, 4)).astype(np.float32)
ODD = np.array([0, -0.0, 1.5, np.nan, np.inf, -np.inf], np.float32)
WHOLE = np.array([7, -7, 7, -7, 0, 5], np.int32), np.array([3, 3, -3, -3, 5, 0], np.int32)


def same(evaluate, calls, *arrays, rtol=2e-6):
    """Calls of functions of the library `m`, for dfc and for NumPy."""
    for i, (ours, call) in enumerate(zip(evaluate(lambda *x: [call(dfc, *x) for call in calls], *arrays), calls)):
        with np.errstate(all="ignore"):
            expected = call(np, *arrays)
        assert ours.shape == np.shape(expected), i
        np.testing.assert_allclose(ours, expected, rtol=rtol, atol=2e-6, err_msg=str(i))


def test_shapes_parts_and_orders(evaluate):
    same(evaluate, [lambda m, a, b: m.hstack([a, 2 * a]), lambda m, a, b: m.vstack([b, b[0]]), lambda m, a, b: m.hstack([b[0], b[1]]),
                    lambda m, a, b: m.stack([b, -b], 1), lambda m, a, b: m.repeat(a, 2, 1), lambda m, a, b: m.repeat(b, [1, 0, 2], 0),
                    lambda m, a, b: m.repeat(b, 3), lambda m, a, b: m.roll(a, 1), lambda m, a, b: m.roll(a, -5, 2),
                    lambda m, a, b: m.roll(a, (1, 2), (0, 2)), lambda m, a, b: m.flip(a), lambda m, a, b: m.flip(a, 1),
                    lambda m, a, b: m.flip(a, (0, -1)), lambda m, a, b: m.sort(a), lambda m, a, b: m.sort(a, 0),
                    lambda m, a, b: m.sort(a, None), lambda m, a, b: m.argsort(a, 1), lambda m, a, b: a.flatten(),
                    lambda m, a, b: a.squeeze(), lambda m, a, b: a.swapaxes(0, 2), lambda m, a, b: a.repeat(2, 0)], A, B)
    assert evaluate(lambda a: dfc.flatten(a, 1), A).shape == (2, 12)


def test_each_row_by_its_own_indices(evaluate):
    for axis, shape in ((0, (5, 3, 4)), (1, (2, 2, 4)), (2, (2, 3, 1)), (-1, (1, 3, 2)), (1, (2, 1, 1)), (None, 7)):
        indices = np.random.default_rng(1).integers(-2, 2, shape)
        expected = np.take_along_axis(A, indices, axis)
        found = evaluate(lambda a, i: [dfc.take_along_axis(a, i, axis), np.take_along_axis(a, indices, axis)], A, indices)
        assert all(np.array_equal(one, expected) for one in found)
    wrong = evaluate(lambda a, i: dfc.take_along_axis(a, i, 1), A[0], np.array([[4], [-5], [3]]))
    assert np.array_equal(wrong[:, 0], [np.nan, np.nan, A[0, 2, 3]], equal_nan=True)
    g = dfc.Builder(strict=True)
    with pytest.raises(ValueError, match="as many axes are needed"):
        dfc.take_along_axis(g.input("x", (3, 4)), g.input("i", 3, dfc.int64), 1)
    x = g.input("q", (3, 2))
    g.fetch("d", dfc.gradients(dfc.take_along_axis(x, np.array([[1], [0], [1]]), 1).sum(), [x])[0])
    assert dfc.open(g.finish()).run({"x": np.zeros((3, 4)), "i": [0, 0, 0], "q": np.zeros((3, 2))})["d"].tolist() == [[0, 1], [1, 0], [0, 1]]


def test_numbers(evaluate):
    same(evaluate, [lambda m, a, b: m.isnan(a), lambda m, a, b: m.isinf(a), lambda m, a, b: m.isfinite(a),
                    lambda m, a, b: m.zeros_like(a), lambda m, a, b: m.ones_like(a), lambda m, a, b: m.full_like(a, 2.5),
                    lambda m, a, b: m.zeros_like(b), lambda m, a, b: m.isnan(b), lambda m, a, b: m.isinf(b),
                    lambda m, a, b: m.sort(a), lambda m, a, b: m.argmin(b), lambda m, a, b: m.all(b), lambda m, a, b: m.any(b)],
         ODD, WHOLE[0])
    same(evaluate, [lambda m, a, b: m.var(a, ddof=1), lambda m, a, b: a.std(1, ddof=1), lambda m, a, b: m.clip(a, 0, None),
                    lambda m, a, b: a.clip(max=0.5), lambda m, a, b: m.argmin(a, 1), lambda m, a, b: m.log2(abs(a)),
                    lambda m, a, b: m.log10(abs(a)), lambda m, a, b: m.all(a > 0, 1), lambda m, a, b: (a > 1).any(),
                    lambda m, a, b: m.dot(a, b.T), lambda m, a, b: m.dot(b[0], b[1]), lambda m, a, b: m.outer(b[0], b[1]),
                    lambda m, a, b: a.cumsum(1), lambda m, a, b: a.argmax(-1)], A, B)


def test_floor_division(evaluate):
    same(evaluate, [lambda m, a, b: a // b, lambda m, a, b: a % b, lambda m, a, b: a // 4, lambda m, a, b: 20 % (abs(b) + 1),
                    lambda m, a, b: m.mod(a, 4), lambda m, a, b: m.floor_divide(a, b)], *WHOLE)
    same(evaluate, [lambda m, a, b: a // b, lambda m, a, b: a % b, lambda m, a, b: 1 // a], 8 * B, B)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floor_division_of_floats_is_exact(evaluate, dtype):
    inf, nan = np.inf, np.nan
    a = np.array([1, -1, 0.3, 6, 5, -5, 5, -5, 0, -0.0, inf, 1, -1, nan, 7.5, -7.5, 0, 1, 4e4, -4e4, 2e4, 3], dtype)
    b = np.array([0.1, 0.1, 0.1, 0.1, 3, 3, -3, -3, 2, 2, 2, inf, inf, 1, 0, 0, 0, -inf, 0.01, 0.01, 7e-3, nan], dtype)
    wide = np.linspace(1e9, 1e12, 22).astype(dtype) if dtype == np.float64 else a
    calls = [lambda m, a, b, c: a // b, lambda m, a, b, c: a % b, lambda m, a, b, c: c // b, lambda m, a, b, c: c % b,
             lambda m, a, b, c: a // 0.1, lambda m, a, b, c: 1 % b, lambda m, a, b, c: m.remainder(a, np.array([0.7], dtype))]
    same(evaluate, calls, a, b, wide, rtol=0)
    g = dfc.Builder()
    x, y = g.input("x", 3), g.input("y", 3)
    for i, gradient in enumerate(dfc.gradients((x % y).sum(), [x, y])):
        g.fetch(f"d{i}", gradient)
    found = dfc.open(g.finish(), "cpu").run({"x": [5, -5, 1], "y": [3, 3, 0.3]})
    assert found["d0"].tolist() == [1, 1, 1] and found["d1"].tolist() == [-1, 2, -3]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log1p_and_expm1_near_zero(evaluate, dtype):
    near = np.array([0, 1e-30, -1e-30, 1e-12, -1e-9, 3e-8, 1e-5, -1e-3, 0.1, -0.5, 0.9, 3, 50, -20, np.inf, np.nan], dtype)
    ours = evaluate(lambda a: [dfc.log1p(a), dfc.expm1(a)], near)
    with np.errstate(all="ignore"):
        for found, expected in zip(ours, (np.log1p(near.astype(np.float64)), np.expm1(near.astype(np.float64)))):
            np.testing.assert_allclose(found, expected.astype(dtype), rtol=4 * np.finfo(dtype).eps)
    assert evaluate(dfc.log1p, np.array([-1, -2], dtype))[0] == -np.inf


EQUATIONS = ["ij,jk->ik", "bij,bjk->bik", "bhqd,bhkd->bhqk", "ij,ij->", "i,j->ij", "ij->ji", "ij->j", "ij->", "ii->i", "ii",
             "ij,jk,kl->il", "...ij,...jk->...ik", "bij,jk", "ij,j->i", "abc,cd->dab", "ij,ik->ijk", "bi,bi->b", "i...->..."]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(evaluate, equation):
    sizes, terms = dict(zip("abcdhijklq", (2, 3, 4, 5, 2, 3, 4, 5, 2, 3))), equation.split("->")[0].split(",")
    sizes["j"] = sizes["i"] if "ii" in equation else sizes["j"]
    shapes = [(2,) * ("..." in term) + tuple(sizes[c] for c in term if c != ".") for term in terms]
    arrays = [RANDOM.standard_normal(shape).astype(np.float32) for shape in shapes]
    ours = evaluate(lambda *x: dfc.einsum(equation, *x), *arrays)
    np.testing.assert_allclose(ours, np.einsum(equation, *arrays), rtol=1e-4, atol=1e-5)


def test_einsum_stands_on_matmul_and_names_mistakes():
    g = dfc.Builder("scores")
    q, k = g.input("q", (2, 3, 4, 8)), g.input("k", (2, 3, 5, 8))
    g.fetch("s", dfc.einsum("bhqd,bhkd->bhqk", q, k))
    g.fetch("broadcast", np.einsum("...qd,zkd->...qk", q, k[:1, :1].reshape(1, 5, 8)))
    assert [op.kind for op in g.finish().ops].count("matmul") >= 1
    for equation, message in (("bhqd,bhkd->bhqz", "'z' in the result"), ("bhqd,bhk->bhq", "the term 'bhk' for 4 axes"),
                              ("bhqd->bhq", "1 terms for 2 operands"), ("bhqd,bhqd->b", "axes of 4 and 5 for the letter 'q'")):
        g = dfc.Builder("wrong", strict=True)
        q, k = g.input("q", (2, 3, 4, 8)), g.input("k", (2, 3, 5, 8))
        with pytest.raises(dfc.Error, match=message):
            dfc.einsum(equation, q, k)


def test_gradients_of_formulas(evaluate):
    g = dfc.Builder("slopes")
    x = g.input("x", 3)
    for name, y in (("log1p", dfc.log1p(x)), ("expm1", dfc.expm1(x)), ("flip", dfc.flip(x) * np.array([1, 2, 3]))):
        g.fetch(name, dfc.gradients(y.sum(), [x])[0])
    at = np.array([0, 1, 2], np.float32)
    found = dfc.open(g.finish(), "cpu").run({"x": at})
    np.testing.assert_allclose(found["log1p"], 1 / (1 + at), rtol=1e-6)
    np.testing.assert_allclose(found["expm1"], np.exp(at), rtol=1e-6)
    np.testing.assert_array_equal(found["flip"], [3, 2, 1])
