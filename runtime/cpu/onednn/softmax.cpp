// softmax and logSoftmax through oneDNN.
#include "runtime/cpu/onednn/primitive.h"

namespace dfc::onednn {
namespace {

#if DNNL_VERSION_MAJOR >= 3
using Description = dnnl::softmax_forward::primitive_desc;

Description describe(const dnnl::memory::desc& layout, bool logarithm) {
  const auto algorithm = logarithm ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  return {cpuEngine(), dnnl::prop_kind::forward_inference, algorithm, layout, layout, 1, callerOwnsScratch(),
          true};
}
#else
using Description = dnnl::softmax_v2_forward::primitive_desc;

Description describe(const dnnl::memory::desc& layout, bool logarithm) {
  const auto algorithm = logarithm ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  return {dnnl::softmax_v2_forward::desc(dnnl::prop_kind::forward_inference, algorithm, layout, layout, 1),
          callerOwnsScratch(), cpuEngine(), true};
}
#endif

dnnl::primitive primitiveOf(const Description& description) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::softmax_forward(description);
#else
  return dnnl::softmax_v2_forward(description);
#endif
}

} // namespace

std::unique_ptr<Primitive> makeSoftmax(const SoftmaxRequest& request, uint32_t slots) {
  useOneThread();
  const dnnl::memory::desc layout({request.rows, request.length}, dataType(request.type),
                                  dnnl::memory::format_tag::ab);
  const Description description = describe(layout, request.logarithm);
  if (!description) {
    return nullptr;
  }
  return wrap(primitiveOf(description), {{DNNL_ARG_SRC, layout}}, {DNNL_ARG_DST, layout},
              description.scratchpad_desc(), slots);
}

} // namespace dfc::onednn
