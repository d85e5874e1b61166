"""The wheel: made by tools/python/make_wheel, installed into a fresh virtual environment, and used there where no build
folder and no compiler is needed: lessons 1, 2 and 8 run. Then the same of `pip install ./tools/python`.

usage: wheel_test.py BUILD_FOLDER. Run by CTest (label `wheel`).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LESSONS = {"01_smallest_graph": [], "02_train_mlp": ["--steps", "600"], "08_many_devices": []}
# What every host with this glibc has, by the rules for wheels (manylinux), and what comes with CUDA.
OF_THE_HOST = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z|cuda|cublasLt|nvrtc))\.so.*")


def run(*words, **options):
    """The output of a command; its whole output in the error where it fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def packages_of(patterns):
    found = [run("dpkg", "-S", pattern).splitlines()[0] for pattern in patterns]
    return {line.partition(":")[0].partition(",")[0] for line in found}


def licences_wanted(names):
    """Of the libraries in the wheel, of those that its link commands name as archives, of those that are headers alone."""
    bundled = [re.sub(r"-[0-9a-f]{8}(?=\.so)", "", pathlib.Path(name).name) for name in names if name.startswith("dfc.libs/")]
    links = (SOURCE / "build/wheel/build.ninja").read_text()
    archives = {name for name in re.findall(r"\s(/[^\s]*/lib\w+\.a)\b", links)
                if not name.startswith("/usr/local/") and pathlib.Path(name).stem not in ("libpthread", "librt", "libdl")}
    headers = [f"/usr/include/{name}" for name in ("boost/version.hpp", "nlohmann/json.hpp", "flatbuffers/flatbuffers.h")]
    packages = packages_of([f"*/{name}" for name in bundled]) | packages_of(archives) | packages_of(headers)
    return {f"{package}.copyright" for package in packages} | {"nanobind.LICENSE", "nanobind.robin_map"}


def check_contents(wheel):
    """The module, dfc's own modules, the libraries that a bare host lacks, machine files, stubs."""
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ("dfc/__init__.py", "dfc/_core.pyi", "dfc/py.typed", "dfc/_core.", "dfc/libdfc_onednn.so", "dfc.libs/libdnnl-",
                   "dfc.libs/libfmt-", "dfc.libs/libhwy-", "dfc.libs/libzip-", "dfc/machines/cpu-2gpu.json"):
        assert any(name.startswith(wanted) for name in names), f"the wheel has no {wanted}*: {names}"
    licensed = {pathlib.Path(name).name for name in names if re.fullmatch(r"dfc-[^/]*\.dist-info/licenses/[^/]*", name)}
    lacking = licences_wanted(names) - licensed
    assert not lacking, f"the wheel lacks licence texts: {lacking}; it has {licensed}"
    assert not any(name.endswith((".a", ".h", ".cmake", "/bin/dfc")) for name in names), names


def check_links(folder):
    """Nothing is missing or found in the build tree; all that a host may lack comes from the wheel."""
    for module in [*folder.glob("*.so"), *folder.with_name("dfc.libs").iterdir()]:
        for line in run("ldd", module).splitlines():
            name, where = line.split()[0], line.partition("=> ")[2]
            if not OF_THE_HOST.fullmatch(pathlib.Path(name).name):
                assert where.startswith(str(folder.parent)), f"{module.name}: {line}"


def use(python, work):
    """Installed for this interpreter, alone: the lessons run. Gives the package's folder."""
    alone = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    for name, flags in LESSONS.items():
        print(run(python, SOURCE / f"samples/python/lesson_{name}.py", *flags, cwd=work, env=alone)[-400:])
    folder = pathlib.Path(run(python, "-c", "import dfc; print(dfc.__path__[0])", cwd=work, env=alone).strip())
    assert str(folder).startswith(str(python.parent.parent)), folder
    return folder


def fresh(folder):
    run(sys.executable, "-m", "venv", folder)
    return folder / "bin/python"


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="dfc-wheel-"))
    try:
        run(SOURCE / "tools/python/make_wheel", work / "wheels")
        (wheel,) = (work / "wheels").glob("dfc-*.whl")
        check_contents(wheel)
        python = fresh(work / "venv")
        run(python, "-m", "pip", "--disable-pip-version-check", "install", wheel)
        check_links(use(python, work))
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB; lessons {', '.join(LESSONS)} run in a fresh environment")
        python = fresh(work / "venv_of_sources")
        run(python, "-m", "pip", "--disable-pip-version-check", "install", SOURCE / "tools/python")
        use(python, work)
        print("and after pip install ./tools/python")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
