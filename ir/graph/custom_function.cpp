#include "ir/graph/custom_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <stdexcept>

namespace dfc {
namespace {

Diagnostic errorAtOp(const Graph& graph, OpId op, std::string message, std::string hint) {
  return inScope({Severity::Error, graph.locationOf(op), std::move(message), std::move(hint)},
                 graph.scopeOf(op));
}

std::vector<std::string> listed(const CustomFunctions& functions) {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions) {
    names.push_back(name);
  }
  return names;
}

Diagnostic missingFunction(const Graph& graph, OpId op, const CustomFunctions& functions) {
  const std::string& wanted = graph[op].as<ops::Custom>().function;
  const auto near = nearestName(wanted, listed(functions));
  return errorAtOp(
      graph, op,
      fmt::format("custom op '{}' calls '{}', and there is no such function", graph.nameOf(op), wanted),
      fmt::format("{}give it in SessionOptions::customFunctions, or with --custom LIBRARY.so to dfc run; "
                  "functions that are there: {}",
                  near ? fmt::format("did you mean '{}'? ", *near) : "", namesOf(functions)));
}

std::string refusalOf(const CustomFunction& function, const CustomTypes& types) {
  try {
    return function.check ? function.check(types) : "";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "its check threw something that is no std::exception";
  }
}

[[noreturn]] void fail(const Graph& graph, OpId op, std::string_view why) {
  throw CustomError({errorAtOp(graph, op,
                               fmt::format("custom op '{}': its function '{}' failed: {}", graph.nameOf(op),
                                           graph[op].as<ops::Custom>().function, why),
                               "the step has ended; the function's own message says why")});
}

} // namespace

const TensorType& CustomCall::checked(std::string_view what, std::span<const TensorType> types, size_t index,
                                      std::optional<ElementType> wanted) {
  if (index >= types.size()) {
    throw std::invalid_argument(fmt::format("{} {} of a call that has {}", what, index, types.size()));
  }
  if (wanted && types[index].element != *wanted) {
    throw std::invalid_argument(fmt::format("{} {} is {}, and the function takes {}", what, index,
                                            toString(types[index]), name(*wanted)));
  }
  return types[index];
}

std::span<const std::byte> CustomCall::operandBytes(size_t index) const {
  const TensorType& type = checked("operand", types_.operands, index, std::nullopt);
  return {operands_[index], static_cast<size_t>(type.bytes())};
}

std::span<std::byte> CustomCall::resultBytes(size_t index) const {
  const TensorType& type = checked("result", types_.results, index, std::nullopt);
  return {results_[index], static_cast<size_t>(type.bytes())};
}

std::string namesOf(const CustomFunctions& functions) {
  return functions.empty() ? "none" : fmt::format("{}", fmt::join(listed(functions), ", "));
}

Diagnostics checkCustomCalls(const Graph& graph, llvm::ArrayRef<OpId> ops, const CustomFunctions& functions) {
  Diagnostics errors;
  std::set<std::string_view> missing;
  for (const OpId op : ops) {
    const auto* custom = graph[op].getIf<ops::Custom>();
    if (custom == nullptr) {
      continue;
    }
    const auto found = functions.find(custom->function);
    if (found == functions.end() || !found->second.run) {
      if (missing.insert(custom->function).second) {
        errors.push_back(missingFunction(graph, op, functions));
      }
      continue;
    }
    const auto operands = graph.operandTypesOf(op), results = graph.resultTypesOf(op);
    if (const std::string why = refusalOf(found->second, {operands, results}); !why.empty()) {
      errors.push_back(
          errorAtOp(graph, op,
                    fmt::format("custom op '{}': its function '{}' refuses the types of the call: {}",
                                graph.nameOf(op), custom->function, why),
                    "call it with other operands, or change the op's types"));
    }
  }
  return errors;
}

void callCustom(const CustomFunction& function, const Graph& graph, OpId op,
                llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) {
  const auto operandTypes = graph.operandTypesOf(op), resultTypes = graph.resultTypesOf(op);
  const CustomCall call(graph.nameOf(op), {operandTypes, resultTypes}, {operands.data(), operands.size()},
                        {results.data(), results.size()});
  try {
    function.run(call);
  } catch (const std::exception& error) {
    fail(graph, op, error.what());
  } catch (...) {
    fail(graph, op, "it threw something that is no std::exception");
  }
}

} // namespace dfc
