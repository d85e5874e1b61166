"""Mistakes point at the line of Python that made them."""

import inspect

import numpy as np
import pytest

import dfc


def line():
    return inspect.currentframe().f_back.f_lineno


def test_all_mistakes_at_once_each_at_its_line():
    g = dfc.Builder("wrong")
    x = g.input("x", (3, 4))
    with g.scope("fc1"):
        h = x @ g.parameter("w", (3, 4)); first = line()
    after = dfc.relu(h) + 1  # of a mistake: adds none
    x + g.input("b", 5); second = line()
    assert not h.valid and not after.valid and h.shape == (1,) * 8
    with pytest.raises(dfc.Error) as caught:
        g.finish()
    wrong, clash = caught.value.diagnostics
    assert (wrong.file, wrong.line, wrong.column) == (__file__, first, 13)
    assert wrong.note == "in scope 'fc1'" and "x @ g.parameter" in wrong.text and wrong.hint
    assert clash.line == second
    assert f"test_errors.py:{second}:5: error: add of f32[3, 4] and f32[5]" in str(caught.value)


def test_a_fetch_has_a_name():
    g = dfc.Builder()
    g.fetch("", g.input("x", 3)); wanted = line()
    with pytest.raises(dfc.Error, match=f"test_errors.py:{wanted}:5: error: a fetch without a name"):
        g.finish()


def test_a_file_has_a_name():
    g = dfc.Builder()
    g.fetch("y", g.input("x", 3) * 1)
    with pytest.raises(dfc.Error, match="cannot write a file without a name"):
        dfc.compile(g.finish(), "cpu").save("")


def test_a_rate_is_a_finite_number():
    for rule in (dfc.sgd, dfc.momentum, dfc.adam, dfc.lion, dfc.adafactor):
        g = dfc.Builder()
        w = g.parameter("w", 3)
        rule([w], [w * 2], float("nan")); wanted = line()
        with pytest.raises(dfc.Error, match=rf"test_errors.py:{wanted}:9: error: {rule.__name__} with a rate of nan"):
            g.finish()


def test_columns_count_letters():
    g = dfc.Builder()
    x = g.input("x", 3)
    "naïve"; x + np.ones(4, np.float32)
    with pytest.raises(dfc.Error) as caught:
        g.finish()
    assert caught.value.diagnostics[0].column == 14


def test_strict_raises_at_the_call():
    g = dfc.Builder(strict=True)
    x = g.input("x", 3)
    with pytest.raises(dfc.Error, match="meets"):
        x + g.input("y", 4)


def test_functions_of_the_package_are_passed_over():
    g = dfc.Builder()
    x = g.input("x", (2, 3))
    dfc.std(x); wanted = line()  # written in numpy_names.py
    assert {op.line for op in g.finish().ops} == {wanted, wanted - 1}


def test_what_is_no_tensor():
    g = dfc.Builder()
    x = g.input("x", 3)
    with pytest.raises(TypeError, match="no contents"):
        bool(x > 0)
    with pytest.raises(TypeError, match="no contents"):
        float(x)
    with pytest.raises(TypeError, match="not 'a'"):
        x + "a"
    with pytest.raises(TypeError, match="Builder.input"):
        dfc.exp(2.0)
    with pytest.raises(TypeError, match="no element type 'complex64'"):
        g.input("y", 3, "complex64")
    with pytest.raises(ValueError, match="'tf32'"):
        dfc.matmul(x, x, precision="half")


def test_a_finished_builder():
    g = dfc.Builder()
    x = g.input("x", 3)
    g.fetch("x", x)
    g.finish()
    with pytest.raises(RuntimeError, match="after finish"):
        x + 1
    with pytest.raises(RuntimeError, match="after finish"):
        with g.scope("a"):
            pass


def test_two_graphs():
    a, b = dfc.Builder(), dfc.Builder()
    a.input("x", 3) + b.input("x", 3)
    with pytest.raises(dfc.Error, match="two graphs"):
        a.finish()


def test_files(tmp_path):
    (tmp_path / "bad.dfg").write_text("graph g {\n  y = relu(x)\n}\n")
    with pytest.raises(dfc.Error, match=r"bad.dfg:2:12: error") as caught:
        dfc.read_graph(tmp_path / "bad.dfg")
    assert caught.value.diagnostics[0].text == "  y = relu(x)"
    with pytest.raises(FileNotFoundError, match="cpu-2gpu"):
        dfc.machine("cpu-3gpu")
    with pytest.raises(FileNotFoundError, match="'cpu-2gup'; did you mean 'cpu-2gpu'? Shipped ones: ".replace("?", r"\?")):
        dfc.machine("cpu-2gup")
    (tmp_path / "cluster.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match=r"did you mean '.*/cluster\.json'"):
        dfc.machine(tmp_path / "clutser.json")
    (tmp_path / "labels.gz").write_bytes(b"")
    with pytest.raises(dfc.Error, match=r"did you mean '.*/labels\.gz'"):
        dfc.read_idx(tmp_path / "lables.gz")
    with pytest.raises(dfc.Error):
        dfc.parse_machine("{}")


def test_warnings():
    g = dfc.Builder()
    w, v = g.parameter("w", 3), g.parameter("v", 3)
    dfc.sgd([w, v], dfc.gradients(w.sum(), [w, v]), 0.1)
    with pytest.warns(dfc.PlanWarning, match="'v'"):
        g.finish()


def test_numbers_too_large_for_a_float_type_are_warned_of():
    g = dfc.Builder()
    x = g.input("x", 3, "float16")
    g.fetch("y", x * 1e6); wanted = line()
    g.fetch("z", x * float("inf"))
    with pytest.warns(dfc.PlanWarning, match=f"test_errors.py:{wanted}:.*1000000 is too large for f16: it becomes inf") as all:
        dfc.compile(g.finish(), "cpu")
    assert len(all) == 1


X = dfc.Builder("x").input("x", (2, 3))
SAYS = {
    "softmax(): there is no argument 'dim'; did you mean 'axis'?\n  softmax(a, axis=-1)": lambda: dfc.softmax(X, dim=1),
    "sum(): there is no argument 'keepdim'; did you mean 'keepdims'?": lambda: X.sum(1, keepdim=True),
    "softmax(): 4 arguments are given by place, and 2 can be": lambda: dfc.softmax(X, 1, 2, 3),
    "softmax(): 'axis' is given twice, by its place and by its name": lambda: dfc.softmax(X, 1, axis=1),
    "where(): 'a' and 'b' are not given\n  where(condition, a, b)": lambda: dfc.where(X),
    "fetch(): 'name' takes str, not a dfc.Tensor\n  fetch(name, value)": lambda: dfc.Builder().fetch(X, "x"),
    "linear(): 'to' takes int, not float 3.0": lambda: dfc.Layers(dfc.Builder()).linear("a", X, 3.0),
    "gradients(): 'wrt' takes Sequence[dfc.Tensor or ArrayLike], not a dfc.Tensor; give a list": lambda: dfc.gradients(X.sum(), X),
    "init.normal(): 'mean' takes float, not str 'a'": lambda: dfc.init.normal("a"),
    "compile(): 'graph' takes dfc.Graph, not a dfc.Builder; finish it first: g.finish()": lambda: dfc.compile(dfc.Builder()),
    "open(): 'graph' takes dfc.Graph or dfc.Plan, not a dfc.Builder; finish it first: g.finish()": lambda: dfc.open(dfc.Builder()),
    "open(): 'graph' takes dfc.Graph or dfc.Plan, not a str": lambda: dfc.open("mlp.dfg"),
    "open(): there is no argument 'polcy'; did you mean 'policy'?": lambda: dfc.open(dfc.Builder().finish(), polcy="split"),
    "open(): there is no argument 'trace': it is an option of Session, session={'trace': ...}": lambda: dfc.open(
        dfc.Builder().finish(), trace=True),
    "pad: pad_width is of whole numbers, not 'a'": lambda: dfc.pad(X, "a"),
    "pad: pad_width is of whole numbers, not 1.5": lambda: dfc.pad(X, 1.5),
    "pad: pad_width is a number, (before, after) for all axes, or such a pair for each of the 2 axes, not ((1, 1), (1, 1), (1, 1))":
        lambda: dfc.pad(X, ((1, 1),) * 3),
    "pad: widths, then the value": lambda: dfc.pad(X, 1, "constant"),
    "calibrations: a file of `dfc calibrate`, or the tables of such files": lambda: dfc.compile(
        dfc.Builder().finish(), "cpu", calibrations=["table.json"]),
    "machine: a dfc.Machine, a machine file or the name of a shipped one, not 3": lambda: dfc.compile(dfc.Builder().finish(), 3),
    "Builder(): 'name' takes str, not int 3": lambda: dfc.Builder(3),
    "Trainer(): 'session' takes Session, not int 3": lambda: dfc.Trainer(3, steps=1),
    "Session(): 'plan' takes Plan, not a dfc.Graph; plan it first": lambda: dfc.Session(dfc.Builder().finish()),
    "__matmul__(): 'other' takes dfc.Tensor or ArrayLike, not None": lambda: X @ None,
    "whole numbers are needed for a shape, axes or strides, not 1.5": lambda: X.sum(axis=1.5),
    "not None; lengths are fixed while the graph is written: give the batch's": lambda: dfc.Builder().input("x", (None, 3)),
    "whole numbers are needed for a shape, axes or strides, not 'a'": lambda: X.reshape("a"),
    "no element type '3'": lambda: X.astype(3),
    "init: None, a number or one of dfc.init, not <class 'numpy.ndarray'>": lambda: dfc.Builder().parameter("w", 3, np.ones(3)),
}


@pytest.mark.parametrize("text", SAYS, ids=lambda text: text.split("\n")[0])
def test_arguments_that_do_not_fit(text):
    with pytest.raises(TypeError) as caught:
        SAYS[text]()
    assert text in str(caught.value)


def test_arguments_that_fit_still_raise_their_own_errors():
    def broken(step):
        raise TypeError("of the user's function")

    g = dfc.Builder()
    g.fetch("y", g.input("x", 3) + 1)
    with pytest.raises(TypeError, match="^of the user's function$"):
        dfc.Trainer(dfc.open(g.finish(), "cpu"), steps=1, feeds=broken).run()
    with pytest.raises(AttributeError):
        X.nothing
    assert dfc.softmax.__doc__.startswith("softmax(a: ")
