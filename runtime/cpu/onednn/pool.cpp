// Pools of planes, and their gradients, through oneDNN. The gradient of a maximum runs the pool again for the
// positions of the maxima.
#include "runtime/cpu/onednn/sequence.h"
#include "runtime/cpu/onednn/sliding.h"

namespace dfc::onednn {
namespace {

using Layout = dnnl::memory::desc;
using Numbers = dnnl::memory::dims;
using Kind = PoolRequest::Kind;

#if DNNL_VERSION_MAJOR >= 3
using Pool = dnnl::pooling_forward;
using Gradient = dnnl::pooling_backward;
#else
using Pool = dnnl::pooling_v2_forward;
using Gradient = dnnl::pooling_v2_backward;
#endif

// The two tensors and the windows.
struct Terms {
  explicit Terms(const PoolRequest& r)
      : image(planesOf(r.planes, r.image)), result(planesOf(r.planes, r.result)),
        algorithm(algorithmOf(r.kind)), window{r.window[0], r.window[1]}, sliding(slidingOf(r)) {}

  static Layout planesOf(int64_t planes, const std::array<int64_t, 2>& size) {
    return {{1, planes, size[0], size[1]}, dataType(ElementType::F32), dnnl::memory::format_tag::nchw};
  }
  static dnnl::algorithm algorithmOf(Kind kind) {
    switch (kind) {
    case Kind::Largest: return dnnl::algorithm::pooling_max;
    case Kind::Mean: return dnnl::algorithm::pooling_avg_exclude_padding;
    case Kind::MeanWithPadding: return dnnl::algorithm::pooling_avg_include_padding;
    }
    return {};
  }

  Layout image, result;
  dnnl::algorithm algorithm;
  Numbers window;
  Sliding sliding;
};

Pool::primitive_desc describe(const Terms& t, dnnl::prop_kind purpose) {
  const Sliding& s = t.sliding;
#if DNNL_VERSION_MAJOR >= 3
  return {cpuEngine(), purpose, t.algorithm,         t.image, t.result, s.strides, t.window, s.dilations,
          s.low,       s.high,  callerOwnsScratch(), true};
#else
  return {{purpose, t.algorithm, t.image, t.result, s.strides, t.window, s.dilations, s.low, s.high},
          callerOwnsScratch(),
          cpuEngine(),
          true};
#endif
}

Gradient::primitive_desc describeGradient(const Terms& t, const Pool::primitive_desc& hint) {
  const Sliding& s = t.sliding;
#if DNNL_VERSION_MAJOR >= 3
  return {cpuEngine(), t.algorithm, t.image, t.result, s.strides,           t.window,
          s.dilations, s.low,       s.high,  hint,     callerOwnsScratch(), true};
#else
  return {{t.algorithm, t.image, t.result, s.strides, t.window, s.dilations, s.low, s.high},
          callerOwnsScratch(),
          cpuEngine(),
          hint,
          true};
#endif
}

std::unique_ptr<Primitive> makeForward(const Terms& terms, uint32_t slots) {
  const Pool::primitive_desc description = describe(terms, dnnl::prop_kind::forward_inference);
  if (!usable(description)) {
    return nullptr;
  }
  return wrap(Pool(description), {{DNNL_ARG_SRC, terms.image}}, {DNNL_ARG_DST, terms.result},
              description.scratchpad_desc(), slots);
}

std::unique_ptr<Primitive> makeGradient(const Terms& terms, uint32_t slots) {
  const Pool::primitive_desc pool = describe(terms, dnnl::prop_kind::forward_training);
  const Gradient::primitive_desc gradient = describeGradient(terms, pool);
  if (!usable(pool) || !usable(gradient)) {
    return nullptr;
  }
  SequenceMaker maker(slots);
  const bool largest = terms.algorithm == dnnl::algorithm::pooling_max;
  const Place image{Place::In::Operand, 0}, cotangents{Place::In::Operand, largest ? 1U : 0U};
  std::vector<SequenceMaker::PlacedArgument> arguments{
      {DNNL_ARG_DIFF_DST, terms.result, cotangents},
      {DNNL_ARG_DIFF_SRC, terms.image, {Place::In::Result, 0}}};
  if (largest) {
    const Place places = maker.scratch(pool.workspace_desc());
    maker.add(Pool(pool),
              {{DNNL_ARG_SRC, terms.image, image},
               {DNNL_ARG_DST, terms.result, maker.scratch(terms.result)},
               {DNNL_ARG_WORKSPACE, pool.workspace_desc(), places}},
              pool.scratchpad_desc());
    arguments.push_back({DNNL_ARG_WORKSPACE, pool.workspace_desc(), places});
  }
  maker.add(Gradient(gradient), std::move(arguments), gradient.scratchpad_desc());
  return std::move(maker).finish();
}

} // namespace

std::unique_ptr<Primitive> makePrimitive(const PoolRequest& request, uint32_t slots) {
  const Terms terms(request);
  return request.pass == PoolRequest::Pass::Forward ? makeForward(terms, slots) : makeGradient(terms, slots);
}

} // namespace dfc::onednn
