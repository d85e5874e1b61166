// Models of ONNX: what is read becomes a graph, or a refusal with a place; and the model that the graph is
// written as is read again to a graph of the same inputs and results.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/onnx/export/export.h"
#include "ir/author/onnx/import.h"
#include "ir/graph/graph.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/targets.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

constexpr size_t mostOps = 2000;            // of a graph that is written again
constexpr int64_t mostElements = 1'000'000; // of one of its parameters

onnx::ImportSettings settingsFor(const onnx::OnnxModel& model) {
  onnx::ImportSettings settings;
  settings.evaluate = evaluateOp;
  settings.weightFile = "fuzz.onnx";
  for (const onnx::OnnxPort& port : model.graph.inputs) {
    for (size_t axis = 0; port.dims && axis < port.dims->size(); ++axis) {
      if ((*port.dims)[axis].length < 0) {
        settings.dims[fmt::format("{}.{}", port.name, axis)] = 2;
      }
    }
  }
  return settings;
}

bool writtenAgain(const Graph& graph) {
  bool small = graph.opCount() <= mostOps;
  for (const NamedType& parameter : graph.parameters()) {
    small = small && parameter.type.shape.elements() <= mostElements;
  }
  return small;
}

bool agree(const std::vector<NamedType>& a, const std::vector<NamedType>& b) {
  bool same = a.size() == b.size();
  for (size_t i = 0; same && i < a.size(); ++i) {
    same = a[i].name == b[i].name && a[i].type == b[i].type;
  }
  return same;
}

onnx::OnnxModel modelOf(std::span<const std::byte> bytes) {
  return onnx::parseModel(onnx::MappedFile::ofBytes(bytes), "fuzz.onnx");
}

void expectTheSameAgain(const Graph& graph) {
  onnx::ExportSettings settings;
  settings.mostInline = uint64_t{1} << 30;
  const auto zeros = [&](OpId op) { return Literal(graph.typeOf(graph[op].firstResult)); };
  settings.valueOf = zeros;
  const auto written = onnx::exportModel(graph, settings);
  if (!written) { // names that clash, ops that a model cannot have
    expect(!render(written.errors()).empty(), "a refusal without words");
    return;
  }
  const onnx::OnnxModel model = modelOf(std::as_bytes(std::span(written->bytes)));
  const onnx::Imported again = onnx::importModel(model, settingsFor(model));
  expect(again.graph.has_value(), again.problems.empty() ? std::string("no graph") : again.problems[0].what);
  expect(agree(graph.inputs(), again.graph->inputs()), "other inputs when it is read again");
  expect(agree(graph.results(), again.graph->results()), "other results when it is read again");
}

} // namespace

void fuzzOnnx(std::span<const std::byte> bytes) {
  onnx::OnnxModel model;
  try {
    model = modelOf(bytes);
  } catch (const onnx::BadFile& refusal) {
    expect(*refusal.what() != '\0', "a refusal without words");
    return;
  }
  const onnx::Imported imported = onnx::importModel(model, settingsFor(model));
  if (!imported.graph) {
    for (const Diagnostic& error : onnx::diagnosticsOf(imported.problems, "fuzz.onnx")) {
      expect(error.where.file == "fuzz.onnx" && !render(error).empty(), "a refusal without a place");
    }
    return;
  }
  if (writtenAgain(*imported.graph)) {
    expectTheSameAgain(*imported.graph);
  }
}

} // namespace dfc::test
