"""The style checks themselves: each rule finds its breach, and leaves what it allows alone. Run by CTest (style.self)."""

import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "style"))

import rooms
import tidy


def found(name, body):
    """The breaches in a file NAME that is well formed but for BODY, which starts on line 3."""
    return list(rooms.breaches(name, "// What it is for.\n#pragma once\n" + body))


class Rooms(unittest.TestCase):
    def test_forbidden_includes(self):
        for name, line in [
            ("compiler/a.cpp", '#include "runtime/backend.h"'),
            ("runtime/a.cpp", '#include "compiler/compile.h"'),
            ("ir/a.h", '#include "runtime/backend.h"'),
            ("ir/a.cpp", "#include <thread>"),
            ("ir/a.cpp", "#include <boost/graph/graph_traits.hpp>"),
            ("compiler/a.h", "#include <boost/graph/graph_traits.hpp>"),
            ("compiler/a.h", '#include "compiler/analysis/graph_view.h"'),
            ("ir/a.h", "  #  include <nlohmann/json.hpp>"),
            ("runtime/cpu/a.cpp", "#include <oneapi/dnnl/dnnl.hpp>"),
            ("runtime/emulated/a.cpp", "#include <cuda_runtime.h>"),
            ("ir/a.cpp", "#include <CLI/CLI.hpp>"),
            ("tests/ir/a.cpp", "#include <catch2/catch.hpp>"),
            ("runtime/a.cpp", '#include "tests/support/catch.h"'),
        ]:
            with self.subTest(name=name, line=line):
                self.assertEqual(1, len(found(name, line)), found(name, line))
                self.assertTrue(found(name, line)[0].startswith(f"{name}:3: "))

    def test_allowed_includes(self):
        for name, line in [
            ("compiler/a.cpp", "#include <boost/graph/graph_traits.hpp>"),
            ("compiler/analysis/graph_view.h", "#include <boost/graph/graph_traits.hpp>"),
            ("ir/a.h", "#include <nlohmann/json_fwd.hpp>"),
            ("ir/a.cpp", "#include <nlohmann/json.hpp>"),
            ("runtime/cpu/onednn/a.cpp", "#include <oneapi/dnnl/dnnl.hpp>"),
            ("runtime/cuda/a.cpp", "#include <cuda_runtime.h>"),
            ("runtime/a.cpp", "#include <thread>"),
            ("ir/a.cpp", '// #include "runtime/backend.h"'),
        ]:
            with self.subTest(name=name, line=line):
                self.assertEqual([], found(name, line))

    def test_forbidden_text(self):
        for line in ["std::cout << 1;", "std::fprintf(stderr, x);", "fmt::print(x);", "std::abort();", "std::exit(1);",
                     "std::getenv(x);"]:
            with self.subTest(line=line):
                self.assertEqual(1, len(found("compiler/a.cpp", line)), found("compiler/a.cpp", line))
                self.assertEqual([], found("tools/dfc/a.cpp", line))
                self.assertEqual([], found("compiler/a.cpp", f"// {line}"))
                self.assertEqual([], found("compiler/a.cpp", f'auto text = "{line}";'))

    def test_shape_of_a_file(self):
        self.assertEqual(1, len(list(rooms.breaches("ir/nowhere.cpp", "int x;\n"))))
        self.assertEqual(1, len(list(rooms.breaches("ir/nowhere.h", "// What it is for.\nint x;\n"))))


class Remembered(unittest.TestCase):
    def test_a_change_below_changes_the_key(self):
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.object(tidy, "ROOT", pathlib.Path(folder).resolve()):
            source, header = pathlib.Path(folder) / "a.cpp", pathlib.Path(folder) / "a.h"
            source.write_text('#include "a.h"\n', encoding="utf-8")
            header.write_text("int x;\n", encoding="utf-8")
            first = tidy.Hasher("salt").key(source, "c++ a.cpp")
            self.assertEqual(first, tidy.Hasher("salt").key(source, "c++ a.cpp"))
            self.assertNotEqual(first, tidy.Hasher("salt").key(source, "c++ -O2 a.cpp"))
            self.assertNotEqual(first, tidy.Hasher("pepper").key(source, "c++ a.cpp"))
            header.write_text("int y;\n", encoding="utf-8")
            self.assertNotEqual(first, tidy.Hasher("salt").key(source, "c++ a.cpp"))


if __name__ == "__main__":
    unittest.main()
