// argMax: the first largest element of each row; NaN counts as the largest, so the first NaN wins.
#include "runtime/cpu/kernels/rows/rows.h"

#include "ir/base/assert.h"
#include "ir/graph/rules/axis_view.h"

#include <type_traits>

namespace dfc {
namespace {

template <class T>
auto comparable(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <class T>
int64_t argMaxOfRow(const T* row, int64_t length, int64_t stride) {
  auto best = comparable(row[0]);
  int64_t at = 0;
  for (int64_t i = 1; i < length && best == best; ++i) { // NaN is not equal to itself: nothing beats it
    const auto value = comparable(row[i * stride]);
    if (!(value <= best)) {
      best = value;
      at = i;
    }
  }
  return at;
}

template <class T>
class ArgMaxKernel final : public CpuKernel {
 public:
  ArgMaxKernel(const AxisView& view, ThreadPool& pool)
      : pool_(pool), view_(view),
        parts_(partCount(pool, view.rows(), static_cast<double>(view.rows() * view.length))) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const T* from = reinterpret_cast<const T*>(operands[0]);
    auto* to = reinterpret_cast<int64_t*>(results[0]);
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange rows = tasksOfPart(view_.rows(), parts_, part);
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int64_t first = row / view_.inner * view_.length * view_.inner + row % view_.inner;
        to[row] = argMaxOfRow(from + first, view_.length, view_.inner);
      }
    });
  }

 private:
  ThreadPool& pool_;
  AxisView view_;
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeArgMaxKernel(const ops::ArgMax& op, OperandTypes operands, ThreadPool& pool) {
  const AxisView view(operands[0].shape, op.axis);
  switch (operands[0].element) {
  case ElementType::F32: return std::make_unique<ArgMaxKernel<float>>(view, pool);
  case ElementType::F64: return std::make_unique<ArgMaxKernel<double>>(view, pool);
  case ElementType::F16: return std::make_unique<ArgMaxKernel<Half>>(view, pool);
  case ElementType::BF16: return std::make_unique<ArgMaxKernel<BFloat16>>(view, pool);
  case ElementType::I32: return std::make_unique<ArgMaxKernel<int32_t>>(view, pool);
  case ElementType::I64: return std::make_unique<ArgMaxKernel<int64_t>>(view, pool);
  case ElementType::U8:
  case ElementType::Bool: return std::make_unique<ArgMaxKernel<uint8_t>>(view, pool);
  }
  DFC_UNREACHABLE("element type");
}

} // namespace dfc
