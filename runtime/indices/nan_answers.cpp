// Forward over the ops, with the values that follow from the element and from constants.
#include "runtime/indices/nan_answers.h"

#include "ir/graph/fused_instruction.h"

#include <llvm/ADT/STLExtras.h>

#include <cmath>

namespace dfc {
namespace {

using Known = std::optional<double>;
using Registers = llvm::SmallVector<Known, 8>;

bool isKnownNan(const Known& value) { return value && std::isnan(*value); }

Known compared(Direction direction, const Known& a, const Known& b) {
  if (!a || !b) {
    return std::nullopt;
  }
  switch (direction) {
  case Direction::Eq: return *a == *b;
  case Direction::Ne: return *a != *b;
  case Direction::Lt: return *a < *b;
  case Direction::Le: return *a <= *b;
  case Direction::Gt: return *a > *b;
  case Direction::Ge: return *a >= *b;
  }
  return std::nullopt;
}

/// Of bools; `decisive` decides, whatever the other one is.
Known joined(const Known& a, const Known& b, double decisive) {
  if (a == decisive || b == decisive) {
    return decisive;
  }
  return a && b ? Known(1 - decisive) : std::nullopt;
}

Known computed(const ops::FusedInstruction& one, const Registers& registers) {
  const auto in = [&](size_t i) -> const Known& { return registers[one.inputs[i]]; };
  const bool isBool = one.type == ElementType::Bool;
  switch (one.kind) {
  case OpKind::Select: return in(0) ? in(*in(0) != 0 ? 1 : 2) : std::nullopt;
  case OpKind::Compare: return compared(static_cast<Direction>(one.variant), in(0), in(1));
  case OpKind::And: return isBool ? joined(in(0), in(1), 0) : std::nullopt;
  case OpKind::Or: return isBool ? joined(in(0), in(1), 1) : std::nullopt;
  case OpKind::Not: return isBool && in(0) ? Known(1 - *in(0)) : std::nullopt;
  case OpKind::Cast: return isBool && in(0) ? Known(*in(0) != 0) : in(0);
  default: break;
  }
  const bool hasNan = llvm::any_of(one.inputs, [&](uint32_t input) { return isKnownNan(registers[input]); });
  return hasNan && isFloat(one.type) ? Known(std::nan("")) : std::nullopt;
}

/// An elementwise op or a chain of them; none of other ops.
std::optional<ops::FusedBody> bodyOf(const Graph& graph, const OpRow& row) {
  if (const auto* fused = row.getIf<ops::Fused>()) {
    return fused->body;
  }
  return classOf(row.kind()) == OpClass::Elementwise
             ? std::optional(
                   bodyOfOne(row.attributes, row.operands.size(), graph.typeOf(row.firstResult).element))
             : std::nullopt;
}

bool addsUp(const OpRow& row) {
  const auto* fused = row.getIf<ops::Fused>();
  return row.kind() == OpKind::ReduceSum || row.kind() == OpKind::ReduceMean ||
         (fused != nullptr && fused->reduction != ops::Fused::Reduction::None);
}

/// Whether the result's elements are some of the first operand's.
bool movesElements(OpKind kind) {
  return classOf(kind) == OpClass::View || classOf(kind) == OpClass::Transfer || kind == OpKind::Broadcast ||
         kind == OpKind::Transpose || kind == OpKind::Slice || kind == OpKind::Split;
}

/// The values of a step in which each element is the same.
class StepOfOne {
 public:
  StepOfOne(const Graph& graph, const SideTable<ValueId, uint32_t>& rows, uint32_t row, double element)
      : graph_(graph), rows_(rows), row_(row), element_(element), known_(graph.valueCount()) {
    for (const OpId op : graph.ops()) {
      visit(graph[op]);
    }
  }
  const Known& at(ValueId value) const { return known_[value]; }
  bool addsNan() const { return addsNan_; }

 private:
  void visit(const OpRow& row) {
    const Known result = resultOf(row);
    addsNan_ = addsNan_ || (addsUp(row) && isKnownNan(result));
    for (uint32_t i = 0; i < row.resultCount; ++i) {
      const ValueId value(row.firstResult.index() + i);
      known_[value] = rows_[value] == row_               ? Known(element_)
                      : rows_[value] != 0 || addsUp(row) ? std::nullopt
                                                         : result;
    }
  }

  Known resultOf(const OpRow& row) const {
    if (const auto* constant = row.getIf<ops::Constant>()) {
      const bool isOne = constant->value.type().shape.elements() == 1;
      return isOne ? Known(constant->value.at(0)) : std::nullopt;
    }
    Registers registers;
    for (const ValueId operand : row.operands) {
      registers.push_back(known_[operand]);
    }
    if (llvm::none_of(registers, [](const Known& operand) { return operand.has_value(); })) {
      return std::nullopt;
    }
    if (const auto body = bodyOf(graph_, row)) {
      for (const ops::FusedInstruction& one : body->instructions) {
        registers.push_back(computed(one, registers));
      }
      return registers.back();
    }
    if (row.kind() == OpKind::Concat) { // parts of a value that was cut over devices
      return llvm::any_of(registers, isKnownNan) ? Known(std::nan("")) : std::nullopt;
    }
    return movesElements(row.kind()) || addsUp(row) ? registers.front() : std::nullopt;
  }

  const Graph& graph_;
  const SideTable<ValueId, uint32_t>& rows_;
  uint32_t row_;
  double element_;
  SideTable<ValueId, Known> known_;
  bool addsNan_ = false;
};

} // namespace

bool NanAnswers::isNan(double element) const {
  const auto [known, isNew] = found_.try_emplace(element, false);
  if (isNew) {
    const StepOfOne step(graph_, rows_, row_, element);
    known->second = step.addsNan() || llvm::any_of(graph_.fetches(), [&](const Fetch& fetch) {
                      return isKnownNan(step.at(fetch.value));
                    });
  }
  return known->second;
}

std::optional<double> NanAnswers::at(ValueId value, double element) const {
  return StepOfOne(graph_, rows_, row_, element).at(value);
}

std::vector<double> NanAnswers::comparedWith() const {
  std::vector<double> numbers;
  const StepOfOne step(graph_, rows_, row_, 0);
  for (const OpId op : graph_.ops()) {
    const OpRow& row = graph_[op];
    const bool reads = llvm::any_of(row.operands, [&](ValueId value) { return rows_[value] == row_; });
    if (!reads || !bodyOf(graph_, row)) {
      continue;
    }
    for (const ValueId operand : row.operands) {
      if (const Known& number = step.at(operand); number && rows_[operand] == 0) {
        numbers.push_back(*number);
      }
    }
  }
  return numbers;
}

} // namespace dfc
