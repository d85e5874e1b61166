// Shared parts of the verifiers: a list of findings located by op, names that work for broken ids too, the
// readers of a value, and the shape of a schedule. For ir/verify/*.cpp only.
#pragma once

#include "ir/machine/machine_faults.h"
#include "ir/plan/happens_before.h"
#include "ir/verify/verify.h"

#include <vector>

namespace dfc {

/// Errors as they are found. An op's error carries the place where its author wrote it.
class Findings {
 public:
  explicit Findings(const Graph& graph) : graph_(graph) {}
  void at(OpId op, std::string message, std::string hint = {});
  void add(std::string message, std::string hint = {});
  bool empty() const { return errors_.empty(); }
  Diagnostics take() { return std::move(errors_); }

 private:
  const Graph& graph_;
  Diagnostics errors_;
};

/// The ops that name each value as an operand, in op order, one entry an op.
class Readers {
 public:
  explicit Readers(const Graph& graph);
  llvm::ArrayRef<OpId> of(ValueId value) const;
  /// Every op that reads the bytes of `value`: its readers and the readers of its views, in op order.
  std::vector<OpId> ofStorage(const Graph& graph, ValueId value) const;

 private:
  std::vector<uint32_t> first_;
  std::vector<OpId> ops_;
};

/// The part of verifyPlacedGraph about parameters, for a graph whose ops all have a device of the machine.
void checkPlacedState(const PlacedGraph& placed, const Machine& machine, Findings& findings);

/// The part of verifySchedule that later parts take for granted: ids, positions, queues that suit their ops,
/// and waits that point backwards. What is empty here can be asked of HappensBefore.
/// Times are not looked at.
Diagnostics scheduleShape(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine);

/// The rest of verifySchedule, and of verifyMemoryPlan. Both assume a sound shape; `before`: of the schedule.
Diagnostics scheduleOrder(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine,
                          const HappensBefore& before);
Diagnostics memoryPlaces(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed,
                         const Machine& machine, const HappensBefore& before);

/// The part of verifyLaunchPlan about peer reads. Assumes sound stages.
Diagnostics checkPeerReads(const PeerReads& peers, const PlacedGraph& placed, const Schedule& schedule,
                           const Machine& machine);

/// The part of verifyLaunchPlan about the order of launches, for launches whose queues, ops and memory are
/// sound.
void checkLaunchOrder(const LaunchPlan& launches, const PlacedGraph& placed, const Schedule& schedule,
                      const MemoryPlan& memory, Findings& findings);

/// Predicted times agree with queues, waits, makespan and bounds, up to rounding. Assumes a sound shape.
void checkScheduleTimes(const Schedule& schedule, const PlacedGraph& placed, Findings& findings);

} // namespace dfc
