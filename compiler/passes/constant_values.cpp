// A value's representative is the first value of an equal formula; only representatives are evaluated.
#include "compiler/passes/constant_values.h"

#include "compiler/interpreter/evaluate.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

constexpr int deepest = 64;

bool hasContents(const OpRow& row) {
  const OpClass opClass = classOf(row.kind());
  const bool isNamedByCallers = row.kind() == OpKind::Input || row.kind() == OpKind::Parameter;
  const bool isCostly =
      opClass == OpClass::Contraction || opClass == OpClass::Structured; // for the interpreter
  return !isNamedByCallers && !isCostly && opClass != OpClass::State && opClass != OpClass::Request &&
         opClass != OpClass::Transfer;
}

} // namespace

std::optional<Literal> ConstantValues::contents(ValueId value) {
  const ValueId known = representative(value, 0);
  return known.valid() ? std::optional(contents_.find(known)->second) : std::nullopt;
}

std::optional<double> ConstantValues::number(ValueId value) {
  const OpRow* row = &graph_[graph_[value].producer];
  while (row->kind() == OpKind::Broadcast || row->kind() == OpKind::Reshape) {
    value = row->operands[0];
    row = &graph_[graph_[value].producer];
  }
  const std::optional<Literal> literal = contents(value);
  const int64_t elements = literal ? literal->type().shape.elements() : 0;
  for (int64_t i = 1; i < elements; ++i) {
    if (literal->at(i) != literal->at(0)) {
      return std::nullopt;
    }
  }
  return elements > 0 ? std::optional(literal->at(0)) : std::nullopt;
}

ValueId ConstantValues::representative(ValueId value, int depth) {
  if (const auto found = representatives_.find(value); found != representatives_.end()) {
    return found->second;
  }
  const OpId op = graph_[value].producer;
  const OpRow& row = graph_[op];
  llvm::SmallVector<ValueId, 3> operands;
  bool isConstant = depth < deepest && hasContents(row) && row.resultCount == 1 &&
                    graph_.typeOf(value).shape.elements() <= mostElements;
  for (size_t i = 0; isConstant && i < row.operands.size(); ++i) {
    operands.push_back(representative(row.operands[i], depth + 1));
    isConstant = operands.back().valid();
  }
  ValueId& result = representatives_[value];
  if (isConstant) {
    result = known(op, operands);
  }
  return result;
}

ValueId ConstantValues::known(OpId op, llvm::ArrayRef<ValueId> operands) {
  const OpRow& row = graph_[op];
  auto& candidates = evaluated_[static_cast<size_t>(row.kind())];
  for (const auto& [other, otherOperands] : candidates) {
    if (operands == llvm::ArrayRef<ValueId>(otherOperands) &&
        sameAttributes(row.attributes, graph_[other].attributes)) {
      return graph_[other].firstResult;
    }
  }
  llvm::SmallVector<Literal, 3> literals;
  for (const ValueId operand : operands) {
    literals.push_back(contents_.find(operand)->second);
  }
  const ValueId result = row.firstResult;
  contents_[result] = row.kind() == OpKind::Constant ? row.as<ops::Constant>().value
                                                     : evaluateOp(row.attributes, literals).front();
  candidates.push_back({op, {operands.begin(), operands.end()}});
  return result;
}

} // namespace dfc
