// `dfc run --custom`: functions of a shared library, by its C interface.
#include "ir/machine/calibration.h"
#include "runtime/executable_folder.h"
#include "tests/support/matchers.h"
#include "tests/tools/run_workshop.h"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace dfc;
using namespace dfc::test;

namespace {

std::string functionLibrary() {
  const auto file = std::filesystem::path(executableFolder()) / "libdfc_test_functions.so";
  return std::filesystem::exists(file) ? file.string() : "";
}

const std::string saxpyGraph =
    "graph saxpy {\n"
    "  input x : f32[4]\n"
    "  input y : f32[4]\n"
    "  constant a : f32[] = 2\n"
    "  z = custom(a, x, y, function=\"saxpy\", types=\"f32[4]\", cpuSeconds=1e-6)\n"
    "  fetch z\n"
    "}\n";

} // namespace

TEST_CASE("dfc run --custom: a library's functions, from a graph and from a plan") {
  if (functionLibrary().empty()) {
    DFC_SKIP("the library of the test's functions is not beside it");
  }
  const Bench bench;
  bench.write("saxpy.dfg", saxpyGraph);
  const std::vector<std::string> feeds = {"--feed", "x=x.npy", "--feed", "y=y.npy"};
  const auto run = [&](const std::string& source, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"run", source};
    arguments.insert(arguments.end(), feeds.begin(), feeds.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return bench.dfc(arguments);
  };
  const Outcome done = run("saxpy.dfg", {"--custom", functionLibrary()});
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK_THAT(done.out, containing("z: f32[4] = 12 24 36 48\n")); // 2 x + y, x = 1 2 3 4, y = 10 20 30 40
  REQUIRE(bench.dfc({"compile", "saxpy.dfg", "-m", "cpu", "-o", "saxpy.plan"}).status == 0);
  CHECK_THAT(run("saxpy.plan", {"--custom", functionLibrary()}).out, containing("z: f32[4] = 12 24 36 48\n"));

  const Outcome missing = run("saxpy.plan", {});
  CHECK(missing.status == 1);
  CHECK(missing.err ==
        "saxpy.dfg:5:7: error: custom op 'z' calls 'saxpy', and there is no such function\n"
        "  hint: give it in SessionOptions::customFunctions, or with --custom LIBRARY.so to dfc run; "
        "functions that are there: none\n");
  const Outcome twice = run("saxpy.dfg", {"--custom", functionLibrary(), "--custom", functionLibrary()});
  CHECK(twice.status == 1);
  CHECK_THAT(twice.err, containing("an earlier library has a function 'saxpy', too"));
  const Outcome none = run("saxpy.dfg", {"--custom", "none.so"});
  CHECK(none.status == 1);
  CHECK_THAT(none.err, startingWith("error: cannot open 'none.so' as a library of custom functions: "));
}

TEST_CASE("dfc calibrate --custom: functions are timed on this host, and plans are made with these times") {
  if (functionLibrary().empty()) {
    DFC_SKIP("the library of the test's functions is not beside it");
  }
  const Bench bench;
  std::string graph = saxpyGraph;
  graph.insert(graph.find("  fetch"),
               "  f = custom(z, function=\"fail\", types=\"f32[4]\", cpuSeconds=1e-6)\n"
               "  u = custom(z, function=\"unknown\", types=\"f32[4]\", cpuSeconds=1e-6)\n");
  graph.replace(graph.find("1e-6"), 4, "5000"); // seconds of saxpy, and not what is measured
  bench.write("tasks.dfg", graph);
  REQUIRE(bench.dfc({"machine", "--estimate", "-o", "here.json"}).status == 0);
  const Outcome timed = bench.dfc({"calibrate", "tasks.dfg", "-m", "here.json", "--device", "cpu0",
                                   "--custom", functionLibrary(), "-o", "t.json"});
  INFO(timed.err);
  REQUIRE(timed.status == 0);
  CHECK_THAT(timed.out, containing(": 1 op timed, "));
  CHECK_THAT(timed.err,
             containing("cpu0: 1 custom op failed on random operands, and keeps its stated seconds"));
  const auto tables = readCalibrations(bench.file("t.json"));
  REQUIRE(tables.ok());
  REQUIRE(tables->front().ops.size() == 1);
  CHECK_THAT(tables->front().ops[0].signature,
             startingWith("custom(f32[], f32[4], f32[4]) function=\"saxpy\""));
  CHECK(tables->front().ops[0].seconds < 5000);
  const Outcome planned = bench.dfc({"compile", "tasks.dfg", "-m", "here.json", "--policy", "single",
                                     "--calibration", "t.json", "-o", "tasks.plan", "--json"});
  INFO(planned.err);
  REQUIRE(planned.status == 0);
  CHECK(nlohmann::json::parse(planned.out).at("predictedSeconds").get<double>() < 1);
  const Outcome without = bench.dfc({"calibrate", "tasks.dfg", "-m", "here.json", "--device", "cpu0"});
  CHECK(without.status == 1);
  CHECK_THAT(without.err, containing("the plan has no op that takes a device's time"));
}

TEST_CASE("dfc run --custom: a function's own errors are located at the op") {
  if (functionLibrary().empty()) {
    DFC_SKIP("the library of the test's functions is not beside it");
  }
  const Bench bench;
  bench.write(
      "fail.dfg",
      "graph g {\n  z = custom(function=\"fail\", types=\"f32[4]\", cpuSeconds=1e-6)\n  fetch z\n}\n");
  const Outcome failed = bench.dfc({"run", "fail.dfg", "--custom", functionLibrary()});
  CHECK(failed.status == 1);
  CHECK_THAT(failed.err,
             startingWith("fail.dfg:2:7: error: custom op 'z': its function 'fail' failed: out of paper\n"));
  bench.write("wrong.dfg",
              "graph g {\n  constant a : f64[] = 1\n"
              "  z = custom(a, a, a, function=\"saxpy\", types=\"f64[]\", cpuSeconds=1e-6)\n  fetch z\n}\n");
  const Outcome wrong = bench.dfc({"run", "wrong.dfg", "--custom", functionLibrary()});
  CHECK(wrong.status == 1);
  CHECK_THAT(
      wrong.err,
      startingWith("wrong.dfg:3:7: error: custom op 'z': its function 'saxpy' refuses the types of the "
                   "call: it takes f32\n"));
}
