#include "ir/author/decompositions.h"

#include "ir/base/assert.h"

namespace dfc {

bool isComposite(OpKind kind) {
  switch (kind) {
#define DFC_OP(Type, text)
#define DFC_COMPOSITE_OP(Type, text) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return true;
  default: return false;
  }
}

std::vector<Tensor> decompose(const OpAttributes& attributes, llvm::ArrayRef<Tensor> operands) {
  switch (attributes.kind()) {
#define DFC_OP(Type, text)
#define DFC_COMPOSITE_OP(Type, text)                                                                         \
  case OpKind::Type:                                                                                         \
    return decomposition(attributes.as<ops::Type>(), operands);
#include "ir/graph/ops.def"
#undef DFC_OP
  default: DFC_UNREACHABLE("no composite op");
  }
}

} // namespace dfc
