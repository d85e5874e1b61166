#include "runtime/cpu/kernels/matmul/packed_panels.h"

#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/matmul/packed_multiplier.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

namespace dfc {
namespace {

constexpr size_t mostToTryWith = 64 << 20; // bytes of operands
constexpr uint32_t manyThreads = std::numeric_limits<uint32_t>::max();

// Numbers from a linear congruential generator (Knuth, The Art of Computer Programming 2, 3.3.4), between
// -1/2 and 1/2.
void fillAtRandom(float* to, int64_t count, uint32_t seed) {
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    to[i] = static_cast<float>(seed >> 8) * 0x1p-24F - 0.5F;
  }
}

// The first panel of `large`, beside panels of every shape that either plan has, which begin where it does
// and are no larger.
class Trial {
 public:
  Trial(const MatmulPlan& small, const MatmulPlan& large)
      : small_(small), large_(large),
        aCount_(large.transposeA ? large.inner * large.aStride : large.panelRows * large.aStride),
        bCount_(large.transposeB ? large.panelColumns * large.bStride : large.inner * large.bStride) {}

  bool sameBits() const {
    const auto smallOnes = makePackedMultiplier(ElementType::F32, small_, 1);
    const auto largeOnes = makePackedMultiplier(ElementType::F32, large_, 1);
    if (smallOnes == nullptr || largeOnes == nullptr || bytes(aCount_ + bCount_) > mostToTryWith) {
      return false;
    }
    AlignedBuffer operands(bytes(aCount_ + bCount_));
    fillAtRandom(at(operands), aCount_ + bCount_, 1);
    const MatmulPanel whole = large_.panel(0);
    AlignedBuffer one(bytes(whole.rows * whole.columns)), other(bytes(whole.rows * whole.columns));
    multiply(*largeOnes, whole, operands, one);
    const auto agree = [&](const MatmulPlan& plan, PanelMultiplier& multiplier) {
      return llvm::all_of(shapesOf(plan), [&](const Extents& shape) {
        MatmulPanel panel;
        std::tie(panel.rows, panel.columns) = shape;
        multiply(multiplier, panel, operands, other);
        return isPart(other, panel, one, whole);
      });
    };
    return agree(small_, *smallOnes) && agree(large_, *largeOnes);
  }

 private:
  using Extents = std::pair<int64_t, int64_t>; // rows, columns

  static std::set<Extents> shapesOf(const MatmulPlan& plan) {
    std::set<Extents> shapes;
    for (int64_t index = 0; index < plan.panels(); ++index) {
      const MatmulPanel panel = plan.panel(index);
      shapes.emplace(panel.rows, panel.columns);
    }
    return shapes;
  }

  static size_t bytes(int64_t count) { return static_cast<size_t>(count) * sizeof(float); }
  static float* at(AlignedBuffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

  void multiply(PanelMultiplier& multiplier, const MatmulPanel& panel, AlignedBuffer& operands,
                AlignedBuffer& c) const {
    AlignedBuffer scratch(multiplier.scratchBytes());
    multiplier.multiply(0, panel, operands.data() + bytes(panel.aOffset),
                        operands.data() + bytes(aCount_ + panel.bOffset), c.data(), scratch.data(), {});
  }

  static bool isPart(AlignedBuffer& part, const MatmulPanel& panel, AlignedBuffer& all,
                     const MatmulPanel& whole) {
    for (int64_t row = 0; row < panel.rows; ++row) {
      if (std::memcmp(at(part) + row * panel.columns, at(all) + row * whole.columns, bytes(panel.columns)) !=
          0) {
        return false;
      }
    }
    return true;
  }

  const MatmulPlan &small_, &large_;
  int64_t aCount_, bCount_;
};

/// What is known of a shape: trials cost some milliseconds, and models repeat their shapes.
bool remembered(const std::array<int64_t, 9>& key, llvm::function_ref<bool()> ask) {
  static std::mutex mutex;
  static std::map<std::array<int64_t, 9>, bool> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, ask()).first->second;
}

/// `other`: whether it is about `plan` beside another; else about `plan` alone.
std::array<int64_t, 9> keyOf(const MatmulPlan& plan, bool other) {
  return {plan.rows,       plan.columns,    plan.inner, plan.panelRows, plan.panelColumns,
          plan.transposeA, plan.transposeB, other,      plan.bStride};
}

} // namespace

std::optional<MatmulPlan> packedPanels(const MatmulPlan& plan, ElementType type, uint32_t threads) {
  const std::optional<MatmulPlan> small = type == ElementType::F32 ? plan.packed(manyThreads) : std::nullopt;
  if (!small ||
      !remembered(keyOf(*small, false), [&] { return makePackedMultiplier(type, *small, 1) != nullptr; })) {
    return std::nullopt;
  }
  const MatmulPlan large = *plan.packed(threads);
  const bool isSmall = large.panelRows == small->panelRows && large.panelColumns == small->panelColumns;
  return !isSmall && remembered(keyOf(large, true), [&] { return Trial(*small, large).sameBits(); }) ? large
                                                                                                     : small;
}

} // namespace dfc
