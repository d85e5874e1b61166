// cut(a, axis=…, devices="…"): a itself, and the author's wish that it be cut along `axis`, a part on each
// device whose name the glob `devices` matches. The other ops follow as costs have it. A negative axis counts
// from the end. The compiler takes the wish off the graph where it splits it (compiler/split/take_cuts.h);
// whatever else sees the op sees an identity.
#pragma once

#include "ir/graph/op_parts.h"

#include <string>

namespace dfc::ops {

struct Cut : OpDefaults {
  static constexpr OpClass opClass = OpClass::View;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  int64_t axis = 0;
  std::string devices; ///< never empty
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Required);
    visitor.field("devices", devices, Presence::Required);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
