// The attribute `precision` of products.
#pragma once

#include "ir/graph/rules/op_rules.h"

#include <array>

namespace dfc {

inline constexpr std::array<std::string_view, 5> precisionNames = {"unstated", "ieee", "tf32", "bf16", "f16"};

inline void precisionField(AttributeVisitor& visitor, Precision& precision) {
  auto chosen = static_cast<uint8_t>(precision);
  visitor.choice("precision", chosen, precisionNames, Presence::Optional);
  precision = static_cast<Precision>(chosen);
}

inline bool isKnown(Precision precision) { return static_cast<size_t>(precision) < precisionNames.size(); }
inline TypeResult refusePrecision(OpKind kind, OperandTypes operands) {
  return refuse(kind, operands, "unknown precision", "it is ieee, tf32, bf16 or f16, or left out");
}

/// The attribute in which a product states its precision; null for one that states none.
Precision* precisionIn(OpAttributes& attributes);
/// What it states; Unstated for other ops.
Precision precisionOf(const OpAttributes& attributes);

} // namespace dfc
