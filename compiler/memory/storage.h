// Which values are the same storage, and when each storage is in use. Values share storage on purpose where
// one is a view of the other, where an assign's value is made in the parameter's own place, and where an
// elementwise op overwrites an operand that dies with it. Every such choice is justified by the schedule's
// happens-before relation.
#pragma once

#include "ir/plan/happens_before.h"
#include "ir/plan/schedule.h"

namespace dfc {

using StorageId = Id<struct StorageTag>;

struct StorageRow {
  DeviceId device;
  int64_t bytes = 0;
  bool resident = false; ///< holds a parameter or constant: never shared, kept between steps
  bool toEnd = false;    ///< fetched: read after the step
  StepId first;          ///< the step that writes it first; invalid for resident storage
  llvm::SmallVector<std::pair<QueueId, uint32_t>, 2>
      last;                  ///< by queue, the position of the last step that uses it
  double begin = 0, end = 0; ///< predicted lifetime
  ValueId value;             ///< the largest value in it, for messages
};

struct StoragePlan {
  Table<StorageId, StorageRow> storages;
  SideTable<ValueId, StorageId> of;
};

/// Which values are put into one storage: views and state alone, which mean it, or also results that may be
/// written over an operand or straight into their parameter, which saves memory and copies.
enum class Sharing : uint8_t { Views, InPlace };

StoragePlan planStorage(const PlacedGraph& placed, const Schedule& schedule, const HappensBefore& before,
                        Sharing sharing = Sharing::InPlace);

/// Whether every use of `a` ends before `b` is first written.
bool diesBefore(const StorageRow& a, const StorageRow& b, const HappensBefore& before);

} // namespace dfc
