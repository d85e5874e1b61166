// Contents: an equivalence of values by the bytes that they stand for. Values with the same contents at the
// same offset are one `Content`: a view and its operand, and the result of an assign and its value if that
// was computed in the parameter's storage. Every other value is written by its op's step. For ir/verify/*.cpp
// only.
#pragma once

#include "ir/plan/memory_plan.h"

namespace dfc {

using ContentId = Id<struct ContentTag>;

struct Content {
  ValueId value; ///< the first value with these contents; its slot is theirs
  StepId write; ///< the step that writes them; invalid for resident values, which exist before the first step
  /// The last step of each queue that reads them.
  llvm::SmallVector<StepId, 4> lastReads;
  bool kept = false; ///< read after the last step: fetched, or state that the next step starts from
};

struct Contents {
  Table<ContentId, Content> rows;
  SideTable<ValueId, ContentId> of;
};

/// Assumes a sound placed graph and schedule shape, a slot for each value, views in the place of their
/// operand and assigns in the place of their parameter.
Contents contentsOf(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed);

} // namespace dfc
