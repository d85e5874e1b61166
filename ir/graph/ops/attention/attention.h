// attention(q, k, v, mask, causal=false, scale=1/sqrt(width), layout=heads, keyHeads, precision): two
// results. The first is softmax(scale q kT) v, the softmax over the keys that a query sees (Vaswani et al.
// 2017); the second, logSumExp, the logarithm of the sum of exp(scale q kT) over them.
//
// q: [batch…, heads, queries, width], k: [batch…, keyHeads, keys, width], v: [batch…, keyHeads, keys,
// valueWidth]; operands of two axes have one head. heads is a multiple of keyHeads: query head i reads key
// head i / (heads / keyHeads) (grouped-query attention, Ainslie et al. 2023). mask (may be left out): bool,
// broadcasts to [batch…, heads, queries, keys], true where a query may see a key. causal: query i sees keys
// 0, …, i. scale 0 stands for 1 / sqrt(width), or 1 for a width of 0. Element type of q, k and v: a float.
// Results: [batch…, heads, queries, valueWidth] of that type, and [batch…, heads, queries] in f32, f64 for
// f64. A query that sees no key gets zeros, and -infinity for logSumExp.
//
// start=N: of a causal part of the queries, whose first is query N of the whole: query i sees keys 0, …, N +
// i.
//
// layout=rows: the axes of heads and of rows change places in q, k, v and both results (not in the mask).
// layout=packed: as rows, with one tensor given as q, k and v, [batch…, rows, heads + 2 keyHeads, width]: its
// first heads are those of q, the next those of k, the last those of v. keyHeads: for that layout only.
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

#include <array>

namespace dfc::ops {

struct Attention : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{3, 4};
  bool causal = false;
  double scale = 0;
  AttentionLayout layout = AttentionLayout::Heads;
  int64_t keyHeads = 0;
  int64_t start = 0;
  static constexpr std::array<std::string_view, 3> layoutNames = {"heads", "rows", "packed"};
  Precision precision = Precision::Unstated;
  void fields(AttributeVisitor& visitor);

  /// What scores are multiplied by, of operands of this width.
  double scaleFor(int64_t width) const;
  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
