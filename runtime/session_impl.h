// What a session holds. For session*.cpp and state/session_state.cpp only.
#pragma once

#include "ir/plan/executable_parts.h"
#include "ir/plan/state/preparation.h"
#include "runtime/in_flight_steps.h"
#include "runtime/indices/fed_indices.h"
#include "runtime/open_devices.h"
#include "runtime/session.h"
#include "runtime/state/shared_state.h"

#include <memory>
#include <vector>

namespace dfc {

/// By device, which bytes of the plan lie in arenas of another session, in order.
using MovedBytes = SideTable<DeviceId, std::vector<ArenaMap::Moved>>;

struct Session::Impl {
  // Destroyed from the last to the first: steps end, arenas go, then groups, whose threads use the board.
  std::shared_ptr<Impl> sharing; // whose parameters are ours, too
  std::shared_ptr<StateTurns> turns;
  std::shared_ptr<const Executable> plan;
  ProgressBoard board;
  OpenedDevices opened;
  std::vector<ParameterRow> parameters;
  std::shared_ptr<const ArenaMaps> arenas;
  std::unique_ptr<InFlightSteps> steps;
  std::vector<FedIndices> indices; // to be looked at in feeds
  // The plan that computes prepared parameters, in our memory; null for none.
  std::unique_ptr<Impl> preparation;
  std::shared_ptr<bool> stale = std::make_shared<bool>(true); // it has to run; guarded by the turn

  /// Opens devices and writes first values, but for those of `shared`, which lie in the memory of `holder`.
  static Result<std::unique_ptr<Impl>> open(std::shared_ptr<const Executable> plan,
                                            const SessionOptions& options, llvm::ArrayRef<SharedValue> shared,
                                            const Impl* holder);
  Impl(std::shared_ptr<const Executable> thePlan, OpenedDevices devices, MovedBytes moved,
       const SessionOptions& options);

  ArenaMap::Place placeOf(ValueId value) const {
    const Slot& slot = plan->memory().slots[value];
    return (*arenas)[slot.device].at(slot.offset);
  }

  /// All mistakes of a step's feeds.
  Diagnostics refused(const NamedLiterals& feeds) const;

  /// Values that a parameter's copy of fewer bits would have as infinities, an error a parameter.
  Diagnostics beyondCopies(const NamedLiterals& values) const;

  /// Tells the turns which of these values our steps assign.
  void note(llvm::ArrayRef<ValueId> values) const;

  std::shared_ptr<InFlightStep> launch(const NamedLiterals& feeds, InFlightSteps::Awaited awaited) {
    const auto turn = turns->take(*steps);
    if (preparation != nullptr && *stale) {
      prepare();
    }
    return steps->launch(feeds, awaited);
  }

  /// Computes the prepared parameters. None of our steps is in flight: since the last that was launched,
  /// another session has had its turn, or the state was written. Throws the failures of a step.
  void prepare();
  /// Opens the preparation of the plan. Fails as Session::open.
  Diagnostics openPreparation(const SessionOptions& options);

  void write(ValueId value, const Literal& literal) {
    if (const ArenaMap::Place place = placeOf(value); place.arena != nullptr) {
      place.arena->write(place.offset, literal.bytes());
    }
  }

  Literal read(ValueId value) const {
    Literal literal(plan->graph().typeOf(value));
    if (const ArenaMap::Place place = placeOf(value); place.arena != nullptr) {
      place.arena->read(place.offset, literal.mutableBytes());
    }
    return literal;
  }

  Literal read(const ParameterRow& row) const {
    return joined(row, [&](ValueId value) { return read(value); });
  }

  void write(const ParameterPart& part, const Literal& whole) {
    write(part.value, valueOf(part, plan->graph().typeOf(part.value), whole));
  }
};

} // namespace dfc
