#include "compiler/lower/library_convolution.h"

#include "ir/graph/rules/convolution.h"

#include <algorithm>
#include <limits>

namespace dfc::cuda {
namespace {

// cuDNN pads both ends of an axis alike, and derives the result's extent from that.
bool padsAlike(const WindowAxis& axis) {
  const int64_t span = (axis.size - 1) * axis.dilation + 1;
  return (axis.length + 2 * axis.low - span) / axis.stride + 1 == axis.count &&
         axis.length + 2 * axis.low >= span;
}

// cuDNN counts elements in int.
bool isSmall(const Convolution& conv) {
  constexpr int64_t most = std::numeric_limits<int>::max();
  const auto numbers = {conv.image.elements(), conv.filter.elements(), conv.result.elements()};
  return std::max(numbers) <= most && std::min(numbers) > 0;
}

} // namespace

bool isLibraryConvolution(const OpAttributes& attributes, OperandTypes operands) {
  const std::optional<ConvolutionCall> call = convolutionCall(attributes, operands);
  return call && call->conv.layout != ImageLayout::NhwcOihw && isSmall(call->conv) &&
         padsAlike(call->conv.windows.rows) && padsAlike(call->conv.windows.columns);
}

} // namespace dfc::cuda
