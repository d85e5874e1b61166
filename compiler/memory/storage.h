// planStorage: which values share one storage, and the lifetime of each storage. Values share storage where
// one is a view of the other, of all its bytes or of some, where an assign's value is computed in the
// parameter's own storage, and where an elementwise op overwrites an operand of which it is the last user.
// Each choice is justified by the happens-before relation of the schedule.
#pragma once

#include "ir/plan/happens_before.h"
#include "ir/plan/schedule.h"

namespace dfc {

using StorageId = Id<struct StorageTag>;

struct StorageRow {
  DeviceId device;
  int64_t bytes = 0;
  bool resident = false; ///< holds a parameter or constant: kept between steps, its bytes never reused
  bool liveOut = false;  ///< fetched: read after the step
  StepId first;          ///< the step that writes it first; invalid for resident storage
  llvm::SmallVector<std::pair<QueueId, uint32_t>, 2>
      last;                  ///< by queue: position of the last step that uses it
  double begin = 0, end = 0; ///< predicted lifetime
  ValueId value;             ///< the largest value in it, for messages
};

struct StoragePlan {
  Table<StorageId, StorageRow> storages;
  SideTable<ValueId, StorageId> of;
  SideTable<ValueId, int64_t> offset; ///< bytes, of the value in its storage: 0 but for subviews
};

/// Which values share a storage. Views: views and assigned state alone, which share it by definition.
/// InPlace: also results that overwrite an operand or are written straight into their parameter, which saves
/// memory and copies.
enum class Sharing : uint8_t { Views, InPlace };

StoragePlan planStorage(const PlacedGraph& placed, const Schedule& schedule, const HappensBefore& before,
                        Sharing sharing = Sharing::InPlace);

/// Whether every use of `a` ends before `b` is first written.
bool diesBefore(const StorageRow& a, const StorageRow& b, const HappensBefore& before);

} // namespace dfc
