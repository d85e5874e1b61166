// Functions of graph files that are no op: each call becomes the ops that the C++ function of its name
// writes. Schedules give a value; updates are statements, which give parameters their next values.
#pragma once

#include "ir/author/builder.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace dfc::text {

/// An attribute as it was written: a number or a value of the graph, a whole number, a truth, a text.
using FunctionAttribute = std::variant<Operand, int64_t, bool, std::string>;

/// What a call is given.
struct FunctionCall {
  std::vector<Tensor> operands;
  std::map<std::string, FunctionAttribute, std::less<>> attributes = {};

  double number(std::string_view name, double otherwise) const;
  int64_t wholeNumber(std::string_view name) const; ///< 0 where it is not given
  Operand rate(double otherwise) const;             ///< a number or a value
  bool truth(std::string_view name) const;
  Tensor value(std::string_view name) const; ///< empty where it is not given
  /// Words of a text, between blanks or commas.
  std::vector<std::string> words(std::string_view name) const;
};

/// How an attribute is written.
enum class AttributeForm : uint8_t { Number, WholeNumber, NumberOrValue, Value, Truth, Text };

/// An attribute of a function.
struct FunctionField {
  std::string_view name;
  AttributeForm form;
  bool required = false;
};

/// A function of the table.
struct FunctionRow {
  std::string_view name;
  bool isUpdate = false; ///< of a loss and, where the author names them, its parameters
  size_t operands = 0;   ///< how many; of an update the least
  std::vector<FunctionField> fields = {};
  /// The value; an empty one of an update.
  Tensor (*write)(Builder& g, const FunctionCall& call) = nullptr;

  const FunctionField* field(std::string_view word) const;
};

/// All of them.
llvm::ArrayRef<FunctionRow> functionRows();
/// Null for a word that is none.
const FunctionRow* functionNamed(std::string_view word);

} // namespace dfc::text
