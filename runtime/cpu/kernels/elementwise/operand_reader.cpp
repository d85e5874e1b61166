#include "runtime/cpu/kernels/elementwise/operand_reader.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/cache_hints.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dfc {
namespace {

template <class T>
void copyRun(const std::byte* from, int64_t stride, int64_t count, std::byte* to) {
  T* out = reinterpret_cast<T*>(to);
  const T* in = reinterpret_cast<const T*>(from);
  if (stride == 0) {
    std::fill_n(out, count, *in);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    out[i] = in[i * stride];
  }
}

// Elements are copied as unsigned integers of their width.
void copyElements(const std::byte* from, int64_t stride, int64_t count, int64_t width, std::byte* to) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count * width));
    return;
  }
  switch (width) {
  case 1: return copyRun<uint8_t>(from, stride, count, to);
  case 2: return copyRun<uint16_t>(from, stride, count, to);
  case 4: return copyRun<uint32_t>(from, stride, count, to);
  default: return copyRun<uint64_t>(from, stride, count, to);
  }
}

} // namespace

llvm::SmallVector<int64_t, 8> rowMajorStrides(const Shape& shape) {
  llvm::SmallVector<int64_t, 8> strides(shape.rank(), 1);
  for (size_t axis = shape.rank(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * shape[axis];
  }
  return strides;
}

llvm::SmallVector<int64_t, 8> broadcastStrides(const Shape& from, const Shape& to) {
  const llvm::SmallVector<int64_t, 8> own = rowMajorStrides(from);
  llvm::SmallVector<int64_t, 8> strides(to.rank(), 0);
  const size_t missing = to.rank() - from.rank();
  for (size_t axis = 0; axis < from.rank(); ++axis) {
    DFC_ASSERT(from[axis] == 1 || from[axis] == to[missing + axis], "operand does not broadcast");
    strides[missing + axis] = from[axis] == 1 ? 0 : own[axis];
  }
  return strides;
}

OperandReader::OperandReader(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, int64_t width)
    : width_(width) {
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) {
      continue;
    }
    if (!dims_.empty() && strides_.back() == strides[axis] * dims[axis]) {
      dims_.back() *= dims[axis];
      strides_.back() = strides[axis];
    } else {
      dims_.push_back(dims[axis]);
      strides_.push_back(strides[axis]);
    }
  }
  if (dims_.empty()) {
    dims_.push_back(1);
    strides_.push_back(1);
  }
  const bool one = dims_.size() == 1;
  kind_ = one && strides_[0] == 1 ? Kind::Contiguous : one && strides_[0] == 0 ? Kind::Splat : Kind::General;
}

const std::byte* OperandReader::read(const std::byte* base, int64_t begin, int64_t count,
                                     std::byte* scratch) const {
  switch (kind_) {
  case Kind::Contiguous: return base + begin * width_;
  case Kind::Splat: copyElements(base, 0, count, width_, scratch); return scratch;
  case Kind::General: break;
  }
  // A tile within one contiguous row needs no copy either.
  const int64_t column = begin % dims_.back();
  if (strides_.back() == 1 && column + count <= dims_.back()) {
    int64_t rest = begin / dims_.back();
    int64_t offset = column;
    for (size_t axis = dims_.size() - 1; axis-- > 0;) {
      offset += rest % dims_[axis] * strides_[axis];
      rest /= dims_[axis];
    }
    return base + offset * width_;
  }
  gather(base, begin, count, scratch);
  return scratch;
}

void OperandReader::bringNear(const std::byte* base, int64_t begin, int64_t count) const {
  if (kind_ == Kind::Contiguous) {
    prefetch(base + begin * width_, static_cast<size_t>(count * width_));
  }
}

void OperandReader::gather(const std::byte* base, int64_t begin, int64_t count, std::byte* scratch) const {
  const size_t last = dims_.size() - 1;
  std::array<int64_t, 8> at{};
  int64_t offset = 0; // in elements, of the first element of the current range
  int64_t rest = begin;
  for (size_t axis = dims_.size(); axis-- > 0;) {
    at[axis] = rest % dims_[axis];
    rest /= dims_[axis];
    offset += at[axis] * strides_[axis];
  }
  while (count > 0) {
    const int64_t run = std::min(count, dims_[last] - at[last]);
    copyElements(base + offset * width_, strides_[last], run, width_, scratch);
    scratch += run * width_;
    count -= run;
    at[last] += run;
    offset += run * strides_[last];
    for (size_t axis = last; axis > 0 && at[axis] == dims_[axis]; --axis) { // carry into the outer axes
      offset += strides_[axis - 1] - dims_[axis] * strides_[axis];
      at[axis] = 0;
      ++at[axis - 1];
    }
  }
}

} // namespace dfc
