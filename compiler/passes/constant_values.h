// ConstantValues: the contents of values that are computed from constants alone, such as a causal mask.
#pragma once

#include "ir/graph/graph.h"

#include <llvm/ADT/DenseMap.h>

#include <array>
#include <optional>

namespace dfc {

/// The number that every element of a literal is, by its bits; none for other literals and for those without
/// elements.
std::optional<double> splatOf(const Literal& literal);

class ConstantValues {
 public:
  /// No value on the way to an answer may have more elements than this.
  static constexpr int64_t mostElements = int64_t{1} << 24;

  explicit ConstantValues(const Graph& graph) : graph_(graph) {}
  /// The contents of `value`; none where it depends on an input, a parameter or a product, is larger than
  /// mostElements or stands behind a chain of more than 64 ops. Equal formulas are computed once.
  std::optional<Literal> contents(ValueId value);
  /// The number that every element of `value` is: the splat of its contents, or of what it is broadcast from.
  std::optional<double> number(ValueId value);

 private:
  struct Formula {
    OpId op;
    llvm::SmallVector<ValueId, 3> operands; // representatives
  };
  ValueId representative(ValueId value, int depth);
  ValueId known(OpId op, llvm::ArrayRef<ValueId> operands);

  const Graph& graph_;
  llvm::DenseMap<ValueId, ValueId> representatives_; // invalid: not constant
  std::array<llvm::SmallVector<Formula, 0>, opKindCount> evaluated_;
  llvm::DenseMap<ValueId, Literal> contents_; // by representative
};

} // namespace dfc
