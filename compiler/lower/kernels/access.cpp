#include "compiler/lower/kernels/access.h"

#include <llvm/ADT/STLExtras.h>

#include <fmt/format.h>

namespace dfc::cuda {

Access::Access(llvm::ArrayRef<Axis> axes, int64_t base) : base_(base) {
  for (const Axis& axis : axes) {
    if (axis.extent == 1) {
      continue;
    }
    if (!axes_.empty() && axes_.back().stride == axis.stride * axis.extent) {
      axes_.back() = {axes_.back().extent * axis.extent, axis.stride};
    } else {
      axes_.push_back(axis);
    }
  }
}

Access Access::broadcast(const Shape& operand, const Shape& common) {
  llvm::SmallVector<Axis, 8> axes(common.rank());
  const size_t missing = common.rank() - operand.rank();
  int64_t stride = 1;
  for (size_t axis = common.rank(); axis-- > 0;) {
    const int64_t extent = axis < missing ? 1 : operand[axis - missing];
    axes[axis] = {common[axis], extent == 1 ? 0 : stride};
    stride *= extent;
  }
  return Access(axes);
}

int64_t Access::reach() const {
  int64_t last = base_;
  for (const Axis& axis : axes_) {
    last += (axis.extent - 1) * axis.stride;
  }
  return last + 1;
}

std::string Access::offset(std::string_view at, const IndexText& index) const {
  std::string text = base_ == 0 ? "" : index.of(base_);
  int64_t inner = 1; // elements of the walk below the axis
  std::string terms;
  for (size_t d = axes_.size(); d-- > 0; inner *= axes_[d].extent) {
    if (axes_[d].stride == 0) {
      continue;
    }
    std::string term(at);
    term += inner == 1 ? "" : fmt::format(" / {}", index.of(inner));
    term += d == 0 ? "" : fmt::format(" % {}", index.of(axes_[d].extent));
    term += axes_[d].stride == 1 ? "" : fmt::format(" * {}", index.of(axes_[d].stride));
    text += (text.empty() ? "" : " + ") + term;
  }
  return text.empty() ? index.of(0) : text;
}

bool Access::aligned(int64_t width) const {
  return axes_.back().stride == 1 && base_ % width == 0 &&
         llvm::all_of(llvm::ArrayRef<Axis>(axes_).drop_back(),
                      [&](const Axis& axis) { return axis.stride % width == 0; });
}

std::string Access::reader(std::string_view type, int64_t width, const IndexText& index) const {
  const std::string first = offset("i", index);
  if (uniform()) {
    return fmt::format("  return splatPack<W>(from[{}]);\n", index.of(base_));
  }
  const Axis& inner = axes_.back();
  if (axes_.size() > 1 && inner.extent % width != 0) {
    return fmt::format("  Pack<{0}, W> pack;\n#pragma unroll\n  for (u32 k = 0; k < W; ++k) {{\n"
                       "    const Index j = i + k;\n    pack.at[k] = from[{1}];\n  }}\n  return pack;\n",
                       type, offset("j", index));
  }
  if (inner.stride == 0) {
    return fmt::format("  return splatPack<W>(from[{}]);\n", first);
  }
  if (aligned(width)) {
    return fmt::format("  return loadPack<W>(from + ({}));\n", first);
  }
  return fmt::format("  const {0}* const at = from + ({1});\n  Pack<{0}, W> pack;\n#pragma unroll\n"
                     "  for (int k = 0; k < W; ++k) pack.at[k] = at[k * {2}];\n  return pack;\n",
                     type, first, inner.stride);
}

} // namespace dfc::cuda
