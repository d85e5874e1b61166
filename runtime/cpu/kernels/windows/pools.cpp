#include "runtime/cpu/kernels/windows/pools.h"

#include "runtime/cpu/kernels/elementwise/elementwise.h"
#include "runtime/cpu/kernels/windows/onednn_pool.h"

namespace dfc {
namespace {

using Kind = onednn::PoolRequest::Kind;
using Pass = onednn::PoolRequest::Pass;

template <class Op>
Op overPlane() {
  Op op;
  op.axes = {2, 3};
  op.keepDims = true;
  return op;
}

Kind meanOf(bool countPadding) { return countPadding ? Kind::MeanWithPadding : Kind::Mean; }

} // namespace

std::unique_ptr<CpuKernel> makeMaxPoolKernel(const ops::MaxPool& op, OperandTypes operands,
                                             OperandTypes results, ThreadPool& pool) {
  const TensorType& image = operands[0];
  const Windows windows = windowsOf(image.shape, windowAttributes(op));
  if (isWholePlane(windows)) {
    return makeReductionKernel(overPlane<ops::ReduceMax>(), operands, results, pool);
  }
  auto own = makeOwnMaxPool(windows, image, pool);
  return isFloat(image.element)
             ? makeOnednnPool(Kind::Largest, Pass::Forward, windows, image, std::move(own), pool)
             : std::move(own);
}

std::unique_ptr<CpuKernel> makeAveragePoolKernel(const ops::AveragePool& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool) {
  const TensorType& image = operands[0];
  const Windows windows = windowsOf(image.shape, windowAttributes(op));
  if (isWholePlane(windows)) {
    return makeReductionKernel(overPlane<ops::ReduceMean>(), operands, results, pool);
  }
  return makeOnednnPool(meanOf(op.countPadding), Pass::Forward, windows, image,
                        makeOwnAveragePool(windows, op.countPadding, image, pool), pool);
}

std::unique_ptr<CpuKernel> makeMaxPoolGradientKernel(const ops::MaxPoolGradient& op, OperandTypes operands,
                                                     ThreadPool& pool) {
  const TensorType& image = operands[0];
  const Windows windows = windowsOf(image.shape, windowAttributes(op));
  return makeOnednnPool(Kind::Largest, Pass::Gradient, windows, image,
                        makeOwnMaxPoolGradient(windows, image, pool), pool);
}

std::unique_ptr<CpuKernel> makeAveragePoolGradientKernel(const ops::AveragePoolGradient& op,
                                                         OperandTypes results, ThreadPool& pool) {
  const TensorType& image = results[0];
  const Windows windows = windowsOf(image.shape, windowAttributes(op));
  return makeOnednnPool(meanOf(op.countPadding), Pass::Gradient, windows, image,
                        makeOwnAveragePoolGradient(windows, op.countPadding, image, pool), pool);
}

} // namespace dfc
