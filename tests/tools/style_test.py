"""The style checks themselves: each rule finds its breach, and leaves what it allows alone. Run by CTest (style.self)."""

import contextlib
import io
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "style"))

import database
import names
import rooms
import sources


def found(name, body):
    """The breaches in a file NAME that is well formed but for BODY, which starts on line 3."""
    return list(rooms.breaches(name, "// What it is for.\n#pragma once\n" + body))


class Rooms(unittest.TestCase):
    def test_forbidden_includes(self):
        for name, line in [
            ("compiler/a.cpp", '#include "runtime/backend.h"'),
            ("runtime/a.cpp", '#include "compiler/compile.h"'),
            ("ir/a.cpp", "#include <thread>"),
            ("ir/a.cpp", "#include <boost/graph/graph_traits.hpp>"),
            ("compiler/a.h", "#include <boost/graph/graph_traits.hpp>"),
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
            ("ir/a.h", "#include <nlohmann/json_fwd.hpp>"),
            ("ir/a.cpp", "#include <nlohmann/json.hpp>"),
            ("runtime/cpu/onednn/a.cpp", "#include <oneapi/dnnl/dnnl.hpp>"),
            ("runtime/cuda/a.cpp", "#include <cuda_runtime.h>"),
            ("runtime/a.cpp", "#include <thread>"),
            ("ir/a.cpp", '// #include "runtime/backend.h"'),
        ]:
            with self.subTest(name=name, line=line):
                self.assertEqual([], found(name, line))

    def test_arrows_follow_the_rows_of_the_build(self):
        rows = rooms.room_rows("dfc_room(ir/a EXCLUDE ^ir/a/b/ LINKS fmt::fmt)\n"
                               "dfc_room(ir/a/b ROOMS ir/a LINKS z) # a remark\n"
                               "# dfc_room(ir/none ROOMS ir/a)\ndfc_room(ir/c ROOMS ir/a/b)\n")
        self.assertEqual({"ir/a": [], "ir/a/b": ["ir/a"], "ir/c": ["ir/a/b"]}, rows)
        reached = rooms.reachable(rows)
        for name, included, wrong in [("ir/c/x.h", "ir/a/y.h", 0), ("ir/c/x.h", "ir/c/y.h", 0), ("ir/a/x.h", "ir/a/b/y.h", 1),
                                      ("ir/a/b/x.cpp", "ir/a/y.h", 0), ("ir/a/b/x.cpp", "ir/c/d/y.h", 1),
                                      ("tools/x.cpp", "ir/c/y.h", 0)]:
            with self.subTest(name=name, included=included):
                self.assertEqual(wrong, len(list(rooms.wrong_arrows(name, f'#include "{included}"\n', reached))))

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
                unittest.mock.patch.object(database, "ROOT", pathlib.Path(folder).resolve()):
            source, header = pathlib.Path(folder) / "a.cpp", pathlib.Path(folder) / "a.h"
            source.write_text('#include "a.h"\n', encoding="utf-8")
            header.write_text("int x;\n", encoding="utf-8")
            first = database.Hasher("salt").key(source, "c++ a.cpp")
            self.assertEqual(first, database.Hasher("salt").key(source, "c++ a.cpp"))
            self.assertNotEqual(first, database.Hasher("salt").key(source, "c++ -O2 a.cpp"))
            self.assertNotEqual(first, database.Hasher("pepper").key(source, "c++ a.cpp"))
            header.write_text("int y;\n", encoding="utf-8")
            self.assertNotEqual(first, database.Hasher("salt").key(source, "c++ a.cpp"))


    def test_calls_that_find_nothing_are_remembered_and_no_others(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            memory, work, asked = pathlib.Path(folder), {"k": "a", "l": "b", "m": "c"}, []

            def check(items):
                asked.append(items)
                return "wrong" if "c" in items else ""

            def divide(fresh):
                return [([key for key in fresh if key != "m"], "ab"), (["m"], "c")]

            self.assertEqual((3, 1), database.run(memory, work, check, divide))
            self.assertEqual((1, 1), database.run(memory, work, check))
            self.assertEqual(["ab", "c", "c"], sorted(asked))


class Flags(unittest.TestCase):
    def test_flags_of_gcc_alone_are_left_out(self):
        command = "c++ -DX -mtls-dialect=gnu2 -mavx2 -Wall -MD -MF x.d -o a.o -c a.cpp"
        self.assertEqual(["-DX", "-mavx2"], database.flags(command))


class Names(unittest.TestCase):
    def test_files_whose_flags_can_stand_together_are_read_together(self):
        paths = [pathlib.Path(f"/{name}.cpp") for name in "abcd"]
        rows = {path: names.reading_flags(f"c++ -DX -Wall -Werror -MD -MF x.d -o {path}.o -c {path}") for path in paths[:2]}
        rows[paths[2]] = names.reading_flags("c++ -O2 -DY=1 -isystem there -o c.o -c c.cpp")
        rows[paths[3]] = names.reading_flags("c++ -DY=2 -o d.o -c d.cpp")
        once = names.ONE_INSTRUCTION_SET
        self.assertEqual([(paths[:3], ["-DX", "-DY=1", "-isystem", "there", once]), (paths[3:], ["-DY=2", once])],
                         names.batches(rows, 8))

    def test_a_batch_for_each_core_unless_it_would_be_small(self):
        paths = [pathlib.Path(f"/{at:03}.cpp") for at in range(2 * names.FEWEST + 1)]
        rows = {path: [("-DX",)] for path in paths}
        for cores, lengths in [(1, [201]), (2, [101, 100]), (8, [101, 100])]:
            with self.subTest(cores=cores):
                read = [batch for batch, _ in names.batches(rows, cores)]
                self.assertEqual(lengths, [len(batch) for batch in read])
                self.assertEqual(paths, sum(read, []))

    @unittest.skipUnless(sources.versioned("clang-tidy", database.CLANG_TIDY), "no clang-tidy of that version")
    def test_a_bad_name_is_found_though_the_files_collide(self):
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.object(names, "ROOT", pathlib.Path(folder).resolve()):
            root = pathlib.Path(folder).resolve()
            (root / "ir").mkdir()
            shutil.copy(sources.ROOT / ".clang-tidy", root)
            (root / "ir/a.h").write_text("#pragma once\nstruct bad_type {};\n", encoding="utf-8")
            paths = [root / "ir/a.cpp", root / "ir/b.cpp", root / "ir/c.cpp"]
            paths[0].write_text("static int twice() { return 1; }\n", encoding="utf-8")
            paths[1].write_text('#include "ir/a.h"\nstatic int twice() { return 2; }\n', encoding="utf-8")
            paths[2].write_text("static int twice() { int Bad_Local = 1; return Bad_Local; }\n", encoding="utf-8")
            tool, kept = sources.versioned("clang-tidy", database.CLANG_TIDY), ["-std=c++20", f"-I{root}"]
            said = names.check(tool, paths, kept)
            self.assertIn("'bad_type'", said)
            self.assertIn("'Bad_Local'", said)
            self.assertNotIn("redefinition", said)
            self.assertEqual("", names.check(tool, paths[:1], kept))
            self.assertIn("file not found", names.check(tool, [root / "ir/absent.cpp"], kept))

    @unittest.skipUnless(sources.versioned("clang-tidy", database.CLANG_TIDY), "no clang-tidy of that version")
    def test_an_override_is_theirs_to_name_though_the_files_collide(self):
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.object(names, "ROOT", pathlib.Path(folder).resolve()):
            root = pathlib.Path(folder).resolve()
            for inner in ("ir", "theirs"):
                (root / inner).mkdir()
            shutil.copy(sources.ROOT / ".clang-tidy", root)
            (root / "theirs/theirs.h").write_text("struct Theirs { virtual void their_name(); };\n", encoding="utf-8")
            paths = [root / "ir/a.cpp", root / "ir/b.cpp"]
            paths[0].write_text("namespace { using Base = int; }\n", encoding="utf-8")
            paths[1].write_text("#include <theirs.h>\nnamespace { using Base = Theirs; }\n"
                                "struct Ours : Base { void their_name() override {} };\n", encoding="utf-8")
            tool = sources.versioned("clang-tidy", database.CLANG_TIDY)
            kept = ["-std=c++20", f"-isystem{root}/theirs"]
            self.assertIn("their_name", names.read(tool, paths, kept))
            self.assertEqual("", names.check(tool, paths, kept))


if __name__ == "__main__":
    unittest.main()
