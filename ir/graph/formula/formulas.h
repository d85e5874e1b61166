// The formula ops of the table at run time: what each states, its programs, and what follows from them for
// every formula alike (types, cost).
#pragma once

#include "ir/graph/formula/program.h"
#include "ir/graph/op.h"

namespace dfc {

/// A value of a formula that is known from elsewhere than its body.
struct KnownFormulaValue {
  std::vector<double> arguments;
  double result;
  uint8_t variant;
};

struct FormulaFacts {
  OpKind kind;
  size_t operands;
  std::string_view onnxName; ///< "" for none
  SampleRange samples;
  std::vector<KnownFormulaValue> known;
  llvm::ArrayRef<std::string_view> variantNames; ///< empty for one variant without a name
  /// A program each variant; of the derivatives none where the op states none.
  std::vector<const formula::Program*> bodies;
  std::vector<const formula::Program*> statedDerivatives;
};

/// Null for other ops.
const FormulaFacts* formulaOf(OpKind kind);
std::vector<const FormulaFacts*> allFormulas();

/// The variant of a formula op, 0 for any other.
uint8_t formulaVariantOf(const OpAttributes& attributes);
void setFormulaVariant(OpAttributes& attributes, uint8_t variant); ///< of another op: does nothing

TypeResult formulaTypes(OpKind kind, uint8_t variant, OperandTypes operands);
/// One pass over the operands; operations as ops/README.md counts the primitives.
OpCost formulaCost(OpKind kind, uint8_t variant, OperandTypes operands, OperandTypes results);

} // namespace dfc
