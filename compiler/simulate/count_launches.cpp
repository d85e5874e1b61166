#include "compiler/simulate/count_launches.h"

#include "compiler/schedule/lower_bounds.h"
#include "compiler/schedule/schedule_problem.h"
#include "compiler/simulate/launch_seconds.h"
#include "compiler/simulate/simulate.h"
#include "compiler/simulate/untimed_steps.h"
#include "ir/graph/product_shape.h"
#include "ir/plan/feeds.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace dfc {
namespace {

class Counter {
 public:
  Counter(const Schedule& schedule, const LaunchPlan& launches, const PlacedGraph& placed,
          const Machine& machine, const CostModel& cost)
      : schedule_(schedule), launches_(launches), placed_(placed), machine_(machine), cost_(cost),
        seconds_(schedule.steps.size()) {
    for (const StepId step : schedule.steps.ids()) {
      seconds_[step] = schedule.steps[step].alone();
    }
    priceFeeds();
    priceCopies();
    priceGenerated();
    for (const LaunchRow& row : launches.launches) {
      saveLaunches(row);
    }
    for (const PeerRead& read : launches.peers.reads) {
      readAtPeer(read);
    }
    addPasses();
  }

  const SideTable<StepId, double>& seconds() const { return seconds_; }

 private:
  // The order was made for feeds that are staged during the step before; the times are of a step by itself.
  void priceFeeds() {
    const SideTable<OpId, bool> staged = stagedInputs(placed_, machine_);
    for (const StepId step : schedule_.steps.ids()) {
      if (const OpId op = schedule_.steps[step].op; staged[op]) {
        const int64_t bytes = placed_.graph.typeOf(placed_.graph[op].firstResult).bytes();
        seconds_[step] = stagingSeconds(machine_.devices[placed_.device[op]], bytes);
      }
    }
  }

  // Likewise of prefetched feeds. And the schedule may have taken a transfer for a read at the peer that is a
  // copy nevertheless.
  void priceCopies() {
    for (const auto& [op, row] : placed_.transfers) {
      if (const StepId step = schedule_.stepOf[op]; step.valid()) {
        seconds_[step] = std::max(seconds_[step],
                                  cost_.transferSeconds(machine_, {row.from, row.to, row.links}, row.bytes));
      }
    }
  }

  // A cost model does not know whether a library computes a product, so before lowering it takes it for one.
  void priceGenerated() {
    std::set<OpId> generated;
    for (const LaunchRow& row : launches_.launches) {
      if (row.kind == LaunchKind::Kernel) {
        generated.insert(row.ops.begin(), row.ops.end());
      }
    }
    for (const LaunchRow& row : launches_.launches) {
      if (row.kind != LaunchKind::Kernel) {
        for (const OpId op : row.ops) {
          generated.erase(op);
        }
      }
    }
    for (const OpId op : generated) {
      const StepId step = schedule_.stepOf[op];
      const DeviceId device = schedule_.queues[schedule_.steps[step].queue].device;
      const double asLibrary = cost_.opSeconds(placed_.graph, op, machine_, device);
      const double asGenerated = cost_.generatedSeconds(placed_.graph, op, machine_, device);
      if (asGenerated != asLibrary) {
        seconds_[step] = asGenerated;
      }
    }
  }

  // An op of several launches (a library's product and a pass behind it, the parts of a norm) takes the sum
  // of what these take: a cost model, which knows no launches, prices one pass. Durations that were measured
  // contain all launches.
  void addPasses() {
    struct Passes {
      int launches = 0;
      double seconds = 0;
    };
    std::map<OpId, Passes> passes;
    for (const LaunchRow& row : launches_.launches) {
      for (const OpId op : row.ops) {
        Passes& sum = passes[op];
        sum.launches += row.product || row.kind == LaunchKind::Kernel ? 1 : 0;
        sum.seconds += row.product                      ? secondsOfProduct(row)
                       : row.kind == LaunchKind::Kernel ? secondsOfPass(row, op)
                                                        : 0;
      }
    }
    for (const auto& [op, sum] : passes) {
      const StepId step = schedule_.stepOf[op];
      if (sum.launches > 1 && !isMeasured(step)) {
        seconds_[step] = std::max(seconds_[step], sum.seconds);
      }
    }
  }

  bool isMeasured(StepId step) const {
    const StepRow& row = schedule_.steps[step];
    return cost_.isMeasured(placed_.graph, row.op, machine_, schedule_.queues[row.queue].device);
  }

  const DeviceRow& deviceOf(const LaunchRow& row) const {
    return machine_.devices[schedule_.queues[row.queue].device];
  }

  double secondsOfProduct(const LaunchRow& row) const {
    const DeviceRow& device = deviceOf(row);
    const ProductCall& call = *row.product;
    const Shape& a = call.a.shape;
    const ProductShape product = productShape(call.result.shape, a[a.rank() - (call.transposeA ? 2 : 1)],
                                              call.transposeA, call.transposeB);
    const double rate = device.matmulRate(call.a.element, call.tf32, product);
    const double flops = 2 * static_cast<double>(call.result.shape.elements()) * product.inner;
    const auto bytes = static_cast<double>(call.a.bytes() + call.b.bytes() + call.result.bytes());
    return device.launchOf(call.a.element, call.tf32, product) +
           std::max(rate > 0 ? flops / rate : 0, overBandwidth(bytes, device));
  }

  double secondsOfPass(const LaunchRow& row, OpId op) const {
    int64_t bytes = 0;
    for (const auto* ranges : {&row.reads, &row.writes}) {
      for (const LaunchRange& range : *ranges) {
        bytes += range.op == op ? range.bytes : 0;
      }
    }
    const DeviceRow& device = deviceOf(row);
    return device.launchSeconds / static_cast<double>(row.ops.size()) +
           overBandwidth(static_cast<double>(bytes), device);
  }

  static double overBandwidth(double bytes, const DeviceRow& device) {
    return device.memoryBandwidth > 0 ? bytes / device.memoryBandwidth : 0;
  }

  // Ops that share a launch share its cost. What an op reads from the cache, as another op of the launch has
  // read or written it for the same threads, takes no bandwidth.
  void saveLaunches(const LaunchRow& row) {
    if (row.ops.size() < 2) {
      return;
    }
    const DeviceRow& device = machine_.devices[schedule_.queues[row.queue].device];
    const double shared = device.launchSeconds / static_cast<double>(row.ops.size());
    const std::set<OpId> swept = opsInSweeps(row);
    SeenBytes seen;
    for (const OpId op : row.ops) {
      double& seconds = seconds_[schedule_.stepOf[op]];
      const double work = std::max(seconds - device.launchSeconds, 0.0);
      const double cached = swept.count(op) == 0 || device.memoryBandwidth <= 0
                                ? 0
                                : cachedBytes(row, op, seen) / device.memoryBandwidth;
      seconds = std::min(seconds, shared + std::max(work - cached, 0.0));
    }
  }

  using Bytes = std::tuple<uint32_t, int64_t, int64_t>; ///< device, offset, bytes
  using SeenBytes = std::set<Bytes>;
  static Bytes bytesOf(const LaunchRange& range) {
    return {range.begin.device.index(), range.begin.offset, range.bytes};
  }

  /// The ops that read what another op of the launch wrote, and those that wrote it: they are in one sweep.
  static std::set<OpId> opsInSweeps(const LaunchRow& row) {
    std::map<Bytes, OpId> writers;
    for (const LaunchRange& write : row.writes) {
      writers.emplace(bytesOf(write), write.op);
    }
    std::set<OpId> ops;
    for (const LaunchRange& read : row.reads) {
      const auto writer = writers.find(bytesOf(read));
      if (writer != writers.end() && writer->second != read.op) {
        ops.insert({read.op, writer->second});
      }
    }
    return ops;
  }

  /// What an op reads of what earlier ops of the launch read or wrote.
  static double cachedBytes(const LaunchRow& row, OpId op, SeenBytes& seen) {
    int64_t cached = 0;
    for (const auto* ranges : {&row.reads, &row.writes}) {
      for (const LaunchRange& range : *ranges) {
        if (range.op == op) {
          const bool first = seen.insert(bytesOf(range)).second;
          cached += !first && ranges == &row.reads ? range.bytes : 0;
        }
      }
    }
    return static_cast<double>(cached);
  }

  // Without the latency: a kernel has many reads in flight.
  void readAtPeer(const PeerRead& read) {
    const TransferRow& route = placed_.transfers.find(schedule_.steps[read.transfer].op)->second;
    const Route path{route.from, route.to, route.links};
    const double wire =
        cost_.transferSeconds(machine_, path, route.bytes) - cost_.transferSeconds(machine_, path, 0);
    seconds_[read.transfer] = 0;
    seconds_[read.reader] = std::max(seconds_[read.reader], wire);
  }

  const Schedule& schedule_;
  const LaunchPlan& launches_;
  const PlacedGraph& placed_;
  const Machine& machine_;
  const CostModel& cost_;
  SideTable<StepId, double> seconds_;
};

/// The steps numbered by `order`: the schedule's rows, with times and waits of the new numbers.
Schedule renumbered(const Schedule& schedule, llvm::ArrayRef<StepId> order,
                    const SideTable<StepId, StepId>& numbers) {
  Schedule other;
  other.stepOf = SideTable<OpId, StepId>(schedule.stepOf.size());
  for (QueueRow queue : schedule.queues) {
    for (StepId& step : queue.steps) {
      step = numbers[step];
    }
    other.queues.add(std::move(queue));
  }
  for (const StepId step : order) {
    StepRow row = schedule.steps[step];
    for (StepId& wait : row.waits) {
      wait = numbers[wait];
    }
    const OpId op = row.op;
    other.stepOf[op] = other.steps.add(std::move(row));
  }
  return other;
}

PeerReads renumbered(const PeerReads& peers, llvm::ArrayRef<StepId> order,
                     const SideTable<StepId, StepId>& numbers) {
  PeerReads other;
  for (const PeerRead& read : peers.reads) {
    other.reads.push_back({numbers[read.transfer], numbers[read.reader], read.operand});
  }
  if (!peers.waits.empty()) {
    other.waits.resize(order.size());
    for (const StepId step : order) {
      for (const StepId wait : peers.waits[step]) {
        other.waits[numbers[step]].push_back(numbers[wait]);
      }
    }
  }
  return other;
}

/// Numbers the steps by their starts.
void renumber(Schedule& schedule, LaunchPlan& launches) {
  const auto ids = schedule.steps.ids(); // a topological order
  std::vector<StepId> order(ids.begin(), ids.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](StepId a, StepId b) { return schedule.steps[a].start < schedule.steps[b].start; });
  SideTable<StepId, StepId> numbers(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    numbers[order[i]] = StepId(i);
  }
  launches.peers = renumbered(launches.peers, order, numbers);
  schedule = renumbered(schedule, order, numbers);
}

bool hasFeedsOfGpus(const PlacedGraph& placed, const Machine& machine) {
  const SideTable<OpId, bool> staged = stagedInputs(placed, machine);
  return llvm::any_of(placed.graph.ops(), [&](OpId op) { return bool(staged[op]); });
}

} // namespace

void countLaunches(Schedule& schedule, LaunchPlan& launches, const PlacedGraph& placed,
                   const Machine& machine, const CostModel& cost) {
  if (launches.empty() && !hasFeedsOfGpus(placed, machine)) {
    return;
  }
  const auto seconds = Counter(schedule, launches, placed, machine, cost).seconds();
  const Schedule steps = untimedSteps(schedule, launches, seconds);
  const LowerBounds bounds = lowerBounds(scheduleProblem(schedule, seconds, placed, machine, cost).list);
  const Simulation simulation = simulate(placed, steps, machine);
  for (const Span& span : simulation.trace.spans) {
    StepRow& row = schedule.steps[span.step];
    row.start = span.begin;
    row.end = span.end;
    row.slowed = std::max(0.0, span.end - (span.begin + seconds[span.step])); // 0 to the bit
  }
  for (const PeerRead& read : launches.peers.reads) { // a part of its reader
    StepRow& row = schedule.steps[read.transfer];
    row.start = row.end = schedule.steps[read.reader].start;
  }
  renumber(schedule, launches);
  schedule.makespan = simulation.makespan;
  schedule.bounds = withoutRounding(bounds, schedule.makespan);
  expectSeconds(launches, schedule, machine);
}

} // namespace dfc
