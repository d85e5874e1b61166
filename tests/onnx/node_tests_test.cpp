// Debian's libonnx-testdata: every ONNX node test passes, or is out of scope for the reason that
// node_tests.txt gives. That file is the table of the suite, a golden text: a test that changes its outcome
// differs from it.
#include "runtime/executable_folder.h"
#include "tests/onnx/node_outcome.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dfc::test {
namespace {

namespace fs = std::filesystem;

const fs::path data = "/usr/share/libonnx-testdata/data/node";

std::map<std::string, NodeOutcome> runAll() {
  std::map<std::string, NodeOutcome> outcomes;
  for (const auto& entry : fs::directory_iterator(data)) {
    outcomes.emplace(entry.path().filename().string(), runNodeTest(entry.path()));
  }
  return outcomes;
}

size_t count(const std::map<std::string, NodeOutcome>& outcomes, NodeOutcome::Kind kind) {
  return static_cast<size_t>(std::count_if(outcomes.begin(), outcomes.end(),
                                           [kind](const auto& row) { return row.second.kind == kind; }));
}

// A line a test, by name.
std::string tableOf(const std::map<std::string, NodeOutcome>& outcomes) {
  std::string table;
  for (const auto& [name, outcome] : outcomes) {
    std::string line = spoken(outcome);
    std::replace(line.begin(), line.end(), '\n', ' ');
    table += fmt::format("{} {}\n", name, line);
  }
  return table;
}

} // namespace

TEST_CASE("onnx: every node test passes or is out of scope for the reason in the table") {
  if (!fs::exists(data)) {
    DFC_SKIP(data.string() + " is not there; Debian's libonnx-testdata holds it");
  }
  const auto outcomes = runAll();
  const size_t failing = count(outcomes, NodeOutcome::Kind::Fails);
  fmt::print("ONNX node tests: {} of {} pass, {} are out of scope, {} fail\n",
             count(outcomes, NodeOutcome::Kind::Passes), outcomes.size(),
             count(outcomes, NodeOutcome::Kind::OutOfScope), failing);
  CHECK(failing == 0);
  checkAgainstFile(shippedFile("tests/onnx/node_tests.txt"), tableOf(outcomes));
}

} // namespace dfc::test
