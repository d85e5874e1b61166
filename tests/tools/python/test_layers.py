"""Layers that own their parameters."""

import numpy as np
import pytest

import dfc


def net_of(training, step=None):
    """A graph with every layer: an image path and a text path, and one loss of both."""
    g = dfc.Builder("net")
    net = dfc.Layers(g, training=training, seed=3)
    images = g.input("images", (4, 3, 8, 8))
    h = dfc.relu(net.batch_norm("norm", net.convolution("conv", images, 8, 3, stride=2, bias=True)))
    a = net.linear("fc", h.mean((2, 3)), 5)
    ids = g.input("ids", (4, 6), dfc.int64)
    x = net.embedding("table", ids, 11, 16)
    x = x + net.attention("attn", net.layer_norm("ln", x), 4, causal=True, key_heads=2)
    every, last = net.lstm("lstm", net.rms_norm("rms", x), 7)
    states, state = net.gru("gru", every, 5)
    assert every.shape == (4, 6, 7) and last.shape == (4, 7) and states.shape == (4, 6, 5)
    scale = net.parameter("scale", 5, 2.0)
    logits = net.dropout(a * scale + state, 0.25)
    g.fetch("logits", logits)
    if step is not None:
        step(g, net, dfc.softmax_cross_entropy(logits, g.input("labels", 4, dfc.int64)))
    return g.finish(), net


def feeds(**more):
    random = np.random.default_rng(1)
    return {"images": random.standard_normal((4, 3, 8, 8), np.float32), "ids": random.integers(0, 11, (4, 6)), **more}


def test_layers_train_and_are_evaluated_by_their_names():
    def minimise(g, net, loss):
        dfc.adam(net.trained, dfc.gradients(loss, net.trained), 0.01)
        g.fetch("loss", loss)
        assert net.next_seed() == 3 * 1000 + len(net.trained) and {"fc.bias", "scale"} <= {one.name for one in net.trained}

    graph, net = net_of(True, minimise)
    assert net.training
    trainer = dfc.open(graph, "cpu")
    losses = [float(trainer.run(feeds(labels=[0, 1, 2, 3]))["loss"]) for _ in range(40)]
    assert losses[-1] < 0.5 * losses[0]
    shapes = {name: spec.shape for name, spec in graph.parameters.items()}
    assert shapes["conv.weight"] == (8, 3, 3, 3) and shapes["norm.running_mean"] == (8,)
    assert shapes["fc.weight"] == (8, 5) and shapes["attn.k.weight"] == (16, 8) and shapes["lstm.weight_ih"] == (28, 16)

    evaluation = dfc.Session(dfc.compile(net_of(False)[0], "cpu"), state=trainer)
    once, again = (evaluation.run(feeds())["logits"] for _ in range(2))
    assert np.array_equal(once, again) and once.argmax(1).tolist() == [0, 1, 2, 3]


def test_parameters_have_the_dtype_of_the_layers():
    g = dfc.Builder()
    net = dfc.Layers(g, dtype=np.float16)
    x = net.layer_norm("ln", net.embedding("table", g.input("ids", (2, 3), dfc.int64), 11, 8))
    g.fetch("y", net.linear("fc", net.attention("attn", x, 2), 4))
    graph = g.finish()
    assert {spec.dtype for spec in graph.parameters.values()} == {dfc.float16}
    assert dfc.open(graph, "cpu").run({"ids": np.ones((2, 3), np.int64)})["y"].dtype == np.float16


def test_options():
    g = dfc.Builder()
    net = dfc.Layers(g, training=False)
    assert not net.training
    x = g.input("x", (2, 4))
    g.fetch("y", net.linear("l", x, 3, bias=False, out_first=True, init=dfc.init.constant(1)))
    graph = g.finish()
    assert list(graph.parameters) == ["l.weight"] and graph.parameters["l.weight"].shape == (3, 4)
    assert (dfc.open(graph, "cpu").run({"x": np.ones((2, 4), np.float32)})["y"] == 4).all()


def test_mistakes_are_at_their_line():
    g = dfc.Builder()
    net = dfc.Layers(g)
    net.attention("attn", g.input("x", (2, 4, 6)), 4)  # 4 heads do not divide a width of 6
    with pytest.raises(dfc.Error, match="test_layers.py.*") as caught:
        g.finish()
    assert "net.attention" in caught.value.diagnostics[0].text
    with pytest.raises(RuntimeError):
        dfc.Layers(g)


def test_convolutions_of_one_axis_and_transposed_ones():
    g = dfc.Builder()
    net = dfc.Layers(g)
    signal, picture = g.input("signal", (2, 4, 16)), g.input("picture", (2, 4, 8, 6))
    assert net.convolution("a", signal, 6, 3, dilation=2, causal=True).shape == (2, 6, 16)
    up = net.transposed_convolution("b", picture, 3, 4, stride=2, padding=1, bias=True)
    assert up.shape == (2, 3, 16, 12) and net.trained[1].shape == (4, 3, 4, 4)
    memory = net.attention("c", g.input("x", (2, 5, 8)), 2, memory=g.input("memory", (2, 7, 3)), mask=np.ones((1, 1, 5, 7), bool))
    assert memory.shape == (2, 5, 8)
    g.fetch("up", up)
    assert g.finish()


def test_a_transposed_convolution_is_the_adjoint_of_the_convolution(evaluate):
    random = np.random.default_rng(4)
    x, w, y = (random.standard_normal(shape).astype(np.float32) for shape in ((1, 3, 7, 5), (4, 3, 3, 2), (1, 4, 4, 4)))
    made, back = evaluate(lambda x, w, y: [dfc.conv2d(x, w, strides=(2, 1), low=(1, 0), high=(1, 0)),
                                           dfc.conv_transpose2d(y, w, strides=(2, 1), low=(1, 0), high=(1, 0))], x, w, y)
    assert back.shape == x.shape
    np.testing.assert_allclose((made * y).sum(), (x * back).sum(), rtol=1e-4)


def test_resize_of_pictures(evaluate):
    x = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    nearest, linear = evaluate(lambda x: [dfc.resize(x, (4, 3)), dfc.resize(x, (2, 6), "linear")], x)
    np.testing.assert_array_equal(nearest, x.repeat(2, 2))
    np.testing.assert_allclose(linear[0, 0, 0], [0, 0.25, 0.75, 1.25, 1.75, 2], rtol=1e-6)
    with pytest.raises(ValueError, match="'nearest', 'linear' and 'cubic'"):
        dfc.resize(dfc.Builder().input("x", (1, 1, 2, 2)), (4, 4), "bilinear")
