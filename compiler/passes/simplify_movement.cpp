// Rules of ops that move elements: steps that do nothing go, two steps of a kind become one, a transpose goes
// into the matmul that reads it, a broadcast into the elementwise op that would stretch its operand anyway.
#include "compiler/passes/simplify_rules.h"
#include "ir/graph/rules/op_rules.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <numeric>

namespace dfc::simplification {
namespace {

using Answer = std::optional<Rewrite>;

Answer movesAs(const Context& context, ValueId value) {
  return context.mayBecome(value) ? Answer(value) : std::nullopt;
}

Dims dimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

Call reshapeOf(ValueId operand, const Shape& shape) {
  ops::Reshape reshape;
  reshape.shape = dimsOf(shape);
  return {reshape, {operand}};
}

Dims permutationOf(const ops::Transpose& op, size_t rank) {
  Dims permutation = op.permutation;
  if (permutation.empty()) {
    permutation.resize(rank);
    std::iota(permutation.rbegin(), permutation.rend(), int64_t(0));
  }
  return permutation;
}

Answer simplifyReshape(const Context& context, ValueId operand) {
  if (context.typeOf(operand) == context.type()) {
    return movesAs(context, operand);
  }
  const OpRow* inner = context.producer<ops::Reshape>(operand);
  return inner != nullptr ? Answer(reshapeOf(inner->operands[0], context.type().shape)) : std::nullopt;
}

// Elements lie in memory as before when only axes of length 1 change places.
bool keepsOrder(llvm::ArrayRef<int64_t> permutation, const Shape& shape) {
  Dims moved;
  llvm::copy_if(permutation, std::back_inserter(moved),
                [&](int64_t axis) { return shape[static_cast<size_t>(axis)] != 1; });
  return shape.elements() == 0 || std::is_sorted(moved.begin(), moved.end());
}

Answer simplifyTranspose(const Context& context, const ops::Transpose& op, ValueId operand) {
  const Shape& shape = context.shapeOf(operand);
  const Dims permutation = permutationOf(op, shape.rank());
  if (keepsOrder(permutation, shape)) {
    return context.typeOf(operand) == context.type() && context.mayBecome(operand)
               ? Answer(operand)
               : Answer(reshapeOf(operand, context.type().shape));
  }
  const OpRow* inner = context.producer<ops::Transpose>(operand);
  if (inner == nullptr) {
    return std::nullopt;
  }
  const Dims before = permutationOf(inner->as<ops::Transpose>(), shape.rank());
  ops::Transpose both;
  for (const int64_t axis : permutation) {
    both.permutation.push_back(before[static_cast<size_t>(axis)]);
  }
  return Call{both, {inner->operands[0]}};
}

Answer simplifyBroadcast(const Context& context, const ops::Broadcast& op, ValueId operand) {
  if (context.typeOf(operand) == context.type()) {
    return movesAs(context, operand);
  }
  const OpRow* inner = context.producer<ops::Broadcast>(operand);
  return inner != nullptr ? Answer(Call{op, {inner->operands[0]}}) : std::nullopt;
}

int64_t strideOf(const ops::Slice& op, size_t axis) { return op.strides.empty() ? 1 : op.strides[axis]; }

// The slice of a slice, counted in the operand of the first.
ops::Slice composed(const ops::Slice& first, const ops::Slice& second, const Shape& result) {
  ops::Slice both;
  for (size_t axis = 0; axis < result.rank(); ++axis) {
    const int64_t start = first.starts[axis] + second.starts[axis] * strideOf(first, axis);
    // Without a second element the stride says nothing, and its product might not fit.
    const int64_t stride = result[axis] < 2 ? 1 : strideOf(first, axis) * strideOf(second, axis);
    both.starts.push_back(result[axis] == 0 ? 0 : start);
    both.ends.push_back(result[axis] == 0 ? 0 : start + (result[axis] - 1) * stride + 1);
    both.strides.push_back(stride);
  }
  return both;
}

Answer simplifySlice(const Context& context, const ops::Slice& op, ValueId operand) {
  // As many elements on every axis as there are: all of them.
  if (context.typeOf(operand) == context.type()) {
    return movesAs(context, operand);
  }
  const OpRow* inner = context.producer<ops::Slice>(operand);
  return inner != nullptr
             ? Answer(Call{composed(inner->as<ops::Slice>(), op, context.type().shape), {inner->operands[0]}})
             : std::nullopt;
}

// The tensor whose parts, all of them and in order, are put together again; none where they are other parts.
std::optional<ValueId> splitInto(const Context& context, const Call& call) {
  const OpRow* split = context.producer<ops::Split>(call.operands.front());
  if (split == nullptr || call.operands.size() != split->as<ops::Split>().sizes.size()) {
    return std::nullopt;
  }
  const size_t rank = context.shapeOf(split->operands[0]).rank();
  if (normalAxis(split->as<ops::Split>().axis, rank) != normalAxis(call.getIf<ops::Concat>()->axis, rank)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (call.operands[i].index() != split->firstResult.index() + i) {
      return std::nullopt;
    }
  }
  return split->operands[0];
}

// A concat without its empty parts; of one part, the part; of all parts of a split, what was split.
Answer simplifyConcat(const Context& context, const Call& call) {
  const auto isEmpty = [&](ValueId part) { return context.shapeOf(part).elements() == 0; };
  if (const auto whole = splitInto(context, call)) {
    return movesAs(context, *whole);
  }
  Call full{call.attributes, {}};
  llvm::copy_if(call.operands, std::back_inserter(full.operands),
                [&](ValueId part) { return !isEmpty(part); });
  if (full.operands.empty()) {
    full.operands.push_back(call.operands.front());
    return call.operands.size() == 1 && context.typeOf(call.operands[0]) == context.type()
               ? movesAs(context, call.operands[0])
               : std::nullopt;
  }
  if (full.operands.size() == 1) {
    return movesAs(context, full.operands[0]);
  }
  return full.operands.size() < call.operands.size() ? Answer(std::move(full)) : std::nullopt;
}

bool swapsLastTwo(const ops::Transpose& op, size_t rank) {
  Dims swapped(rank);
  std::iota(swapped.begin(), swapped.end(), int64_t(0));
  if (rank < 2) {
    return false;
  }
  std::swap(swapped[rank - 1], swapped[rank - 2]);
  return permutationOf(op, rank) == swapped;
}

Answer simplifyMatmul(const Context& context, const Call& call) {
  ops::Matmul op = *call.getIf<ops::Matmul>();
  llvm::SmallVector<ValueId, 3> operands = call.operands;
  bool* const flags[] = {&op.transposeA, &op.transposeB};
  for (size_t i = 0; i < 2; ++i) {
    const OpRow* row = context.producer<ops::Transpose>(operands[i]);
    if (row != nullptr && swapsLastTwo(row->as<ops::Transpose>(), context.shapeOf(operands[i]).rank())) {
      *flags[i] = !*flags[i];
      operands[i] = row->operands[0];
    }
  }
  return operands == call.operands ? std::nullopt : Answer(Call{op, std::move(operands)});
}

} // namespace

std::optional<Rewrite> simplifyMovement(const Context& context, const Call& call) {
  switch (call.kind()) {
  case OpKind::Reshape: return simplifyReshape(context, call.operands[0]);
  case OpKind::Transpose: return simplifyTranspose(context, *call.getIf<ops::Transpose>(), call.operands[0]);
  case OpKind::Broadcast: return simplifyBroadcast(context, *call.getIf<ops::Broadcast>(), call.operands[0]);
  case OpKind::Slice: return simplifySlice(context, *call.getIf<ops::Slice>(), call.operands[0]);
  case OpKind::Pad: // without a gap filled, nothing was added
    return context.typeOf(call.operands[0]) == context.type() ? movesAs(context, call.operands[0])
                                                              : std::nullopt;
  case OpKind::Concat: return simplifyConcat(context, call);
  case OpKind::Matmul: return simplifyMatmul(context, call);
  default: return std::nullopt;
  }
}

std::optional<Rewrite> dropBroadcasts(const Context& context, const Call& call) {
  if (classOf(call.kind()) != OpClass::Elementwise) {
    return std::nullopt;
  }
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const OpRow* row = context.producer<ops::Broadcast>(call.operands[i]);
    // One to an empty shape reads less than the operand would.
    if (row == nullptr ||
        context.shapeOf(row->operands[0]).elements() > context.shapeOf(call.operands[i]).elements()) {
      continue;
    }
    Call shorter = call;
    shorter.operands[i] = row->operands[0];
    llvm::SmallVector<TensorType, 4> types;
    for (const ValueId operand : shorter.operands) {
      types.push_back(context.typeOf(operand));
    }
    if (commonShape(types) == context.type().shape) {
      return shorter;
    }
  }
  return std::nullopt;
}

} // namespace dfc::simplification
