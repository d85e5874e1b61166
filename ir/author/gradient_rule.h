// What the gradient rule of an op is written with (ir/author/gradients/), and where its ops are scoped.
#pragma once

#include "ir/author/builder.h"
#include "ir/graph/graph.h"

#include <llvm/ADT/STLFunctionalExtras.h>

namespace dfc {

/// What a gradient rule sees: the op's operands, its result and the gradient that reached it; it gives the
/// gradients of the operands. The rule writes ordinary ops through the DSL; scope, pin and place are set
/// around it.
class GradientRule {
 public:
  /// `cotangents`: one for each result, of its type. `wanted`: per operand whether its gradient is asked for;
  /// empty means all. `reached`: per result whether any gradient reached it; empty means all. `soFar`: see
  /// soFar(); lives as long as the rule.
  GradientRule(Builder& builder, OpId op, llvm::ArrayRef<Tensor> cotangents, llvm::ArrayRef<bool> wanted = {},
               llvm::ArrayRef<bool> reached = {}, llvm::function_ref<Tensor(size_t)> soFar = nullptr);
  Tensor operand(size_t index) const;
  Tensor result(size_t index = 0) const;
  Tensor cotangent(size_t index = 0) const { return cotangents_[index]; }
  /// Whether the cotangent of a result is more than the zeros of a result that nothing uses.
  bool reached(size_t index) const { return reached_.empty() || reached_[index]; }
  size_t operandCount() const { return gradients_.size(); }
  /// A rule may skip work whose result nobody asked for.
  bool wanted(size_t index) const { return wanted_.empty() || wanted_[index]; }
  Builder& builder() const { return builder_; }
  /// Adds `gradient` to what operand `index` gets, summed to the operand's shape where that was broadcast.
  void give(size_t index, Tensor gradient);
  /// What operand `index` got from its other users so far; invalid where there is none, or where the sum
  /// would have to leave the op's pin. A rule that adds to it says so by `giveSum`.
  Tensor soFar(size_t index) const { return soFar_ ? soFar_(index) : Tensor(); }
  /// `sum` is `soFar(index)` with this op's gradient added.
  void giveSum(size_t index, Tensor sum);
  bool givesSum(size_t index) const { return givesSum_[index]; }
  /// The results do not depend on the value of operand `index`: its gradient is zero, which is no mistake.
  void independentOf(size_t index) { independent_[index] = true; }
  bool isIndependentOf(size_t index) const { return independent_[index]; }
  /// Per operand; poisoned where none was given.
  llvm::ArrayRef<Tensor> gradients() const { return gradients_; }

 private:
  Builder& builder_;
  OpId op_;
  llvm::SmallVector<Tensor, 1> cotangents_;
  llvm::SmallVector<Tensor, 3> gradients_;
  llvm::SmallVector<bool, 3> wanted_, reached_;
  llvm::SmallVector<bool, 3> independent_, givesSum_;
  llvm::function_ref<Tensor(size_t)> soFar_;
};

/// The gradient of a composite op by its decomposition (ir/author/decompositions.h): for one without a better
/// rule.
void decomposedGradient(const OpAttributes& attributes, GradientRule& rule);

/// The scope of the gradient ops of an op whose scope is `scope`: the last " forward" becomes " backward";
/// another scope gets " gradient" after its name; no scope stays none.
std::string gradientScope(std::string_view scope);

} // namespace dfc
