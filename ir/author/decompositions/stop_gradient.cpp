// stopGradient: its operand. Behind the pass `gradients` the op has no effect.
#include "ir/author/decompositions.h"

namespace dfc {

std::vector<Tensor> decomposition(const ops::StopGradient&, llvm::ArrayRef<Tensor> operands) {
  return {operands[0]};
}

} // namespace dfc
