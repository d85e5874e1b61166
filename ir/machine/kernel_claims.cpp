#include "ir/machine/kernel_claims.h"

namespace dfc {

bool claimsKernel(DeviceKind kind, const OpAttributes& attributes, OperandTypes /*operands*/) {
  switch (attributes.kind()) {
  case OpKind::Attention:
  case OpKind::AttentionGradient: return kind == DeviceKind::Cpu; // of every type and size
  default: return false;
  }
}

bool everyKindClaims(const OpAttributes& attributes, OperandTypes operands) {
  return claimsKernel(DeviceKind::Cpu, attributes, operands) &&
         claimsKernel(DeviceKind::Gpu, attributes, operands);
}

} // namespace dfc
