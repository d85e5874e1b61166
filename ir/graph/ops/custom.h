// custom(operands…, function="name", types="f32[2, 3], i64[]", cpuSeconds=…, gpuSeconds=…): a task of the
// author's. Its results have the types that `types` lists, and are computed by a function of the host that a
// session knows by name (ir/graph/custom_function.h), or on a GPU by the kernel `entry` of the CUDA C++ text
// `source`. A session whose GPU is played by the host calls the function there, too.
//
// cpuSeconds, gpuSeconds: the time of one run on a device of that kind, which is all that planners know of
// it. 0, as where it is left out: the op does not run on that kind. A function of the host runs on one
// thread.
//
// source, entry, grid, block, sharedBytes: the kernel. `entry` is declared `extern "C" __global__ void` and
// takes a pointer to the elements of each operand, then of each result, row-major and dense, aligned to 256
// bytes. grid and block have one to three lengths, x first. sharedBytes: dynamic shared memory of a block.
//
// pure: the results depend on the operands alone, and running it has no other effect. Then equal ops are one,
// and an op whose results nothing reads is left out. Without it the op runs once a step, where it is written.
// Ops are ordered by their operands alone.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Custom : OpDefaults {
  static constexpr OpClass opClass = OpClass::Custom;
  static constexpr Arity arity{0, anyNumber};
  std::string function = {};
  std::string resultTypes = {}; ///< as `typeListText` writes them
  double cpuSeconds = 0, gpuSeconds = 0;
  bool pure = false;
  std::string source = {}, entry = {};
  Dims grid = {}, block = {};
  int64_t sharedBytes = 0;
  void fields(AttributeVisitor& visitor) {
    visitor.field("function", function, Presence::Required);
    visitor.field("types", resultTypes, Presence::Required);
    visitor.field("cpuSeconds", cpuSeconds, Presence::Optional);
    visitor.field("gpuSeconds", gpuSeconds, Presence::Optional);
    visitor.field("pure", pure, Presence::Optional);
    visitor.field("source", source, Presence::Optional);
    visitor.field("entry", entry, Presence::Optional);
    visitor.field("grid", grid, Presence::Optional);
    visitor.field("block", block, Presence::Optional);
    visitor.field("sharedBytes", sharedBytes, Presence::Optional);
  }
  bool hasKernel() const { return !source.empty(); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
