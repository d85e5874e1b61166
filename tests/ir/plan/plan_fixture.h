// A plan made by hand, small enough to know every step of it: a parameter w on the cpu with a replica on the
// gpu, one computation there, and the update on the cpu, with every kind of queue, wait, ordering and reuse
// of memory in it.
#pragma once

#include "ir/plan/executable_parts.h"

namespace dfc::test {

struct HandPlan {
  Machine machine;
  PlacedGraph placed;
  Schedule schedule;
  MemoryPlan memory;

  HandPlan();
  OpId op(std::string_view name) const; ///< by the name of its first result
  ValueId value(std::string_view name) const { return placed.graph.findValue(name); }
  StepRow& step(std::string_view op) { return schedule.steps[schedule.stepOf[this->op(op)]]; }
  Slot& slot(std::string_view value) { return memory.slots[this->value(value)]; }
  TransferRow& transfer(std::string_view op) { return placed.transfers[this->op(op)]; }
  Result<Executable> seal() const { return Executable::seal(placed, schedule, memory, machine, "by hand"); }

 private:
  void makeGraph();
  void makeSchedule();
  void makeMemory();
};

/// A machine of cpu0 (two compute queues) and gpu0, joined by links "down" and "up".
Machine handMachine();

} // namespace dfc::test
