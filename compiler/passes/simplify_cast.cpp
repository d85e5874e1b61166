// Casts of casts. A cast that keeps every number ("widening") can be skipped on the way to a third type where
// both kinds of conversion round, wrap or saturate alike.
#include "compiler/passes/simplify_rules.h"

namespace dfc::simplification {
namespace {

// Binary digits of the largest range of whole numbers that a type holds without a gap.
int digits(ElementType type) {
  switch (type) {
  case ElementType::F64: return 53;
  case ElementType::F32: return 24;
  case ElementType::F16: return 11;
  case ElementType::BF16: return 8;
  case ElementType::I64: return 63;
  case ElementType::I32: return 31;
  case ElementType::U8: return 8;
  case ElementType::Bool: return 1;
  }
  return 0;
}

// Whether `to` holds every number of `from`.
bool widens(ElementType from, ElementType to) {
  if (from == to) {
    return true;
  }
  if (isFloat(from)) {
    // f16 and bf16 hold numbers that the other does not; f32 and f64 hold both.
    return isFloat(to) && byteWidth(to) > byteWidth(from);
  }
  return to != ElementType::Bool && to != ElementType::U8
             ? digits(from) <= digits(to)
             : from == ElementType::Bool && to == ElementType::U8;
}

// Whether from -> middle -> to is from -> to, given that the first step widens.
bool skipsMiddle(ElementType from, ElementType middle, ElementType to) {
  const bool sameFamily = isFloat(from) == isFloat(middle);
  return sameFamily || from == to || isFloat(to);
}

} // namespace

std::optional<Rewrite> simplifyCast(const Context& context, const Call& call) {
  const auto* cast = call.getIf<ops::Cast>();
  if (cast == nullptr) {
    return std::nullopt;
  }
  const ValueId operand = call.operands[0];
  if (context.typeOf(operand).element == cast->to) {
    return context.mayBecome(operand) ? std::optional<Rewrite>(operand) : std::nullopt;
  }
  const OpRow* inner = context.producer<ops::Cast>(operand);
  if (inner == nullptr) {
    return std::nullopt;
  }
  const ElementType from = context.typeOf(inner->operands[0]).element;
  const ElementType middle = context.typeOf(operand).element;
  return widens(from, middle) && skipsMiddle(from, middle, cast->to)
             ? std::optional<Rewrite>(Call{*cast, {inner->operands[0]}})
             : std::nullopt;
}

} // namespace dfc::simplification
