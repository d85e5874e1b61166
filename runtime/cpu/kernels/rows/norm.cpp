// layerNorm and rmsNorm: rows one after the other, a few at a time, so that short ones share the cost of a
// conversion. Not oneDNN's: its results depend on its version.
#include "runtime/cpu/kernels/rows/rows.h"

#include "ir/axis_view.h"
#include "runtime/cpu/kernels/rows/row_math.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace dfc {
namespace {

// Lanes T (float or double); storage is the same, or 16 bits that `widen` and `narrow` convert.
template <class T>
class NormKernel final : public CpuKernel {
 public:
  NormKernel(int64_t axis, double epsilon, bool centred, OperandTypes operands, ThreadPool& pool)
      : pool_(pool), width_(byteWidth(operands[0].element)), centred_(centred), epsilon_(epsilon) {
    const AxisView view(operands[0].shape, axis);
    length_ = view.length * view.inner;
    rows_ = view.outer;
    if (width_ != sizeof(T)) {
      widen_ = widenTile(operands[0].element);
      narrow_ = narrowTile(operands[0].element);
    }
    for (size_t i = 1; i < operands.size(); ++i) {
      factors_[i - 1].resize(static_cast<size_t>(length_));
    }
    group_ = std::max<int64_t>(1, groupElements / std::max<int64_t>(length_, 1));
    units_ = length_ == 0 ? 0 : (rows_ + group_ - 1) / group_;
    parts_ = partCount(pool, units_, 1.5 * static_cast<double>(rows_ * length_));
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (units_ == 0) { // nothing to write, and nowhere to read from
      return;
    }
    for (size_t i = 1; i < operands.size(); ++i) {
      load(operands[i], factors_[i - 1].data(), length_);
    }
    pool_.run(parts_, [&](uint32_t part) {
      auto* lanes = reinterpret_cast<T*>(threadScratch(static_cast<size_t>(group_ * length_) * sizeof(T)));
      const UnitRange mine = unitsOfPart(units_, parts_, part);
      for (int64_t unit = mine.begin; unit < mine.end; ++unit) {
        const int64_t first = unit * group_, rows = std::min(group_, rows_ - first);
        const int64_t at = first * length_ * width_;
        load(operands[0] + at, lanes, rows * length_);
        for (int64_t row = 0; row < rows; ++row) {
          T* const own = lanes + row * length_;
          math_.normalise(own, length_, math_.normalisationOf(own, length_, centred_, epsilon_),
                          factors_[0].data(), factors_[1].empty() ? nullptr : factors_[1].data());
        }
        store(lanes, results[0] + at, rows * length_);
      }
    });
  }

 private:
  static constexpr int64_t groupElements = 4096;

  void load(const std::byte* from, T* lanes, int64_t count) const {
    if (widen_ != nullptr) {
      const void* inputs[1] = {from};
      widen_(inputs, lanes, static_cast<size_t>(count));
    } else {
      std::memcpy(lanes, from, static_cast<size_t>(count) * sizeof(T));
    }
  }
  void store(const T* lanes, std::byte* to, int64_t count) const {
    if (narrow_ != nullptr) {
      const void* inputs[1] = {lanes};
      narrow_(inputs, to, static_cast<size_t>(count));
    } else {
      std::memcpy(to, lanes, static_cast<size_t>(count) * sizeof(T));
    }
  }

  ThreadPool& pool_;
  int64_t width_, length_ = 1, rows_ = 1, group_ = 1, units_ = 0; // of storage; of a row; in all; of a unit
  bool centred_;
  double epsilon_;
  RowMath<T> math_;
  TileFunction widen_ = nullptr, narrow_ = nullptr;
  std::array<std::vector<T>, 2> factors_; // scale and bias as lanes
  uint32_t parts_ = 1;
};

} // namespace

std::unique_ptr<CpuKernel> makeNormKernel(int64_t axis, double epsilon, bool centred, OperandTypes operands,
                                          ThreadPool& pool) {
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<NormKernel<double>>(axis, epsilon, centred, operands, pool);
  }
  return std::make_unique<NormKernel<float>>(axis, epsilon, centred, operands, pool);
}

} // namespace dfc
