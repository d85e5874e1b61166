// One op as graph text: shared by the printer of graphs and the printers of later stages.
#pragma once

#include "ir/graph/graph.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace dfc::text {

/// Appends "[[1, 2], [3, 4]]", "0.5", "fill(0)" or "[]": elements row-major, a list a dimension.
void appendLiteral(std::string& out, const Literal& literal);

class OpPrinter {
 public:
  explicit OpPrinter(const Graph& graph) : graph_(graph) {}
  /// "h : f32[2, 3] = matmul(x, w, transposeB=true)", "input x : f32[2]", "parameter w : f32[2] = zeros()", …
  void append(std::string& out, OpId op);
  /// The same without the names before '='.
  void appendCall(std::string& out, OpId op);
  /// "transposeB=true, axis=1": those that differ from the default or have none.
  std::string attributes(OpId op);

 private:
  void appendResults(std::string& out, const OpRow& row);
  llvm::ArrayRef<std::string> defaultsOf(OpKind kind);

  const Graph& graph_;
  std::array<std::optional<std::vector<std::string>>, opKindCount> defaults_; ///< attribute texts by kind
};

} // namespace dfc::text
