#include "runtime/cuda/measure/convolution_rate.h"

#include "ir/base/assert.h"
#include "ir/graph/op_parts.h"
#include "ir/machine/calibration.h"
#include "runtime/cuda/library/convolution.h"
#include "runtime/cuda/measure/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace dfc::cuda {
namespace {

struct Size {
  int64_t pixels, channels; ///< of each side
};
constexpr Size sizes[] = {{56, 64}, {28, 128}, {14, 256}};

/// One convolution or gradient and its seconds.
struct Measured {
  double flops = 0, seconds = 0;
};

/// None where the library has none.
std::optional<Measured> measure(int ordinal, const std::string& signature, Stopwatch& watch) {
  const auto lone = opOfSignature(signature);
  DFC_ASSERT(lone, "a convolution that is measured is an op");
  const Graph& graph = lone->graph;
  const auto operands = graph.operandTypesOf(lone->op), results = graph.resultTypesOf(lone->op);
  const auto convolution = findConvolution(graph[lone->op].attributes, operands, ordinal);
  if (!convolution) {
    return std::nullopt;
  }
  const DeviceBuffer a = noise(ordinal, operands[0].bytes()), b = noise(ordinal, operands[1].bytes());
  const DeviceBuffer made(ordinal, results[0].bytes(), "a measurement");
  const DeviceBuffer workspace(ordinal, std::max<int64_t>(convolution->workspaceBytes(), 1), "a measurement");
  std::byte* const pointers[] = {a.get(), b.get(), made.get()};
  const auto launch = convolution->launch(pointers, workspace.get());
  const double seconds = watch.perRepetition([&](cudaStream_t stream) { launch->enqueue(stream); });
  return Measured{costOf(graph[lone->op].attributes, operands, results).flops, seconds};
}

/// 0 where the library lacks one of the three.
double rateOf(int ordinal, const Size& size, const std::string& element, const std::string& precision,
              Stopwatch& watch) {
  const std::string image = fmt::format("[64, {0}, {0}, {1}]", size.pixels, size.channels);
  const std::string filter = fmt::format("[{0}, 3, 3, {0}]", size.channels);
  const std::string windows =
      fmt::format("strides=[1, 1], low=[1, 1], high=[1, 1]{}, layout=nhwc", precision);
  Measured all;
  for (const std::string& signature :
       {fmt::format("conv2d({0}{1}, {0}{2}) {3}", element, image, filter, windows),
        fmt::format("conv2dInputGradient({0}{2}, {0}{1}) shape={1}, {3}", element, image, filter, windows),
        fmt::format("conv2dFilterGradient({0}{1}, {0}{1}) shape={2}, {3}", element, image, filter,
                    windows)}) {
    const auto one = measure(ordinal, signature, watch);
    if (!one) {
      return 0;
    }
    all.flops += one->flops;
    all.seconds += one->seconds;
  }
  return all.flops / all.seconds;
}

} // namespace

double convolutionRate(int ordinal, ElementType type, Precision precision, Stopwatch& watch) {
  const OnDevice current(ordinal);
  const std::string element(name(type));
  const std::string attribute = precision == Precision::Tf32 ? ", precision=tf32" : "";
  double most = 0;
  for (const Size& size : sizes) {
    most = std::max(most, rateOf(ordinal, size, element, attribute, watch));
  }
  return most;
}

} // namespace dfc::cuda
