#include "ir/graph/op.h"

#include "ir/base/assert.h"
#include "ir/graph/formula/formulas.h"
#include "ir/graph/fused_instruction.h"

#include <fmt/format.h>
#include <llvm/ADT/Hashing.h>

#include <cstring>
#include <type_traits>

namespace dfc {
namespace {

/// The visitor's answer for the struct that `attributes`, const or not, hold.
template <class Attributes, class Visitor>
decltype(auto) dispatch(Attributes& attributes, Visitor&& visitor) {
  switch (attributes.kind()) {
#define DFC_OP(Type, text)                                                                                   \
  case OpKind::Type:                                                                                         \
    return visitor(attributes.template as<ops::Type>());
#include "ir/graph/ops.def"
#undef DFC_OP
  }
  DFC_UNREACHABLE("op kind");
}

// Equality and hashing go over one byte string: the fields' bits in order, each with its length where it
// varies.
class ByteWriter : public AttributeVisitor {
 public:
  std::string bytes;
  void field(std::string_view, bool& value, Presence) override { put(value); }
  void field(std::string_view, int64_t& value, Presence) override { put(value); }
  void field(std::string_view, double& value, Presence) override { put(value); }
  void field(std::string_view, std::string& value, Presence) override { putText(value); }
  void field(std::string_view, Dims& value, Presence) override { putDims(value); }
  void field(std::string_view, ElementType& value, Presence) override { put(value); }
  void field(std::string_view, TensorType& value, Presence) override { putType(value); }
  void field(std::string_view, Literal& value, Presence) override {
    putType(value.type());
    bytes.append(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
  }
  void field(std::string_view, TextCoded& value, Presence) override { putText(value.encode()); }
  void choice(std::string_view, uint8_t& value, llvm::ArrayRef<std::string_view>, Presence) override {
    put(value);
  }

 private:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void putText(const std::string& text) {
    put(text.size());
    bytes += text;
  }
  void putDims(llvm::ArrayRef<int64_t> dims) {
    put(dims.size());
    bytes.append(reinterpret_cast<const char*>(dims.data()), dims.size() * sizeof(int64_t));
  }
  void putType(const TensorType& type) {
    put(type.element);
    putDims(dimRange(type.shape));
  }
};

std::string attributeBytes(const OpAttributes& attributes) {
  ByteWriter writer;
  visitFields(attributes, writer);
  return std::move(writer.bytes);
}

std::string arityText(Arity arity) {
  if (arity.least == arity.most) {
    return fmt::format("{} operand{}", arity.least, arity.least == 1 ? "" : "s");
  }
  return arity.most == anyNumber ? fmt::format("at least {} operands", arity.least)
                                 : fmt::format("{} to {} operands", arity.least, arity.most);
}

// Empty for ops of one operand and of any number.
std::string_view operandNames(OpKind kind) {
  switch (kind) {
#define DFC_OPERANDS(Type, names)                                                                            \
  case OpKind::Type:                                                                                         \
    return names;
#include "ir/graph/operand_names.def"
#undef DFC_OPERANDS
  default: return "";
  }
}

TypeResult wrongCount(OpKind kind, Arity arity, size_t given) {
  const std::string_view names = operandNames(kind);
  return names.empty()
             ? TypeResult::fail(fmt::format("{} takes {}, not {}", nameOf(kind), arityText(arity), given),
                                "give the operands that the op's description lists")
             : TypeResult::fail(
                   fmt::format("{} takes {} ({}), not {}", nameOf(kind), arityText(arity), names, given),
                   fmt::format("write {}({})", nameOf(kind), names));
}

} // namespace

OpAttributes::OpAttributes() : OpAttributes(ops::Input{}) {}

OpAttributes::OpAttributes(const OpAttributes& other) : kind_(other.kind_) {
  dispatch(other, [this]<class T>(const T& op) { new (&storage_) T(op); });
}

OpAttributes::OpAttributes(OpAttributes&& other) noexcept : kind_(other.kind_) {
  dispatch(other, [this]<class T>(T& op) { new (&storage_) T(std::move(op)); });
}

OpAttributes& OpAttributes::operator=(const OpAttributes& other) {
  return *this = OpAttributes(other); // a copy that throws leaves this one as it was
}

OpAttributes& OpAttributes::operator=(OpAttributes&& other) noexcept {
  if (this != &other) {
    destroy();
    kind_ = other.kind_;
    dispatch(other, [this]<class T>(T& op) { new (&storage_) T(std::move(op)); });
  }
  return *this;
}

OpAttributes::~OpAttributes() { destroy(); }

void OpAttributes::destroy() {
  dispatch(*this, []<class T>(T& op) { op.~T(); });
}

std::optional<OpKind> opKindNamed(std::string_view name) {
  for (size_t i = 0; i < opKindCount; ++i) {
    if (opNames[i] == name) {
      return static_cast<OpKind>(i);
    }
  }
  return std::nullopt;
}

OpAttributes defaultAttributes(OpKind kind) {
  switch (kind) {
#define DFC_OP(Type, text)                                                                                   \
  case OpKind::Type:                                                                                         \
    return ops::Type{};
#include "ir/graph/ops.def"
#undef DFC_OP
  }
  DFC_UNREACHABLE("op kind");
}

OpClass classOf(OpKind kind) {
  switch (kind) {
#define DFC_OP(Type, text)                                                                                   \
  case OpKind::Type:                                                                                         \
    return ops::Type::opClass;
#include "ir/graph/ops.def"
#undef DFC_OP
  }
  DFC_UNREACHABLE("op kind");
}

Arity arityOf(OpKind kind) {
  switch (kind) {
#define DFC_OP(Type, text)                                                                                   \
  case OpKind::Type:                                                                                         \
    return ops::Type::arity;
#include "ir/graph/ops.def"
#undef DFC_OP
  }
  DFC_UNREACHABLE("op kind");
}

bool isExact(OpKind kind) {
  switch (kind) {
#define DFC_OP(Type, text)                                                                                   \
  case OpKind::Type:                                                                                         \
    return ops::Type::exact;
#include "ir/graph/ops.def"
#undef DFC_OP
  }
  DFC_UNREACHABLE("op kind");
}

TypeResult resultTypes(const OpAttributes& attributes, OperandTypes operands) {
  const Arity arity = arityOf(kindOf(attributes));
  if (operands.size() < arity.least || operands.size() > arity.most) {
    return wrongCount(kindOf(attributes), arity, operands.size());
  }
  TypeResult results = dispatch(attributes, [&]<class T>(const T& op) {
    if constexpr (FormulaStruct<T>) {
      return formulaTypes(detail::KindOf<T>::value, variantOf(attributes), operands);
    } else {
      return op.types(operands);
    }
  });
  for (const TensorType& type : results.types) {
    if (!type.shape.wellFormed()) {
      return TypeResult::fail(
          fmt::format("{} of {}: no tensor may have this shape", nameOf(kindOf(attributes)), toString(type)),
          "a tensor has at most 8 axes, none of them negative, and fewer than 2^60 elements");
    }
  }
  return results;
}

OpCost costOf(const OpAttributes& attributes, OperandTypes operands, OperandTypes results) {
  return dispatch(attributes, [&]<class T>(const T& op) {
    if constexpr (FormulaStruct<T>) {
      return formulaCost(detail::KindOf<T>::value, variantOf(attributes), operands, results);
    } else {
      return op.cost(operands, results);
    }
  });
}

SplitRule splitOf(const OpAttributes& attributes, OperandTypes operands, OperandTypes results) {
  return dispatch(attributes, [&](const auto& op) { return op.split(operands, results); });
}

OpAttributes partOf(const OpAttributes& attributes, const SplitPart& part) {
  OpAttributes result = attributes;
  dispatch(result, [&](auto& op) { op.restrictTo(part); });
  return result;
}

void visitFields(OpAttributes& attributes, AttributeVisitor& visitor) {
  dispatch(attributes, [&](auto& op) { op.fields(visitor); });
}

void visitFields(const OpAttributes& attributes, AttributeVisitor& visitor) {
  OpAttributes copy = attributes; // literals share storage, so this copies no tensor
  visitFields(copy, visitor);
}

bool sameAttributes(const OpAttributes& a, const OpAttributes& b) {
  return a.kind() == b.kind() && attributeBytes(a) == attributeBytes(b);
}

size_t hashAttributes(const OpAttributes& attributes) {
  return llvm::hash_combine(static_cast<size_t>(attributes.kind()), attributeBytes(attributes));
}

} // namespace dfc
