// Convolution and its two gradients through oneDNN, by the direct algorithm (Winograd's rounds differently).
// oneDNN chooses the layouts: blocked channels are so much faster than planes that reorders pay.
#include "runtime/cpu/onednn/sequence.h"
#include "runtime/cpu/onednn/sliding.h"

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
    return Layout({r.batch, channels, size[0], size[1]}, dataType(ElementType::F32),
                  Numbers{stride, size[0] * size[1], size[1], 1});
  };
  const int64_t window = r.window[0] * r.window[1];
  Numbers dims{r.filters, r.channels, r.window[0], r.window[1]};
  Numbers strides{r.filterStride, window, r.window[1], 1};
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

std::unique_ptr<Primitive> makeForward(const Layouts& plain,
                                       const dnnl::convolution_forward::primitive_desc& description,
                                       uint32_t slots) {
  if (!usable(description)) {
    return nullptr;
  }
  return sequence(dnnl::convolution_forward(description), description.scratchpad_desc(),
                  {DNNL_ARG_SRC, plain.image, description.src_desc()},
                  {DNNL_ARG_WEIGHTS, plain.filter, description.weights_desc()},
                  {DNNL_ARG_DST, plain.result, description.dst_desc()}, slots);
}

std::unique_ptr<Primitive> makeInputGradient(const Layouts& plain, const Layouts& any, const Sliding& sliding,
                                             const dnnl::convolution_forward::primitive_desc& hint,
                                             uint32_t slots) {
  using Backward = dnnl::convolution_backward_data;
  const auto description = describeBackward<Backward>(any.image, any.filter, any.result, sliding, hint);
  if (!usable(description)) {
    return nullptr;
  }
  return sequence(Backward(description), description.scratchpad_desc(),
                  {DNNL_ARG_WEIGHTS, plain.filter, description.weights_desc()},
                  {DNNL_ARG_DIFF_DST, plain.result, description.diff_dst_desc()},
                  {DNNL_ARG_DIFF_SRC, plain.image, description.diff_src_desc()}, slots);
}

std::unique_ptr<Primitive> makeFilterGradient(const Layouts& plain, const Layouts& any,
                                              const Sliding& sliding,
                                              const dnnl::convolution_forward::primitive_desc& hint,
                                              uint32_t slots) {
  using Backward = dnnl::convolution_backward_weights;
  const auto description = describeBackward<Backward>(any.image, any.filter, any.result, sliding, hint);
  if (!usable(description)) {
    return nullptr;
  }
  return sequence(Backward(description), description.scratchpad_desc(),
                  {DNNL_ARG_SRC, plain.image, description.src_desc()},
                  {DNNL_ARG_DIFF_DST, plain.result, description.diff_dst_desc()},
                  {DNNL_ARG_DIFF_WEIGHTS, plain.filter, description.diff_weights_desc()}, slots);
}

} // namespace

std::unique_ptr<Primitive> makePrimitive(const ConvolutionRequest& request, uint32_t slots) {
  const Layouts plain = plainLayouts(request);
  const Layouts any{anyLayout(plain.image), anyLayout(plain.filter), anyLayout(plain.result)};
  const Sliding sliding = slidingOf(request);
  const auto forward = describeForward(any, sliding);
  if (!forward) {
    return nullptr;
  }
  switch (request.pass) {
  case Pass::Forward: return makeForward(plain, forward, slots);
  case Pass::InputGradient: return makeInputGradient(plain, any, sliding, forward, slots);
  case Pass::FilterGradient: return makeFilterGradient(plain, any, sliding, forward, slots);
  }
  return nullptr;
}

} // namespace dfc::onednn
