// iota: each contiguous range of equal elements is filled by one thread.
#include "runtime/cpu/kernels/indexing/indexing.h"

#include "ir/base/assert.h"
#include "ir/graph/rules/axis_view.h"

#include <algorithm>
#include <type_traits>

namespace dfc {
namespace {

template <class T>
T numberOf(int64_t index) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(index));
  } else {
    return static_cast<T>(index); // integers keep the low bits
  }
}

template <class T>
class IotaKernel final : public CpuKernel {
 public:
  IotaKernel(const ops::Iota& op, ThreadPool& pool)
      : pool_(pool), view_(op.type.shape, op.axis), runs_(view_.outer * view_.length), start_(op.start),
        parts_(partCount(pool, runs_, 0.5 * static_cast<double>(runs_ * view_.inner))) {}

  void run(llvm::ArrayRef<const std::byte*>, llvm::ArrayRef<std::byte*> results) override {
    auto* to = reinterpret_cast<T*>(results[0]);
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange mine = tasksOfPart(runs_, parts_, part);
      for (int64_t run = mine.begin; run < mine.end; ++run) {
        std::fill_n(to + run * view_.inner, view_.inner, numberOf<T>(start_ + run % view_.length));
      }
    });
  }

 private:
  ThreadPool& pool_;
  AxisView view_;
  int64_t runs_, start_;
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeIotaKernel(const ops::Iota& op, ThreadPool& pool) {
  switch (op.type.element) {
  case ElementType::F32: return std::make_unique<IotaKernel<float>>(op, pool);
  case ElementType::F64: return std::make_unique<IotaKernel<double>>(op, pool);
  case ElementType::F16: return std::make_unique<IotaKernel<Half>>(op, pool);
  case ElementType::BF16: return std::make_unique<IotaKernel<BFloat16>>(op, pool);
  case ElementType::I32: return std::make_unique<IotaKernel<int32_t>>(op, pool);
  case ElementType::I64: return std::make_unique<IotaKernel<int64_t>>(op, pool);
  case ElementType::U8: return std::make_unique<IotaKernel<uint8_t>>(op, pool);
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("iota of bool");
}

} // namespace dfc
