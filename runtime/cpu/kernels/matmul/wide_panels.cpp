#include "runtime/cpu/kernels/matmul/wide_panels.h"

#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/matmul/panel_multiplier.h"

#include <array>
#include <cstring>
#include <map>
#include <mutex>

namespace dfc {
namespace {

constexpr int64_t panelsOfAThread = 4;
constexpr int64_t longestTrial = 2048; // terms; of longer products a panel is no quicker for being wide

// Numbers from a linear congruential generator (Knuth, The Art of Computer Programming 2, 3.3.4), between
// -1/2 and 1/2.
void fillAtRandom(float* to, int64_t count, uint32_t seed) {
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    to[i] = static_cast<float>(seed >> 8) * 0x1p-24F - 0.5F;
  }
}

// The first panel of `wide`, as it makes it and as those of `narrow` do. Its operands take 64 MB each at
// most: of panels that may get wider there are fewer than 16 of 1024 columns, and so no more than 8192 rows
// or columns.
class Trial {
 public:
  Trial(const MatmulPlan& narrow, const MatmulPlan& wide)
      : narrow_(narrow), wide_(wide),
        aCount_(wide.transposeA ? wide.inner * wide.aStride : wide.panelRows * wide.aStride),
        bCount_(wide.transposeB ? wide.panelColumns * wide.bStride : wide.inner * wide.bStride),
        cCount_(wide.panelRows * wide.columns), operands_(bytes(aCount_ + bCount_)), one_(bytes(cCount_)),
        other_(bytes(cCount_)) {
    fillAtRandom(at(operands_), aCount_ + bCount_, 1);
  }

  bool sameBits() {
    if (!run(wide_, one_, 1) || !run(narrow_, other_, wide_.panelColumns / narrow_.panelColumns)) {
      return false;
    }
    for (int64_t row = 0; row < wide_.panelRows; ++row) {
      if (std::memcmp(at(one_) + row * wide_.columns, at(other_) + row * wide_.columns,
                      bytes(wide_.panelColumns)) != 0) {
        return false;
      }
    }
    return true;
  }

 private:
  static size_t bytes(int64_t count) { return static_cast<size_t>(count) * sizeof(float); }
  static float* at(AlignedBuffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

  bool run(const MatmulPlan& plan, AlignedBuffer& c, int64_t panels) {
    const auto multiplier = makePanelMultiplier(ElementType::F32, plan, 1);
    if (multiplier == nullptr) {
      return false;
    }
    AlignedBuffer scratch(multiplier->scratchBytes());
    for (int64_t index = 0; index < panels; ++index) {
      const MatmulPanel panel = plan.panel(index);
      multiplier->multiply(0, panel, operands_.data() + bytes(panel.aOffset),
                           operands_.data() + bytes(aCount_ + panel.bOffset), c.data() + bytes(panel.cOffset),
                           scratch.data(), false);
    }
    return true;
  }

  const MatmulPlan &narrow_, &wide_;
  int64_t aCount_, bCount_, cCount_;
  AlignedBuffer operands_, one_, other_;
};

// What the trial of a shape said: it costs some milliseconds, and models repeat their shapes.
bool givesSameBits(const MatmulPlan& narrow, const MatmulPlan& wide) {
  using Key = std::array<int64_t, 9>;
  static std::mutex mutex;
  static std::map<Key, bool> known;
  const Key key{wide.panelRows, narrow.panelColumns, wide.panelColumns, wide.inner,     wide.columns,
                wide.aStride,   wide.bStride,        wide.transposeA,   wide.transposeB};
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  return found != known.end() ? found->second
                              : known.emplace(key, Trial(narrow, wide).sameBits()).first->second;
}

} // namespace

MatmulPlan withWidePanels(const MatmulPlan& plan, ElementType type, uint32_t threads) {
  MatmulPlan best = plan;
  if (type != ElementType::F32 || plan.inner > longestTrial) {
    return best;
  }
  while (const std::optional<MatmulPlan> wide = best.wider(panelsOfAThread * threads)) {
    if (!givesSameBits(plan, *wide)) {
      break;
    }
    best = *wide;
  }
  return best;
}

} // namespace dfc
