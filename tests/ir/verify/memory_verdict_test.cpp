// verifyMemoryPlan against executions: over random plans, most of them unsafe, it accepts a plan exactly when
// no interleaving that queues and waits allow reads a wrong byte. Chance is seeded, so every run sees the
// same plans.
#include "ir/verify/verify.h"
#include "tests/ir/plan/interleaving.h"
#include "tests/support/catch.h"

#include <algorithm>

using namespace dfc;
using test::HandPlan;

namespace {

constexpr int64_t cell = 256;

/// A random step of a few ops on one device with three compute queues, in an arena too small for comfort.
class RandomPlan {
 public:
  RandomPlan(std::mt19937& chance, HandPlan& plan) : chance_(chance), plan_(plan) {
    plan_.placed = PlacedGraph();
    plan_.schedule = Schedule();
    plan_.memory = MemoryPlan();
    plan_.machine = Machine();
    DeviceRow cpu;
    cpu.name = "cpu0";
    cpu.computeQueues = 3;
    plan_.machine.devices.add(cpu);
    makeGraph();
    makeSchedule();
    makeMemory();
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(chance_); }
  bool often(int percent) { return pick(1, 100) <= percent; }
  ValueId any() { return values_[static_cast<size_t>(pick(0, static_cast<int>(values_.size()) - 1))]; }
  int64_t cellsOf(ValueId value) { return builder_.soFar().typeOf(value).bytes() / cell; }

  ValueId add(OpAttributes attributes, llvm::ArrayRef<ValueId> operands) {
    const OpId op = builder_.append(std::move(attributes), operands, {});
    REQUIRE(op.valid());
    values_.push_back(builder_.result(op));
    return values_.back();
  }

  void makeGraph() {
    const int parameters = pick(1, 2);
    for (int i = 0; i < parameters; ++i) {
      ops::Parameter parameter;
      parameter.type = f32({64 * pick(1, 2)});
      add(parameter, {});
    }
    for (int i = pick(2, 6); i > 0; --i) {
      addOp();
    }
    for (int i = 0; i < parameters; ++i) {
      const ValueId parameter(static_cast<uint32_t>(i));
      const ValueId next = any();
      if (often(60) && builder_.soFar().typeOf(next) == builder_.soFar().typeOf(parameter) &&
          next != parameter) {
        add(ops::Assign{}, {parameter, next});
      }
    }
    if (often(50)) {
      builder_.fetch("a", any());
    }
    plan_.placed.graph = *std::move(builder_).finish();
    plan_.placed.device.resize(plan_.placed.graph.opCount(), DeviceId(0));
  }

  void addOp() {
    const ValueId a = any();
    const ValueId b = any();
    const bool alike = cellsOf(a) == cellsOf(b);
    switch (pick(0, 4)) {
    case 0: add(ops::Relu{}, {a}); break;
    case 1: add(ops::Softmax{}, {a}); break;
    case 2: alike ? add(ops::Add{}, {a, b}) : add(ops::Exp{}, {a}); break;
    case 3: cellsOf(a) + cellsOf(b) <= 4 ? add(ops::Concat{}, {a, b}) : add(ops::Relu{}, {a}); break;
    default: {
      ops::Reshape view;
      view.shape = {-1};
      add(view, {a});
    }
    }
  }

  void makeSchedule() {
    Schedule& schedule = plan_.schedule;
    const Graph& graph = plan_.placed.graph;
    for (uint32_t i = 0; i < 3; ++i) {
      schedule.queues.add({DeviceId(0), QueueKind::Compute, i, {}});
    }
    schedule.stepOf.resize(graph.opCount());
    for (const OpId op : graph.ops()) {
      if (plan_.placed.isResident(op)) {
        continue;
      }
      const QueueId queue(static_cast<uint32_t>(pick(0, 2)));
      auto& steps = schedule.queues[queue].steps;
      StepRow row{op, queue, static_cast<uint32_t>(steps.size()), {}, 0, 0};
      addWaits(row);
      schedule.stepOf[op] = schedule.steps.add(row);
      steps.push_back(schedule.stepOf[op]);
    }
  }

  /// For the operands always, for other steps by chance.
  void addWaits(StepRow& row) {
    std::array<StepId, 3> last;
    const auto want = [&](StepId step) {
      StepId& of = last[plan_.schedule.steps[step].queue.index()];
      of = of.valid() ? std::max(of, step) : step;
    };
    for (const ValueId operand : plan_.placed.graph[row.op].operands) {
      const StepId step = plan_.schedule.stepOf[plan_.placed.graph[operand].producer];
      if (step.valid()) {
        want(step);
      }
    }
    for (const StepId step : plan_.schedule.steps.ids()) {
      if (often(30)) {
        want(step);
      }
    }
    for (const StepId step : last) {
      if (step.valid() && plan_.schedule.steps[step].queue != row.queue) {
        row.waits.push_back(step);
      }
    }
  }

  void makeMemory() {
    const Graph& graph = plan_.placed.graph;
    const int arena = pick(5, 10);
    int64_t resident = 0;
    plan_.memory.slots.resize(graph.valueCount());
    for (const OpId op : graph.ops()) {
      const ValueId value = graph[op].firstResult;
      const int64_t bytes = graph.typeOf(value).bytes();
      Slot slot{DeviceId(0), cell * pick(0, arena - static_cast<int>(bytes / cell)), bytes};
      if (plan_.placed.isResident(op)) {
        slot.offset = resident;
        resident += bytes;
      } else if (!graph[op].operands.empty() && often(35)) {
        slot.offset = std::min(plan_.memory.slots[graph[op].operands[0]].offset, cell * arena - bytes);
      }
      const bool shares = classOf(graph[op].kind()) == OpClass::View || graph[op].kind() == OpKind::Assign;
      if (shares) {
        slot.offset = plan_.memory.slots[graph[op].operands[0]].offset;
      }
      plan_.memory.slots[value] = slot;
    }
    plan_.memory.arenaBytes = SideTable<DeviceId, int64_t>(1, cell * arena);
    plan_.memory.residentBytes = plan_.memory.lowerBound = SideTable<DeviceId, int64_t>(1, resident);
  }

  std::mt19937& chance_;
  HandPlan& plan_;
  GraphBuilder builder_;
  std::vector<ValueId> values_;
};

bool accepted(const HandPlan& plan) {
  return verifyMemoryPlan(plan.memory, plan.schedule, plan.placed, plan.machine).empty();
}

} // namespace

TEST_CASE("verifyMemoryPlan: accepts exactly the plans that no interleaving breaks") {
  std::mt19937 chance(20240607);
  int good = 0;
  int bad = 0;
  for (int i = 0; i < 4000; ++i) {
    HandPlan plan;
    RandomPlan(chance, plan);
    const bool sound = accepted(plan);
    const bool wrong = test::someRunGoesWrong(plan, chance, sound ? 40 : 2000);
    INFO("plan " << i << ": "
                 << render(verifyMemoryPlan(plan.memory, plan.schedule, plan.placed, plan.machine)));
    CHECK(sound != wrong);
    (sound ? good : bad) += 1;
  }
  CHECK(good > 400);
  CHECK(bad > 400);
}

TEST_CASE("verifyMemoryPlan: a value moved in a plan made by hand is refused exactly when a run breaks") {
  std::mt19937 chance(7);
  HandPlan plan;
  int moved = 0;
  for (const ValueId value : plan.placed.graph.values()) {
    const Slot home = plan.memory.slots[value];
    for (int64_t offset = 0; offset + home.bytes <= plan.memory.arenaBytes[home.device]; offset += cell) {
      plan.memory.slots[value].offset = offset;
      const bool resident = plan.placed.isResident(plan.placed.graph[value].producer);
      if (!resident || offset == home.offset) { // residents have a region of their own, race or none
        INFO(plan.placed.graph.nameOf(value) << " at " << offset);
        CHECK(accepted(plan) != test::someRunGoesWrong(plan, chance, accepted(plan) ? 60 : 4000));
        ++moved;
      }
    }
    plan.memory.slots[value] = home;
  }
  CHECK(moved > 80);
}
