// parameter: a value that outlives a step (weights, optimiser state). `assign` gives its next value; a step
// reads the old one. How it starts: zeros, a constant, drawn from Philox 4x32-10 (Salmon et al., SC 2011: a
// seed gives the same bits anywhere), or read from a file. starts and whole: it is a part of a parameter of
// shape `whole`, from index `starts` on, and starts as that part does.
#pragma once

#include "ir/graph/initialiser.h"
#include "ir/graph/op_parts.h"
#include "ir/graph/rules/place_in_whole.h"

namespace dfc::ops {

/// The state of loss scaling, by an author (LossScaling) or by the pass scale_losses, which is the only one
/// that derives parameters.
inline constexpr std::string_view lossScaleName = "lossScale", finiteStepsName = "lossScale.finiteSteps";

struct Parameter : OpDefaults {
  using Initialiser = dfc::Initialiser::Kind; ///< fans: see `fansOf`
  static constexpr OpClass opClass = OpClass::Source;
  static constexpr Arity arity{0, 0};
  TensorType type;
  Initialiser initialiser = Initialiser::Zeros;
  double a = 0, b = 0;
  int64_t seed = 0;
  std::string file;
  /// Derived by a pass, so that the graph's plans of other options lack it. A checkpoint may lack it, too.
  bool ofPlan = false;
  TensorPart part = {}; ///< of the tensor that the initialiser makes
  std::string of = {};  ///< of a split graph: the author's parameter of which it is a part or a copy
  void fields(AttributeVisitor& visitor);

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& given);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
