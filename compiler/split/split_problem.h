// SplitProblem: the choice of a split at one price as tables of costs. Variables: the option of each op, in
// the order of ops; then, for each value of several readers, the layout that it is brought into, so that what
// is sent once serves all readers.
#pragma once

#include "compiler/split/choice/choice_problem.h"
#include "compiler/split/mesh.h"
#include "compiler/split/op_options.h"
#include "compiler/split/split_plan.h"

#include <utility>
#include <vector>

namespace dfc {

/// What a problem is made from. `price`: of a second of communication, in seconds of computation. `feeds`: of
/// a second in which inputs are brought to devices, in seconds of other communication: steps in a sequence
/// get their feeds during the step before.
struct PricedOptions {
  const Graph& graph;
  const Mesh& mesh;
  const SideTable<OpId, std::vector<OpOption>>& options;
  const SideTable<OpId, std::vector<double>>& seconds; ///< by option
  double price = 1;
  double feeds = 1;
  const Rows* rows = nullptr; ///< null: the mesh has one axis
  /// Of graphs with micro-batches.
  struct Batches {
    const SideTable<OpId, bool>* holds = nullptr; ///< by op: whether it is of a micro-batch; null: none is
    double each = 1;                              ///< micro-batches that each one in the graph stands for
    double byte = 0; ///< seconds, of a byte that is brought to a device once and held for all of them
  } batches = {};
};

struct SplitProblem {
  ChoiceProblem choice;
  std::vector<std::pair<OpId, uint32_t>> brought; ///< producers and the variables of what they give, in order
};

SplitProblem splitProblem(const PricedOptions& given);

/// The choice of data parallelism: inputs cut along their first axis, and each op as its operands are cut.
std::vector<uint32_t> followInputs(const SplitProblem& problem, const PricedOptions& given);

} // namespace dfc
