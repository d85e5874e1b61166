#include "ir/graph/rules/convolution.h"

#include "ir/graph/rules/layout.h"

#include <fmt/format.h>

namespace dfc {
namespace {

WindowAttributes windowsOfFilter(const Shape& filter, const ConvolutionAttributes& attributes) {
  return {{filter[2], filter[3]}, attributes.strides, attributes.low, attributes.high, attributes.dilations};
}

TypeResult checkFilter(OpKind kind, OperandTypes operands, const Shape& image, const Shape& filter,
                       int64_t groups) {
  const int64_t channels = image[1], filters = filter[0];
  if (groups < 1 || channels % groups != 0 || filters % groups != 0) {
    return refuse(kind, operands,
                  fmt::format("{} groups share {} channels and {} filters", groups, channels, filters),
                  "give a number of groups, 1 or more, that divides both");
  }
  if (filter[1] != channels / groups) {
    return refuse(kind, operands,
                  fmt::format("the filter {} reads {} channels, but a group of {} has {}", toString(filter),
                              filter[1], toString(image), channels / groups),
                  "a filter is [M, C / groups, KH, KW]; mend its second dimension or the groups");
  }
  return {};
}

// Of shapes in the layout of the attributes.
Convolution made(const Shape& imageInLayout, const Shape& filterInLayout,
                 const ConvolutionAttributes& attributes) {
  const Shape image = channelsFirst(attributes.layout, imageInLayout);
  const Shape filter = filterChannelsFirst(attributes.layout, filterInLayout);
  const Windows windows = windowsOf(image, windowsOfFilter(filter, attributes));
  return {image,
          filter,
          Shape{image[0], filter[0], windows.rows.count, windows.columns.count},
          attributes.groups,
          windows,
          attributes.layout};
}

} // namespace

double Convolution::flops() const {
  return 2 * static_cast<double>(terms()) * static_cast<double>(result.elements());
}

ProductShape Convolution::product(ConvolutionPass pass) const {
  const auto images = static_cast<double>(batch()), count = static_cast<double>(groups);
  const double made = images * static_cast<double>(pixels());
  const auto filters = static_cast<double>(groupFilters()), ofFilter = static_cast<double>(terms());
  const bool wide = windows.size() > 1;
  switch (pass) {
  case ConvolutionPass::Forward: return {made, filters, ofFilter, count, wide};
  case ConvolutionPass::InputGradient:
    return {images * static_cast<double>(imagePixels()), static_cast<double>(groupChannels()),
            filters * static_cast<double>(windows.size()), count, wide};
  case ConvolutionPass::FilterGradient: return {filters, ofFilter, made, count, wide};
  }
  return {};
}

TypeResult convolutionTypes(OpKind kind, OperandTypes operands, const Shape& image, const Shape& filter,
                            const ConvolutionAttributes& attributes) {
  if (filter.rank() != 4) {
    return refuse(kind, operands, "a filter is [M, C / groups, KH, KW], four axes", "reshape it");
  }
  const WindowAttributes windows = windowsOfFilter(filter, attributes);
  if (TypeResult checked = checkWindows(kind, operands, image, windows); !checked.ok()) {
    return checked;
  }
  if (TypeResult checked = checkFilter(kind, operands, image, filter, attributes.groups); !checked.ok()) {
    return checked;
  }
  const Windows slid = windowsOf(image, windows);
  return resultOf(kind, operands, operands[0].element,
                  {image[0], filter[0], slid.rows.count, slid.columns.count});
}

TypeResult checkConvolutionCotangent(OpKind kind, OperandTypes operands, const Shape& image,
                                     const Shape& filter, const ConvolutionAttributes& attributes) {
  TypeResult result = convolutionTypes(kind, operands, image, filter, attributes);
  if (!result.ok()) {
    return result;
  }
  if (!(operands[1].shape == result.types[0].shape)) {
    return refuse(kind, operands,
                  fmt::format("conv2d of {} with {} gives {}, not {}", toString(image), toString(filter),
                              toString(result.types[0].shape), toString(operands[1].shape)),
                  "give the attributes and the shapes of the conv2d whose gradient this is");
  }
  return {};
}

Convolution convolutionOf(const ops::Conv2d& op, OperandTypes operands) {
  return made(operands[0].shape, operands[1].shape, convolutionAttributes(op));
}

Convolution convolutionOf(const ops::Conv2dInputGradient& op, OperandTypes operands) {
  return made(Shape(op.shape), operands[0].shape, convolutionAttributes(op));
}

Convolution convolutionOf(const ops::Conv2dFilterGradient& op, OperandTypes operands) {
  return made(operands[0].shape, Shape(op.shape), convolutionAttributes(op));
}

std::optional<ConvolutionCall> convolutionCall(const OpAttributes& attributes, OperandTypes operands) {
  if (const auto* forward = attributes.getIf<ops::Conv2d>()) {
    return ConvolutionCall{ConvolutionPass::Forward, convolutionOf(*forward, operands), forward->precision};
  }
  if (const auto* toInput = attributes.getIf<ops::Conv2dInputGradient>()) {
    return ConvolutionCall{ConvolutionPass::InputGradient, convolutionOf(*toInput, operands),
                           toInput->precision};
  }
  if (const auto* toFilter = attributes.getIf<ops::Conv2dFilterGradient>()) {
    return ConvolutionCall{ConvolutionPass::FilterGradient, convolutionOf(*toFilter, operands),
                           toFilter->precision};
  }
  return std::nullopt;
}

} // namespace dfc
