#include "ir/graph/rules/precision.h"

namespace dfc {
namespace {

// Of const or mutable attributes.
template <class Attributes>
auto statedIn(Attributes& attributes) -> decltype(&attributes.template as<ops::Matmul>().precision) {
  switch (attributes.kind()) {
  case OpKind::Matmul: return &attributes.template as<ops::Matmul>().precision;
  case OpKind::FusedMatmul: return &attributes.template as<ops::FusedMatmul>().precision;
  case OpKind::Conv2d: return &attributes.template as<ops::Conv2d>().precision;
  case OpKind::FusedConv2d: return &attributes.template as<ops::FusedConv2d>().precision;
  case OpKind::Conv2dInputGradient: return &attributes.template as<ops::Conv2dInputGradient>().precision;
  case OpKind::Conv2dFilterGradient: return &attributes.template as<ops::Conv2dFilterGradient>().precision;
  case OpKind::Attention: return &attributes.template as<ops::Attention>().precision;
  case OpKind::AttentionGradient: return &attributes.template as<ops::AttentionGradient>().forward.precision;
  default: return nullptr;
  }
}

} // namespace

Precision* precisionIn(OpAttributes& attributes) { return statedIn(attributes); }

Precision precisionOf(const OpAttributes& attributes) {
  const Precision* stated = statedIn(attributes);
  return stated != nullptr ? *stated : Precision::Unstated;
}

} // namespace dfc
