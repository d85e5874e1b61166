// OpFloor: seconds of a device that an op of a split takes at least. Only products, convolutions and
// attention count, at the highest rate of the device for them: passes behind the split join all else with
// other ops, or drop it. Where a kernel that is generated may compute the op, what it reads from the cache
// and launches that it shares are taken off.
#pragma once

#include "compiler/split/mesh.h"
#include "compiler/split/op_options.h"

namespace dfc {

class OpFloor {
 public:
  OpFloor(const Graph& graph, const Mesh& mesh, const Machine& machine, const CostModel& cost);
  /// On average over the devices of the mesh, of an op with this option.
  double seconds(OpId op, const OpOption& option) const;
  /// Whole, on one device.
  double wholeSeconds(OpId op) const;

 private:
  double atPeak(OpId op) const;
  double saved(OpId op, const OpOption& option) const;
  int savingPasses(OpId op) const;

  const Graph& graph_;
  const Mesh& mesh_;
  const Machine& machine_;
  double ofPeak_; ///< CostModel::leastOfPeak of the mesh
};

} // namespace dfc
