// Elements of literals by index, and the ops that work on each element by itself: elementwise ops and fused
// bodies, which run instruction by instruction on scalars.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/base/assert.h"
#include "ir/graph/fused_instruction.h"

#include <cstring>

namespace dfc::evaluation {
namespace {

template <class T>
T bitsAt(const Literal& literal, int64_t index) {
  T value;
  std::memcpy(&value, literal.bytes().data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void setBits(Literal& literal, int64_t index, T value) {
  std::memcpy(literal.mutableBytes().data() + static_cast<size_t>(index) * sizeof(T), &value, sizeof(T));
}

std::vector<Scalar> elementsAt(Operands operands, llvm::ArrayRef<int64_t> index) {
  std::vector<Scalar> elements;
  for (const Literal& operand : operands) {
    elements.push_back(load(operand, offsetOf(operand.type().shape, index)));
  }
  return elements;
}

// The value of the last register after the body ran on one element of each operand.
Scalar runBody(const ops::FusedBody& body, std::vector<Scalar> registers) {
  for (const ops::FusedInstruction& instruction : body.instructions) {
    llvm::SmallVector<Scalar, 3> inputs;
    for (const uint32_t input : instruction.inputs) {
      inputs.push_back(registers[input]);
    }
    registers.push_back(applyScalar(instruction.kind, instruction.variant, instruction.type, inputs));
  }
  return registers.back();
}

std::optional<Reduction> reductionOf(ops::Fused::Reduction reduction) {
  switch (reduction) {
  case ops::Fused::Reduction::None: return std::nullopt;
  case ops::Fused::Reduction::Sum: return Reduction::Sum;
  case ops::Fused::Reduction::Mean: return Reduction::Mean;
  case ops::Fused::Reduction::Max: return Reduction::Max;
  }
  DFC_UNREACHABLE("reduction of a fused op");
}

Shape sharedShape(Operands operands) {
  llvm::SmallVector<TensorType, 4> types;
  for (const Literal& operand : operands) {
    types.push_back(operand.type());
  }
  return *ops::Fused::commonShape(types);
}

} // namespace

Scalar load(const Literal& literal, int64_t index) {
  const ElementType type = literal.type().element;
  switch (type) {
  case ElementType::F32: return {type, bitsAt<float>(literal, index), 0};
  case ElementType::F64: return {type, bitsAt<double>(literal, index), 0};
  case ElementType::F16: return {type, static_cast<float>(bitsAt<Half>(literal, index)), 0};
  case ElementType::BF16: return {type, static_cast<float>(bitsAt<BFloat16>(literal, index)), 0};
  case ElementType::I32: return {type, 0, bitsAt<int32_t>(literal, index)};
  case ElementType::I64: return {type, 0, bitsAt<int64_t>(literal, index)};
  case ElementType::U8: return {type, 0, bitsAt<uint8_t>(literal, index)};
  case ElementType::Bool: return {type, 0, bitsAt<uint8_t>(literal, index) != 0 ? 1 : 0};
  }
  DFC_UNREACHABLE("element type");
}

void store(Literal& literal, int64_t index, const Scalar& scalar) {
  DFC_ASSERT(literal.type().element == scalar.type, "a scalar stored as another type");
  switch (scalar.type) {
  case ElementType::F32: return setBits(literal, index, static_cast<float>(scalar.real));
  case ElementType::F64: return setBits(literal, index, scalar.real);
  case ElementType::F16: return setBits(literal, index, Half(static_cast<float>(scalar.real)));
  case ElementType::BF16: return setBits(literal, index, BFloat16(static_cast<float>(scalar.real)));
  case ElementType::I32: return setBits(literal, index, static_cast<int32_t>(scalar.whole));
  case ElementType::I64: return setBits(literal, index, scalar.whole);
  case ElementType::U8:
  case ElementType::Bool: return setBits(literal, index, static_cast<uint8_t>(scalar.whole));
  }
  DFC_UNREACHABLE("element type");
}

void forEachIndex(const Shape& shape, llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit) {
  Index index(shape.rank(), 0);
  for (int64_t left = shape.elements(); left > 0; --left) {
    visit(index);
    for (size_t axis = shape.rank(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) {
        break;
      }
      index[axis] = 0;
    }
  }
}

int64_t offsetOf(const Shape& shape, llvm::ArrayRef<int64_t> index) {
  const size_t missing = index.size() - shape.rank();
  int64_t offset = 0;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    offset = offset * shape[axis] + (shape[axis] == 1 ? 0 : index[missing + axis]);
  }
  return offset;
}

void copyElement(Literal& to, int64_t toIndex, const Literal& from, int64_t fromIndex) {
  const auto width = static_cast<size_t>(byteWidth(to.type().element));
  std::memcpy(to.mutableBytes().data() + static_cast<size_t>(toIndex) * width,
              from.bytes().data() + static_cast<size_t>(fromIndex) * width, width);
}

Literal elementwise(const OpAttributes& attributes, Operands operands, const TensorType& type) {
  Literal result(type);
  int64_t next = 0;
  forEachIndex(type.shape, [&](llvm::ArrayRef<int64_t> index) {
    store(result, next++,
          applyScalar(kindOf(attributes), variantOf(attributes), type.element, elementsAt(operands, index)));
  });
  return result;
}

Literal fused(const ops::Fused& op, Operands operands, const TensorType& type) {
  Literal chain({type.element, sharedShape(operands)});
  int64_t next = 0;
  forEachIndex(chain.type().shape, [&](llvm::ArrayRef<int64_t> index) {
    store(chain, next++, runBody(op.body, elementsAt(operands, index)));
  });
  const std::optional<Reduction> reduction = reductionOf(op.reduction);
  return reduction ? reduced(*reduction, chain, op.axes, type, op.count) : chain;
}

} // namespace dfc::evaluation
