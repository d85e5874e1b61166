// What each byte of an arena is asked to hold: values with the same contents in the same place are one
// `Content`. A view has the contents of its operand; so has the result of an assign whose value was computed
// in the parameter's own place. Every other value is written by its op's step. For ir/verify/*.cpp only.
#pragma once

#include "ir/plan/memory_plan.h"

namespace dfc {

using ContentId = Id<struct ContentTag>;

struct Content {
  ValueId value; ///< the first value with these contents; its slot is theirs
  StepId write;  ///< the step that writes them; invalid for resident values, which are there from the start
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
