// resolve: a sealed executable and its arenas become one program a queue, with nothing left to look up. What
// it settles once so that no step has to:
//
//   - inputs cost nothing: a reader of a fed value (or of a view of it) reads the caller's own buffer;
//   - a fetched value that no op reads is written straight into the step's fetch buffer by the op or
//     transfer that makes it; any other is copied there right after it was made;
//   - views, and assigns whose value already lies in the parameter's storage, are order without work;
//   - steps follow one another by waits alone: the first command of each queue waits for those queue ends
//     of the step before that no command waits for. That is all of them: an end that is waited for comes
//     before another end.
#pragma once

#include "runtime/state/arena_map.h"

namespace dfc {

/// An input of the plan, all of what the caller feeds under its name or rows of it.
struct FeedRow {
  std::string name;   ///< the author's
  TensorType type;    ///< of what the caller feeds
  int64_t offset = 0; ///< in bytes: of the input in what the caller feeds
};

struct FetchRow {
  std::string name;
  TensorType type;
  WaitFor ready; ///< when its buffer has been written
};

struct ResolvedPlan {
  std::vector<Program> programs; ///< of the queues that have work, in queue order
  std::vector<FeedRow> feeds;
  std::vector<FetchRow> fetches;
};

/// `arenas`: by device, null where the plan has no memory; `board`: a word for each queue of the schedule.
/// Asserts what the verifiers promise.
ResolvedPlan resolve(const Executable& plan, std::shared_ptr<const ArenaMaps> arenas,
                     const ProgressBoard& board);
/// The same with all bytes in arenas of the plan's own.
ResolvedPlan resolve(const Executable& plan, const SideTable<DeviceId, Arena*>& arenas,
                     const ProgressBoard& board);

} // namespace dfc
