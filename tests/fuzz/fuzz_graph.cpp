// Graph files: what parses is verified, prints to a file that parses to the same graph, and compiles or is
// refused with reasons.
#include "compiler/compile.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "ir/graph/same_graph.h"
#include "ir/verify/verify.h"
#include "runtime/executable_folder.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/targets.h"

namespace dfc::test {
namespace {

// Larger ones would make a run of compile() out of what should be a run of the parser.
constexpr size_t mostOpsCompiled = 100;
constexpr int64_t mostBytesCompiled = int64_t{1} << 20;

bool isSmall(const Graph& graph) {
  int64_t bytes = 0;
  for (const ValueId value : graph.values()) {
    const int64_t more = graph.typeOf(value).bytes();
    if (more > mostBytesCompiled - bytes) {
      return false;
    }
    bytes += more;
  }
  return graph.opCount() <= mostOpsCompiled;
}

void compileSmall(const Graph& graph) {
  static const Machine machine = *readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  const Result<Executable> plan = compile(graph, machine, RooflineCostModel());
  expect(plan.ok() || !render(plan.errors()).empty(), "a refusal without a word");
}

} // namespace

void fuzzGraph(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Result<Graph> graph = parseGraph(text, "fuzz.dfg");
  if (!graph.ok()) {
    expect(!render(graph.errors()).empty(), "a refusal without a word");
    return;
  }
  expect(verifyGraph(*graph).empty(), "a graph that parses and fails its verifier");
  const std::string printed = printGraph(*graph);
  const Result<Graph> again = parseGraph(printed, "again.dfg");
  expect(again.ok(),
         "a printed graph that does not parse:\n" + printed + (again.ok() ? "" : render(again.errors())));
  expect(sameGraph(*graph, *again), "a printed graph that parses to another:\n" + printed);
  expect(printGraph(*again) == printed, "a graph that prints differently the second time:\n" + printed);
  if (isSmall(*graph)) {
    compileSmall(*graph);
  }
}

} // namespace dfc::test
