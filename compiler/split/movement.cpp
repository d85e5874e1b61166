#include "compiler/split/movement.h"

#include "ir/base/assert.h"

namespace dfc {

std::string_view name(MovementKind kind) {
  switch (kind) {
  case MovementKind::AllGather: return "all-gather";
  case MovementKind::Gather: return "gather on one";
  case MovementKind::ReduceScatter: return "reduce-scatter";
  case MovementKind::ReduceToOne: return "sum on one";
  case MovementKind::SumByExchange: return "sum on all by exchange";
  case MovementKind::SumByDoubling: return "sum on all by doubling";
  case MovementKind::SumByScatter: return "sum on all by scatter";
  case MovementKind::AllToAll: return "all-to-all";
  case MovementKind::Slices: return "slices";
  case MovementKind::Broadcast: return "broadcast";
  }
  DFC_UNREACHABLE("a movement of another kind");
}

} // namespace dfc
