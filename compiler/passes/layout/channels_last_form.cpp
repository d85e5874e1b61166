#include "compiler/passes/layout/channels_last_form.h"

#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/op_rules.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

// Where axis i of an image [N, C, H, W] stands among its axes in NHWC.
constexpr std::array<int64_t, 4> placeOf = {0, 3, 1, 2};

Dims reordered(llvm::ArrayRef<int64_t> ofAxes) { return {ofAxes[0], ofAxes[2], ofAxes[3], ofAxes[1]}; }
int64_t moved(int64_t axis) { return placeOf[*normalAxis(axis, 4)]; }

/// The same op on images with their channels last; none where the order of elements matters to it.
class LastForm {
 public:
  explicit LastForm(const OpRow& row) : row_(row) {}

  std::optional<OpAttributes> get() const {
    OpAttributes next = row_.attributes;
    switch (row_.kind()) {
    case OpKind::MaxPool:
    case OpKind::MaxPoolGradient:
    case OpKind::AveragePool:
    case OpKind::AveragePoolGradient: return channelsLastForm(next);
    case OpKind::BatchNorm: return withAxis(next.as<ops::BatchNorm>());
    case OpKind::BatchNormTraining: return withAxis(next.as<ops::BatchNormTraining>());
    case OpKind::BatchNormGradient: return withAxis(next.as<ops::BatchNormGradient>());
    case OpKind::Cut: return withAxis(next.as<ops::Cut>());
    case OpKind::Concat: return withAxis(next.as<ops::Concat>());
    case OpKind::Split: return withAxis(next.as<ops::Split>());
    case OpKind::Gather: return withAxis(next.as<ops::Gather>()); // of a row of indices
    case OpKind::ReduceSum: return withAxes(next.as<ops::ReduceSum>());
    case OpKind::ReduceMean: return withAxes(next.as<ops::ReduceMean>());
    case OpKind::ReduceMax: return withAxes(next.as<ops::ReduceMax>());
    case OpKind::ReduceMin: return withAxes(next.as<ops::ReduceMin>());
    case OpKind::Pad: return padded(next.as<ops::Pad>());
    case OpKind::Slice: return sliced(next.as<ops::Slice>());
    default:
      return classOf(row_.kind()) == OpClass::Elementwise ? std::optional(std::move(next)) : std::nullopt;
    }
  }

 private:
  template <class Op>
  static OpAttributes withAxis(Op op) {
    op.axis = moved(op.axis);
    return op;
  }

  // Without the reduced axes the others must stand in the same order, unless they keep their places.
  template <class Op>
  static std::optional<OpAttributes> withAxes(Op op) {
    const std::optional<Dims> axes = normalAxes(op.axes, 4);
    const auto stays = [&](int64_t axis) { return !llvm::is_contained(*axes, axis); };
    if (!op.keepDims && stays(1) && (stays(2) || stays(3))) {
      return std::nullopt;
    }
    op.axes.clear();
    for (const int64_t axis : *axes) {
      op.axes.push_back(placeOf[static_cast<size_t>(axis)]);
    }
    return op;
  }

  static OpAttributes padded(ops::Pad op) {
    op.low = reordered(op.low);
    op.high = reordered(op.high);
    op.interior = op.interior.empty() ? op.interior : reordered(op.interior);
    return op;
  }
  static OpAttributes sliced(ops::Slice op) {
    op.starts = reordered(op.starts);
    op.ends = reordered(op.ends);
    op.strides = op.strides.empty() ? op.strides : reordered(op.strides);
    return op;
  }

  const OpRow& row_;
};

} // namespace

std::optional<OpAttributes> formWithChannelsLast(const OpRow& row) { return LastForm(row).get(); }

} // namespace dfc
