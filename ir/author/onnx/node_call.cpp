#include "ir/author/onnx/node_call.h"

#include "ir/graph/formula/formulas.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::onnx {

Dims dimsOf(Tensor a) { return {a.shape().dims().begin(), a.shape().dims().end()}; }

void NodeCall::refuse(const std::string& what) const { throw Unsupported(node_.op + " with " + what); }

Tensor NodeCall::operand(size_t index) const {
  if (!has(index)) {
    throw Unsupported(fmt::format("{} without operand {}", node_.op, index));
  }
  readOperands_.insert(index);
  return scope_.tensor(node_.inputs[index]);
}

Tensor NodeCall::operandOfRank(size_t index, size_t least) const {
  const Tensor given = operand(index);
  if (given.shape().rank() < least) {
    refuse(
        fmt::format("operand {} of rank {}, which must be {} or more", index, given.shape().rank(), least));
  }
  return given;
}

Dims NodeCall::dims(size_t index) const {
  const Literal values = literal(index);
  if (values.type().shape.rank() > 1 || !isInteger(values.type().element)) {
    refuse(fmt::format("operand {} of type {}, which must be a list of integers", index,
                       toString(values.type())));
  }
  if (values.type().shape.elements() > 64) { // more than any list of axes, dimensions or pads
    refuse(fmt::format("operand {} of {} numbers", index, values.type().shape.elements()));
  }
  Dims dims;
  for (int64_t i = 0; i < values.type().shape.elements(); ++i) {
    const bool wide = values.type().element == ElementType::I64; // a double does not hold all of them
    dims.push_back(wide ? values.data<int64_t>()[static_cast<size_t>(i)]
                        : static_cast<int64_t>(values.at(i)));
  }
  return dims;
}

double NodeCall::number(size_t index) const {
  const Literal value = literal(index);
  if (value.type().shape.elements() != 1) {
    refuse(fmt::format("operand {} of type {}, which must be one number", index, toString(value.type())));
  }
  return value.at(0);
}

int64_t NodeCall::wholeNumber(size_t index) const {
  const Dims one = dims(index);
  if (one.size() != 1) {
    refuse(fmt::format("operand {} of {} numbers, which must be one", index, one.size()));
  }
  return one[0];
}

const OnnxAttribute* NodeCall::found(const std::string& name) const {
  readAttributes_.insert(name);
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? nullptr : &found->second;
}

int64_t NodeCall::integer(const std::string& name, int64_t otherwise) const {
  const OnnxAttribute* given = found(name);
  if (given != nullptr && !given->integer) {
    refuse(fmt::format("attribute '{}' that is no integer", name));
  }
  return given == nullptr ? otherwise : *given->integer;
}

double NodeCall::real(const std::string& name, double otherwise) const {
  const OnnxAttribute* given = found(name);
  if (given != nullptr && !given->real) {
    refuse(fmt::format("attribute '{}' that is no float", name));
  }
  return given == nullptr ? otherwise : *given->real;
}

std::string NodeCall::text(const std::string& name) const {
  const OnnxAttribute* given = found(name);
  if (given != nullptr && !given->text) {
    refuse(fmt::format("attribute '{}' that is no text", name));
  }
  return given == nullptr ? "" : *given->text;
}

std::string NodeCall::choice(const std::string& name, std::initializer_list<std::string_view> known) const {
  std::string given = hasAttribute(name) ? text(name) : std::string(*known.begin());
  if (std::find(known.begin(), known.end(), given) == known.end()) {
    refuse(fmt::format("{} = '{}'", name, given));
  }
  return given;
}

Dims NodeCall::integers(const std::string& name, const Dims& otherwise) const {
  const OnnxAttribute* given = found(name);
  if (given != nullptr && (given->integer || given->real || given->text || given->tensor)) {
    refuse(fmt::format("attribute '{}' that is no list of integers", name));
  }
  return given == nullptr ? otherwise : Dims(given->integers.begin(), given->integers.end());
}

const OnnxAttribute& NodeCall::attribute(const std::string& name) const {
  const OnnxAttribute* given = found(name);
  if (given == nullptr) {
    throw Unsupported(fmt::format("{} without attribute '{}'", node_.op, name));
  }
  return *given;
}

const OnnxGraph& NodeCall::body(const std::string& name) const {
  const OnnxAttribute& given = attribute(name);
  if (!given.graph) {
    refuse(fmt::format("attribute '{}' that is no graph", name));
  }
  return *given.graph;
}

size_t NodeCall::normal(int64_t axis, size_t rank) const {
  const std::optional<size_t> normal = normalAxis(axis, rank);
  if (!normal) {
    refuse(fmt::format("axis {} of {}", axis, rank));
  }
  return *normal;
}

size_t NodeCall::axis(const std::string& name, int64_t otherwise, size_t rank) const {
  return normal(integer(name, otherwise), rank);
}

int64_t NodeCall::positive(const std::string& name, int64_t otherwise) const {
  const int64_t given = integer(name, otherwise);
  if (given < 1) {
    refuse(fmt::format("{} = {}", name, given));
  }
  return given;
}

int64_t NodeCall::elementOf(Tensor tensor) const {
  const auto found = scope_.state().widened.find(tensor.value());
  if (found != scope_.state().widened.end()) {
    return found->second;
  }
  switch (tensor.type().element) {
  case ElementType::F32: return element::f32;
  case ElementType::F64: return element::f64;
  case ElementType::F16: return element::f16;
  case ElementType::BF16: return element::bf16;
  case ElementType::I32: return element::i32;
  case ElementType::I64: return element::i64;
  case ElementType::U8: return element::u8;
  case ElementType::Bool: return element::boolean;
  }
  return 0;
}

Tensor NodeCall::ofElement(Tensor tensor, int64_t element) const {
  if (isWidened(element)) {
    scope_.state().widened[tensor.value()] = element;
  }
  return tensor;
}

void NodeCall::only(const std::string& name, int64_t known) const {
  if (const int64_t given = integer(name, known); given != known) {
    refuse(fmt::format("{} = {}", name, given));
  }
}

void NodeCall::only(const std::string& name, const Dims& known) const {
  if (const Dims given = integers(name, known); given != known) {
    refuse(fmt::format("{} = [{}]", name, fmt::join(given, ", ")));
  }
}

void NodeCall::refuseUnread() const {
  for (const auto& [name, attribute] : node_.attributes) {
    if (readAttributes_.count(name) == 0) {
      refuse(fmt::format("attribute '{}'", name));
    }
  }
  for (size_t i = 0; i < operands(); ++i) {
    if (has(i) && readOperands_.count(i) == 0) {
      refuse(fmt::format("operand {} ('{}')", i, node_.inputs[i]));
    }
  }
}

Tensor NodeCall::whole(const std::vector<int64_t>& values) {
  return builder().constant(
      Literal(Shape{static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)));
}

} // namespace dfc::onnx
