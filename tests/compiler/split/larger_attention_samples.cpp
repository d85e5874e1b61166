// Attention and its gradient: layouts, heads that share keys, masks that broadcast, causal or not.
#include "tests/compiler/split/larger_samples.h"

namespace dfc::test {
namespace {

struct AttentionForm {
  Shape q, k, v;
  std::vector<Shape> mask; ///< none or one
  AttentionLayout layout = AttentionLayout::Heads;
  bool causal = false;
  int64_t keyHeads = 0;
  int64_t start = 0;
};

const std::vector<AttentionForm> forms = {
    {{5, 6, 7, 2}, {5, 3, 6, 2}, {5, 3, 6, 3}, {Shape{5, 6, 7, 6}}},
    {{2, 10, 5, 2}, {2, 5, 5, 2}, {2, 5, 5, 2}, {Shape{5, 1}}},
    {{2, 6, 3, 2}, {2, 1, 5, 2}, {2, 1, 5, 2}, {Shape{6, 1, 5}}, AttentionLayout::Heads, true},
    {{2, 7, 5, 2}, {2, 6, 5, 2}, {2, 6, 5, 2}, {}, AttentionLayout::Rows},
    {{5, 4, 9, 2}, {5, 4, 9, 2}, {5, 4, 9, 2}, {}, AttentionLayout::Packed, true, 2},
    {{7, 2}, {6, 2}, {6, 3}, {Shape{7, 6}}},
    {{6, 2}, {9, 2}, {9, 3}, {}, AttentionLayout::Heads, true, 0, 4},
    {{2, 5, 2, 3}, {2, 9, 1, 3}, {2, 9, 1, 3}, {}, AttentionLayout::Rows, true}};

} // namespace

std::vector<OpSample> largerAttentionSamples(OpKind kind, ElementType element) {
  std::vector<OpSample> samples;
  for (const AttentionForm& form : forms) {
    ops::Attention op;
    op.layout = form.layout;
    op.causal = form.causal;
    op.keyHeads = form.keyHeads;
    op.start = form.start;
    std::vector<TensorType> operands = {{element, form.q}, {element, form.k}, {element, form.v}};
    const TypeResult results = resultTypes(op, operands);
    if (kind == OpKind::AttentionGradient && results.ok()) {
      operands.insert(operands.end(), {results.types[0], results.types[1], results.types[1]});
    }
    for (const Shape& mask : form.mask) {
      operands.push_back({ElementType::Bool, mask});
    }
    ops::AttentionGradient gradient;
    gradient.forward = op;
    samples.push_back(kind == OpKind::Attention ? OpSample{op, operands} : OpSample{gradient, operands});
  }
  return samples;
}

} // namespace dfc::test
