// Movement: a part of a value sent from one device of the mesh to another, and the collective it belongs to.
#pragma once

#include "ir/graph/graph.h"
#include "ir/machine/machine.h"

#include <string_view>

namespace dfc {

enum class MovementKind : uint8_t {
  AllGather,     ///< pieces, which every device wants whole
  Gather,        ///< pieces, which one device wants whole
  ReduceScatter, ///< partial sums, of which each device wants a range
  ReduceToOne,   ///< partial sums, which one device wants whole
  SumByExchange, ///< partial sums, which all devices want whole: every device is sent all of them
  SumByDoubling, ///< the same by recursive doubling
  SumByScatter,  ///< the same by reduce-scatter and all-gather
  AllToAll,      ///< pieces along one axis, wanted along another
  Slices,        ///< ranges of a whole value, or of pieces along the same axis
  Broadcast,     ///< a value of one device
};
/// "all-gather", "sum on all by exchange".
std::string_view name(MovementKind kind);

struct Movement {
  ValueId sent; ///< of the split graph
  DeviceId to;
  MovementKind kind = MovementKind::Broadcast;
  uint32_t collective = 0; ///< which one: the movements of one have one number
};

} // namespace dfc
