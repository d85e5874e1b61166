// State by name: a parameter of the author and where its parts and replicas lie in a placed graph are one.
#pragma once

#include "ir/graph/rules/place_in_whole.h"
#include "ir/plan/placed_graph.h"

#include <llvm/ADT/DenseSet.h>

namespace dfc {

/// A parameter of the plan, all of an author's parameter or a part of it.
struct ParameterPart {
  ValueId value;
  TensorPart place; ///< in the author's
};

/// A parameter and where its copies lie.
struct ParameterRow {
  std::string name; ///< the author's, as its type is
  TensorType type;
  llvm::SmallVector<ParameterPart, 1> parts;  ///< together the parameter
  llvm::SmallVector<ParameterPart, 2> copies; ///< the parts and their replicas, some in a type of 16 bits
  bool ofPlan = false;                        ///< derived by a pass (ops::Parameter)
};

/// In graph order; replicas are counted to their original, parts and copies of a split graph to the author's
/// parameter.
std::vector<ParameterRow> parametersOf(const PlacedGraph& placed);

} // namespace dfc
