#include "compiler/place/automatic_candidates.h"

#include "compiler/place/memory_demand.h"
#include "compiler/place/minimum_cut.h"
#include "compiler/place/place_by_layers.h"
#include "compiler/place/planned_seconds.h"
#include "compiler/place/task_graph_of.h"
#include "compiler/tasks/heft.h"
#include "compiler/tasks/local_search.h"
#include "compiler/tasks/peft.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

// Trial schedules of the search on task graphs, by tasks and devices.
uint64_t stepsFor(const TaskGraph& graph) {
  constexpr size_t work = 400'000;
  return std::clamp<uint64_t>(work / std::max<size_t>(1, graph.tasks.size() * graph.deviceCount()), 10, 100);
}

std::string nameOn(std::string_view method, llvm::ArrayRef<DeviceId> devices) {
  return fmt::format("{}, {} devices offered", method, devices.size());
}

bool areFirst(llvm::ArrayRef<DeviceId> devices) { return devices.back().index() + 1 == devices.size(); }

} // namespace

AutomaticCandidates::AutomaticCandidates(const PlacementProblem& problem, RatedPlacements& rated)
    : problem_(problem), rated_(rated),
      pinned_(llvm::any_of(problem.pins.ids(), [&](OpId op) { return problem.pins[op].valid(); })) {}

void AutomaticCandidates::offerSingle(DeviceId device) {
  if (pinned_ && device == problem_.machine.host()) {
    rated_.offer(placeByPins(problem_));
  }
  singles_.push_back(placeOn(problem_, device));
  rated_.planSingle(singles_.back());
  rated_.offer(singles_.back());
}

void AutomaticCandidates::offerSpread(DeviceId newest) {
  std::vector<DeviceId> upTo;
  for (uint32_t device = 0; device <= newest.index(); ++device) {
    upTo.emplace_back(device);
  }
  if (upTo.size() < 2 && !pinned_) {
    return;
  }
  const std::vector<DeviceId> alike = alikeUpTo(newest);
  if (alike.size() == 1 && newest != problem_.machine.host()) {
    if (auto cut = minimumCut(problem_, problem_.machine.host(), newest)) {
      rated_.offer(*std::move(cut));
    }
  }
  offerLists(upTo);
  if (alike.size() > 1 && alike.size() < upTo.size()) {
    offerLists(alike);
    rated_.offer(placeByLayers(problem_, alike));
  }
  if (upTo.size() > 1) {
    rated_.offer(placeByLayers(problem_, upTo));
  }
}

bool AutomaticCandidates::singleFits() const {
  return llvm::any_of(singles_, [&](const Placement& single) {
    const MemoryDemand demand = memoryDemand(single, problem_.machine);
    return fitsInto(problem_.machine, demand.least) &&
           (fitsInto(problem_.machine, demand.most) || plannedSeconds(single, problem_).has_value());
  });
}

void AutomaticCandidates::offerLists(llvm::ArrayRef<DeviceId> devices) {
  for (const Copies copies : {Copies::Implied, Copies::Explicit}) {
    const TensorTasks tasks = taskGraphOf(problem_, devices, copies);
    if (!tasks.runs || tasks.graph.tasks.empty()) {
      return;
    }
    const auto placed = [&](const TaskSchedule& schedule, std::string_view name) {
      return placementOf(schedule, tasks, problem_, nameOn(name, devices));
    };
    const auto offer = [&](const TaskSchedule& schedule, std::string_view name) {
      if (std::isfinite(schedule.makespan)) {
        rated_.offer(placed(schedule, name));
      }
    };
    TaskCandidate start{"heft", anyDevice, heft(tasks.graph), orderByRank(upwardRanks(tasks.graph))};
    if (copies == Copies::Implied && std::isfinite(start.schedule.makespan)) { // the policy of that name
      rated_.offerAndPlan(placed(start.schedule, "heft"));
    }
    offer(start.schedule, "heft");
    const TaskSchedule byPeft = peft(tasks.graph);
    offer(byPeft, "peft");
    if (areFirst(devices)) { // as the policies of these names have them on a machine of these devices
      for (const auto& [schedule, name] :
           {std::pair<const TaskSchedule&, std::string_view>(start.schedule, "heft"), {byPeft, "peft"}}) {
        if (std::isfinite(schedule.makespan)) {
          rated_.planNear(placed(schedule, name));
        }
      }
    }
    if (copies == Copies::Explicit && std::isfinite(start.schedule.makespan)) {
      const SearchLimits limits{stepsFor(tasks.graph), 1, 0, {}};
      offer(improved(tasks.graph, start, limits).schedule, "heft and local search");
    }
  }
}

std::vector<DeviceId> AutomaticCandidates::alikeUpTo(DeviceId newest) const {
  std::vector<DeviceId> found;
  for (uint32_t device = 0; device <= newest.index(); ++device) {
    if (alike(problem_.machine.devices[DeviceId(device)], problem_.machine.devices[newest])) {
      found.emplace_back(device);
    }
  }
  return found;
}

} // namespace dfc
