#include "compiler/tasks/task_placer.h"

#include "compiler/tasks/task_bounds.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace dfc {
namespace {

constexpr uint32_t unsettled = anyDevice;

} // namespace

TaskPlacer::TaskPlacer(const TaskGraph& graph) : graph_(graph) {
  for (const uint32_t queues : graph.queues) {
    queues_.emplace_back(queues);
  }
  for (const uint32_t slots : graph.linkSlots) {
    links_.emplace_back(slots);
  }
  for (const TaskRow& task : graph.tasks) {
    floats_ |= task.floating;
  }
  simple_ = llvm::all_of(graph.linkSlots, [](uint32_t slots) { return slots == 1; }) &&
            llvm::all_of(graph.paths, [](const auto& path) { return path.size() <= 1; });
  findDeadEnds();
}

void TaskPlacer::findDeadEnds() {
  const bool connected = llvm::all_of(graph_.communication, [](const LinkCost& cost) {
    return std::isfinite(cost.latency) && std::isfinite(cost.secondsPerByte);
  });
  if (!connected) {
    for (const double tail : headsAndTails(graph_).tails) {
      deadEnds_.push_back(tail == infiniteSeconds ? 1 : 0);
    }
  }
}

double TaskPlacer::run(llvm::ArrayRef<TaskId> order, const PlacementRule& rule) {
  reset();
  for (const TaskId task : order) {
    if (!graph_.tasks[task].floating && !place(task, rule)) {
      return infiniteSeconds;
    }
  }
  if (floats_) {
    settleTheRest();
  }
  return makespan_;
}

TaskSchedule TaskPlacer::schedule() const {
  TaskSchedule result;
  result.tasks = SideTable<TaskId, TaskPlacement>(placed_.size());
  for (const TaskId task : graph_.tasks.ids()) {
    result.tasks[task] = placed_[task.index()];
  }
  result.transfers = transfers_;
  result.makespan = makespan_;
  return result;
}

void TaskPlacer::reset() {
  placed_.assign(graph_.tasks.size(), {unsettled, 0, 0});
  for (auto* timelines : {&queues_, &links_}) {
    for (auto& several : *timelines) {
      for (Timeline& one : several) {
        one.clear();
      }
    }
  }
  if (graph_.hasExplicitCopies()) {
    arrivals_.assign(graph_.items.size() * graph_.deviceCount(), infiniteSeconds);
  }
  transfers_.clear();
  booked_.clear();
  makespan_ = 0;
}

bool TaskPlacer::place(TaskId task, const PlacementRule& rule) {
  Choice best{rule.fixed.empty() ? anyDevice : rule.fixed[task.index()]};
  const bool isFree = best.device == anyDevice;
  if (isFree && !placeFreely(task, rule, best)) {
    return false;
  }
  if (!isFree || graph_.hasExplicitCopies()) { // copies of the chosen device were undone, or never tried
    const double ready = readyTime(task, best.device);
    if (!std::isfinite(ready)) {
      return false;
    }
    fitQueue(best, std::max(ready, copyNeeds(best.device)), graph_.tasks[task].seconds[best.device]);
    booked_.clear();
  }
  commit(task, best);
  const double tail = rule.tails.empty() ? 0 : rule.tails[task.index()];
  return best.end + tail < rule.limit;
}

// Devices in the order of the value that they would have without contention: most of them are then left out.
bool TaskPlacer::placeFreely(TaskId task, const PlacementRule& rule, Choice& best) {
  options_.clear();
  const auto& seconds = graph_.tasks[task].seconds;
  for (uint32_t device = 0; device < seconds.size(); ++device) {
    const bool deadEnd = !deadEnds_.empty() && deadEnds_[task.index() * seconds.size() + device] != 0;
    if (seconds[device] < infiniteSeconds && !deadEnd && mayFollow(task, device)) {
      double penalty = rule.penalty.empty() ? 0 : rule.penalty[task.index() * seconds.size() + device];
      penalty += rule.copyWeight > 0 ? rule.copyWeight * copySeconds(task, device) : 0;
      options_.push_back({readyTime(task, device) + seconds[device] + penalty, penalty, device});
    }
  }
  double least = infiniteSeconds;
  while (!options_.empty()) {
    const auto next = std::min_element(options_.begin(), options_.end());
    const Option option = *next;
    *next = options_.back();
    options_.pop_back();
    if (option.value > least || (option.value == least && option.device > best.device) ||
        option.value == infiniteSeconds) {
      break;
    }
    consider(task, option, best, least);
  }
  return best.device != unsettled;
}

void TaskPlacer::consider(TaskId task, const Option& option, Choice& best, double& least) {
  const double ready = readyTime(task, option.device);
  const double seconds = graph_.tasks[task].seconds[option.device];
  const size_t transfers = transfers_.size();
  Choice choice{option.device};
  fitQueue(choice, std::max(ready, simple_ ? tryNeeds(option.device) : copyNeeds(option.device)), seconds);
  undoCopies(transfers);
  const double value = choice.end + option.penalty;
  if (value < least || (value == least && option.device < best.device)) {
    least = value;
    best = choice;
  }
}

// Of the copies that are still to be made, without contention.
double TaskPlacer::copySeconds(TaskId task, uint32_t device) const {
  double seconds = 0;
  for (const TaskEdge& edge : graph_.tasks[task].predecessors) {
    const uint32_t from = placed_[edge.other.index()].device;
    const bool there = graph_.hasExplicitCopies() &&
                       arrivals_[edge.item.index() * graph_.deviceCount() + device] < infiniteSeconds;
    seconds += from == unsettled || there ? 0 : graph_.transferSeconds(from, device, graph_.bytesOf(edge));
  }
  return seconds;
}

// The earliest moment at which all data could be on the device, contention of the copies that are still to be
// made aside; those become needs_.
double TaskPlacer::readyTime(TaskId task, uint32_t device) {
  double ready = graph_.begins.empty() ? 0 : graph_.begins[device];
  needs_.clear();
  for (const TaskEdge& edge : graph_.tasks[task].predecessors) {
    const TaskPlacement& made = placed_[edge.other.index()];
    if (made.device == unsettled) { // a floating predecessor, which will settle here
      continue;
    }
    ready = std::max(ready, !graph_.hasExplicitCopies()
                                ? made.end + graph_.transferSeconds(made.device, device, graph_.bytesOf(edge))
                            : arrival(edge.item, device) < infiniteSeconds ? arrival(edge.item, device)
                                                                           : addNeed(edge, device));
  }
  return ready;
}

// From the device where the item could come from first.
double TaskPlacer::addNeed(const TaskEdge& edge, uint32_t device) {
  const double bytes = graph_.bytesOf(edge);
  Need need{infiniteSeconds, edge.item, unsettled, 0};
  for (uint32_t from = 0; from < graph_.deviceCount(); ++from) {
    const double there = arrival(edge.item, from);
    const double ready =
        there < infiniteSeconds ? there + graph_.transferSeconds(from, device, bytes) : infiniteSeconds;
    if (ready < need.ready) {
      need = {ready, edge.item, from, placed_[edge.other.index()].end};
    }
  }
  if (need.from != unsettled) {
    needs_.push_back(need);
  }
  return need.ready;
}

void TaskPlacer::sortNeeds() {
  if (needs_.size() > 1) {
    std::sort(needs_.begin(), needs_.end(), [](const Need& a, const Need& b) {
      return std::tuple(a.made, a.item) < std::tuple(b.made, b.item);
    });
  }
}

double TaskPlacer::copyNeeds(uint32_t device) {
  sortNeeds();
  double ready = 0;
  for (const Need& need : needs_) {
    if (arrival(need.item, device) == infiniteSeconds) { // several edges may carry one item
      copy(need.item, graph_.paths[need.from * graph_.deviceCount() + device]);
    }
    ready = std::max(ready, arrival(need.item, device));
  }
  return ready;
}

// The same on a machine whose paths are single routes over links of one slot, with nothing booked: the copies
// to one device are few, and later ones go around those before.
double TaskPlacer::tryNeeds(uint32_t device) {
  sortNeeds();
  tried_.clear();
  double last = 0;
  for (size_t i = 0; i < needs_.size(); ++i) {
    const Need& need = needs_[i];
    if (std::any_of(needs_.begin(), needs_.begin() + static_cast<ptrdiff_t>(i),
                    [&](const Need& other) { return other.item == need.item; })) {
      continue;
    }
    const TaskHop& hop = graph_.hops[graph_.paths[need.from * graph_.deviceCount() + device].front()];
    const double seconds = hop.cost.seconds(graph_.items[need.item].bytes);
    double start = fitHop(hop, arrival(need.item, need.from), seconds);
    for (size_t k = 0; k < tried_.size();) {
      const bool clashes = start < tried_[k].end && tried_[k].start < start + seconds &&
                           llvm::is_contained(hop.links, tried_[k].link);
      start = clashes ? fitHop(hop, tried_[k].end, seconds) : start;
      k = clashes ? 0 : k + 1;
    }
    for (const uint32_t link : hop.links) {
      tried_.push_back({link, start, start + seconds});
    }
    last = std::max(last, start + seconds);
  }
  return last;
}

void TaskPlacer::copy(ItemId item, llvm::ArrayRef<uint32_t> path) {
  for (const uint32_t index : path) {
    const TaskHop& hop = graph_.hops[index];
    if (arrival(item, hop.to) < infiniteSeconds) { // staged there already
      continue;
    }
    const double seconds = hop.cost.seconds(graph_.items[item].bytes);
    const double start = fitHop(hop, arrival(item, hop.from), seconds);
    for (Timeline* slot : slots_) {
      slot->occupy(start, start + seconds);
      booked_.push_back({slot, start, start + seconds});
    }
    arrival(item, hop.to) = start + seconds;
    transfers_.push_back({item, index, start, start + seconds});
  }
}

// The earliest moment at which every link of the hop has a free slot for all of the copy: a fixed point,
// since each link can only move it later. The slots go to slots_.
double TaskPlacer::fitHop(const TaskHop& hop, double ready, double seconds) {
  slots_.resize(hop.links.size());
  double start = ready;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < hop.links.size(); ++i) {
      double earliest = infiniteSeconds;
      for (Timeline& slot : links_[hop.links[i]]) {
        const double fit = slot.earliestStart(start, seconds);
        if (fit < earliest) {
          earliest = fit;
          slots_[i] = &slot;
        }
      }
      moved |= earliest > start && i > 0;
      start = std::max(start, earliest);
    }
  }
  return start;
}

void TaskPlacer::undoCopies(size_t transfers) {
  for (; transfers_.size() > transfers; transfers_.pop_back()) {
    arrival(transfers_.back().item, graph_.hops[transfers_.back().hop].to) = infiniteSeconds;
  }
  for (; !booked_.empty(); booked_.pop_back()) {
    booked_.back().slot->release(booked_.back().start, booked_.back().end);
  }
}

void TaskPlacer::fitQueue(Choice& choice, double ready, double seconds) {
  choice.end = infiniteSeconds;
  auto& queues = queues_[choice.device];
  for (uint32_t queue = 0; queue < queues.size(); ++queue) {
    const double start = queues[queue].earliestStart(ready, seconds);
    if (start + seconds < choice.end) {
      choice = {choice.device, queue, start, start + seconds};
    }
  }
}

void TaskPlacer::commit(TaskId task, const Choice& choice) {
  queues_[choice.device][choice.queue].occupy(choice.start, choice.end);
  settle(task, choice);
  if (floats_) {
    for (const TaskEdge& edge : graph_.tasks[task].predecessors) {
      if (graph_.tasks[edge.other].floating && placed_[edge.other.index()].device == unsettled) {
        settle(edge.other, {homeOf(edge.other, choice.device), 0, 0, 0});
      }
    }
  }
}

bool TaskPlacer::mayFollow(TaskId task, uint32_t device) const {
  const TaskId leader = graph_.tasks[task].follows;
  if (!leader.valid()) {
    return true;
  }
  const uint32_t home = placed_[leader.index()].device;
  return home == unsettled ? std::isfinite(graph_.tasks[leader].seconds[device]) : home == device;
}

// A pinned parameter keeps its device, wherever its first reader runs.
uint32_t TaskPlacer::homeOf(TaskId floating, uint32_t wish) const {
  const auto& seconds = graph_.tasks[floating].seconds;
  if (std::isfinite(seconds[wish])) {
    return wish;
  }
  const auto* home = std::find_if(seconds.begin(), seconds.end(), [](double s) { return std::isfinite(s); });
  return static_cast<uint32_t>(home - seconds.begin());
}

void TaskPlacer::settle(TaskId task, const Choice& choice) {
  placed_[task.index()] = {choice.device, choice.start, choice.end};
  if (graph_.hasExplicitCopies()) {
    for (const TaskEdge& edge : graph_.tasks[task].successors) {
      arrival(edge.item, choice.device) = choice.end;
    }
  }
  makespan_ = std::max(makespan_, choice.end);
}

void TaskPlacer::settleTheRest() {
  for (const TaskId task : graph_.tasks.ids()) {
    if (placed_[task.index()].device == unsettled) {
      settle(task, {homeOf(task, 0), 0, 0, 0});
    }
  }
}

} // namespace dfc
