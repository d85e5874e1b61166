#include "tests/support/calls_in_step.h"

#include "ir/base/assert.h"
#include "ir/graph/graph.h"
#include "tests/support/typed_body.h"

#include <algorithm>

namespace dfc::test {
namespace {

class Calls {
 public:
  void push(OpAttributes attributes, std::vector<TensorType> operands) {
    if (resultTypes(attributes, operands).ok()) {
      list_.push_back({std::move(attributes), std::move(operands)});
    }
  }
  /// All operands of `shape`, then each by itself with the others as a row, and as a scalar.
  void pushInStep(const OpAttributes& attributes, std::vector<TensorType> operands, const Shape& shape) {
    for (TensorType& operand : operands) {
      operand.shape = shape;
    }
    push(attributes, operands);
    for (size_t whole = 0; operands.size() > 1 && whole < operands.size(); ++whole) {
      for (const Shape& other : {Shape{shape[1]}, Shape{}}) {
        std::vector<TensorType> some = operands;
        for (size_t i = 0; i < some.size(); ++i) {
          some[i].shape = i == whole ? shape : other;
        }
        push(attributes, some);
      }
    }
  }
  std::vector<OpSample> take() { return std::move(list_); }

 private:
  std::vector<OpSample> list_;
};

void pushVariants(Calls& calls, const OpSample& sample, ElementType element, const Shape& shape) {
  const OpKind kind = kindOf(sample.attributes);
  if (kind == OpKind::Cast) {
    for (const ElementType to : allElementTypes) {
      ops::Cast cast;
      cast.to = to;
      calls.pushInStep(cast, {{element, shape}}, shape);
    }
  } else {
    calls.pushInStep(sample.attributes, sample.operands, shape);
  }
}

const std::vector<std::string> bodies = {
    "mul:T %0 %1; add:T %3 %2; neg:T %4",                              // an operand each
    "add:T %0 %1; sub:T %3 %2; mul:T %4 %0; add:T %5 %1",              // operands read late, and again
    "max:T %0 %1; compare.gt:bool %3 %2; select:T %4 %0 %1",           // a register of another width within
    "cast:f64 %0; mul:f64 %3 %3; cast:T %4; add:T %5 %1; max:T %6 %2", // wider within
    "sub:T %2 %1; cast:i32 %0; cast:T %4; add:T %3 %5",
};

} // namespace

std::vector<OpSample> elementwiseCalls(ElementType element, const Shape& shape) {
  Calls calls;
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (classOf(kind) == OpClass::Elementwise) {
      pushVariants(calls, sampleOf(kind, element), element, shape);
    }
  }
  const TensorType whole{element, shape};
  for (const std::string& body : bodies) {
    calls.pushInStep(withBody<ops::Fused>(body, element), {whole, whole, whole}, shape);
  }
  return calls.take();
}

std::vector<OpSample> fusedProducts(ElementType element, int64_t rows, int64_t depth, int64_t columns) {
  Calls calls;
  const TensorType a{element, {rows, depth}}, b{element, {depth, columns}}, whole{element, {rows, columns}},
      row{element, {columns}}, number{ElementType::I32, {rows, columns}};
  const std::vector<std::pair<std::string, std::vector<TensorType>>> epilogues = {
      {"add:T %0 %1", {whole}},
      {"add:T %0 %1; max:T %3 %2", {row, whole}},
      {"mul:T %0 %1; sub:T %2 %3", {whole, whole}},
      {"sub:T %1 %0; mul:T %2 %1", {whole}},
      {"compare.gt:bool %2 %1; select:T %3 %0 %1", {row, whole}},
      {"cast:T %1; add:T %0 %2", {number}},
      {"compare.gt:bool %0 %2; and:bool %3 %1", {{ElementType::Bool, {rows, columns}}, row}},
      {"cast:f64 %0; cast:f64 %1; add:f64 %2 %3", {whole}},
  };
  for (const auto& [body, others] : epilogues) {
    std::vector<TensorType> operands = {a, b};
    operands.insert(operands.end(), others.begin(), others.end());
    calls.push(withBody<ops::FusedMatmul>(body, element), operands);
  }
  return calls.take();
}

std::vector<OpSample> callsOfAllOps(ElementType element) {
  Calls calls;
  auto ofOneRow = withBody<ops::Fused>("add:T %0 %1; max:T %2 %1", element); // a reduction of no other type
  ofOneRow.reduction = ops::Fused::Reduction::Max;
  ofOneRow.axes = {0};
  ofOneRow.keepDims = true;
  calls.push(ofOneRow, {{element, {1, 7}}, {element, {1, 7}}});
  for (size_t i = 0; i < opKindCount; ++i) {
    const OpSample sample = sampleOf(static_cast<OpKind>(i), element);
    calls.push(sample.attributes, sample.operands);
    for (const TensorType& like : sample.operands) {
      std::vector<TensorType> alike = sample.operands;
      for (TensorType& operand : alike) {
        operand.shape = like.shape;
      }
      calls.push(sample.attributes, alike);
      calls.push(sample.attributes, std::vector<TensorType>(alike.size(), like));
    }
  }
  return calls.take();
}

} // namespace dfc::test
