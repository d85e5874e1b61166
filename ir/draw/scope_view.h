// ScopeView: a placed graph with each scope drawn together. One box for each scope on each device, one for
// each transfer, one for each op that has no scope; parameters and assigns are left out. It is how a
// person draws a training step: a box a layer and phase, an arrow a copy.
#pragma once

#include "ir/plan/placed_graph.h"

#include <string>
#include <utility>

namespace dfc {

struct ScopeBox {
  std::string label; ///< the scope, or the op's name where it has none
  DeviceId device;   ///< a transfer: its destination
  bool transfer = false;
  llvm::SmallVector<OpId, 4> ops; ///< in id order
};

/// A parameter, or its replica, on a device. Boxes by index.
struct ScopeState {
  OpId parameter;
  std::vector<uint32_t> readers; ///< of the value before the step, sorted
  std::vector<uint32_t> writers; ///< the computation or copy that the next value comes from: none or one
};

struct ScopeView {
  static constexpr uint32_t hidden = ~0U;
  std::vector<ScopeBox> boxes;                      ///< in the order of their first op
  std::vector<std::pair<uint32_t, uint32_t>> edges; ///< indices of boxes, each pair once, sorted
  SideTable<OpId, uint32_t> boxOf;                  ///< `hidden` for ops without a box
  std::vector<ScopeState> states;                   ///< in id order
};

/// Parameters (they are `states`), constants and the assigns of replicas have no box.
ScopeView collapseByScope(const PlacedGraph& placed);

/// The labels of transfers: "copy images0", "copy gradient of w1", "copy new w1" for the next value
/// of a parameter; "copy slice of next_batch" where the author named only the scope. Linear in the graph
/// once, then in the hops of a transfer.
class TransferLabels {
 public:
  explicit TransferLabels(const PlacedGraph& placed);
  std::string of(OpId transfer) const;

 private:
  const PlacedGraph& placed_;
  SideTable<ValueId, OpId>
      goesTo_; ///< the first transfer or assign that takes the value on; invalid for none
};

/// One label, where no more are wanted.
inline std::string transferLabel(const PlacedGraph& placed, OpId transfer) {
  return TransferLabels(placed).of(transfer);
}

} // namespace dfc
