// SplitValue: the parts of a value in the split graph, and their devices. Wanted: the part of a value that a
// reader needs.
#pragma once

#include "compiler/split/layout.h"
#include "ir/graph/graph.h"
#include "ir/machine/machine.h"

#include <vector>

namespace dfc {

struct SplitValue {
  Layout layout;
  TensorType whole;
  std::vector<ValueId>
      parts; ///< by device of the mesh; for OnOne a single part. Invalid: of a mirror, not made yet
  std::vector<DeviceId> where;       ///< of each part: a device of the mesh, or the host
  std::vector<SplitRange> ranges;    ///< Cut: the elements of each part along the axis
  llvm::ArrayRef<DeviceId> row = {}; ///< the row of the value (`Rows`); empty: the mesh's devices
};

/// The whole value, or a range of one axis.
struct Wanted {
  bool whole = true;
  size_t axis = 0;
  SplitRange range;
  static Wanted all() { return {}; }
  static Wanted along(size_t axis, SplitRange range) { return {false, axis, range}; }
};

} // namespace dfc
