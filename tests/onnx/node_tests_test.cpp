// Debian's libonnx-testdata: every ONNX node test passes, or is out of scope for the reason that
// node_tests.txt gives. That file is the table of the suite, a golden text: a test that changes its outcome
// differs from it.
#include "ir/author/onnx/node_call.h"
#include "runtime/executable_folder.h"
#include "tests/onnx/node_outcome.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

namespace dfc::test {
namespace {

namespace fs = std::filesystem;

using NodeOutcomes = std::map<std::string, NodeOutcome>;

std::vector<fs::path> foldersIn(const fs::path& data) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(data)) {
    folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

size_t count(const NodeOutcomes& outcomes, NodeOutcome::Kind kind) {
  return static_cast<size_t>(std::count_if(outcomes.begin(), outcomes.end(),
                                           [kind](const auto& row) { return row.second.kind == kind; }));
}

std::string rowOf(const std::string& name, const NodeOutcome& outcome) {
  std::string line = spoken(outcome);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return fmt::format("{} {}\n", name, line);
}

std::map<std::string, std::string> rowsIn(const fs::path& file) {
  std::map<std::string, std::string> rows;
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    rows.emplace(line.substr(0, line.find(' ')), line + "\n");
  }
  return rows;
}

// A row "no op for X" says nothing that a formula op which names X would break: such a test may pass instead.
bool wantsOnlyAnOp(const std::string& row) {
  const std::string mark = "out of scope: no op for ";
  const size_t at = row.find(mark);
  return at != std::string::npos &&
         onnx::formulaOfOnnx(row.substr(at + mark.size(), row.size() - at - mark.size() - 1)) != nullptr;
}

// A line a test, by name; where it passes by a formula op that the table does not know, the table's line.
std::string tableOf(const NodeOutcomes& outcomes, const std::map<std::string, std::string>& known) {
  std::string table;
  for (const auto& [name, outcome] : outcomes) {
    const auto row = known.find(name);
    const bool gained =
        outcome.kind == NodeOutcome::Kind::Passes && row != known.end() && wantsOnlyAnOp(row->second);
    table += gained ? row->second : rowOf(name, outcome);
  }
  return table;
}

// Runs all; `print`: each row at once, so that the last one names the test that crashes or hangs.
NodeOutcomes runAll(const fs::path& data, bool print) {
  NodeOutcomes outcomes;
  for (const fs::path& folder : foldersIn(data)) {
    const std::string name = folder.filename().string();
    if (print) {
      fmt::print("{}", name);
      std::fflush(stdout);
    }
    const auto [row, fresh] = outcomes.emplace(name, runNodeTest(folder));
    if (print) {
      fmt::print("{}", rowOf("", row->second));
    }
  }
  fmt::print("ONNX node tests: {} of {} pass, {} are out of scope, {} fail\n",
             count(outcomes, NodeOutcome::Kind::Passes), outcomes.size(),
             count(outcomes, NodeOutcome::Kind::OutOfScope), count(outcomes, NodeOutcome::Kind::Fails));
  return outcomes;
}

} // namespace

TEST_CASE("onnx: every node test passes or is out of scope for the reason in the table") {
  const fs::path data = "/usr/share/libonnx-testdata/data/node";
  if (!fs::exists(data)) {
    DFC_SKIP(data.string() + " is not there; Debian's libonnx-testdata holds it");
  }
  const NodeOutcomes outcomes = runAll(data, false);
  CHECK(count(outcomes, NodeOutcome::Kind::Fails) == 0);
  const fs::path table = shippedFile("tests/onnx/node_tests.txt");
  checkAgainstFile(table, tableOf(outcomes, rowsIn(table)));
}

// Hidden, as it needs a folder of node tests: of another version of ONNX, whose table is nobody's promise.
TEST_CASE("onnx: no node test of the folder DFC_ONNX_NODE_TESTS fails", "[.]") {
  const char* folder = std::getenv("DFC_ONNX_NODE_TESTS");
  REQUIRE(folder != nullptr);
  CHECK(count(runAll(folder, true), NodeOutcome::Kind::Fails) == 0);
}

} // namespace dfc::test
