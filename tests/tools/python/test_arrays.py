"""Arrays of NumPy, PyTorch and JAX in and out."""

import gc

import numpy as np
import pytest

import dfc

ml_dtypes = pytest.importorskip("ml_dtypes")


def copier(shape, dtype):
    """A session that gives back what it is fed."""
    g = dfc.Builder()
    g.fetch("y", g.input("x", shape, dtype))
    return dfc.open(g.finish(), "cpu")


TYPES = ["float32", "float64", "float16", ml_dtypes.bfloat16, "int32", "int64", "uint8", "bool"]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_type_of_numpy(dtype):
    x = (np.arange(24).reshape(2, 3, 4) % 5).astype(dtype)
    session = copier(x.shape, dtype)
    for given in (x, np.ascontiguousarray(x.T).T, dfc.Array(x), dfc.aligned(x), x.tolist()):
        y = session.run({"x": given})["y"]
        assert y.dtype == x.dtype and np.array_equal(y, x)
    assert dfc.Array(x).dtype.numpy == x.dtype


def test_strides():
    x = np.arange(48, dtype=np.float32).reshape(4, 12)
    for view in (x[::2, ::3], x[::-1, 4:8], np.broadcast_to(x[0, :4], (2, 4))):
        assert np.array_equal(copier(view.shape, "float32").run({"x": view})["y"], view)


def test_any_byte_order_and_alignment():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    packed = np.zeros(2, [("before", "u1"), ("x", "f4", 3)])
    packed["x"] = x
    for given in (x.astype(">f4"), x.astype(">f8"), x.astype(">i8"), packed["x"]):
        assert np.array_equal(copier((2, 3), "float32").run({"x": given})["y"], x)
    g = dfc.Builder(strict=True)
    g.fetch("y", g.input("x", (2, 3)) * x.astype(">f4"))
    assert np.array_equal(dfc.open(g.finish(), "cpu").run({"x": x})["y"], x * x)


def test_what_is_no_array_has_the_name_of_its_input():
    session = copier((2, 3), "float32")
    for given, error, message in ((None, TypeError, "x: objects of Python, such as None"), ([[1, 2, 3], [1]], ValueError, "x: .*shape"),
                                  ([["a"] * 3] * 2, ValueError, "x: .*'a'"), (np.zeros((2, 3), complex), TypeError, "x: .*complex128"),
                                  (np.ma.masked_equal(np.eye(2, 3), 1), TypeError, "x: masked elements have no values")):
        with pytest.raises(error, match=message):
            session.run({"x": given})
    with pytest.raises(TypeError, match="names, which are texts, not 0"):
        session.run({0: 1})


def test_results_are_writable_and_outlive_their_session():
    session = copier(3, "float32")
    y = session.run({"x": [1, 2, 3]})["y"]
    session.close()
    del session
    gc.collect()
    y += 1
    assert y.tolist() == [2, 3, 4]
    with pytest.raises(ValueError, match="closed"):
        copier(3, "float32").__exit__() or (lambda s: (s.close(), s.run({})))(copier(3, "float32"))


def test_aligned_arrays():
    for shape in ((), (3,), (5, 7), (1000, 3)):
        assert dfc.empty(shape).ctypes.data % 64 == 0 and dfc.empty(shape, "bf16").shape == shape
    assert dfc.aligned(np.ones(100003)).ctypes.data % 64 == 0


def test_dlpack_of_array():
    a = dfc.Array(np.arange(6, dtype=np.float32).reshape(2, 3))
    view = np.from_dlpack(a)
    assert a.__dlpack_device__() == (1, 0) and np.array_equal(view, a.numpy())
    assert a.shape == (2, 3) and a.nbytes == 24 and len(a) == 2 and a[1].tolist() == [3, 4, 5]
    assert float(dfc.Array(2.5)) == 2.5 and dfc.Array([1, 2]).tolist() == [1, 2]


def test_what_cannot_be_fed():
    session = copier(3, "float32")
    with pytest.raises(dfc.Error, match="convert the value to f32"):
        session.run({"x": np.zeros(3, np.uint8)})
    with pytest.raises(TypeError, match="complex128"):
        session.run({"x": np.zeros(3, complex)})
    with pytest.raises(TypeError, match="9 axes"):
        session.run({"x": np.zeros((1,) * 9, np.float32)})
    with pytest.raises(ValueError, match="'torch'"):
        session.run({"x": [1, 2, 3]}, arrays="tensorflow")


def test_arrays_leave_as_copies():
    a = dfc.Array([1.0, 2.0])
    for view in (np.from_dlpack(a), np.from_dlpack(a, copy=True), a.numpy(), np.asarray(a)):
        view[0] = 7
    assert a.tolist() == [1, 2]
    with pytest.raises(BufferError, match="copy=False"):
        np.from_dlpack(a, copy=False)


class Lazy:
    """On the host, by its own word, with nothing to give."""

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        raise BufferError("not dense")


class Negated:
    """As PyTorch's tensors that are negated where they are read."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def resolve_neg(self):
        return Negated(-self.array)


def test_arrays_of_other_libraries():
    with pytest.raises(TypeError, match="x: .*Lazy.* gives no array by DLPack: a dense array on the host is needed"):
        copier(3, "float32").run({"x": Lazy()})
    assert copier(3, "float32").run({"x": Negated(np.arange(3, dtype=np.float32))})["y"].tolist() == [0, -1, -2]


class OnGpu:
    """An array on a GPU, as DLPack says it."""

    def __dlpack_device__(self):
        return 2, 0


def test_arrays_on_gpus_are_refused():
    with pytest.raises(TypeError, match=r"\.cpu\(\)"):
        copier(3, "float32").run({"x": OnGpu()})


def test_pytorch():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        x = (torch.arange(6).reshape(2, 3) % 2).to(dtype)
        y = copier((2, 3), dtype).run({"x": x}, arrays="torch")["y"]
        assert y.dtype == dtype and torch.equal(x, y)
    assert torch.equal(torch.from_dlpack(dfc.Array(np.ones(3))), torch.ones(3, dtype=torch.float64))


def test_pytorch_tensors_of_all_kinds():
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    kinds = [x.T, x[:, ::2], x.requires_grad_(), torch.nn.Parameter(x), torch._neg_view(x.detach()), torch.tensor(2.5),
             torch.zeros(0, 3), torch.ones(1, 3).expand(2, 3)]
    for x in kinds:
        assert torch.equal(copier(tuple(x.shape), x.dtype).run({"x": x}, arrays="torch")["y"], x.detach().clone())
    with pytest.raises(TypeError, match="a dense array on the host"):
        copier((2, 3), "float32").run({"x": torch.eye(3).to_sparse()})


def test_results_of_pytorch_are_no_copies():
    torch = pytest.importorskip("torch")
    session = copier(1000, "float32")
    results = [session.run({"x": torch.ones(1000)}, arrays="torch")["y"] for _ in range(6)]
    assert all(y.data_ptr() % 4096 == 0 for y in results)  # as results begin; copies only by chance
    session.close()
    results[0] += 1
    assert float(results[0].sum()) == 2000 and float(results[1].sum()) == 1000


def test_jax():
    jax = pytest.importorskip("jax")
    for dtype in ("float32", "bfloat16", "int32"):
        x = jax.numpy.arange(6, dtype=dtype).reshape(2, 3)
        y = copier((2, 3), dtype).run({"x": x}, arrays="jax")["y"]
        assert y.dtype == x.dtype and (x == y).all()
