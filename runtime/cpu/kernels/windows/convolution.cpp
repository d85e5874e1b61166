#include "runtime/cpu/kernels/windows/convolution.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/widened.h"
#include "runtime/cpu/kernels/windows/group_convolution.h"
#include "runtime/cpu/kernels/windows/own_convolution.h"
#include "runtime/cpu/kernels/zero_kernel.h"

namespace dfc {
namespace {

// Sums without terms: results or operands without elements.
bool isTrivial(const Convolution& conv) {
  return conv.image.elements() == 0 || conv.filter.elements() == 0 || conv.result.elements() == 0;
}

// 16-bit floats are widened: the bf16 filter gradient of oneDNN 2.6 reads uninitialised scratch, whose NaNs
// get into the result.
std::unique_ptr<CpuKernel> makeDirect(const ConvolutionCall& call, ElementType type, ThreadPool& pool) {
  if (suitsGroupConvolution(call.conv)) {
    auto generated = type == ElementType::F32
                         ? makeOnednnConvolution(call.pass, call.conv, pool, OnednnKernels::Generated)
                         : nullptr;
    return generated != nullptr ? std::move(generated)
                                : makeGroupConvolution(call.pass, call.conv, type, pool);
  }
  if (type == ElementType::F32) {
    if (auto kernel = makeOnednnConvolution(call.pass, call.conv, pool)) {
      return kernel;
    }
  }
  return makeOwnConvolution(call.pass, call.conv, type, pool);
}

} // namespace

std::unique_ptr<CpuKernel> makeConvolutionKernel(const OpAttributes& attributes, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool) {
  const std::optional<ConvolutionCall> call = convolutionCall(attributes, operands);
  DFC_ASSERT(call.has_value(), "not a convolution");
  const ElementType type = results[0].element;
  if (isTrivial(call->conv)) {
    return std::make_unique<ZeroKernel>(results[0].bytes());
  }
  if (byteWidth(type) > 2) {
    return makeDirect(*call, type, pool);
  }
  return makeWidenedKernel(makeDirect(*call, ElementType::F32, pool), operands, results, pool);
}

} // namespace dfc
