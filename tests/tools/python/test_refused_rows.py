"""Wrong rows are refused before they make wrong results: labels that name no class, ids that name no slice, one batch
beside many rows."""

import numpy as np
import pytest

import dfc

LOGITS = np.zeros((4, 3), np.float32)


def classifier(**session):
    g = dfc.Builder("classifier")
    logits, labels = g.input("logits", (4, 3)), g.input("labels", 4, dfc.int64)
    g.fetch("loss", dfc.softmax_cross_entropy(logits, labels))
    return dfc.open(g.finish(), "cpu", session=session)


def test_a_label_that_names_no_class_has_a_row_and_a_line():
    session = classifier()
    with pytest.raises(dfc.Error, match=r"test_refused_rows.py:\d+:\d+: error: input 'labels': row 2 is 3, but op 'softmaxCrossEntropy' has 3 "
                                        "classes, 0 to 2"):
        session.run({"logits": LOGITS, "labels": np.array([0, 1, 3, 2])})
    assert np.isnan(classifier(check_indices=False).run({"logits": LOGITS, "labels": np.array([0, 1, 3, 2])})["loss"])


@pytest.mark.parametrize("options", [{"ignore_index": -100}, {"reduction": "none"}, {"ignore_index": -100, "label_smoothing": 0.1},
                                     {"label_smoothing": 0.1, "reduction": "sum"}], ids=str)
def test_wrong_labels_of_losses_that_are_formulas(options):
    g = dfc.Builder("formula")
    x, y = g.input("x", (4, 2)), g.input("y", 4, dfc.int64)
    w = g.parameter("w", (2, 3), 1.0)
    loss = dfc.softmax_cross_entropy(x @ w, y, **options)
    dfc.sgd([w], dfc.gradients(loss.sum(), [w]), 0.1)
    g.fetch("loss", loss)
    graph, feeds = g.finish(), {"x": np.ones((4, 2), np.float32)}
    for session in (dfc.open(graph, "cpu"), dfc.open(graph, "cpu-2gpu", policy="split", session={"gpu_backend": "emulated"})):
        assert np.isfinite(session.run({**feeds, "y": [0, 1, 2, options.get("ignore_index", 2)]})["loss"]).all()
        for label in (3, -1, -99):
            with pytest.raises(dfc.Error, match=rf"test_refused_rows.py:\d+:\d+: error: input 'y': row 2 is {label}, but op '\S+' has 3 "
                                                "classes, 0 to 2"):
                session.run({**feeds, "y": [0, 1, label, 2]})


def test_data_sets_are_looked_through_before_the_first_step():
    session, labels, steps = classifier(), np.zeros(12, np.int64), []
    labels[9] = -1
    batches = dfc.Batches({"logits": np.zeros((12, 3), np.float32), "labels": labels}, 4)
    with pytest.raises(dfc.Error, match="row 9 is -1"):
        dfc.Trainer(session, steps=3, feeds=batches, after_step=lambda step, results: steps.append(step)).run()
    assert not steps
    with pytest.raises(dfc.Error, match="row 9 is -1"):
        dfc.Trainer(session, steps=0, evaluation=session, evaluation_feeds=batches)


def lookup():
    g = dfc.Builder("lookup")
    ids, x = g.input("ids", (2, 3), dfc.int32), g.input("x", 2)
    table = g.parameter("table", (7, 4))
    g.fetch("found", dfc.embedding(table, ids).sum((1, 2)) + x)
    return dfc.open(g.finish(), "cpu")


def test_predictions_name_the_row_of_the_data_set():
    ids = np.zeros((5, 3), np.int64)
    ids[4, 2] = 7
    with pytest.raises(dfc.Error, match=r"input 'ids': element \[4, 2\] is 7, but op '\w+' has 7 slices to gather, -7 to 6"):
        lookup().predict({"ids": ids, "x": np.zeros(5, np.float32)})


def test_one_batch_beside_many_rows_is_refused_unless_said():
    session, ids, x = lookup(), np.zeros((5, 3), np.int64), np.array([1, 2], np.float32)
    with pytest.raises(dfc.Error, match="input 'x' has 2 rows, the others have 5"):
        session.predict({"ids": ids, "x": x})
    np.testing.assert_array_equal(session.predict({"ids": ids, "x": x}, every_step=["x"])["found"], [1, 2, 1, 2, 1])
