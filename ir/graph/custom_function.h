// Functions of the host that `custom` ops call, by name. A session (SessionOptions::customFunctions) calls
// them in each step, with views of the values where they lie: nothing is copied.
//
//     functions["scale"] = [](const dfc::CustomCall& call) {
//       const std::span<const float> x = call.operand<float>(0);
//       const std::span<float> y = call.result<float>(0);
//       std::transform(x.begin(), x.end(), y.begin(), [](float value) { return 2 * value; });
//     };
//
// Threads: a function is called on the thread of the queue that runs the op. Ops on several queues, and steps
// of several sessions, may call one function at once.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"
#include "ir/graph/tensor_type.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace DFC_PUBLIC dfc {

/// The types of a call's operands and results, as the graph says them.
struct CustomTypes {
  std::span<const TensorType> operands; ///< in order
  std::span<const TensorType> results;  ///< in order; one at least
};

/// One call: the values of operands, and the memory of results, which the function writes whole. Row-major
/// and dense; of no defined contents before. Valid until the function returns.
class CustomCall {
 public:
  /// Views of `operands` and `results`, an address for each of `types`, and the op's name.
  CustomCall(std::string_view op, CustomTypes types, std::span<const std::byte* const> operands,
             std::span<std::byte* const> results)
      : op_(op), types_(types), operands_(operands), results_(results) {}
  /// The op's name in the graph, for messages.
  std::string_view op() const { return op_; }
  /// Element types and shapes.
  const CustomTypes& types() const { return types_; }
  /// The elements of an operand. Throws std::invalid_argument where there is none, or its elements are no T:
  /// float, double, Half, BFloat16, int32_t, int64_t, uint8_t or bool.
  template <class T>
  std::span<const T> operand(size_t index) const {
    const TensorType& type = checked("operand", types_.operands, index, ElementTypeOf<T>::value);
    return {reinterpret_cast<const T*>(operands_[index]), static_cast<size_t>(type.shape.elements())};
  }
  /// Likewise those of a result, to be written.
  template <class T>
  std::span<T> result(size_t index) const {
    const TensorType& type = checked("result", types_.results, index, ElementTypeOf<T>::value);
    return {reinterpret_cast<T*>(results_[index]), static_cast<size_t>(type.shape.elements())};
  }
  /// The bytes of an operand of any type. Throws std::invalid_argument where there is none.
  std::span<const std::byte> operandBytes(size_t index) const;
  /// Likewise of a result.
  std::span<std::byte> resultBytes(size_t index) const;

 private:
  static const TensorType& checked(std::string_view what, std::span<const TensorType> types, size_t index,
                                   std::optional<ElementType> wanted);
  std::string_view op_;
  CustomTypes types_;
  std::span<const std::byte* const> operands_;
  std::span<std::byte* const> results_;
};

/// A function that `custom` ops call.
struct CustomFunction {
  /// No function yet.
  CustomFunction() = default;
  /// A function without a check of types; implicit, so that a lambda is one.
  template <class F>
  requires std::is_invocable_v<F&, const CustomCall&> CustomFunction(F function) : run(std::move(function)) {}

  /// Computes the results. What it throws ends the step with a CustomError.
  std::function<void(const CustomCall&)> run;
  /// Looks at the types of each call before the first step, and says what is wrong with them; "" for nothing.
  /// May be empty: then all types are taken.
  std::function<std::string(const CustomTypes&)> check = {};
};

/// Functions by the name that ops call them by.
using CustomFunctions = std::map<std::string, CustomFunction, std::less<>>;

/// A custom op failed in a step: its function threw. Its one diagnostic names the op, the function, where the
/// op was written, and what the function said.
class CustomError : public Error {
 public:
  using Error::Error;
};

} // namespace dfc
