"""The portable bundle: packed with cpack, searched for paths of this machine, and run in a root that holds little more than
the C and C++ libraries and a shell, where neither the source tree nor the build folder nor any package of ours is.

usage: bundle_test.py BUILD_FOLDER CPACK. Run by CTest (label `bundle`) on release builds; it builds what is not built.
"""

import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD, CPACK = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
LARGEST = 96 << 20  # bytes of the tarball: growth shall be noticed
OLDEST_GLIBC = (2, 36)
# Libraries of the host: glibc, the C++ runtime, CUDA.
OF_THE_HOST = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|cuda|cublasLt|nvrtc))\.so(\.\d+)?$")
RUN_PATHS = {"$ORIGIN", "$ORIGIN/../lib/dfc", "/usr/local/cuda/lib64"}
# Programs that run_tests and the tests call, and libraries that every C++ program links.
PROGRAMS = ["sh", "basename", "bash", "cat", "chmod", "cp", "date", "dirname", "env", "grep", "head", "ls", "mkdir",
            "mkfifo", "mktemp", "rm", "sed", "seq", "sleep", "sort", "tail", "uname", "uniq"]
LIBRARIES = ["libstdc++.so.6", "libgcc_s.so.1"]
ENTER = """set -e
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
shift_root=$1; shift
exec chroot "$shift_root" /usr/bin/env -i PATH=/usr/bin HOME=/tmp "$@"
"""


def output(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", check=False,
                          **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def libraries_of(program):
    """The files that the loader opens for PROGRAM on this machine."""
    return [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", output("ldd", program))]


def library(name):
    """The file that the loader of this machine knows by NAME."""
    return pathlib.Path(re.search(rf"{re.escape(name)} .*=> (\S+)", output("/sbin/ldconfig", "-p")).group(1))


def make_root(root):
    """A root folder with a shell, a few programs and what they are linked with; no package of ours."""
    for folder in ["proc", "dev", "tmp", "usr/bin", "opt"]:
        (root / folder).mkdir(parents=True)
    wanted = {pathlib.Path("/usr/bin") / name: pathlib.Path(shutil.which(name)) for name in PROGRAMS}
    for name in [path for path in wanted.values()] + [library(name) for name in LIBRARIES]:
        for needed in [name] * (".so" in name.name) + libraries_of(name):
            wanted[needed] = needed
    for to, origin in wanted.items():
        place = root / to.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(origin.resolve(), place)
    (root / "bin").symlink_to("usr/bin")


class Bundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory(prefix="dfc-bundle-")
        cls.addClassCleanup(cls.work.cleanup)
        folder = pathlib.Path(cls.work.name)
        output("cmake", "--build", BUILD)
        output(CPACK, "-G", "TGZ", "-B", folder / "packed", cwd=BUILD)
        (cls.tarball,) = (folder / "packed").glob("*.tar.gz")
        cls.root = folder / "root"
        make_root(cls.root)
        with tarfile.open(cls.tarball) as archive:
            archive.extractall(cls.root / "opt")
        (cls.bundle,) = (cls.root / "opt").iterdir()
        cls.files = [path for path in cls.bundle.rglob("*") if path.is_file() and not path.is_symlink()]
        cls.binaries = [path for path in cls.files if path.read_bytes()[:4] == b"\x7fELF"]

    def inside(self, *words):
        """The output of a command in the bare root, from a folder that is not the bundle's."""
        enter = ["unshare", "--mount", "--pid", "--fork", "--map-root-user", "--user"]
        if subprocess.run([*enter, "true"], check=False, capture_output=True).returncode:
            enter = enter[:4]  # root without user namespaces
        if subprocess.run([*enter, "true"], check=False, capture_output=True).returncode:
            self.skipTest("this host allows no namespaces, so there is no bare root to run in")
        return output(*enter, "sh", "-c", ENTER, "enter", self.root, *words)

    def installed(self, name):
        return "/" + str((self.bundle / name).relative_to(self.root))

    def test_name_and_size(self):
        megabytes = self.tarball.stat().st_size / (1 << 20)
        print(f"{self.tarball.name}: {megabytes:.1f} MiB, {len(self.files)} files, {len(self.binaries)} of them binaries, "
              f"{sum(path.stat().st_size for path in self.files) / (1 << 20):.0f} MiB unpacked", file=sys.stderr)
        self.assertRegex(self.tarball.name, rf"^dfc-\d+\.\d+\.\d+-Linux-{platform.machine()}\.tar\.gz$")
        self.assertEqual(self.bundle.name + ".tar.gz", self.tarball.name)
        self.assertLess(self.tarball.stat().st_size, LARGEST)

    def test_no_path_of_this_machine(self):
        homes = [str(folder).encode() for folder in (SOURCE, BUILD, pathlib.Path(self.work.name))]
        for path in self.bundle.rglob("*"):
            text = bytes(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            for home in homes:
                at = text.find(home)
                self.assertEqual(at, -1, f"{path.relative_to(self.bundle)}: {text[max(at - 40, 0):at + 120]!r}")

    def test_binaries_are_stripped(self):
        for path in self.binaries:
            self.assertNotRegex(output("readelf", "-SW", path), r"\.(symtab|debug_info)\b", path.name)

    def test_libraries_come_from_the_bundle_or_from_the_host(self):
        shipped = {path.name for path in (self.bundle / "lib/dfc").iterdir()}
        for path in self.binaries:
            dynamic = output("readelf", "-dW", path)
            for name in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic):
                self.assertTrue(name in shipped or OF_THE_HOST.match(name), f"{path.name} needs {name}")
                self.assertFalse(name in shipped and OF_THE_HOST.match(name), f"{name} is the host's own")
            for found in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
                self.assertLessEqual(set(found.split(":")), RUN_PATHS, path.name)

    def test_old_glibc_is_enough(self):
        needed = {tuple(map(int, version.split(".")))
                  for path in self.binaries
                  for version in re.findall(r"Name: GLIBC_(\d+\.\d+)", output("readelf", "-VW", path))}
        print("needs glibc", ".".join(map(str, max(needed))), file=sys.stderr)
        host = tuple(map(int, platform.libc_ver()[1].split(".")))
        if max(needed) > OLDEST_GLIBC and host > OLDEST_GLIBC:
            self.skipTest(f"made on a host with glibc {host[0]}.{host[1]}: it runs on no older one")
        self.assertLessEqual(max(needed), OLDEST_GLIBC)

    def test_dfc_in_a_bare_root(self):
        dfc = self.installed("bin/dfc")
        self.assertIn("Examples:", self.inside(dfc, "--help"))
        self.assertIn('"class": "cpu"', self.inside(dfc, "machine"))
        (self.root / "tmp/g.dfg").write_text(
            "graph g {\n  parameter w : f32[2, 2] = constant(3)\n  product = matmul(w, w)\n  fetch y = product + 1\n}\n")
        self.inside(dfc, "compile", "/tmp/g.dfg", "-m", "cpu-2gpu", "-o", "/tmp/g.plan")
        answer = json.loads(self.inside(dfc, "run", "/tmp/g.plan", "--json"))
        self.assertEqual(answer["fetches"]["y"]["values"], [19, 19, 19, 19])  # 3 * 3 + 3 * 3 + 1
        figure = self.installed("share/dfc/samples/04_graph_file/figure.dfg")
        self.assertIn("digraph", self.inside(dfc, "view", figure, "-m", "cpu-8gpu-nvlink", "--what=schedule"))

    def test_all_tests_in_a_bare_root(self):
        report = self.inside(self.installed("run_tests"))
        print(report, file=sys.stderr)
        names = {path.name for path in (self.bundle / "bin").iterdir()} - {"dfc", "dfc-bench", "dfc_cublaslt"}
        self.assertEqual(names, set(re.findall(r"^(?:passed|skipped)  (\S+)", report, re.MULTILINE)))
        self.assertLessEqual({"tests_ir", "tests_compiler", "tests_runtime", "tests_tools", "tests_conformance",
                              "tests_property", "sample_01_smallest_graph"}, names)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
