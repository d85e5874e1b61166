#!/usr/bin/env python3
"""Puts the licence texts of all that is foreign in an unpacked wheel into its licenses folder.

usage: wheel_licenses.py TREE BUILD
TREE holds dfc.libs/, where auditwheel has put the libraries as NAME-HASH.so.VERSION, and dfc-*.dist-info/. BUILD is the
folder that the wheel's binaries were built in: the headers and static libraries that they were made of are theirs, too.
Texts: /usr/share/doc/PACKAGE/copyright of a Debian package; the license files of a Python distribution (nanobind, NumPy, and
CUDA where it was installed as such); what a header begins with, where a distribution brings another's along without a file.
Exits 1 where something has no text: a wheel without it must not be handed on.
"""

import functools
import pathlib
import re
import shutil
import subprocess
import sys

from compiled_in import compiled_in

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ("dfc_python", "dfc_modules")
# Of which nothing asks for a notice: the compiler's and the C library's own headers, by the exceptions that their licences
# make for compiled programs, and those of the interpreter that loads the module.
OF_THE_TOOLCHAIN = re.compile(r"(libc6|linux-libc|libstdc\+\+-\d+|libgcc-\d+|libpython3(\.\d+)?)-dev")


def debian_packages(files):
    """The package of each file that is one's."""
    found = subprocess.run(["dpkg", "-S", *map(str, files)], capture_output=True, text=True, check=False).stdout
    rows = [line.partition(": ") for line in found.splitlines()]
    return {pathlib.Path(file): packages.partition(",")[0].partition(":")[0] for packages, _, file in rows}


def package_of_library(library):
    """The package that has installed a library of this file name."""
    name = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library.name)
    return min(debian_packages([f"*/{name}"]).values(), default=None)


@functools.cache
def distributions_in(folder):
    """(its dist-info, the files that it installed) of each Python distribution of a folder."""
    found = [*folder.glob("*.dist-info"), *folder.glob("dist-info/*.dist-info")]
    return [(info, {row.partition(",")[0] for row in (info / "RECORD").read_text().splitlines()})
            for info in found if (info / "RECORD").is_file()]


def distribution_of(file):
    """The dist-info folder of the Python distribution that has installed a file."""
    for folder in file.parents:
        name = file.relative_to(folder).as_posix()
        for info, files in distributions_in(folder):
            if any(one == name or one.endswith("/" + name) for one in files):
                return info
    return None


def of_the_interpreter(file):
    return re.search(r"/include/python3\.\d+/", str(file)) is not None


def head_of(file):
    """The comment that a header begins with, where it is a licence."""
    found = re.match(r"\s*/\*.*?\*/", file.read_text(errors="replace"), re.DOTALL)
    return found[0] if found and re.search("permission|licen[cs]e", found[0], re.IGNORECASE) else None


def texts_of_distribution(info, files):
    """Name and text of each licence of a distribution, of which these files were used."""
    name = info.name.partition("-")[0]
    texts = {f"{name}.{file.name}": file.read_text(errors="replace")
             for file in sorted(info.glob("licenses/*")) if file.is_file()}
    for file in files:
        brought = re.search(r"/ext/([^/]+)/", str(file))
        if brought and head_of(file):
            texts.setdefault(f"{name}.{brought[1]}", head_of(file))
    return texts


def texts_of(files):
    """Name and text of the licences of files; and those files that have none."""
    texts, unknown, used = {}, [], {}
    packages = debian_packages(files)
    for file in files:
        if file in packages:
            if not OF_THE_TOOLCHAIN.fullmatch(packages[file]):
                used.setdefault(pathlib.Path(f"/usr/share/doc/{packages[file]}/copyright"), []).append(file)
        elif info := distribution_of(file):
            used.setdefault(info, []).append(file)
        elif not of_the_interpreter(file):
            unknown.append(file)
    for owner, its in used.items():
        found = texts_of_distribution(owner, its) if owner.suffix == ".dist-info" else \
            {f"{owner.parent.name}.copyright": owner.read_text(errors="replace")} if owner.is_file() else {}
        texts |= found
        unknown += [] if found else its[:1]
    return texts, unknown


def main():
    tree, build = map(pathlib.Path, sys.argv[1:3])
    (info,) = tree.glob("dfc-*.dist-info")
    folder = info / "licenses"
    folder.mkdir(exist_ok=True)
    texts, unknown = texts_of(compiled_in(build, TARGETS, SOURCE))
    for name, text in texts.items():
        (folder / name).write_text(text)
    for library in sorted((tree / "dfc.libs").iterdir()):
        package = package_of_library(library)
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright")
        if package is None or not text.is_file():
            unknown.append(library)
        else:
            shutil.copyfile(text, folder / f"{package}.copyright")
    if unknown:
        sys.exit("wheel_licenses.py: no licence text for\n  " + "\n  ".join(map(str, unknown)) + "\n"
                 "install what they are of as a Debian package or a Python distribution, which bring it along")


if __name__ == "__main__":
    main()
