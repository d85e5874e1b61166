#include "runtime/cpu/kernels/windows/onednn_pool.h"

#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/shaped_primitives.h"
#include "runtime/cpu/kernels/storage_converter.h"
#include "runtime/cpu/kernels/tiles/row_tiles.h"
#include "runtime/cpu/kernels/windows/onednn_windows.h"
#include "runtime/cpu/onednn_library.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfc {
namespace {

using onednn::PoolRequest;
using Wild = llvm::SmallVector<int64_t, 16>; // planes that are not for oneDNN

constexpr int64_t block = 16; // planes are channels of oneDNN, which computes so many at a time

/// An operand: elements of a plane, and the largest magnitude that oneDNN computes correctly.
struct Planes {
  int64_t elements = 0;
  float largest = 0;
};

PoolRequest requestOf(PoolRequest::Kind kind, PoolRequest::Pass pass, const Windows& windows) {
  PoolRequest request;
  request.kind = kind;
  request.pass = pass;
  setWindows(request, windows);
  return request;
}

class OnednnPool final : public CpuKernel {
 public:
  OnednnPool(const PoolRequest& request, const TensorType& image, std::unique_ptr<OwnPool> own,
             ThreadPool& pool)
      : pool_(pool), request_(request), planes_(image.shape[0] * image.shape[1]),
        width_(byteWidth(image.element)), converter_(image.element), own_(std::move(own)) {
    sayOperands();
    group_ = std::max(groupElements / std::max<int64_t>(planeElements(), 1) / block * block, block);
    groups_ = std::max<int64_t>(planes_ / group_, 1);
    const double compared =
        static_cast<double>(planes_ * resultElements()) * static_cast<double>(windowSize());
    parts_ = partCount(pool, groups_, compared / 8);
  }

  /// False where our own kernel is used.
  bool prepare() {
    constexpr int64_t mostElements = 1 << 18, longestSum = 1 << 10;
    return planes_ >= block && planeElements() <= mostElements && windowSize() <= longestSum &&
           add(planesOf(0)) && add(planesOf(groups_ - 1));
  }

  std::unique_ptr<OwnPool> takeOwn() { return std::move(own_); }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange range = tasksOfPart(groups_, parts_, part);
      for (int64_t group = range.begin; group < range.end; ++group) {
        for (const int64_t plane : runGroup(part, operands, results[0], group)) {
          own_->runPlane(operands, results[0], group * group_ + plane);
        }
      }
    });
  }

 private:
  static constexpr int64_t groupElements = 16384;

  int64_t imageElements() const { return request_.image[0] * request_.image[1]; }
  int64_t planeElements() const { return std::max(imageElements(), resultElements()); } ///< of the larger
  int64_t resultElements() const { return request_.result[0] * request_.result[1]; }
  int64_t windowSize() const { return request_.window[0] * request_.window[1]; }

  /// Planes of a group: the last group takes the remainder, as fewer than a block would not pay for a call.
  int64_t planesOf(int64_t group) const { return group + 1 < groups_ ? group_ : planes_ - group * group_; }

  // oneDNN loses a maximum beside a NaN, and its position in a window of only the lowest number and padding.
  // A sum of a window's elements is finite up to the other limit.
  void sayOperands() {
    constexpr float summable = 1e30F;
    const float finite = std::nextafter(std::numeric_limits<float>::max(), 0.0F);
    const bool gradient = request_.pass == PoolRequest::Pass::Gradient;
    const bool largest = request_.kind == PoolRequest::Kind::Largest;
    if (largest || !gradient) {
      operands_.push_back({imageElements(), largest ? finite : summable});
    }
    if (gradient) {
      operands_.push_back({resultElements(), summable});
    }
    made_ = gradient ? imageElements() : resultElements();
  }

  bool add(int64_t planes) {
    PoolRequest request = request_;
    request.planes = planes;
    return primitives_.add({planes, 0}, [&] { return onednnModule().make(request, parts_); });
  }

  Wild runGroup(uint32_t slot, llvm::ArrayRef<const std::byte*> operands, std::byte* result, int64_t group) {
    const int64_t first = group * group_, planes = planesOf(group);
    int64_t values = made_;
    for (const Planes& operand : operands_) {
      values += operand.elements;
    }
    const size_t ofValues = converter_.inPlace() ? 0 : static_cast<size_t>(values * planes) * sizeof(float);
    const size_t ofPrimitive = primitives_.scratchBytes();
    std::byte* const scratch = threadScratch(ofPrimitive + ofValues);
    auto* buffer = reinterpret_cast<float*>(scratch + ofPrimitive);
    const std::byte* inputs[2] = {};
    for (size_t i = 0; i < operands_.size(); ++i) {
      const int64_t elements = operands_[i].elements;
      inputs[i] = reinterpret_cast<const std::byte*>(
          converter_.read(operands[i] + first * elements * width_, elements * planes, buffer));
      buffer += converter_.inPlace() ? 0 : elements * planes;
    }
    std::byte* const to = result + first * made_ * width_;
    float* const made = converter_.place(to, buffer);
    primitives_.run({planes, 0}, slot, inputs, reinterpret_cast<std::byte*>(made), scratch, "pool");
    converter_.write(made, to, made_ * planes);
    return wildOf(inputs, planes);
  }

  Wild wildOf(const std::byte* const* inputs, int64_t planes) const {
    Wild wild;
    for (int64_t plane = 0; plane < planes; ++plane) {
      for (size_t i = 0; i < operands_.size(); ++i) {
        const int64_t elements = operands_[i].elements;
        const auto* values = reinterpret_cast<const float*>(inputs[i]) + plane * elements;
        if (!(row_.magnitude(values, static_cast<size_t>(elements)) <= operands_[i].largest)) {
          wild.push_back(plane);
          break;
        }
      }
    }
    return wild;
  }

  ThreadPool& pool_;
  PoolRequest request_;            // but for the number of planes
  int64_t planes_, width_;         // in all; of an element
  int64_t group_ = 1, groups_ = 0; // planes at a time; groups
  StorageConverter<float> converter_;
  std::unique_ptr<OwnPool> own_;
  llvm::SmallVector<Planes, 2> operands_;
  int64_t made_ = 0; // elements of a plane of the result
  RowFunctions<float> row_ = rowFunctions<float>();
  ShapedPrimitives primitives_;
  uint32_t parts_ = 1;
};

} // namespace

std::unique_ptr<CpuKernel> makeOnednnPool(PoolRequest::Kind kind, PoolRequest::Pass pass,
                                          const Windows& windows, const TensorType& image,
                                          std::unique_ptr<OwnPool> own, ThreadPool& pool) {
  if (image.element == ElementType::F64 || image.shape.elements() == 0) {
    return own;
  }
  auto kernel = std::make_unique<OnednnPool>(requestOf(kind, pass, windows), image, std::move(own), pool);
  if (kernel->prepare()) {
    return kernel;
  }
  return kernel->takeOwn();
}

} // namespace dfc
