#include "ir/graph/rules/precision.h"

namespace dfc {

Precision* precisionIn(OpAttributes& attributes) {
  switch (attributes.kind()) {
  case OpKind::Matmul: return &attributes.as<ops::Matmul>().precision;
  case OpKind::FusedMatmul: return &attributes.as<ops::FusedMatmul>().precision;
  case OpKind::Conv2d: return &attributes.as<ops::Conv2d>().precision;
  case OpKind::Conv2dInputGradient: return &attributes.as<ops::Conv2dInputGradient>().precision;
  case OpKind::Conv2dFilterGradient: return &attributes.as<ops::Conv2dFilterGradient>().precision;
  case OpKind::Attention: return &attributes.as<ops::Attention>().precision;
  case OpKind::AttentionGradient: return &attributes.as<ops::AttentionGradient>().forward.precision;
  default: return nullptr;
  }
}

Precision precisionOf(const OpAttributes& attributes) {
  const Precision* stated = precisionIn(const_cast<OpAttributes&>(attributes)); // only read
  return stated != nullptr ? *stated : Precision::Unstated;
}

} // namespace dfc
