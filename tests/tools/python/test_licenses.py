"""The licence texts of what is compiled into a wheel: whose a file is, and that one without a text is told."""

import importlib.util
import sys

from conftest import ROOT


def script(name):
    """A script of tools/python, whose folder may not be in sys.path: a `dfc` without its module lies there."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/python/{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compiled_in = script("compiled_in")
wheel_licenses = script("wheel_licenses")


def installed(folder, name, files, license_text):
    """A Python distribution of these files, as pip leaves it."""
    info = folder / f"{name}-1.0.dist-info"
    (info / "licenses").mkdir(parents=True)
    if license_text:
        (info / "licenses/LICENSE").write_text(license_text)
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    (info / "RECORD").write_text("".join(f"{file},sha256=x,1\n" for file in files))


def test_headers_of_objects():
    log = ["a.o: #deps 2, deps mtime 1 (VALID)", "    /usr/include/a.h", "    ../b.h", "", "c.o: #deps 1, deps mtime 1 (VALID)", "    /c.h"]
    assert compiled_in.headers_of(log, {"a.o"}) == {"/usr/include/a.h", "../b.h"}


def test_files_of_distributions(tmp_path):
    files = {"maker/include/maker.h": "", "maker/ext/brought/one.h": "/* MIT License: permission is granted */\nint x;"}
    installed(tmp_path, "maker", files, "do as you like")
    texts, unknown = wheel_licenses.texts_of([tmp_path / file for file in files])
    assert texts == {"maker.LICENSE": "do as you like", "maker.brought": "/* MIT License: permission is granted */"}
    assert not unknown


def test_what_has_no_text_is_told(tmp_path):
    installed(tmp_path, "silent", {"silent/silent.h": "int x;"}, None)
    (tmp_path / "stray.h").write_text("int y;")
    files = [tmp_path / "silent/silent.h", tmp_path / "stray.h"]
    texts, unknown = wheel_licenses.texts_of(files)
    assert not texts and sorted(unknown) == sorted(files)


def test_the_toolchain_asks_for_no_notice(tmp_path):
    python = tmp_path / "include/python3.11/Python.h"
    python.parent.mkdir(parents=True)
    python.write_text("")
    assert wheel_licenses.texts_of([python]) == ({}, [])
    for package in ("libc6-dev", "libstdc++-12-dev", "libgcc-13-dev", "libpython3.12-dev"):
        assert wheel_licenses.OF_THE_TOOLCHAIN.fullmatch(package)
    assert not wheel_licenses.OF_THE_TOOLCHAIN.fullmatch("libboost1.74-dev")
