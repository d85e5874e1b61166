// Chains: consecutive f32 instructions of a fused body, each of which reads the value of the one before, in
// one pass over a tile. The value stays in registers where tile functions would write and read it again. The
// bits are those of the tile functions.
#pragma once

#include "ir/graph/op.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace dfc {

enum class ChainKind : uint8_t { Add, Sub, Mul, Maximum, Minimum, Relu, Clip };

/// Of an op that may be part of a chain.
std::optional<ChainKind> chainKindOf(OpKind kind);

/// One instruction. The value is its first input or, `isSecond`, its second one.
struct ChainLink {
  ChainKind kind = ChainKind::Relu;
  bool isSecond = false;
  bool hasOneBound = false;     ///< clip: whether all elements of `other` are equal, and those of `third`
  const float* other = nullptr; ///< the other input; clip: the lower bound
  const float* third = nullptr; ///< clip: the upper bound
};

/// value[0, count) through all links -> output[0, count), which may be exactly an input.
void runChain(const ChainLink* links, size_t linkCount, const float* value, float* output, size_t count);

} // namespace dfc
