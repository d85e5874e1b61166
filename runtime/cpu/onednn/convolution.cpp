// Convolution and its two gradients through oneDNN, by the direct algorithm (Winograd's rounds differently).
// oneDNN chooses the layouts, unless images come with their channels last: blocked channels are so much
// faster than planes that reorders pay.
#include "runtime/cpu/onednn/sequence.h"
#include "runtime/cpu/onednn/sliding.h"

#include <optional>
#include <string>

namespace dfc::onednn {
namespace {

using Layout = dnnl::memory::desc;
using Numbers = dnnl::memory::dims;
using Pass = ConvolutionRequest::Pass;

// The plain layouts of the three tensors.
struct Layouts {
  Layout image, filter, result;
};

Layouts plainLayouts(const ConvolutionRequest& r) {
  const auto planes = [&](int64_t channels, const std::array<int64_t, 2>& size, int64_t stride) {
    if (r.channelsLast) {
      return Layout({r.batch, channels, size[0], size[1]}, dataType(ElementType::F32),
                    dnnl::memory::format_tag::nhwc);
    }
    return Layout({r.batch, channels, size[0], size[1]}, dataType(ElementType::F32),
                  Numbers{stride, size[0] * size[1], size[1], 1});
  };
  const int64_t window = r.window[0] * r.window[1];
  Numbers dims{r.filters, r.channels, r.window[0], r.window[1]};
  Numbers strides = r.filterLast ? Numbers{r.filterStride, 1, r.window[1] * r.channels, r.channels}
                                 : Numbers{r.filterStride, window, r.window[1], 1};
  if (r.groups > 1) {
    dims.insert(dims.begin(), r.groups);
    strides.insert(strides.begin(), r.filters * r.filterStride);
  }
  return {planes(r.groups * r.channels, r.image, r.imageStride),
          Layout(dims, dataType(ElementType::F32), strides),
          planes(r.groups * r.filters, r.result, r.resultStride)};
}

Layout anyLayout(const Layout& plain) {
#if DNNL_VERSION_MAJOR >= 3
  return {plain.get_dims(), plain.get_data_type(), dnnl::memory::format_tag::any};
#else
  return {plain.dims(), plain.data_type(), dnnl::memory::format_tag::any};
#endif
}

constexpr auto direct = dnnl::algorithm::convolution_direct;

dnnl::convolution_forward::primitive_desc describeForward(const Layouts& any, const Sliding& s) {
  constexpr auto forward = dnnl::prop_kind::forward_training; // also the hint of the gradients
#if DNNL_VERSION_MAJOR >= 3
  return {cpuEngine(), forward,     direct, any.image, any.filter,          any.result,
          s.strides,   s.dilations, s.low,  s.high,    callerOwnsScratch(), true};
#else
  return {{forward, direct, any.image, any.filter, any.result, s.strides, s.dilations, s.low, s.high},
          callerOwnsScratch(),
          cpuEngine(),
          true};
#endif
}

template <class Backward>
typename Backward::primitive_desc describeBackward(const Layout& from, const Layout& by, const Layout& to,
                                                   const Sliding& s,
                                                   const dnnl::convolution_forward::primitive_desc& hint) {
#if DNNL_VERSION_MAJOR >= 3
  return {cpuEngine(),         direct, from, by, to, s.strides, s.dilations, s.low, s.high, hint,
          callerOwnsScratch(), true};
#else
  return {{direct, from, by, to, s.strides, s.dilations, s.low, s.high},
          callerOwnsScratch(),
          cpuEngine(),
          hint,
          true};
#endif
}

// An argument of the main primitive: its plain layout, the layout that the primitive wants, and its name.
struct Side {
  int index;
  Layout outside, inside;
};

std::unique_ptr<Primitive> sequence(const dnnl::primitive& primitive, const Layout& scratch,
                                    const Side& first, const Side& second, const Side& result,
                                    uint32_t slots) {
  SequenceMaker maker(slots);
  const Place a = maker.brought({Place::In::Operand, 0}, first.outside, first.inside);
  const Place b = maker.brought({Place::In::Operand, 1}, second.outside, second.inside);
  const Place outside{Place::In::Result, 0};
  const bool same = result.outside == result.inside;
  const Place c = same ? outside : maker.scratch(result.inside);
  maker.add(
      primitive,
      {{first.index, first.inside, a}, {second.index, second.inside, b}, {result.index, result.inside, c}},
      scratch);
  if (!same) {
    maker.reorder(c, result.inside, outside, result.outside);
  }
  return std::move(maker).finish();
}

using Forward = dnnl::convolution_forward::primitive_desc;
using InputGradient = dnnl::convolution_backward_data::primitive_desc;
using FilterGradient = dnnl::convolution_backward_weights::primitive_desc;

bool isOfMatrixProducts(const Forward& description) {
  const std::string_view name = description.impl_info_str();
  return name.starts_with("brg") || name.starts_with("brdgmm");
}

// Whether a kernel was generated for the shape. oneDNN has others for every shape.
template <class Description>
bool isGenerated(const Description& description) {
  const std::string_view name = description.impl_info_str();
  return name.find("gemm") == std::string_view::npos && !name.starts_with("ref") &&
         !name.starts_with("simple");
}

template <class Description>
bool serves(const Description& description, bool generatedOnly) {
  return usable(description) && (!generatedOnly || isGenerated(description));
}

// What oneDNN makes of a request: the layouts that it chose are in the descriptions. A gradient has the
// forward convolution for a hint.
struct Described {
  Layouts plain;
  Forward forward;
  InputGradient inputGradient;
  FilterGradient filterGradient;

  explicit Described(const ConvolutionRequest& request) : plain(plainLayouts(request)) {
    const auto chosen = [&](const Layout& layout) {
      return request.channelsLast && !request.reorders ? layout : anyLayout(layout);
    };
    const Layouts any{chosen(plain.image), anyLayout(plain.filter), chosen(plain.result)};
    const Sliding sliding = slidingOf(request);
    forward = describeForward(any, sliding);
    const bool needsMatrixProducts =
        request.pass == Pass::Forward && request.channelsLast && !request.reorders;
    if (!forward || (needsMatrixProducts && !isOfMatrixProducts(forward))) {
      forward = {};
      return;
    }
    if (request.pass == Pass::InputGradient) {
      inputGradient = describeBackward<dnnl::convolution_backward_data>(any.image, any.filter, any.result,
                                                                        sliding, forward);
    } else if (request.pass == Pass::FilterGradient) {
      filterGradient = describeBackward<dnnl::convolution_backward_weights>(any.image, any.filter, any.result,
                                                                            sliding, forward);
    }
  }
};

std::unique_ptr<Primitive> makeForward(const Described& described, const ConvolutionRequest& request,
                                       uint32_t slots) {
  const Forward& description = described.forward;
  if (!serves(description, request.generatedOnly)) {
    return nullptr;
  }
  const Layout filter = description.weights_desc();
  return sequence(dnnl::convolution_forward(description), description.scratchpad_desc(),
                  {DNNL_ARG_SRC, described.plain.image, description.src_desc()},
                  {DNNL_ARG_WEIGHTS, request.packedFilter ? filter : described.plain.filter, filter},
                  {DNNL_ARG_DST, described.plain.result, description.dst_desc()}, slots);
}

std::unique_ptr<Primitive> makeInputGradient(const Described& described, const ConvolutionRequest& request,
                                             uint32_t slots) {
  const InputGradient& description = described.inputGradient;
  if (!serves(description, request.generatedOnly)) {
    return nullptr;
  }
  const Layout filter = description.weights_desc();
  return sequence(dnnl::convolution_backward_data(description), description.scratchpad_desc(),
                  {DNNL_ARG_WEIGHTS, request.packedFilter ? filter : described.plain.filter, filter},
                  {DNNL_ARG_DIFF_DST, described.plain.result, description.diff_dst_desc()},
                  {DNNL_ARG_DIFF_SRC, described.plain.image, description.diff_src_desc()}, slots);
}

std::unique_ptr<Primitive> makeFilterGradient(const Described& described, const ConvolutionRequest& request,
                                              uint32_t slots) {
  const FilterGradient& description = described.filterGradient;
  if (!serves(description, request.generatedOnly)) {
    return nullptr;
  }
  return sequence(dnnl::convolution_backward_weights(description), description.scratchpad_desc(),
                  {DNNL_ARG_SRC, described.plain.image, description.src_desc()},
                  {DNNL_ARG_DIFF_DST, described.plain.result, description.diff_dst_desc()},
                  {DNNL_ARG_DIFF_WEIGHTS, described.plain.filter, description.diff_weights_desc()}, slots);
}

// The layout that oneDNN wants for the filter; nothing where it is the plain one.
std::optional<Layout> packedFilterOf(const Described& described, Pass pass) {
  std::optional<Layout> wanted;
  if (pass == Pass::Forward && usable(described.forward)) {
    wanted = described.forward.weights_desc();
  } else if (pass == Pass::InputGradient && usable(described.inputGradient)) {
    wanted = described.inputGradient.weights_desc();
  }
  return wanted == described.plain.filter ? std::nullopt : wanted;
}

// Dimensions with padding, strides, and the blocks within.
std::string textOf(const Layout& layout) {
  std::string text;
  const auto add = [&](const auto& numbers, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      text += std::to_string(numbers[i]) + ' ';
    }
    text += '/';
  };
#if DNNL_VERSION_MAJOR >= 3
  add(layout.get_padded_dims(), layout.get_padded_dims().size());
  add(layout.get_strides(), layout.get_strides().size());
  add(layout.get_inner_blks(), layout.get_inner_blks().size());
  add(layout.get_inner_idxs(), layout.get_inner_idxs().size());
#else
  const auto rank = static_cast<size_t>(layout.data.ndims);
  const dnnl_blocking_desc_t& blocks = layout.data.format_desc.blocking;
  add(layout.data.padded_dims, rank);
  add(blocks.strides, rank);
  add(blocks.inner_blks, static_cast<size_t>(blocks.inner_nblks));
  add(blocks.inner_idxs, static_cast<size_t>(blocks.inner_nblks));
#endif
  return text;
}

} // namespace

std::string packedLayout(const ConvolutionRequest& request) {
  const std::optional<Layout> packed = packedFilterOf(Described(request), request.pass);
  return packed ? textOf(*packed) : "";
}

size_t packedBytes(const ConvolutionRequest& request) {
  const std::optional<Layout> packed = packedFilterOf(Described(request), request.pass);
  return packed ? packed->get_size() : 0;
}

std::unique_ptr<Primitive> makePrimitive(const PackFilterRequest& request, uint32_t slots) {
  const Described described(request.convolution);
  const std::optional<Layout> packed = packedFilterOf(described, request.convolution.pass);
  if (!packed) {
    return nullptr;
  }
  const dnnl::reorder::primitive_desc description(cpuEngine(), described.plain.filter, cpuEngine(), *packed,
                                                  callerOwnsScratch(), true);
  if (!usable(description)) {
    return nullptr;
  }
  return wrap(dnnl::reorder(description), {{DNNL_ARG_FROM, described.plain.filter}}, {DNNL_ARG_TO, *packed},
              description.scratchpad_desc(), slots);
}

std::unique_ptr<Primitive> makePrimitive(const ConvolutionRequest& request, uint32_t slots) {
  const Described described(request);
  switch (request.pass) {
  case Pass::Forward: return makeForward(described, request, slots);
  case Pass::InputGradient: return makeInputGradient(described, request, slots);
  case Pass::FilterGradient: return makeFilterGradient(described, request, slots);
  }
  return nullptr;
}

} // namespace dfc::onednn
