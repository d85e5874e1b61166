// softmax and layerNorm of dense rows through oneDNN.
#include "runtime/cpu/onednn/primitive.h"

namespace dfc::onednn {
namespace {

using Layout = dnnl::memory::desc;
using Flags = dnnl::normalization_flags;

constexpr auto inference = dnnl::prop_kind::forward_inference;

Layout rowsOf(int64_t rows, int64_t length) {
  return {{rows, length}, dataType(ElementType::F32), dnnl::memory::format_tag::ab};
}

#if DNNL_VERSION_MAJOR >= 3
using Softmax = dnnl::softmax_forward;
#else
using Softmax = dnnl::softmax_v2_forward;
#endif

Softmax::primitive_desc describeSoftmax(const Layout& rows) {
  constexpr auto algorithm = dnnl::algorithm::softmax_accurate;
#if DNNL_VERSION_MAJOR >= 3
  return {cpuEngine(), inference, algorithm, rows, rows, 1, callerOwnsScratch(), true};
#else
  return {{inference, algorithm, rows, rows, 1}, callerOwnsScratch(), cpuEngine(), true};
#endif
}

dnnl::layer_normalization_forward::primitive_desc describeLayerNorm(const Layout& rows, float epsilon,
                                                                    Flags flags) {
#if DNNL_VERSION_MAJOR >= 3
  return {cpuEngine(), inference, rows, rows, epsilon, flags, callerOwnsScratch(), true};
#else
  return {{inference, rows, epsilon, flags}, callerOwnsScratch(), cpuEngine(), true};
#endif
}

} // namespace

std::unique_ptr<Primitive> makePrimitive(const SoftmaxRequest& request, uint32_t slots) {
  const Layout rows = rowsOf(request.rows, request.length);
  const Softmax::primitive_desc description = describeSoftmax(rows);
  if (!usable(description)) {
    return nullptr;
  }
  return wrap(Softmax(description), {{DNNL_ARG_SRC, rows}}, {DNNL_ARG_DST, rows},
              description.scratchpad_desc(), slots);
}

std::unique_ptr<Primitive> makePrimitive(const LayerNormRequest& request, uint32_t slots) {
  const Layout rows = rowsOf(request.rows, request.length);
  const Layout row({request.length}, dataType(ElementType::F32), dnnl::memory::format_tag::a);
  const Flags flags = request.biased ? Flags::use_scale | Flags::use_shift : Flags::use_scale;
  const auto description = describeLayerNorm(rows, request.epsilon, flags);
  if (!usable(description)) {
    return nullptr;
  }
  std::vector<Argument> operands{{DNNL_ARG_SRC, rows}, {DNNL_ARG_SCALE, row}};
  if (request.biased) {
    operands.push_back({DNNL_ARG_SHIFT, row});
  }
  return wrap(dnnl::layer_normalization_forward(description), operands, {DNNL_ARG_DST, rows},
              description.scratchpad_desc(), slots);
}

} // namespace dfc::onednn
