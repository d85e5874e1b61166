"""The wheel: made by tools/python/make_wheel, installed into a fresh virtual environment, and used there where no build
folder and no compiler is needed: lessons 1, 2 and 8 run.

usage: wheel_test.py BUILD_FOLDER. Run by CTest (label `wheel`).
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LESSONS = {"01_smallest_graph": [], "02_train_mlp": ["--steps", "600"], "08_many_devices": []}


def run(*words, **options):
    """The output of a command; its whole output in the error where it fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_contents(wheel):
    """The module, dfc's own modules, the libraries that a bare host lacks, machine files, stubs."""
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ("dfc/__init__.py", "dfc/_core.pyi", "dfc/py.typed", "dfc/_core.", "dfc/libdfc_onednn.so", "dfc/libdnnl.so",
                   "dfc/libfmt.so", "dfc/libhwy.so", "dfc/libzip.so", "dfc/machines/cpu-2gpu.json"):
        assert any(name.startswith(wanted) for name in names), f"the wheel has no {wanted}*: {names}"
    assert not any(name.endswith((".a", ".h", ".cmake", "/bin/dfc")) for name in names), names


def check_links(module, folder):
    """Nothing is found in the build tree, nor missing; what comes from the host is glibc and the C++ runtime."""
    for line in run("ldd", module).splitlines():
        assert "not found" not in line, line
        assert str(SOURCE) not in line, line
        if any(part in line for part in ("dnnl", "fmt", "hwy", "zip")):
            assert str(folder) in line, line


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="dfc-wheel-"))
    try:
        run(SOURCE / "tools/python/make_wheel", work / "wheels")
        (wheel,) = (work / "wheels").glob("dfc-*.whl")
        check_contents(wheel)
        run(sys.executable, "-m", "venv", work / "venv")
        python = work / "venv/bin/python"
        run(python, "-m", "pip", "--disable-pip-version-check", "install", wheel)
        alone = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
        folder = pathlib.Path(run(python, "-c", "import dfc; print(dfc.__path__[0])", env=alone).strip())
        for module in [*folder.glob("_core*.so"), folder / "libdfc_onednn.so"]:
            check_links(module, folder)
        for name, flags in LESSONS.items():
            print(run(python, SOURCE / f"samples/python/lesson_{name}.py", *flags, cwd=work, env=alone)[-400:])
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB; lessons {', '.join(LESSONS)} run in a fresh environment")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
