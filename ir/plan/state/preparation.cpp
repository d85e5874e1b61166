#include "ir/plan/state/preparation.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {

std::vector<PreparationParameter> preparationParameters(const Executable& plan,
                                                        const Executable& preparation) {
  const Graph& own = preparation.graph();
  llvm::DenseSet<ValueId> assigned;
  for (const OpId op : own.opsOf(OpKind::Assign)) {
    assigned.insert(own[op].operands[0]);
  }
  std::vector<PreparationParameter> rows;
  for (const OpId op : own.opsOf(OpKind::Parameter)) {
    const ValueId value = own[op].firstResult;
    rows.push_back({value, plan.graph().findValue(own.nameOf(value)), assigned.contains(value)});
  }
  return rows;
}

std::vector<PreparationParameter> preparationParameters(const Executable& plan) {
  return plan.preparation() != nullptr ? preparationParameters(plan, *plan.preparation())
                                       : std::vector<PreparationParameter>();
}

std::vector<ParameterRow> parametersOf(const Executable& plan) {
  llvm::DenseSet<ValueId> prepared;
  for (const PreparationParameter& row : preparationParameters(plan)) {
    if (row.prepared) {
      prepared.insert(row.step);
    }
  }
  std::vector<ParameterRow> rows = parametersOf(plan.placed());
  llvm::erase_if(rows, [&](const ParameterRow& row) { return prepared.contains(row.parts.front().value); });
  return rows;
}

PreparationSize preparationSize(const Executable& plan) {
  PreparationSize size;
  if (plan.preparation() == nullptr) {
    return size;
  }
  const Executable& preparation = *plan.preparation();
  for (const StepRow& step : preparation.schedule().steps) {
    const OpKind kind = preparation.graph()[step.op].kind();
    size.computations += kind != OpKind::Assign && kind != OpKind::Transfer ? 1 : 0;
  }
  for (const PreparationParameter& row : preparationParameters(plan)) {
    size.bytes += row.prepared ? preparation.graph().typeOf(row.own).bytes() : 0;
  }
  return size;
}

int64_t preparationBytes(const Executable& preparation, DeviceId device) {
  const MemoryPlan& memory = preparation.memory();
  int64_t bytes = memory.arenaBytes[device];
  for (const OpId op : preparation.graph().opsOf(OpKind::Parameter)) {
    const Slot& slot = memory.slots[preparation.graph()[op].firstResult];
    bytes -= slot.device == device ? alignUp(slot.bytes) : 0;
  }
  return bytes;
}

} // namespace dfc
