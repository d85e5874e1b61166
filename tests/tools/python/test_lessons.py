"""The lessons in Python, short; those that take long are marked heavy."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import dfc

LESSONS = {
    "01_smallest_graph": [],
    "02_train_mlp": ["--steps", "60"],
    "03_figure": ["--steps", "20", "--out", "out"],
    "04_graph_file": [],
    "05_all_at_once": [],
    "06_gpt": ["--steps", "5", "--sample", "4"],
    "07_resnet": ["--steps", "2", "--width", "4", "--batch", "8"],
    "08_many_devices": ["--steps", "3"],
    "09_cholesky": ["--tiles", "4", "--rows", "16"],
    "10_serve": ["--clients", "4", "--requests", "50"],
}
HEAVY = {"05_all_at_once", "07_resnet"}


def test_every_lesson_is_listed(root):
    found = {file.stem.removeprefix("lesson_") for file in (root / "samples/python").glob("lesson_*.py")}
    assert found == set(LESSONS)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.heavy] if name in HEAVY else []) for name in LESSONS])
def test_lesson(root, name, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(dfc.__file__).absolute().parents[1])}
    done = subprocess.run([sys.executable, root / f"samples/python/lesson_{name}.py", *LESSONS[name]], cwd=tmp_path,
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_lesson_2_trains_what_the_file_says(root):
    import lesson_02_train_mlp as lesson

    batch = {"images": np.arange(78400).reshape(100, 784).astype(np.uint8), "labels": np.arange(100) % 10}
    sessions = [dfc.open(graph, "cpu")
                for graph in (lesson.training_step(), dfc.read_graph(root / "samples/02_train_mlp/mlp.dfg"))]
    for _ in range(3):
        ours, file = (session.run(batch)["loss"] for session in sessions)
        assert ours == file
