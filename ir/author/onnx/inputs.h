// The inputs of a model as inputs of the graph under construction, every free dimension bound.
#pragma once

#include "ir/author/onnx/import.h"

#include <set>

namespace dfc::onnx {

/// Of one import; what is wrong with inputs and bindings goes to `problems`.
class Inputs {
 public:
  Inputs(const ImportSettings& settings, std::vector<Problem>& problems)
      : settings_(settings), problems_(problems) {}
  /// Up to version 3 of the format initialisers are inputs, too.
  void define(OnnxScope& scope, const OnnxPort& port);
  /// What no input has asked for, and what nothing was bound to.
  void finish();

 private:
  void defineAs(OnnxScope& scope, const OnnxPort& port, Tensor tensor);
  int64_t lengthOf(const OnnxPort& port, size_t axis);
  std::optional<TensorType> typeOf(const OnnxPort& port);
  void sayFreeDimensions();
  void sayUnknownDimensions();
  void sayUnknownInputs();
  const ImportSettings& settings_;
  std::vector<Problem>& problems_;
  std::map<std::string, std::vector<std::string>> free_; ///< and the inputs that have it
  std::set<std::string> asked_, known_;
  std::vector<std::string> names_;
};

} // namespace dfc::onnx
