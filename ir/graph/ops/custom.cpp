// custom: types and times are the author's; the rule checks that they can be.
#include "ir/graph/rules/op_rules.h"
#include "ir/graph/rules/type_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace dfc::ops {
namespace {

// CUDA's limits: of a grid and of a block along x, y and z, of threads of a block, and of shared memory.
constexpr std::array<int64_t, 3> mostBlocks = {2147483647, 65535, 65535};
constexpr std::array<int64_t, 3> mostThreads = {1024, 1024, 64};
constexpr int64_t mostThreadsOfBlock = 1024;
constexpr int64_t mostSharedBytes = 227 * 1024;

/// What is wrong, and the way out; "" for nothing.
struct Fault {
  std::string why = {}, hint = {};
};

Fault faultOfSeconds(std::string_view name, double seconds) {
  if (std::isfinite(seconds) && seconds >= 0) {
    return {};
  }
  return {fmt::format("{} is {}", name, seconds), "it is the time of one run, in seconds"};
}

Fault faultOfLengths(std::string_view name, const Dims& lengths, const std::array<int64_t, 3>& most) {
  const std::string hint =
      fmt::format("{} has one to three lengths, x first, of at least 1 and at most {}, {} and {}", name,
                  most[0], most[1], most[2]);
  if (lengths.empty() || lengths.size() > most.size()) {
    return {fmt::format("{} has {} lengths", name, lengths.size()), hint};
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 1 || lengths[i] > most[i]) {
      return {fmt::format("{} has length {} along {}", name, lengths[i], "xyz"[i]), hint};
    }
  }
  return {};
}

bool isNameLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether the text has the name, and not as a part of a longer one.
bool hasName(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !isNameLetter(text[at - 1])) && (end == text.size() || !isNameLetter(text[end]))) {
      return true;
    }
  }
  return false;
}

Fault faultOfEntry(const Custom& op) {
  if (op.entry.empty() || !std::all_of(op.entry.begin(), op.entry.end(), isNameLetter) ||
      !hasName(op.source, op.entry)) {
    return {op.entry.empty() ? "a kernel without the name of its entry"
                             : fmt::format("the source has no kernel '{}'", op.entry),
            "entry is the name of a kernel of the source, declared extern \"C\" __global__ void"};
  }
  if (op.source.find("extern \"C\"") == std::string::npos) {
    return {fmt::format("kernel '{}' has a C++ name, by which it is not found", op.entry),
            "declare it extern \"C\" __global__ void"};
  }
  return {};
}

Fault faultOfKernel(const Custom& op) {
  if (!op.hasKernel()) {
    const bool none = op.entry.empty() && op.grid.empty() && op.block.empty() && op.sharedBytes == 0;
    return none ? Fault{}
                : Fault{"a launch without a kernel's source",
                        "give the CUDA C++ text of the kernel as source"};
  }
  if (op.gpuSeconds == 0) {
    return {"a kernel without gpuSeconds", "say how long the kernel takes, so that the op may run on GPUs"};
  }
  for (Fault fault : {faultOfEntry(op), faultOfLengths("grid", op.grid, mostBlocks),
                      faultOfLengths("block", op.block, mostThreads)}) {
    if (!fault.why.empty()) {
      return fault;
    }
  }
  int64_t threads = 1;
  for (const int64_t length : op.block) {
    threads *= length;
  }
  if (threads > mostThreadsOfBlock) {
    return {fmt::format("a block of {} threads", threads),
            fmt::format("a block has at most {} threads", mostThreadsOfBlock)};
  }
  if (op.sharedBytes < 0 || op.sharedBytes > mostSharedBytes) {
    return {fmt::format("sharedBytes is {}", op.sharedBytes),
            fmt::format("a block has 0 to {} bytes of dynamic shared memory", mostSharedBytes)};
  }
  return {};
}

Fault faultOf(const Custom& op) {
  if (op.function.empty()) {
    return {"no function", "name the function that computes the results"};
  }
  for (Fault fault : {faultOfSeconds("cpuSeconds", op.cpuSeconds),
                      faultOfSeconds("gpuSeconds", op.gpuSeconds), faultOfKernel(op)}) {
    if (!fault.why.empty()) {
      return fault;
    }
  }
  if (op.cpuSeconds == 0 && op.gpuSeconds == 0) {
    return {"it has no cost, so that no device could run it",
            "give cpuSeconds or gpuSeconds, the time of one run on a device of that kind"};
  }
  return {};
}

} // namespace

TypeResult Custom::types(OperandTypes operands) const {
  TypeResult results = typesOfText(resultTypes);
  if (!results.ok()) {
    return refuse(OpKind::Custom, operands, fmt::format("types: {}", results.error), results.hint);
  }
  Fault fault = faultOf(*this);
  return fault.why.empty() ? results : refuse(OpKind::Custom, operands, fault.why, fault.hint);
}

// What one run takes is cpuSeconds or gpuSeconds, which a cost model asks for; no operations are known.
OpCost Custom::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 0);
}

// Whole on one device: nothing is known of how the function reads its operands.
SplitRule Custom::split(OperandTypes, OperandTypes) const { return {}; }

} // namespace dfc::ops
