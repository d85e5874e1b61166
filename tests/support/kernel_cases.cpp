#include "tests/support/kernel_cases.h"

#include "ir/author/decompositions.h"
#include "ir/base/assert.h"
#include "ir/graph/graph.h"
#include "ir/graph/rules/op_rules.h"
#include "ir/machine/kernel_claims.h"
#include "tests/support/kernel_cases/cases.h"
#include "tests/support/typed_body.h"

namespace dfc::test {

void Cases::fused(std::string body, std::vector<TensorType> operands, ops::Fused::Reduction reduction,
                  Dims axes) {
  const std::string text = withType(std::move(body), element_);
  add<ops::Fused>(std::move(operands), [&](ops::Fused& op) {
    DFC_ASSERT(op.body.decode(text), text);
    op.reduction = reduction;
    op.axes = axes;
  });
}

namespace {

bool computes(OpKind kind) {
  const OpClass opClass = classOf(kind);
  return opClass == OpClass::Elementwise || opClass == OpClass::Reduction || opClass == OpClass::Movement ||
         (opClass == OpClass::Structured && kind != OpKind::FusedMatmul && kind != OpKind::FusedConv2d);
}

bool isClaimed(const OpSample& sample) {
  return !isComposite(kindOf(sample.attributes)) ||
         claimsKernel(DeviceKind::Gpu, sample.attributes, sample.operands);
}

void addSamples(Cases& cases, ElementType element) {
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    OpSample sample = sampleOf(kind, element);
    const bool accepted = resultTypes(sample.attributes, sample.operands).ok();
    if (computes(kind) && accepted && isClaimed(sample)) {
      cases.push(std::move(sample.attributes), std::move(sample.operands));
    }
  }
}

} // namespace

std::vector<OpSample> kernelCases(ElementType element, bool large) {
  Cases cases(element);
  addSamples(cases, element);
  addElementwise(cases);
  addReductions(cases, large);
  addRows(cases, large);
  addIndexing(cases, large);
  addParts(cases);
  addMovement(cases, large);
  addWindows(cases, large);
  std::erase_if(cases.list, [](const OpSample& sample) { return !isClaimed(sample); });
  return std::move(cases.list);
}

std::string describe(const OpSample& sample) {
  return describeCall(kindOf(sample.attributes), sample.operands);
}

} // namespace dfc::test
