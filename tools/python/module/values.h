// Tensors as Python holds them, and a call of the DSL from Python: its place, its operands, its results.
#pragma once

#include "ir/author/builder.h"
#include "ir/author/dsl.h"
#include "tools/python/module/arguments.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <vector>

namespace dfc::python {

/// A graph under construction. `strict`: each mistake is raised by the call that makes it.
struct Writer {
  Builder builder;
  bool strict = false;
  explicit Writer(const std::string& name, bool isStrict) : builder(name), strict(isStrict) {}
};

/// A tensor with the builder that it needs.
struct Value {
  Tensor tensor;
  std::shared_ptr<Writer> writer;
};

/// An operand of arithmetic: an array of NumPy's default types takes the other operand's element type, as a
/// number does.
struct Numeric : Operand {
  Numeric(const Operand& operand) : Operand(operand) {}
};

/// While it lives, ops and mistakes are said to be written where Python's call is.
class Call {
 public:
  explicit Call(std::shared_ptr<Writer> writer);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() = default;

  Builder& builder() { return writer_->builder; }
  /// A tensor, a number, or an array, which becomes a constant.
  Operand operand(const Arg& argument);
  /// The same of arithmetic with `model`s.
  Numeric numeric(const Arg& argument);
  /// The first one's element type is that of numbers and of arrays of float64 and int64 beside it.
  void addModel(const Arg& argument);
  void addModel(const Value& value);
  /// The same where a tensor is needed.
  Tensor tensor(const Arg& argument);
  std::vector<Tensor> tensors(const std::vector<Arg>& arguments);

  /// What the call gives. Raises dfc.Error where the writer is strict and the call was a mistake.
  Value value(Tensor tensor);
  std::vector<Value> values(const std::vector<Tensor>& tensors);
  void raiseMistakes();

 private:
  std::shared_ptr<Writer> writer_;
  size_t mistakesBefore_;
  std::optional<ElementType> model_;
  Builder::Guard place_;
};

/// The builder of the first tensor among the operands. Raises TypeError where there is none; `name` is the
/// function's.
std::shared_ptr<Writer> writerOf(const char* name, const std::vector<const Arg*>& arguments);

} // namespace dfc::python
