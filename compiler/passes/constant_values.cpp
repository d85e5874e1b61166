// A value's representative is the first value of an equal formula; only representatives are evaluated.
#include "compiler/passes/constant_values.h"

#include "compiler/interpreter/evaluate.h"

#include <llvm/ADT/STLExtras.h>

#include <cstring>

namespace dfc {
namespace {

constexpr int deepest = 64;

bool hasContents(const OpRow& row) {
  const OpClass opClass = classOf(row.kind());
  const bool isNamedByCallers = row.kind() == OpKind::Input || row.kind() == OpKind::Parameter;
  const bool isCostly =
      opClass == OpClass::Contraction || opClass == OpClass::Structured; // for the interpreter
  return !isNamedByCallers && !isCostly && opClass != OpClass::State && opClass != OpClass::Request &&
         opClass != OpClass::Transfer && opClass != OpClass::Custom;
}

} // namespace

std::optional<double> splatOf(const Literal& literal) {
  const auto bytes = literal.bytes();
  if (bytes.empty()) {
    return std::nullopt;
  }
  const auto width = static_cast<size_t>(byteWidth(literal.type().element));
  // All elements are the same when the bytes equal themselves one element further on.
  const bool same = std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
  return same ? std::optional(literal.at(0)) : std::nullopt;
}

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
  return literal ? splatOf(*literal) : std::nullopt;
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
