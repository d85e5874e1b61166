"""Losses against NumPy's formulas, and what the functions of others are called here."""

import numpy as np
import pytest

import dfc

RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((4, 5)).astype(np.float32)
Y = RANDOM.standard_normal((4, 5)).astype(np.float32)
P = np.exp(Y) / np.exp(Y).sum(-1, keepdims=True)
LABELS = np.array([1, 4, -100, 0])
LOGS = X - np.log(np.exp(X).sum(-1, keepdims=True))


def unit(a):
    return a / np.linalg.norm(a, axis=-1, keepdims=True)


def test_losses(evaluate):
    error = np.abs(X - Y)
    huber = np.where(error < 0.7, error**2 / 2, 0.7 * (error - 0.35))
    binary = P * np.log1p(np.exp(-X)) * 2 + (1 - P) * np.log1p(np.exp(X))
    pairs = unit(X) @ unit(Y).T / 0.1
    columns, rows = (-np.diag(m - np.log(np.exp(m).sum(-1, keepdims=True))).mean() for m in (pairs, pairs.T))
    expected = [(error**2).mean(), error.sum(), huber, huber.mean() / 0.7, binary.mean(), (P * (np.log(P) - LOGS)).sum(-1).mean(),
                (unit(X) * unit(Y)).sum(-1), (columns + rows) / 2, (X**2).mean()]
    found = evaluate(lambda x, y, p: [
        dfc.squared_error(x, y), dfc.absolute_error(x, y, reduction="sum"), dfc.huber_loss(x, y, delta=0.7, reduction="none"),
        dfc.smooth_l1_loss(x, y, beta=0.7), dfc.sigmoid_cross_entropy(x, p, positive_weight=2),
        dfc.kl_divergence(dfc.log_softmax(x), p), dfc.cosine_similarity(x, y), dfc.contrastive_loss(x, y, 0.1),
        dfc.squared_error(x, 0)], X, Y, P)
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)


def test_cross_entropy(evaluate):
    kept = LABELS >= 0
    rows = -np.take_along_axis(LOGS, np.maximum(LABELS, 0)[:, None], 1)[:, 0] * kept
    smooth = (0.9 * rows - 0.1 * LOGS.mean(-1)) * kept
    found = evaluate(lambda x, p, labels: [
        dfc.softmax_cross_entropy(x, labels, ignore_index=-100),
        dfc.softmax_cross_entropy(x, labels, ignore_index=-100, label_smoothing=0.1, reduction="none"),
        dfc.softmax_cross_entropy(x, p), dfc.softmax_cross_entropy(x[:2], labels[:2], label_smoothing=0.1)], X, P, LABELS)
    for ours, theirs in zip(found, [rows.sum() / 3, smooth, -(P * LOGS).sum(-1).mean(), smooth[:2].mean()]):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)


def test_no_gradient_passes_a_stop(evaluate):
    student, teacher = evaluate(lambda x, y: dfc.gradients(dfc.squared_error(x, dfc.stop_gradient(y), reduction="sum"), [x, y]), X, Y)
    np.testing.assert_allclose(student, 2 * (X - Y), rtol=1e-6)
    assert not teacher.any()


def test_mistakes_say_what_to_write():
    g = dfc.Builder(strict=True)
    x = g.input("x", (8, 1))
    with pytest.raises(dfc.Error, match="the shapes differ"):
        dfc.squared_error(x, g.input("y", 8))
    with pytest.raises(ValueError, match="'mean', 'sum' and 'none'"):
        dfc.squared_error(x, 0, reduction="average")
    with pytest.raises(AttributeError, match="write dfc.squared_error"):
        dfc.mse_loss(x, x)
    with pytest.raises(AttributeError, match="write dfc.stop_gradient"):
        x.detach()
