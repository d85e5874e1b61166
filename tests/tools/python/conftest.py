"""Shared by the tests of the Python package: a graph as a function, and where things are."""

import os
import pathlib
import sys

import numpy as np
import pytest

import dfc

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "samples/python"))


def pytest_configure(config):
    config.addinivalue_line("markers", "heavy: takes long; CTest's python.heavy runs it")


@pytest.fixture
def root():
    """The checkout."""
    return ROOT


@pytest.fixture
def evaluate():
    """What a function of tensors gives for arrays, computed by a session on one cpu."""

    def run(function, *arrays):
        g = dfc.Builder("test", strict=True)
        arrays = [np.asarray(array) for array in arrays]
        tensors = [g.input(f"x{i}", array.shape, array.dtype) for i, array in enumerate(arrays)]
        results = function(*tensors)
        several = isinstance(results, (list, tuple))
        for i, result in enumerate(results if several else [results]):
            g.fetch(f"y{i}", result)
        fetched = dfc.open(g.finish(), "cpu").run({f"x{i}": array for i, array in enumerate(arrays)})
        return [fetched[f"y{i}"] for i in range(len(results))] if several else fetched["y0"]

    return run


def blessing():
    """Whether texts that are compared to the letter are to be written anew."""
    return os.environ.get("DFC_BLESS") == "1"
