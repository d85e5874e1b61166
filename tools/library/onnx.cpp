#include "tools/library/onnx.h"

#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/onnx/export/export.h"
#include "ir/author/onnx/import.h"
#include "ir/base/atomic_file.h"
#include "ir/graph/initialise.h"
#include "runtime/weights/file_initialiser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace dfc {
namespace {

/// The values of a graph's parameters: those that are given, and first values.
class ParameterValues {
 public:
  ParameterValues(const Graph& graph, const OnnxExportOptions& options)
      : graph_(graph), state_(options.state), files_(options.dataFolder) {
    std::vector<std::string> names;
    for (const OpId op : graph.opsOf(OpKind::Parameter)) {
      names.emplace_back(graph.nameOf(op));
      check(op, valueOf(op));
    }
    for (const auto& [name, value] : state_) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        const auto near = nearestName(name, names);
        errors_.push_back(errorWithoutPlace(fmt::format("the graph has no parameter '{}'", name),
                                            near
                                                ? fmt::format("did you mean '{}'?", *near)
                                                : fmt::format("its parameters: {}", fmt::join(names, ", "))));
      }
    }
  }
  const Diagnostics& errors() const { return errors_; }
  const Literal& at(OpId op) const { return values_.at(op); }

 private:
  Result<Literal> valueOf(OpId op) {
    const auto& parameter = graph_[op].as<ops::Parameter>();
    const auto given = state_.find(graph_.nameOf(op));
    if (given != state_.end()) {
      return given->second;
    }
    return parameter.initialiser == ops::Parameter::Initialiser::File ? files_.read(parameter.file)
                                                                      : Result(initialise(parameter));
  }

  void check(OpId op, const Result<Literal>& value) {
    const TensorType& type = graph_.typeOf(graph_[op].firstResult);
    if (!value) {
      errors_.insert(errors_.end(), value.errors().begin(), value.errors().end());
    } else if (value->type() != type) {
      errors_.push_back({Severity::Error, graph_.locationOf(op),
                         fmt::format("parameter '{}' is {}, but its value is {}", graph_.nameOf(op),
                                     toString(type), toString(value->type())),
                         "give the value of the graph's own parameter"});
    } else {
      values_.emplace(op, *value);
    }
  }

  const Graph& graph_;
  const NamedLiterals& state_;
  FileInitialiser files_;
  std::map<OpId, Literal> values_;
  Diagnostics errors_;
};

// Each tensor begins at a multiple of the alignment; the last has nothing behind it.
Status writeTensors(const std::string& path, const std::vector<Literal>& tensors) {
  constexpr uint64_t alignment = onnx::WrittenModel::alignment;
  static const std::vector<std::byte> zeros(alignment);
  std::vector<std::span<const std::byte>> pieces;
  for (const Literal& tensor : tensors) {
    pieces.push_back(tensor.bytes());
    pieces.push_back(std::span(zeros).first((alignment - tensor.bytes().size() % alignment) % alignment));
  }
  pieces.pop_back();
  return writePiecesAtomically(path, pieces);
}

constexpr uint64_t largestMessage = (uint64_t{1} << 31) - 1; // of protobuf

Status writeModel(const onnx::WrittenModel& model, const std::string& path, const std::string& dataPath) {
  if (model.bytes.size() > largestMessage) {
    return Status(Diagnostic{
        Severity::Error,
        {path},
        fmt::format("would have {} bytes, more than the 2 GiB of a protobuf message", model.bytes.size()),
        "let the model itself hold less (mostInline)"});
  }
  if (!model.external.empty()) {
    if (Status written = writeTensors(dataPath, model.external); !written) {
      return written;
    }
  }
  return writeFileAtomically(path, model.bytes);
}

} // namespace

Result<Graph> importOnnx(const std::string& path, const OnnxOptions& options) {
  onnx::ImportSettings settings;
  settings.dims = options.dims;
  settings.values = options.values;
  settings.weightFile = options.weightFile.empty() ? path : options.weightFile;
  settings.evaluate = evaluateOp;
  return onnx::importFile(path, settings);
}

Status exportOnnx(const Graph& graph, const std::string& path, const OnnxExportOptions& options) {
  const auto expanded = expandGradients(graph);
  if (!expanded) {
    return expanded.errors();
  }
  const ParameterValues values(*expanded, options);
  if (!values.errors().empty()) {
    return values.errors();
  }
  const std::string dataPath = path + ".data";
  onnx::ExportSettings settings;
  settings.dataFile = std::filesystem::path(dataPath).filename().string();
  settings.mostInline = options.mostInline;
  const auto valueOf = [&](OpId op) { return values.at(op); };
  settings.valueOf = valueOf;
  const auto model = onnx::exportModel(*expanded, settings);
  return model ? writeModel(*model, path, dataPath) : Status(model.errors());
}

} // namespace dfc
