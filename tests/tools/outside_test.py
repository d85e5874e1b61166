"""dfc as another project uses it: samples/outside built against an installed prefix (CMake's package, pkg-config), as a
subdirectory, by FetchContent, against a shared library, and in a Debian root that holds only what using dfc needs; and
each public header compiled alone.

usage: outside_test.py BUILD_FOLDER WAY. Run by CTest (label `outside`), one way a test. Exit status 77: cannot run here.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
OUTSIDE = SOURCE / "samples/outside"
# What a Debian root is given before dfc's prefix is copied into it: a compiler, CMake, and what a static libdfc.a links.
# The modules' own libraries (oneDNN, its OpenMP) are in the prefix.
PACKAGES = ["g++", "cmake", "make", "libfmt-dev", "libzip-dev", "zlib1g-dev", "libhwy-dev", "libncurses-dev"]
# Public headers that many others include, those that bring more first.
PRECOMPILED = ["graph.h", "literal.h"]
SKIPPED = 77


def run(*words, **options):
    """The output of a command; its whole output in the error where it fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", check=False,
                          **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def skip(reason):
    print(f"skipped: {reason}")
    raise SystemExit(SKIPPED)


def installed(build, prefix):
    run("cmake", "--install", build, "--prefix", prefix)
    strays = [file.name for file in (prefix / "lib").rglob("*test*")]
    assert not strays, f"tests' files are installed with the library: {strays}"
    # Away from the build tree, so that nothing of it is found by accident.
    moved = prefix.with_name("moved")
    prefix.rename(moved)
    return moved


def configured(build, *arguments):
    """The outside project, built and its tests run; with the generator and compiler launcher of the checkout's build."""
    launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={shutil.which('ccache')}"] if shutil.which("ccache") else []
    run("cmake", "-S", OUTSIDE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", *launcher, *arguments)
    run("cmake", "--build", build, "--target", "smallest", "fit", "dfc_modules" if "-DDFC_FROM=package" not in arguments
        else "all")
    print(run("ctest", "--test-dir", build, "--output-on-failure"))


def includes(header):
    """What HEADER includes, as it is written: "dfc/graph.h", "vector". All of it comes before any code."""
    lines = header.read_text().splitlines()
    last = max((at for at, line in enumerate(lines) if line.startswith("#include")), default=0)
    early = [line for line in lines[:last] if line and not line.startswith(("//", "#"))]
    assert not early, f"{header.name} has code before an #include: {early[0]}"
    return [re.fullmatch(r"#include <(.*)>", line).group(1) for line in lines if line.startswith("#include")]


def reached(names, folder):
    """{name: all headers below it}"""
    direct, below = {name: includes(folder / name) for name in names}, {}

    def visit(name):
        if name not in below:
            ours = [included[4:] for included in direct[name] if included.startswith("dfc/")]
            below[name] = set(direct[name]).union(*map(visit, ours))
        return below[name]

    return {name: visit(name) for name in names}


def alone(compiler, names, folder, work):
    """Compiles each header alone. Many of them include PRECOMPILED ones, which are then read once for all: since they and all
    below them come before any code, and are compiled alone too, nothing is there that the header does not bring itself."""
    below = reached(names, folder)
    for base in PRECOMPILED:
        (work / base).write_text(f"#include <dfc/{base}>\n")
        run(*compiler, "-x", "c++-header", work / base, "-o", work / f"{base}.gch")
    source = work / "alone.cpp"
    for name in names:
        base = next((base for base in PRECOMPILED if f"dfc/{base}" in below[name]), None)
        source.write_text(f"#include <dfc/{name}>\n#include <dfc/{name}>\n")
        run(*compiler, *(["-Winvalid-pch", "-include", work / base] if base else []), "-fsyntax-only", source)


def headers(build, work):
    """Every public header compiled alone, with the prefix as the only include path, by GCC; all together by Clang; C's as C,
    too."""
    folder = build / "include/dfc"
    names = sorted(path.name for path in folder.glob("*.h"))
    assert len(names) > 30, f"only {len(names)} public headers in {folder}"
    strict = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", build / "include"]
    clang = next((name for name in ("clang++-16", "clang++") if shutil.which(name)), None)
    for name in names:
        for included in re.findall(r'^\s*#\s*include\s*(.*)', (folder / name).read_text(), re.MULTILINE):
            assert re.fullmatch(r"<(dfc/\w+\.h|[a-z_]+|stdint\.h)>", included), f"{name} includes {included}"
    alone(["g++", *strict], names, folder, work)
    source = work / "together.cpp"
    source.write_text("".join(f"#include <dfc/{name}>\n" for name in names))
    if clang:
        run(clang, *strict, "-fsyntax-only", source)
    source = work / "alone.c"
    source.write_text("#include <dfc/dfc_custom.h>\n")
    run("gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", build / "include", source)
    print(f"{len(names)} headers, each alone by g++; together by {clang or 'no other'}")


def package(build, work):
    prefix = installed(build, work / "prefix")
    configured(work / "build", "-DDFC_FROM=package", f"-DCMAKE_PREFIX_PATH={prefix}")


def without_module(build, work):
    """Where the oneDNN module is missing, the program is told by an error of the Result."""
    prefix = installed(build, work / "prefix")
    source = work / "mistake.cpp"
    source.write_text("""#include <cstdio>
#include <dfc/dfc.h>
int main() {
  dfc::Builder g("g");
  const dfc::Tensor a = g.input("a", dfc::f32({64, 64}));
  g.fetch("b", matmul(a, a));
  const auto opened = dfc::open(std::move(g).finish().orThrow(), dfc::estimatedHost());
  std::puts(opened.ok() ? "opened" : dfc::render(opened.errors()).c_str());
}
""")
    flags = run("pkg-config", "--cflags", "--libs", "dfc",
                env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}).split()
    run("g++", source, "-o", work / "mistake", *flags)
    assert run(work / "mistake") == "opened\n"
    module = prefix / "lib/dfc/libdfc_onednn.so"
    module.unlink()
    told = run(work / "mistake")
    assert "error: libdfc_onednn.so cannot be opened" in told and "libdnnl" not in told, told
    assert f"hint: dfc's install puts it into {module.parent}: " in told, told
    reasons = told[told.index("there is no libdfc_onednn.so in "):].splitlines()[0]
    assert f"{module.parent}" in reasons and f"{work}," in reasons, told
    print(told)
    dependency = work / "libdnnl.so.99"
    (work / "empty.cpp").write_text("int empty() { return 0; }\n")
    run("g++", "-shared", "-fPIC", "-Wl,-soname,libdnnl.so.99", work / "empty.cpp", "-o", dependency)
    run("g++", "-shared", "-fPIC", "-Wl,--no-as-needed", work / "empty.cpp", dependency, "-o", module)
    dependency.unlink()
    told = run(work / "mistake")
    assert "libdnnl.so.99: cannot open" in told and "hint: install oneDNN" in told, told
    print(told)


def pkgconfig(build, work):
    prefix = installed(build, work / "prefix")
    flags = run("pkg-config", "--cflags", "--libs", "dfc",
                env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}).split()
    run("g++", OUTSIDE / "smallest.cpp", "-o", work / "smallest", *flags)
    assert run(work / "smallest", cwd=work) == "3 6 11\n"


def subdirectory(_, work):
    configured(work / "build", "-DDFC_FROM=subdirectory", f"-DDFC_SOURCE={SOURCE}")


def fetch(_, work):
    """From a git URL, as a user fetches it: the last commit of this checkout, as branch main. A folder without one is not
    fetched but used as it is."""
    source = SOURCE
    if (SOURCE / ".git").exists():
        git = ["git", "-c", f"safe.directory={SOURCE}", "-c", f"safe.directory={SOURCE / '.git'}"]
        run(*git, "clone", "--quiet", "--bare", "--no-local", SOURCE, work / "dfc.git")
        run("git", "-C", work / "dfc.git", "update-ref", "refs/heads/main", run(*git, "-C", SOURCE, "rev-parse", "HEAD").strip())
        source = f"file://{work / 'dfc.git'}"
    configured(work / "build", "-DDFC_FROM=fetch", f"-DDFC_SOURCE={source}")


def shared(_, work):
    """A shared libdfc.so: built, installed, linked; it exports dfc's public names alone, and has a versioned soname."""
    build = work / "dfc"
    launcher = shutil.which("ccache")
    run("cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DBUILD_SHARED_LIBS=ON",
        "-DDFC_BUILD_TOOLS=OFF", "-DBUILD_TESTING=OFF", *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"] if launcher else []))
    run("cmake", "--build", build)
    library = build / "lib/libdfc.so"
    soname = re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", library)).group(1)
    assert re.fullmatch(r"libdfc\.so\.\d+\.\d+", soname), soname
    exported = run("nm", "-DC", "--defined-only", library).splitlines()
    foreign = [line for line in exported if re.search(r" [TD] (llvm|fmt|nlohmann|flatbuffers|boost)::", line)]
    assert not foreign, f"exports {foreign[:5]}"
    internal = [line for line in exported if re.search(r" T dfc::(planMemory|verifyGraph|insertTransfers)\(", line)]
    assert not internal, f"exports {internal}"
    assert any(" T dfc::Builder::fetch" in line for line in exported), "does not export Builder::fetch"
    prefix = installed(build, work / "prefix")
    configured(work / "build", "-DDFC_FROM=package", f"-DCMAKE_PREFIX_PATH={prefix}")


def root(build, work):
    """In an empty Debian root with PACKAGES, from the install prefix alone."""
    if not shutil.which("debootstrap"):
        skip("there is no debootstrap")
    if os.geteuid() != 0:
        skip("debootstrap needs root")
    release = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    place = work / "root"
    made = subprocess.run(["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}",
                           release["VERSION_CODENAME"].strip('"'), str(place)], capture_output=True, text=True, check=False)
    if made.returncode:
        skip(f"debootstrap failed, perhaps for want of a package mirror:\n{made.stdout[-2000:]}{made.stderr[-500:]}")
    shutil.copytree(installed(build, work / "prefix"), place / "opt/dfc", symlinks=True)
    shutil.copytree(OUTSIDE, place / "src/outside")
    script = ("cmake -S /src/outside -B /src/build -DCMAKE_PREFIX_PATH=/opt/dfc && cmake --build /src/build && "
              "ctest --test-dir /src/build --output-on-failure")
    print(run("chroot", place, "/usr/bin/env", "-i", "PATH=/usr/bin:/usr/sbin", "HOME=/tmp", "sh", "-c", script))


WAYS = {function.__name__: function
        for function in (headers, package, pkgconfig, without_module, subdirectory, fetch, shared, root)}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="dfc-outside-") as folder:
        WAYS[sys.argv[2]](pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
