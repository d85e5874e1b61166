// What the files of kernel_cases/ share: the list that each family adds its calls to.
#pragma once

#include "tests/support/op_samples.h"

#include <string_view>

namespace dfc::test {

/// Calls on one element type; those that an op's rule refuses for it are left out.
class Cases {
 public:
  explicit Cases(ElementType element) : element_(element) {}

  TensorType of(Shape shape) const { return {element_, shape}; }

  template <class Op, class Fill>
  void add(std::vector<TensorType> operands, Fill fill) {
    Op op;
    fill(op);
    push(std::move(op), std::move(operands));
  }
  void push(OpAttributes attributes, std::vector<TensorType> operands) {
    if (resultTypes(attributes, operands).ok()) {
      list.push_back({std::move(attributes), std::move(operands)});
    }
  }
  /// `body`: as `withType` takes it.
  void fused(std::string body, std::vector<TensorType> operands,
             ops::Fused::Reduction reduction = ops::Fused::Reduction::None, Dims axes = {});

  std::vector<OpSample> list;

 private:
  ElementType element_;
};

// `large`: calls too large for an emulation of GPU threads too.
void addElementwise(Cases& cases);
void addReductions(Cases& cases, bool large);
void addRows(Cases& cases, bool large); ///< softmax and its relatives, norms, dropout
void addParts(Cases& cases);            ///< calls that say where they lie in a whole
void addMovement(Cases& cases, bool large);
void addIndexing(Cases& cases, bool large); ///< gather to topK: what indices, repeats and ranks choose
void addWindows(Cases& cases, bool large);  ///< convolutions, pools, batch normalisations

} // namespace dfc::test
