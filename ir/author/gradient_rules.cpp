#include "ir/author/gradient_rules.h"

#include "ir/author/formula_gradient.h"
#include "ir/graph/formula/formulas.h"

namespace dfc {

void applyGradient(const OpAttributes& attributes, GradientRule& rule) {
  if (formulaOf(attributes.kind()) != nullptr) {
    return formulaGradient(attributes.kind(), formulaVariantOf(attributes), rule);
  }
  switch (attributes.kind()) {
#define DFC_FORMULA_OP(Type, name) case OpKind::Type:
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_OP(Type, text)
#include "ir/graph/ops.def"
#undef DFC_OP
    return;
#define DFC_FORMULA_OP(Type, name)
#define DFC_OP(Type, text)                                                                                   \
  case OpKind::Type:                                                                                         \
    return gradientRule(attributes.as<ops::Type>(), rule);
#include "ir/graph/ops.def"
#undef DFC_OP
  }
}

} // namespace dfc
