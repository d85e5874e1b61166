// evaluate(): a slow, plain interpreter of a graph in host memory. It is the oracle: constant folding
// computes with it, the tests of gradients, passes and backends are held against it. It takes nothing from
// the kernels.
//
// What it promises, element by element:
// - Floats: every scalar operation is computed in double and rounded once to its type (f16 and bf16 through
//   f32). For + - * / and sqrt that is the correctly rounded result in every type (Figueroa 1995: a format
//   with more than twice the digits rounds innocuously).
// - Sums, means, matrix products, softmax and cross entropy accumulate in double, in row-major order, and
//   round once at the end (tf32 or not); an op inside a fused body rounds after every instruction, as the op
//   alone would.
// - Composite ops (ir/author/decompositions.h) are computed in f64 and rounded once.
// - Integers wrap as unsigned arithmetic does; division truncates, by zero gives 0, and the smallest number
//   by -1 wraps to itself. Casts between integers keep the low bits; casts from floats as ops/cast.h says.
// - max and min give NaN if either is NaN, and the first of two equal operands (so max(-0, +0) is -0).
// - Ops that move elements keep their bits. Elsewhere the payload of a NaN is unspecified.
#pragma once

#include "ir/graph/custom_function.h"
#include "ir/graph/graph.h"

#include <map>
#include <string>

namespace dfc {

/// The results of an op for these operands, whose types its type rule accepts. Not for inputs and parameters,
/// which have no value of their own, nor for `gradients`, which is a request, nor for `custom`; asserts that.
llvm::SmallVector<Literal, 1> evaluateOp(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands);

/// The results of one step: the fetches, and the value of every parameter from the next step on.
struct Evaluation {
  NamedLiterals fetches;
  NamedLiterals parameters;
};

/// One step. `feeds` and `parameters` go by the names of the input and parameter values; each must be there
/// with its type, and no others. Errors, all at once: a graph that still has `gradients` ops; a custom op
/// without a function of its name in `functions`; a function that refuses the op's types, or fails.
Result<Evaluation> evaluate(const Graph& graph, const NamedLiterals& feeds,
                            const NamedLiterals& parameters = {}, const CustomFunctions& functions = {});

/// The same, but every value of the graph.
Result<SideTable<ValueId, Literal>> evaluateValues(const Graph& graph, const NamedLiterals& feeds,
                                                   const NamedLiterals& parameters = {},
                                                   const CustomFunctions& functions = {});

} // namespace dfc
