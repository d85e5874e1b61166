#include "tests/runtime/kernels/convolution_testing.h"

#include "tests/support/catch.h"

#include <algorithm>
#include <cstring>

namespace dfc::testing {
namespace {

// Every product of a convolution, by the elements' places.
template <class Visit>
void forEachProduct(const Convolution& conv, Visit visit) {
  const WindowAxis &rows = conv.windows.rows, &columns = conv.windows.columns;
  const int64_t results = conv.result.elements();
  for (int64_t at = 0; at < results; ++at) {
    const Index index = indexOf(conv.result, at);
    const int64_t group = index[1] / (conv.filter[0] / conv.groups);
    for (int64_t c = 0; c < conv.filter[1]; ++c) {
      const int64_t imageAt = offsetOf(conv.image, {index[0], group * conv.filter[1] + c, 0, 0});
      const int64_t filterAt = offsetOf(conv.filter, {index[1], c, 0, 0});
      for (int64_t i = 0; i < rows.size; ++i) {
        for (int64_t j = 0; j < columns.size; ++j) {
          const int64_t y = index[2] * rows.stride - rows.low + i * rows.dilation;
          const int64_t x = index[3] * columns.stride - columns.low + j * columns.dilation;
          if (y >= 0 && y < conv.image[2] && x >= 0 && x < conv.image[3]) {
            visit(imageAt + y * conv.image[3] + x, filterAt + i * columns.size + j, at);
          }
        }
      }
    }
  }
}

std::vector<double> elementsOf(const Literal& literal) {
  std::vector<double> elements(static_cast<size_t>(literal.type().shape.elements()));
  for (size_t i = 0; i < elements.size(); ++i) {
    elements[i] = literal.at(static_cast<int64_t>(i));
  }
  return elements;
}

} // namespace

ops::Conv2d opOf(const Case& c) {
  ops::Conv2d op;
  op.strides = c.strides;
  op.low = c.low;
  op.high = c.high;
  op.dilations = c.dilations;
  op.groups = c.groups;
  return op;
}

Dims dimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

Triple operandsOf(const Convolution& conv, ElementType type) {
  return {randomLiteral({type, conv.image}, 91, -1, 1), randomLiteral({type, conv.filter}, 92, -1, 1),
          randomLiteral({type, conv.result}, 93, -1, 1)};
}

Convolution convolution(const Case& c, ElementType type) {
  const TensorType types[2] = {{type, c.image}, {type, c.filter}};
  return convolutionOf(opOf(c), types);
}

Expected expectedOf(ConvolutionPass pass, const Convolution& conv, const Triple& given) {
  Expected expected(std::max({conv.image.elements(), conv.filter.elements(), conv.result.elements()}));
  const std::vector<double> images = elementsOf(given.image), filters = elementsOf(given.filter);
  const std::vector<double> cotangents = elementsOf(given.cotangent);
  forEachProduct(conv, [&](int64_t image, int64_t filter, int64_t result) {
    const auto i = static_cast<size_t>(image), f = static_cast<size_t>(filter),
               r = static_cast<size_t>(result);
    switch (pass) {
    case ConvolutionPass::Forward: return expected.add(result, images[i] * filters[f]);
    case ConvolutionPass::InputGradient: return expected.add(image, filters[f] * cotangents[r]);
    case ConvolutionPass::FilterGradient: return expected.add(filter, images[i] * cotangents[r]);
    }
  });
  return expected;
}

void checkSums(const Literal& got, const Expected& expected, double terms) {
  const ElementType type = got.type().element;
  const double unit = type == ElementType::F64 ? 0x1p-52 : 0x1p-23;
  for (int64_t i = 0; i < got.type().shape.elements(); ++i) {
    const auto at = static_cast<size_t>(i);
    const double allowed = 0.51 * ulp(type, expected.sums[at]) + unit * (terms + 2) * expected.magnitudes[at];
    if (!(std::fabs(got.at(i) - expected.sums[at]) <= allowed)) {
      INFO("element " << i << ": " << got.at(i) << ", expected " << expected.sums[at]);
      CHECK(std::fabs(got.at(i) - expected.sums[at]) <= allowed);
      return;
    }
  }
  CHECK(true);
}

void checkConvolution(const Case& c, ElementType type, uint32_t threads) {
  const Convolution conv = convolution(c, type);
  const Triple given = operandsOf(conv, type);
  INFO(name(type) << ", image " << toString(c.image) << ", filter " << toString(c.filter));
  const ops::Conv2d op = opOf(c);
  checkSums(runKernel(op, {given.image, given.filter}, threads),
            expectedOf(ConvolutionPass::Forward, conv, given), double(conv.terms()));
  auto toInput = sameConvolution<ops::Conv2dInputGradient>(op);
  toInput.shape = dimsOf(conv.image);
  checkSums(runKernel(toInput, {given.filter, given.cotangent}, threads),
            expectedOf(ConvolutionPass::InputGradient, conv, given),
            double(conv.groupFilters() * conv.windows.size()));
  auto toFilter = sameConvolution<ops::Conv2dFilterGradient>(op);
  toFilter.shape = dimsOf(conv.filter);
  checkSums(runKernel(toFilter, {given.image, given.cotangent}, threads),
            expectedOf(ConvolutionPass::FilterGradient, conv, given), double(conv.batch() * conv.pixels()));
}

Literal runPass(CpuKernel& kernel, ConvolutionPass pass, const Convolution& conv, const Triple& given) {
  const bool forward = pass == ConvolutionPass::Forward, toInput = pass == ConvolutionPass::InputGradient;
  Literal result({given.image.type().element, forward ? conv.result : toInput ? conv.image : conv.filter});
  std::memset(result.mutableBytes().data(), 0xA5, result.bytes().size());
  const std::vector<const std::byte*> operands = {(toInput ? given.filter : given.image).bytes().data(),
                                                  (forward ? given.filter : given.cotangent).bytes().data()};
  kernel.run(operands, result.mutableBytes().data());
  return result;
}

} // namespace dfc::testing
