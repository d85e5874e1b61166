#include "runtime/cpu/kernels/random/dropout.h"

#include "ir/graph/rules/dropout_mask.h"
#include "runtime/cpu/kernels/random/random_words.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace dfc {
namespace {

// Computes in T (float or double); storage is the same type, or 16 bits that `widen` and `narrow` convert.
template <class T>
class DropoutKernel final : public CpuKernel {
 public:
  DropoutKernel(const ops::Dropout& op, const TensorType& type, ThreadPool& pool)
      : pool_(pool), functions_(dropoutFunctions()), mask_(op.rate, type.element),
        random_(op.seed, type.shape, op.part), elements_(type.shape.elements()),
        width_(byteWidth(type.element)), tiles_((elements_ + tileElements - 1) / tileElements),
        parts_(partCount(pool, tiles_, 2 * static_cast<double>(elements_))) {
    if (width_ != sizeof(T)) {
      widen_ = widenTile(type.element);
      narrow_ = narrowTile(type.element);
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    uint64_t step = 0;
    std::memcpy(&step, operands[1], sizeof step);
    pool_.run(parts_, [&](uint32_t part) {
      std::byte* const scratch = threadScratch(tileElements * (2 * sizeof(uint32_t) + sizeof(T)));
      const TaskRange mine = tasksOfPart(tiles_, parts_, part);
      for (int64_t tile = mine.begin; tile < mine.end; ++tile) {
        runTile(step, tile * tileElements, operands[0], results[0], scratch);
      }
    });
  }

 private:
  void runTile(uint64_t step, int64_t first, const std::byte* from, std::byte* to, std::byte* scratch) const {
    const auto count = static_cast<size_t>(std::min(tileElements, elements_ - first));
    auto* const words = reinterpret_cast<uint32_t*>(scratch);
    random_.draw(step, first, static_cast<int64_t>(count), words, words + tileElements);
    const void* in[1] = {from + first * width_};
    std::byte* const out = to + first * width_;
    if (widen_ == nullptr) {
      drop(in[0], words, out, count);
      return;
    }
    std::byte* const values = scratch + 2 * tileElements * sizeof(uint32_t);
    widen_(in, values, count);
    drop(values, words, values, count);
    in[0] = values;
    narrow_(in, out, count);
  }

  void drop(const void* from, const uint32_t* words, std::byte* to, size_t count) const {
    const auto* values = static_cast<const T*>(from);
    const auto factor = static_cast<T>(mask_.factor);
    if constexpr (std::is_same_v<T, float>) {
      functions_.f32(values, words, mask_.threshold, factor, reinterpret_cast<T*>(to), count);
    } else {
      functions_.f64(values, words, mask_.threshold, factor, reinterpret_cast<T*>(to), count);
    }
  }

  ThreadPool& pool_;
  DropoutFunctions functions_;
  DropoutMask mask_;
  RandomWords random_;
  int64_t elements_, width_, tiles_;
  TileFunction widen_ = nullptr, narrow_ = nullptr;
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeDropoutKernel(const ops::Dropout& op, OperandTypes operands,
                                             ThreadPool& pool) {
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<DropoutKernel<double>>(op, operands[0], pool);
  }
  return std::make_unique<DropoutKernel<float>>(op, operands[0], pool);
}

} // namespace dfc
