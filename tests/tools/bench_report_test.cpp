// `dfc-bench` after the measurements: requirements on rows, the file of results, and the names.
#include "compiler/compile.h"
#include "ir/author/text/parse.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tools/bench/bench.h"
#include "tools/bench/graphs/two_layer.h"
#include "tools/bench/names.h"
#include "tools/bench/report.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace dfc::bench;

namespace {

Row rowOf(const std::string& key, double seconds, const std::string& program = "dfc") {
  Row row;
  row.key = key;
  row.program = program;
  row.time = Spread{seconds, seconds, seconds, 7};
  return row;
}

} // namespace

TEST_CASE("dfc-bench: the plan of the two-layer net is that of the lesson's graph file") {
  const auto machine =
      dfc::readMachine(dfc::shippedFile("samples/machines/cpu-2gpu.json").string()).orThrow();
  const auto planOf = [&](const dfc::Graph& graph) {
    return dfc::compile(graph, machine, dfc::RooflineCostModel()).orThrow();
  };
  const dfc::Executable ours = planOf(trainingStep(TwoLayerSpec{}).orThrow());
  std::string lesson = dfc::test::readText(dfc::shippedFile("samples/04_graph_file/figure.dfg"));
  for (const std::string loss : {"    scope \"loss\" { loss = add(loss0, loss1) }", "  fetch loss"}) {
    lesson.replace(lesson.find(loss), loss.size(), "");
  }
  const dfc::Executable lessons = planOf(dfc::parseGraph(lesson, "figure.dfg").orThrow());
  CHECK(ours.graph().opCount() == lessons.graph().opCount());
  CHECK(ours.placed().transfers.size() == lessons.placed().transfers.size());
  CHECK(ours.predictedSeconds() == Approx(lessons.predictedSeconds()));
}

TEST_CASE("dfc-bench: of several ways over two GPUs the fastest has to scale") {
  Report report;
  for (const Row& row : {rowOf("one", 18), rowOf("weights", 12), rowOf("weights", 1, "baseline"),
                         rowOf("exchange", 10), rowOf("other", 2)}) {
    report.add(row);
  }
  holdScaling(report, {"weights", "exchange"}, "one", 1.8);
  const auto& rows = report.rows();
  REQUIRE(rows[1].checks.size() == 1);
  CHECK(rows[1].checks[0].ratio == 1.5);
  CHECK_FALSE(rows[1].checks[0].holds());
  REQUIRE(rows[3].checks.size() == 1);
  CHECK(rows[3].checks[0].ratio == 1.8);
  CHECK(rows[3].checks[0].holds() == std::optional(true));
  for (const size_t untouched : {0, 2, 4}) {
    CHECK(rows[untouched].checks.empty());
  }
}

TEST_CASE("dfc-bench: no scaling over an unmeasured row, and the slower way never answers for it") {
  Report report;
  report.add(rowOf("weights", 12));
  holdScaling(report, {"weights"}, "one", 1.8);
  CHECK(report.rows()[0].checks.empty());
  report.add(rowOf("one", 18));
  holdScaling(report, {"weights", "exchange"}, "one", 1.8);
  REQUIRE(report.rows()[0].checks.size() == 1);
  CHECK(report.rows()[0].checks[0].holds() == std::optional(false));
}

TEST_CASE("dfc-bench: book numbers and patterns of rows") {
  CHECK(bookNumberOf("products_on_gpus") == "A2");
  CHECK(bookNumberOf("products_on_gpu/gpu1") == "A1");
  CHECK(bookNumberOf("products_on_gpu2").empty());
  CHECK(bookNumberOf("memory_bound/softmax").empty());
  CHECK(selects("A2", "products_on_gpus"));
  CHECK(selects("A*", "drain_to_host/all"));
  CHECK(selects("mlp_training/*/64", "mlp_training/1gpu/f32/64"));
  CHECK(selects("mlp_training/1gpu", "mlp_training/1gpu/f32/64"));
  CHECK_FALSE(selects("mlp_training/1", "mlp_training/1gpu/f32/64"));
  CHECK_FALSE(selects("", "memory_bound/softmax")); // no book's number is no empty pattern's match
}

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson runOf(const std::string& date, uint32_t threads, const std::vector<OrderedJson>& rows) {
  return {{"date", date},   {"git", "1"},
          {"cpu", "a CPU"}, {"gpus", "real"},
          {"quick", false}, {"threads", threads},
          {"rows", rows},   {"devices", {"cpu0: cpu", "gpu0: cuda, a GPU", "gpu1: not used"}}};
}

OrderedJson measuredRow(const std::string& key, const std::string& program) {
  return {{"key", key}, {"program", program}, {"seconds", 1}};
}

} // namespace

TEST_CASE("dfc-bench: a results file keeps the newest measurement of each row and host") {
  const dfc::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "results.json").string();
  const auto merge = [&](const OrderedJson& run) {
    REQUIRE(mergeResult(path, run.dump()).ok());
    return OrderedJson::parse(dfc::test::readText(path));
  };
  const OrderedJson missing = {{"key", "b"}, {"program", "script.py"}, {"notMeasured", "not installed"}};
  merge(runOf("Monday", 2, {measuredRow("a", "dfc"), measuredRow("a", "other"), missing}));
  merge(runOf("Tuesday", 4, {measuredRow("a", "dfc")})); // another host: replaces nothing
  OrderedJson kept = merge(runOf("Wednesday", 2, {measuredRow("a", "dfc"), measuredRow("b", "other")}));
  REQUIRE(kept.size() == 3);
  CHECK(kept[0]["date"] == "Monday");
  REQUIRE(kept[0]["rows"].size() == 1); // measured anew: a of dfc; b was not measured then
  CHECK(kept[0]["rows"][0]["program"] == "other");
  CHECK(kept[2]["rows"].size() == 2);
  OrderedJson later = missing;
  later["key"] = "a";
  kept = merge(runOf("Thursday", 2, {later, measuredRow("a", "other")}));
  REQUIRE(kept.size() == 3); // nothing is left of Monday
  CHECK(kept[0]["date"] == "Tuesday");
  CHECK(kept[1]["rows"].size() == 2); // a failure replaces no measurement
}

TEST_CASE(
    "dfc-bench: its README names every benchmark, and every row whose newest result missed a requirement") {
  const auto folder = dfc::shippedFile("tools/bench");
  const std::string page = dfc::test::readText(folder / "README.md");
  for (const BenchmarkName& benchmark : benchmarkNames()) {
    INFO(benchmark.name);
    CHECK(page.find("`" + std::string(benchmark.name)) != std::string::npos);
    CHECK((benchmark.book.empty() || page.find(benchmark.book) != std::string::npos));
  }
  for (const char* file : {"h200x2.json", "h200x4.json", "h200.json", "h100x2.json", "h100.json",
                           "xeon-2core.json", "epyc-2core.json", "xeon-16core.json"}) {
    std::set<std::pair<std::string, std::string>> rows;
    for (const OrderedJson& run : OrderedJson::parse(dfc::test::readText(folder / "results" / file))) {
      for (const OrderedJson& row : run["rows"]) {
        INFO(file << ": " << row["key"]);
        CHECK(row.value("book", "") == bookNumberOf(row["key"].get<std::string>()));
        CHECK(rows.emplace(row["key"], row["program"]).second); // one measurement of each row
        for (const OrderedJson& check : row["checks"]) {
          CHECK((check.value("holds", true) ||
                 page.find("`" + row["key"].get<std::string>() + "`") != std::string::npos));
        }
      }
    }
  }
}
