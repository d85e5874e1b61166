// Reverse-mode differentiation: appends the ops of d loss / d x for each x, by the gradient rule of each op
// between them (Griewank and Walther, Evaluating Derivatives, ch. 3). Ordinary ops in the same graph.
#pragma once

#include "ir/builder.h"

#include <functional>

namespace dfc {

/// What a gradient rule sees: the op's operands, results and the gradients that reached the results; it gives
/// the gradients of the operands. A gradient larger than its operand (broadcasting) is summed down to the
/// operand's shape.
class GradientRule {
 public:
  GradientRule(Builder& builder, OpId op, llvm::ArrayRef<Tensor> cotangents, std::source_location where);
  Tensor operand(size_t index) const;
  Tensor result(size_t index = 0) const;
  Tensor cotangent(size_t index = 0) const { return cotangents_[index]; }
  size_t operandCount() const;
  bool wanted(size_t index) const { return wanted_.empty() || wanted_[index]; }
  void want(llvm::ArrayRef<bool> wanted) { wanted_.assign(wanted.begin(), wanted.end()); }
  Builder& builder() const { return builder_; }
  /// Adds `gradient` to what operand `index` gets. Summed to the operand's shape where it was broadcast.
  void give(size_t index, Tensor gradient);
  llvm::ArrayRef<Tensor> gradients() const {
    return gradients_;
  } ///< per operand; poisoned where none was given

 private:
  Builder& builder_;
  OpId op_;
  llvm::SmallVector<Tensor, 1> cotangents_;
  llvm::SmallVector<Tensor, 3> gradients_;
  llvm::SmallVector<bool, 3> wanted_;
  std::source_location where_;
};

/// The scope of the gradient ops of an op whose scope is `scope`: the last " forward" becomes " backward";
/// another scope gets " gradient" after its name; no scope stays none.
std::string gradientScope(std::string_view scope);

/// d loss / d x for each x of `wrt`. loss: a float scalar. The ops are pinned where the forward op is pinned
/// and scoped by `gradientScope`. An x that loss does not depend on gets zeros. Mistakes are recorded in the
/// builder.
std::vector<Tensor> gradients(Tensor loss, const std::vector<Tensor>& wrt,
                              std::source_location where = std::source_location::current());

} // namespace dfc
