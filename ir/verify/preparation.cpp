// The preparation of a plan against the plan: which parameters it reads and writes, and the memory of both.
#include "ir/plan/state/preparation.h"
#include "ir/verify/verify.h"

#include <fmt/format.h>

namespace dfc {
namespace {

class PreparationVerifier {
 public:
  PreparationVerifier(const Executable& preparation, const Executable& step)
      : own_(preparation), step_(step), assigned_(step.graph().valueCount()) {}

  Diagnostics run() {
    for (const OpId op : step_.graph().opsOf(OpKind::Assign)) {
      assigned_[step_.graph()[op].operands[0]] = true;
    }
    if (printMachine(own_.machine()) != printMachine(step_.machine())) {
      fail("it is for another machine than the step");
      return std::move(errors_);
    }
    if (own_.preparation() != nullptr || !own_.graph().opsOf(OpKind::Input).empty() ||
        !own_.graph().fetches().empty()) {
      fail("it has inputs, fetches or a preparation of its own");
    }
    const std::vector<PreparationParameter> rows = preparationParameters(step_, own_);
    for (const PreparationParameter& row : rows) {
      checkParameter(row);
    }
    checkAllCopies(rows);
    checkMemory();
    return std::move(errors_);
  }

 private:
  void fail(const std::string& what) {
    errors_.push_back(errorWithoutPlace(fmt::format("the preparation: {}", what)));
  }

  void checkParameter(const PreparationParameter& row) {
    const std::string_view name = own_.graph().nameOf(row.own);
    const Graph& graph = step_.graph();
    if (!row.step.valid() || graph[graph[row.step].producer].kind() != OpKind::Parameter) {
      fail(fmt::format("the step has no parameter '{}'", name));
    } else if (graph.typeOf(row.step) != own_.graph().typeOf(row.own)) {
      fail(fmt::format("parameter '{}' is {}, but {} in the step", name,
                       toString(own_.graph().typeOf(row.own)), toString(graph.typeOf(row.step))));
    } else if (step_.memory().slots[row.step].device != own_.memory().slots[row.own].device) {
      fail(fmt::format("parameter '{}' lies on another device than in the step", name));
    } else if (assigned_[row.step]) {
      fail(fmt::format("parameter '{}' changes in every step", name));
    } else if (row.prepared && !graph[graph[row.step].producer].as<ops::Parameter>().ofPlan) {
      fail(fmt::format("parameter '{}', which it assigns, is the author's", name));
    }
  }

  // A copy that is left out would stay without a value.
  void checkAllCopies(llvm::ArrayRef<PreparationParameter> rows) {
    llvm::DenseSet<ValueId> prepared;
    for (const PreparationParameter& row : rows) {
      if (row.prepared) {
        prepared.insert(row.step);
      }
    }
    for (const ParameterRow& row : parametersOf(step_.placed())) {
      const auto isPrepared = [&](const ParameterPart& copy) { return prepared.contains(copy.value); };
      if (llvm::any_of(row.copies, isPrepared) && !llvm::all_of(row.copies, isPrepared)) {
        fail(fmt::format("it assigns some of the parts and replicas of '{}', and not all", row.name));
      }
    }
  }

  void checkMemory() {
    for (const DeviceId device : step_.machine().devices.ids()) {
      const int64_t capacity = step_.machine().devices[device].memoryBytes;
      if (capacity > 0 && step_.memory().arenaBytes[device] + preparationBytes(own_, device) > capacity) {
        fail(fmt::format("step and preparation exceed the memory of {}",
                         step_.machine().devices[device].name));
      }
    }
  }

  const Executable &own_, &step_;
  SideTable<ValueId, bool> assigned_;
  Diagnostics errors_;
};

} // namespace

Diagnostics verifyPreparation(const Executable& preparation, const Executable& step) {
  return PreparationVerifier(preparation, step).run();
}

} // namespace dfc
