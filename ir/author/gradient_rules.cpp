#include "ir/author/gradient_rules.h"

namespace dfc {

void applyGradient(const OpAttributes& attributes, GradientRule& rule) {
  switch (attributes.kind()) {
#define DFC_OP(Type, text)                                                                                   \
  case OpKind::Type:                                                                                         \
    return gradientRule(attributes.as<ops::Type>(), rule);
#include "ir/graph/ops.def"
#undef DFC_OP
  }
}

} // namespace dfc
