// topK: a heap keeps the k best elements while a row is read once, which takes n comparisons and log k more
// for each element that enters the heap. Elements are compared through integer keys in the order of the op,
// in which all NaNs are equal and so are both zeros.
#include "ir/base/assert.h"
#include "ir/graph/rules/axis_view.h"
#include "runtime/cpu/kernels/indexing/indexing.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

namespace dfc {
namespace {

struct Entry {
  uint64_t key;
  int64_t index;
};

// The better one stands first: the larger key, of equal ones the lower index.
bool isBetter(const Entry& a, const Entry& b) {
  return a.key > b.key || (a.key == b.key && a.index < b.index);
}

// The bits of a float in the order of its values: negative ones are complemented.
template <class T, class Bits>
uint64_t orderedBits(T value) {
  constexpr Bits sign = Bits(1) << (8 * sizeof(Bits) - 1);
  if (value != value) { // NOLINT(misc-redundant-expression): NaN, above infinity
    return std::numeric_limits<Bits>::max();
  }
  const Bits bits = std::bit_cast<Bits>(value == 0 ? T(0) : value);
  return (bits & sign) != 0 ? Bits(~bits) : Bits(bits | sign);
}

template <class T>
uint64_t keyOf(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return orderedBits<float, uint32_t>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, float>) {
    return orderedBits<float, uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return orderedBits<double, uint64_t>(value);
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(value)) ^ (uint64_t(1) << 63);
  }
}

template <class T>
class TopKKernel final : public CpuKernel {
 public:
  TopKKernel(const ops::TopK& op, const Shape& shape, ThreadPool& pool)
      : pool_(pool), view_(shape, op.axis), k_(op.k), flip_(op.largest ? 0 : ~uint64_t(0)),
        parts_(partCount(pool, view_.rows(), 2 * static_cast<double>(shape.elements()))) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const T* from = reinterpret_cast<const T*>(operands[0]);
    T* values = reinterpret_cast<T*>(results[0]);
    auto* indices = reinterpret_cast<int64_t*>(results[1]);
    pool_.run(k_ == 0 ? 0 : parts_, [&](uint32_t part) {
      auto* best = reinterpret_cast<Entry*>(threadScratch(static_cast<size_t>(k_) * sizeof(Entry)));
      const TaskRange rows = tasksOfPart(view_.rows(), parts_, part);
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int64_t outer = row / view_.inner, inner = row % view_.inner;
        const T* const first = from + outer * view_.length * view_.inner + inner;
        choose(first, best);
        for (int64_t i = 0; i < k_; ++i) {
          const int64_t at = (outer * k_ + i) * view_.inner + inner;
          values[at] = first[best[i].index * view_.inner];
          indices[at] = best[i].index;
        }
      }
    });
  }

 private:
  // The k best of a row, the best first. The worst of those kept is at the top of the heap.
  void choose(const T* row, Entry* best) const {
    for (int64_t i = 0; i < k_; ++i) {
      best[i] = {keyOf(row[i * view_.inner]) ^ flip_, i};
    }
    std::make_heap(best, best + k_, isBetter);
    for (int64_t i = k_; i < view_.length; ++i) {
      const uint64_t key = keyOf(row[i * view_.inner]) ^ flip_;
      if (key > best->key) { // an equal one comes later
        std::pop_heap(best, best + k_, isBetter);
        best[k_ - 1] = {key, i};
        std::push_heap(best, best + k_, isBetter);
      }
    }
    std::sort_heap(best, best + k_, isBetter);
  }

  ThreadPool& pool_;
  AxisView view_;
  int64_t k_;
  uint64_t flip_; // reverses the order
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeTopKKernel(const ops::TopK& op, OperandTypes operands, ThreadPool& pool) {
  const Shape& shape = operands[0].shape;
  switch (operands[0].element) {
  case ElementType::F32: return std::make_unique<TopKKernel<float>>(op, shape, pool);
  case ElementType::F64: return std::make_unique<TopKKernel<double>>(op, shape, pool);
  case ElementType::F16: return std::make_unique<TopKKernel<Half>>(op, shape, pool);
  case ElementType::BF16: return std::make_unique<TopKKernel<BFloat16>>(op, shape, pool);
  case ElementType::I32: return std::make_unique<TopKKernel<int32_t>>(op, shape, pool);
  case ElementType::I64: return std::make_unique<TopKKernel<int64_t>>(op, shape, pool);
  case ElementType::U8: return std::make_unique<TopKKernel<uint8_t>>(op, shape, pool);
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("topK of bool");
}

} // namespace dfc
