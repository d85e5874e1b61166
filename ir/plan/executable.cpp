#include "ir/plan/executable_parts.h"

namespace dfc {

struct Executable::Parts {
  PlacedGraph placed;
  Schedule schedule;
  MemoryPlan memory;
  LaunchPlan launches;
  Machine machine;
  std::string policy;
};

Executable::Executable(PlacedGraph placed, Schedule schedule, MemoryPlan memory, LaunchPlan launches,
                       Machine machine, std::string policy)
    : parts_(
          std::make_shared<const Parts>(Parts{std::move(placed), std::move(schedule), std::move(memory),
                                              std::move(launches), std::move(machine), std::move(policy)})) {}

const Graph& Executable::graph() const { return parts_->placed.graph; }
const PlacedGraph& Executable::placed() const { return parts_->placed; }
const Schedule& Executable::schedule() const { return parts_->schedule; }
const MemoryPlan& Executable::memory() const { return parts_->memory; }
const LaunchPlan& Executable::launches() const { return parts_->launches; }
const Machine& Executable::machine() const { return parts_->machine; }
const std::string& Executable::policy() const { return parts_->policy; }
double Executable::predictedSeconds() const { return parts_->schedule.steady.seconds; }
double Executable::lowerBoundSeconds() const { return parts_->schedule.steady.bound; }

} // namespace dfc
