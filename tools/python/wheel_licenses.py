#!/usr/bin/env python3
"""Puts the licence texts of the foreign libraries in an unpacked wheel into its licenses folder.

usage: wheel_licenses.py TREE
TREE holds dfc.libs/, where auditwheel has put the libraries as NAME-HASH.so.VERSION, and dfc-*.dist-info/. Each library is
of a Debian package, whose /usr/share/doc/PACKAGE/copyright becomes dfc-*.dist-info/licenses/PACKAGE.copyright. Exits 1 where
a library is of no package or a package has no such text: a wheel without them must not be handed on.
"""

import pathlib
import re
import shutil
import subprocess
import sys


def package_of(library):
    """The package that has installed a library of this file name."""
    name = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library.name)
    found = subprocess.run(["dpkg", "-S", f"*/{name}"], capture_output=True, text=True, check=False).stdout
    packages = sorted({line.partition(": ")[0].partition(":")[0] for line in found.splitlines()})
    return packages[0] if packages else None


def main():
    tree = pathlib.Path(sys.argv[1])
    (info,) = tree.glob("dfc-*.dist-info")
    folder = info / "licenses"
    folder.mkdir(exist_ok=True)
    for library in sorted((tree / "dfc.libs").iterdir()):
        package = package_of(library)
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright")
        if package is None or not text.is_file():
            sys.exit(f"wheel_licenses.py: no licence text for {library.name}: install it as a Debian package")
        shutil.copyfile(text, folder / f"{package}.copyright")


if __name__ == "__main__":
    main()
