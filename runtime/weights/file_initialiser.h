// Reads first values of parameters from the files that a graph names, each file once.
#pragma once

#include "ir/author/onnx/import.h"
#include "ir/graph/literal.h"

#include <map>
#include <string>

namespace dfc {

class FileInitialiser {
 public:
  /// `dataFolder`: where relative paths begin.
  explicit FileInitialiser(std::string dataFolder) : dataFolder_(std::move(dataFolder)) {}

  /// "weights.npy", "weights.safetensors#name" or "model.onnx#name".
  Result<Literal> read(const std::string& file);

 private:
  std::string pathOf(const std::string& file) const;
  Result<Literal> arrayOf(const std::string& path);
  Result<Literal> weightOf(const std::string& path, const std::string& name);
  Result<Literal> tensorOf(const std::string& path, const std::string& name);

  std::string dataFolder_;
  std::map<std::string, Result<NamedLiterals>> archives_;
  std::map<std::string, Result<onnx::WeightFile>> models_;
  std::map<std::string, Result<Literal>> arrays_;
};

} // namespace dfc
