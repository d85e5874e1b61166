"""The stub of the extension module, dfc/_core.pyi, is what nanobind makes of it. DFC_BLESS=1 writes it anew."""

import subprocess
import sys

import pytest

from conftest import blessing


def test_the_stub_is_current(root, tmp_path):
    pytest.importorskip("nanobind")
    made = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "dfc._core", "-o", made], check=True)
    kept = root / "tools/python/dfc/_core.pyi"
    if blessing():
        kept.write_text(made.read_text())
    assert made.read_text() == kept.read_text(), "write it anew: DFC_BLESS=1 ctest --test-dir build/dev -R python"


def test_the_stub_is_python(root):
    text = (root / "tools/python/dfc/_core.pyi").read_text()
    compile(text, "_core.pyi", "exec")
    assert "std::" not in text and "class Tensor:" in text
