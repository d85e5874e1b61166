// A model to a graph of dfc, with all that is wrong at once. The entry for programs, which brings the
// interpreter along, is importOnnx.
#pragma once

#include "ir/author/onnx/scope.h"
#include "ir/graph/graph_class.h"

namespace dfc::onnx {

struct ImportSettings {
  std::map<std::string, int64_t> dims; ///< lengths of free dimensions, by name or "INPUT.AXIS"
  NamedLiterals values;                ///< inputs that become constants
  NamedLiterals samples;               ///< types of inputs, and contents where a shape depends on them
  std::string weightFile; ///< how parameters name the model's file; "": all initialisers become constants
  OpEvaluator evaluate = nullptr;
};

struct Imported {
  std::optional<Graph> graph;    ///< none where there are problems
  std::vector<Problem> problems; ///< in the order of the nodes
};

/// Throws nothing but std::bad_alloc.
Imported importModel(const OnnxModel& model, const ImportSettings& settings);

/// The problems as messages that name the file: all missing ops in one, each with its nodes.
Diagnostics diagnosticsOf(const std::vector<Problem>& problems, const std::string& path);

/// Reads the file and imports it.
Result<Graph> importFile(const std::string& path, const ImportSettings& settings);

/// The initialiser of this name, for a parameter that starts from "model.onnx#name".
class WeightFile {
 public:
  static Result<WeightFile> open(const std::string& path);
  Result<Literal> read(const std::string& name);
  std::vector<std::string> names() const;

 private:
  explicit WeightFile(OnnxModel model);
  std::shared_ptr<OnnxModel> model_;
  std::map<std::string, const OnnxTensor*> tensors_;
  ExternalFiles external_;
};

} // namespace dfc::onnx
