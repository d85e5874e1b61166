// The ways in which an op can run on a mesh: on one device, on all, in parts by a factor of its split rule,
// or on partial sums that it is linear in; and the layouts that each way asks of its operands and gives.
#pragma once

#include "compiler/split/layout.h"
#include "compiler/split/mesh.h"
#include "ir/graph/graph.h"

#include <llvm/ADT/STLExtras.h>

#include <vector>

namespace dfc {

struct OpOption {
  enum class Form : uint8_t {
    OnOne,  ///< one device computes it
    OnAll,  ///< every device computes it
    Parts,  ///< device d computes part d of `factor`
    Linear, ///< every device applies it to its own partial sums
  };
  Form form = Form::OnAll;
  uint32_t factor = 0; ///< Parts: index into the rule's factors
  llvm::SmallVector<Layout, 3> operands;
  llvm::SmallVector<Layout, 2> results;
};

enum class OptionSpace : uint8_t {
  All, ///< whatever the rules allow
  /// An op on small values alone is computed by every device, as its parts would be latency, unless an
  /// operand may be in parts where it is made, such as the statistics of rows. It reads sums that are whole,
  /// unless it adds several of them or is a view: else one sum is exchanged more than once.
  Useful,
  /// As `Useful`, for a mesh whose devices represent groups: every group holds and updates all state, which
  /// the split within the group then divides.
  OfGroups,
  /// The same, but a group may also hold and update a part of each parameter (Rajbhandari et al. 2020,
  /// "ZeRO", stage 1). All groups still do the same.
  OfGroupsInParts,
};

/// What the options of an op depend on beside its rule.
struct OptionLimits {
  const std::vector<double>&
      shares; ///< of the devices: a factor of fewer positions than devices is no option
  bool mayBeOnOne = false;
  bool mayBeOnAll = true;
  OptionSpace space = OptionSpace::All;
  /// Whether some option of an operand's op makes it in parts along the axis; none: not known.
  llvm::function_ref<bool(ValueId, size_t)> comesCut = nullptr;
  bool mayBeInParts = true; ///< whether the op may be cut by a factor of its rule
};

/// In a fixed order; never empty.
std::vector<OpOption> optionsOf(const Graph& graph, OpId op, const SplitRule& rule,
                                const OptionLimits& limits);

/// The option of an unsplit op: `form` is OnOne or OnAll.
OpOption wholeOption(const Graph& graph, OpId op, OpOption::Form form);

/// Whether each part of the op is one that its type rule accepts: a part may be too short for a window.
bool partsAreTyped(const Graph& graph, OpId op, const SplitFactor& factor, llvm::ArrayRef<SplitRange> ranges);

SplitRule ruleOf(const Graph& graph, OpId op);

/// Which ops may run whole on one device of the mesh, and which on all.
struct WholeOps {
  /// Inputs, custom ops, and the ops of the update, those whose results reach nothing but assigns and
  /// fetches, by elementwise ops, reductions and views, with their parameters. Not one with a result of more
  /// than a quarter of a device's share of all parameters: devices could not be loaded evenly; nor with a
  /// small one, which all devices update alike. On unlike devices, too, the state that `onAll` leaves out.
  SideTable<OpId, bool> onOne;
  /// All but inputs, custom ops and, on unlike devices, parameters that a step assigns, with their assigns:
  /// such devices round differently, so that copies would drift apart.
  SideTable<OpId, bool> onAll;
  /// The ops of the update.
  SideTable<OpId, bool> update;
};
WholeOps wholeOps(const Graph& graph, const Mesh& mesh);

} // namespace dfc
