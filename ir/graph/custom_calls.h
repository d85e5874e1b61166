// How custom ops call functions of the host: the one way of every backend and of the evaluator.
#pragma once

#include "ir/graph/custom_function.h"
#include "ir/graph/graph.h"

namespace dfc {

/// What is wrong with the calls of these ops, before any is made: functions that `functions` lacks, one error
/// each at the first op that calls it, and types that a function refuses. Ops that are not custom are passed
/// over.
Diagnostics checkCustomCalls(const Graph& graph, llvm::ArrayRef<OpId> ops, const CustomFunctions& functions);

/// Runs a custom op's function. The function is there. An address for each operand and result, aligned as its
/// elements are. Throws CustomError where the function throws.
void callCustom(const CustomFunction& function, const Graph& graph, OpId op,
                llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results);

/// The functions' names, for messages: "a, b"; "none" where there are none.
std::string namesOf(const CustomFunctions& functions);

} // namespace dfc
