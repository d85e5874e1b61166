#include "tools/python/module/values.h"

#include "ir/graph/graph.h"
#include "runtime/data/convert_elements.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/place.h"

#include <fmt/format.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

const Value* valueOf(nb::handle object) {
  return nb::isinstance<Value>(object) ? nb::inst_ptr<Value>(object) : nullptr;
}

[[noreturn]] void noTensor(const char* name) {
  throw nb::type_error(
      fmt::format("{}: no operand is a dfc.Tensor, so that there is no graph to write to; make "
                  "one with Builder.input, parameter, constant or scalar",
                  name)
          .c_str());
}

bool isArrayLike(nb::handle object) { return !object.is_none() && !nb::isinstance<nb::str>(object); }

bool isNumber(nb::handle object) { return PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr()); }

} // namespace

std::shared_ptr<Writer> writerOf(const char* name, const std::vector<const Arg*>& arguments) {
  for (const Arg* argument : arguments) {
    if (const Value* value = valueOf(*argument)) {
      return value->writer;
    }
  }
  noTensor(name);
}

Call::Call(std::shared_ptr<Writer> writer)
    : writer_(std::move(writer)), mistakesBefore_(writer_->builder.graph().errors().size()),
      place_(writer_->builder.at(pythonPlace())) {}

void Call::addModel(const Value& value) {
  if (!model_ && value.tensor.valid()) {
    model_ = value.tensor.type().element;
  }
}

void Call::addModel(const Arg& argument) {
  if (const Value* value = valueOf(argument)) {
    addModel(*value);
  }
}

// What the model's type cannot hold stays as it is: the op's own rule says which types do not fit.
Numeric Call::numeric(const Arg& argument) {
  if (!model_ || valueOf(argument) != nullptr || isNumber(argument) || !isArrayLike(argument)) {
    return operand(argument);
  }
  const Literal literal = literalOf(argument, Sharing::Copied, std::nullopt, "operand");
  const ElementType element = literal.type().element;
  const bool isDefault = element == ElementType::F64 || element == ElementType::I64;
  if (literal.type().shape.rank() == 0) {
    return Operand(literal.at(0));
  }
  if (isDefault && convertsTo(*model_, element)) {
    if (auto converted = convertedTo(*model_, literal, "operand")) {
      return Operand(builder().constant(converted->values));
    }
  }
  return Operand(builder().constant(literal));
}

Operand Call::operand(const Arg& argument) {
  if (const Value* value = valueOf(argument)) {
    return value->tensor;
  }
  if (isNumber(argument)) {
    return nb::cast<double>(argument);
  }
  if (!isArrayLike(argument)) {
    throw nb::type_error(
        fmt::format("an operand is a dfc.Tensor, a number or an array, not {}", textOf(nb::repr(argument)))
            .c_str());
  }
  const Literal literal = literalOf(argument, Sharing::Copied, std::nullopt, "operand");
  if (literal.type().shape.rank() == 0) {
    return literal.at(0); // NumPy's scalars are numbers, whose type is that of the other operand
  }
  return builder().constant(literal);
}

Tensor Call::tensor(const Arg& argument) {
  const Operand given = operand(argument);
  if (given.tensor() == nullptr) {
    throw nb::type_error(
        fmt::format("a dfc.Tensor or an array is needed here, not {}", textOf(nb::repr(argument))).c_str());
  }
  return *given.tensor();
}

std::vector<Tensor> Call::tensors(const std::vector<Arg>& arguments) {
  std::vector<Tensor> tensors;
  for (const Arg& argument : arguments) {
    addModel(argument);
  }
  for (const Arg& argument : arguments) {
    const Operand given = numeric(argument);
    tensors.push_back(given.tensor() != nullptr ? *given.tensor() : tensor(argument));
  }
  return tensors;
}

void Call::raiseMistakes() {
  const Diagnostics& errors = builder().graph().errors();
  if (writer_->strict && errors.size() > mistakesBefore_) {
    throw Error(Diagnostics(errors.begin() + static_cast<std::ptrdiff_t>(mistakesBefore_), errors.end()));
  }
}

Value Call::value(Tensor tensor) {
  raiseMistakes();
  return {tensor, writer_};
}

std::vector<Value> Call::values(const std::vector<Tensor>& tensors) {
  raiseMistakes();
  std::vector<Value> values;
  for (const Tensor& tensor : tensors) {
    values.push_back({tensor, writer_});
  }
  return values;
}

} // namespace dfc::python
