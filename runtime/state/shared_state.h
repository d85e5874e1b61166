// What sessions that share parameters need beside them: which values of a plan lie in another session's
// memory, and the order of their steps.
#pragma once

#include "runtime/in_flight_steps.h"
#include "runtime/state/arena_map.h"

#include <map>

namespace dfc {

/// A session's plan and its parameters.
struct StateOwner {
  const Executable& plan;
  const std::vector<ParameterRow>& parameters;
};

/// A value of a plan, and the value of the other plan in whose bytes it lies.
struct SharedValue {
  ValueId own, other;
};

/// The parameters that both plans have, by name: their parts and replicas, each on one device. Errors:
/// types that differ, all at once; devices and parts that differ, as one, and plans without a parameter in
/// common.
Result<std::vector<SharedValue>> sharedValues(const StateOwner& own, const StateOwner& other);

/// The steps of sessions that share parameters: those of one session have ended before those of another
/// begin. For every session there is one of these, alone or with others.
class StateTurns {
 public:
  /// Keeps other sessions from launching steps while it is held; their steps have ended.
  [[nodiscard]] std::unique_lock<std::mutex> take(InFlightSteps& steps);
  /// The session is closed: its steps have ended.
  void leave(const InFlightSteps& steps);
  /// A parameter at this place is among those of a session, which assigns it or does not. Kernels of a
  /// session that does not may keep what they make of it, until another's turn ends.
  void note(const InFlightSteps& steps, const ArenaMap::Place& place, bool assigned);
  /// From now on `stale` is set where the parameter at this place may have changed.
  void watch(const ArenaMap::Place& place, std::shared_ptr<bool> stale);
  /// The parameter at this place was written. Called in a turn.
  void changed(const ArenaMap::Place& place);

 private:
  using Key = std::pair<Arena*, int64_t>;
  struct Users {
    bool reads = false;
    llvm::SmallVector<const InFlightSteps*, 1> assigning;
    llvm::SmallVector<std::weak_ptr<bool>, 1> watchers;
  };
  void endTurn();

  std::mutex mutex_;
  InFlightSteps* last_ = nullptr; // whose turn it is
  std::map<Key, Users> users_;
};

} // namespace dfc
