// Contents of values before anything runs: the ops that a value needs, found backwards, evaluated in order.
#include "ir/author/onnx/scope.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseSet.h>

#include <algorithm>

namespace dfc::onnx {
namespace {

// Of one import: some seconds of the interpreter, hundreds of times what folded shapes and masks take.
constexpr double mostWork = 4e8;

} // namespace

Literal KnownValues::ofSource(ValueId value) const {
  const auto found = given_.find(value);
  const Graph& graph = builder_.graph().soFar();
  if (found == given_.end()) {
    throw Unsupported(
        fmt::format("a shape or setting that depends on the contents of input '{}'", graph.nameOf(value)));
  }
  return found->second();
}

std::vector<OpId> KnownValues::neededFor(ValueId value) const {
  const Graph& graph = builder_.graph().soFar();
  llvm::DenseSet<OpId> seen;
  std::vector<OpId> needed, open{graph[value].producer};
  while (!open.empty()) {
    const OpId op = open.back();
    open.pop_back();
    if (known_.count(graph[op].firstResult) != 0 || !seen.insert(op).second) {
      continue;
    }
    needed.push_back(op);
    for (const ValueId operand : graph[op].operands) {
      open.push_back(graph[operand].producer);
    }
  }
  std::sort(needed.begin(), needed.end());
  return needed;
}

double KnownValues::workOf(const std::vector<OpId>& ops) const {
  const Graph& graph = builder_.graph().soFar();
  double work = 0;
  for (const OpId op : ops) {
    const OpCost cost = costOf(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op));
    const bool source = graph[op].operands.empty() && graph[op].kind() != OpKind::Iota;
    work += source ? 0 : cost.flops + cost.bytes;
  }
  return work;
}

void KnownValues::evaluate(OpId op) {
  const OpRow& row = builder_.graph().soFar()[op];
  if (row.kind() == OpKind::Input || row.kind() == OpKind::Parameter) {
    known_[row.firstResult] = ofSource(row.firstResult);
    return;
  }
  llvm::SmallVector<Literal, 4> operands;
  for (const ValueId operand : row.operands) {
    operands.push_back(known_.find(operand)->second);
  }
  const auto results = evaluate_(row.attributes, operands);
  for (uint32_t i = 0; i < row.resultCount; ++i) {
    known_[ValueId(row.firstResult.index() + i)] = results[i];
  }
}

Literal KnownValues::of(Tensor tensor) {
  if (!tensor.valid()) {
    throw Poisoned{};
  }
  const std::vector<OpId> needed = neededFor(tensor.value());
  work_ += workOf(needed);
  if (work_ > mostWork) {
    throw Unsupported("a shape or setting whose computation takes too long before anything runs");
  }
  for (const OpId op : needed) {
    evaluate(op);
  }
  return known_.find(tensor.value())->second;
}

std::optional<Literal> KnownValues::ofConstant(Tensor tensor, double work) {
  if (!isConstant(tensor) || workOf(neededFor(tensor.value())) > work) {
    return std::nullopt;
  }
  return of(tensor);
}

bool KnownValues::isConstant(Tensor tensor) {
  const Graph& graph = builder_.graph().soFar();
  for (auto next = static_cast<uint32_t>(constant_.size()); next < graph.opCount(); ++next) {
    const OpRow& row = graph[OpId(next)];
    const bool source = row.kind() == OpKind::Input || row.kind() == OpKind::Parameter;
    constant_.push_back(
        !source && std::all_of(row.operands.begin(), row.operands.end(),
                               [&](ValueId operand) { return constant_[graph[operand].producer.index()]; }));
  }
  return tensor.valid() && constant_[graph[tensor.value()].producer.index()];
}

} // namespace dfc::onnx
