#include "runtime/cpu/kernels/random/random_uniform.h"

#include "ir/graph/rules/uniform_number.h"
#include "runtime/cpu/kernels/random/random_words.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace dfc {
namespace {

template <class T>
class RandomUniformKernel final : public CpuKernel {
 public:
  RandomUniformKernel(const ops::RandomUniform& op, ThreadPool& pool)
      : pool_(pool), random_(op.seed, op.type.shape, op.part), elements_(op.type.shape.elements()),
        tiles_((elements_ + tileElements - 1) / tileElements),
        parts_(partCount(pool, tiles_, 2 * static_cast<double>(elements_))) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    uint64_t step = 0;
    std::memcpy(&step, operands[0], sizeof step);
    auto* const to = reinterpret_cast<T*>(results[0]);
    pool_.run(parts_, [&](uint32_t part) {
      auto* const words = reinterpret_cast<uint32_t*>(threadScratch(2 * tileElements * sizeof(uint32_t)));
      const TaskRange mine = tasksOfPart(tiles_, parts_, part);
      for (int64_t tile = mine.begin; tile < mine.end; ++tile) {
        const int64_t first = tile * tileElements, count = std::min(tileElements, elements_ - first);
        random_.draw(step, first, count, words, words + tileElements);
        std::transform(words, words + count, to + first, numberOf);
      }
    });
  }

 private:
  static T numberOf(uint32_t word) {
    if constexpr (std::is_same_v<T, float>) {
      return uniformFloat(word);
    } else {
      return uniformDouble(word);
    }
  }

  ThreadPool& pool_;
  RandomWords random_;
  int64_t elements_, tiles_;
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeRandomUniformKernel(const ops::RandomUniform& op, ThreadPool& pool) {
  if (op.type.element == ElementType::F64) {
    return std::make_unique<RandomUniformKernel<double>>(op, pool);
  }
  return std::make_unique<RandomUniformKernel<float>>(op, pool);
}

} // namespace dfc
