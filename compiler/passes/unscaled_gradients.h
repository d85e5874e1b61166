// Parameters that a plan of f16 trains by gradients of a loss that scale_losses cannot scale: those of calls
// of `gradients` that cannot be written anew, and those that a graph spells out, as a graph file does that
// was printed from a finished graph. The warnings say so, as such gradients become 0 below f16's range.
#pragma once

#include "compiler/passes/gradient_updates.h"

namespace dfc {

class UnscaledGradients {
 public:
  UnscaledGradients(const Graph& graph, const Differentiations& written, const GradientUpdates& updates);
  /// Whether an assign depends on a call that cannot be written anew.
  bool hasKeptCall() const { return kept_.valid(); }
  /// Says why; empty where no product of such a call is in f16.
  Diagnostics warnOfKeptCall() const;
  /// Of parameters whose next values depend on products in f16 and on ops that plainly are gradients and
  /// belong to no call: none that is a layer by itself is one of those.
  Diagnostics warnOfSpelledOut() const;

 private:
  enum Mark : uint8_t { OfF16 = 1, OfGradient = 2 }; ///< a product in f16, a gradient that is spelled out

  void mark(OpId op);
  bool isSpelledOut(OpId op) const;
  bool hasNameOfGradient(OpId op) const;
  bool isInScopeOfGradient(OpId op) const;

  const Graph& graph_;
  const Differentiations& written_;
  SideTable<ValueId, uint8_t> marks_; ///< of the values that the value depends on, too
  OpId kept_, keptInF16_;             ///< the first op of such a call that an assign depends on
};

} // namespace dfc
