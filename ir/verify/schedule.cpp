// verifySchedule: queue order and waits alone must imply every data dependence, every ordering of the placed
// graph, and that the old value of a parameter is read before it is overwritten.
#include "ir/verify/parts.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseSet.h>

namespace dfc {
namespace {

class ScheduleVerifier {
 public:
  ScheduleVerifier(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine,
                   const HappensBefore& before)
      : schedule_(schedule), placed_(placed), graph_(placed.graph), machine_(machine),
        findings_(placed.graph), before_(before) {}

  Diagnostics run() {
    for (const OpId op : graph_.ops()) {
      checkOperands(op);
    }
    for (const Ordering& ordering : placed_.orderings) {
      require(ordering.before, ordering.after, "which the placed graph orders before it");
    }
    checkOldReaders();
    checkScheduleTimes(schedule_, placed_, findings_);
    return findings_.take();
  }

 private:
  std::string text(OpId op) const {
    const StepId step = schedule_.stepOf[op];
    return fmt::format("'{}' on {}", graph_.nameOf(op),
                       schedule_.nameOf(schedule_.steps[step].queue, machine_));
  }

  /// Asks that `before` ends before `after` starts; `why` goes on after the name of `before`.
  void require(OpId before, OpId after, std::string_view why) {
    const StepId first = schedule_.stepOf[before];
    const StepId second = schedule_.stepOf[after];
    if (!before_.ordered(first, second) && reported_.insert({before, after}).second) {
      findings_.at(after,
                   fmt::format("op {} is not sure to start after {}, {}", text(after), text(before), why),
                   schedule_.steps[first].queue == schedule_.steps[second].queue
                       ? "their order on the queue is wrong"
                       : "a wait between the two queues is missing");
    }
  }

  void checkOperands(OpId op) {
    if (placed_.isResident(op)) {
      return;
    }
    for (const ValueId operand : graph_[op].operands) {
      const OpId producer = graph_[operand].producer;
      if (!placed_.isResident(producer)) {
        require(producer, op, "whose result it reads");
      }
    }
  }

  void checkOldReaders() {
    std::optional<Readers> readers; // of a graph with state
    for (const OpId assign : graph_.opsOf(OpKind::Assign)) {
      if (!readers) {
        readers.emplace(graph_);
      }
      for (const OpId reader : readers->ofStorage(graph_, graph_[assign].operands[0])) {
        if (reader != assign) {
          require(reader, assign, "which reads the parameter's old value");
        }
      }
    }
  }

  const Schedule& schedule_;
  const PlacedGraph& placed_;
  const Graph& graph_;
  const Machine& machine_;
  Findings findings_;
  const HappensBefore& before_;
  llvm::DenseSet<std::pair<OpId, OpId>> reported_; // a pair may be asked for twice
};

} // namespace

Diagnostics verifySchedule(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine) {
  Diagnostics errors = scheduleShape(schedule, placed, machine);
  return errors.empty() ? scheduleOrder(schedule, placed, machine, HappensBefore(schedule)) : errors;
}

Diagnostics scheduleOrder(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine,
                          const HappensBefore& before) {
  return ScheduleVerifier(schedule, placed, machine, before).run();
}

} // namespace dfc
