#include "compiler/memory/memory_requirements.h"

#include "ir/plan/in_place.h"
#include "ir/plan/memory_plan.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

class RequirementsMaker {
 public:
  RequirementsMaker(const PlacedGraph& placed, const ScheduleProblem& problem,
                    llvm::ArrayRef<DeviceId> devices)
      : placed_(placed), graph_(placed.graph), problem_(problem), devices_(devices),
        root_(graph_.valueCount()), resident_(graph_.valueCount()), users_(graph_.valueCount()) {}

  MemoryRequirements run() {
    uniteAliases();
    for (const OpId op : graph_.opsOf(OpKind::Assign)) {
      if (writesParameterDirectly(op)) {
        resident_[root_[graph_[op].operands[1]]] = true;
      }
    }
    requirements_.tasks.resize(problem_.opOf.size());
    requirements_.of = SideTable<ValueId, BufferId>(graph_.valueCount());
    for (const OpId op : graph_.ops()) {
      if (problem_.taskOf[op] != noTask) {
        addTask(op);
      }
    }
    for (const Fetch& fetch : graph_.fetches()) {
      if (const BufferId buffer = requirements_.of[fetch.value]; buffer.valid()) {
        requirements_.buffers[buffer].liveOut = true;
      }
    }
    return std::move(requirements_);
  }

 private:
  // Operands have smaller ids than results, so one walk finds every root.
  void uniteAliases() {
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      for (const ValueId result : row.results()) {
        const auto shared = sharesStorageWith(row);
        root_[result] = shared ? root_[row.operands[*shared]] : result;
        resident_[result] = placed_.isResident(op);
      }
      for (const ValueId operand : row.operands) {
        users_[root_[operand]].push_back(op);
      }
    }
  }

  // The next value is computed in the parameter's storage where orderings put every other use of the
  // parameter before the op that computes it. Further cases that planStorage finds save memory beyond this
  // estimate.
  bool writesParameterDirectly(OpId assign) const {
    const ValueId parameter = root_[graph_[assign].operands[0]];
    const ValueId value = graph_[assign].operands[1];
    const OpId producer = graph_[value].producer;
    const OpKind kind = graph_[producer].kind();
    const uint32_t writer = problem_.taskOf[producer];
    if (writer == noTask || kind == OpKind::Input || root_[value] != value || resident_[value]) {
      return false;
    }
    const auto& before = problem_.list.tasks[writer].before;
    const bool last = llvm::all_of(users_[parameter], [&](OpId user) {
      return user == assign || user == producer || llvm::is_contained(before, problem_.taskOf[user]);
    });
    return last && inPlaceIsSafe(producer, parameter);
  }

  bool inPlaceIsSafe(OpId op, ValueId root) const {
    const auto& operands = graph_[op].operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (root_[operands[i]] == root && !mayRunInPlace(graph_, op, i)) {
        return false;
      }
    }
    return true;
  }

  BufferId bufferOf(ValueId value) {
    const ValueId root = root_[value];
    const DeviceId device = placed_.device[graph_[root].producer];
    const int64_t bytes = graph_.typeOf(root).bytes();
    if (resident_[root] || bytes == 0 || !llvm::is_contained(devices_, device)) {
      return {};
    }
    if (!requirements_.of[root].valid()) {
      requirements_.of[root] = requirements_.buffers.add({device, alignUp(bytes), false, {}});
    }
    return requirements_.of[value] = requirements_.of[root];
  }

  void addTask(OpId op) {
    const OpRow& row = graph_[op];
    TaskBuffers& task = requirements_.tasks[problem_.taskOf[op]];
    for (const ValueId operand : row.operands) {
      noteUse(task, bufferOf(operand), op);
    }
    for (const ValueId result : row.results()) {
      const BufferId buffer = bufferOf(result);
      if (buffer.valid() && root_[result] == result) {
        task.allocates.push_back(buffer);
      }
      noteUse(task, buffer, op);
    }
    if (task.allocates.size() == 1 && row.resultCount == 1) {
      noteOverwritten(task, op);
    }
  }

  void noteUse(TaskBuffers& task, BufferId buffer, OpId op) {
    if (buffer.valid() && !llvm::is_contained(task.uses, buffer)) {
      task.uses.push_back(buffer);
      requirements_.buffers[buffer].users.push_back(problem_.taskOf[op]);
    }
  }

  // In the order in which planStorage tries them.
  void noteOverwritten(TaskBuffers& task, OpId op) {
    const auto& operands = graph_[op].operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      const BufferId buffer = requirements_.of[operands[i]];
      if (buffer.valid() && mayRunInPlace(graph_, op, i) && inPlaceIsSafe(op, root_[operands[i]]) &&
          !llvm::is_contained(task.inPlaceCandidates, buffer)) {
        task.inPlaceCandidates.push_back(buffer);
      }
    }
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const ScheduleProblem& problem_;
  llvm::ArrayRef<DeviceId> devices_;
  SideTable<ValueId, ValueId> root_;
  SideTable<ValueId, char> resident_;                    // of roots
  SideTable<ValueId, llvm::SmallVector<OpId, 2>> users_; // readers, by root
  MemoryRequirements requirements_;
};

} // namespace

MemoryRequirements memoryRequirements(const PlacedGraph& placed, const ScheduleProblem& problem,
                                      llvm::ArrayRef<DeviceId> shortDevices) {
  return RequirementsMaker(placed, problem, shortDevices).run();
}

} // namespace dfc
