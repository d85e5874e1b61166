// matmul through oneDNN.
#include "runtime/cpu/onednn/primitive.h"

namespace dfc::onednn {
namespace {

using Layout = dnnl::memory::desc;

// A matrix whose stored rows are `stride` apart; transposed, its stored rows are its columns.
Layout matrix(ElementType type, int64_t rows, int64_t columns, int64_t stride, bool transposed) {
  const dnnl::memory::dims strides =
      transposed ? dnnl::memory::dims{1, stride} : dnnl::memory::dims{stride, 1};
  return {{rows, columns}, dataType(type), strides};
}

dnnl::matmul::primitive_desc describe(const Layout& a, const Layout& b, const Layout& c) {
#if DNNL_VERSION_MAJOR >= 3
  return {cpuEngine(), a, b, c, callerOwnsScratch(), true};
#else
  return {dnnl::matmul::desc(a, b, c), callerOwnsScratch(), cpuEngine(), true};
#endif
}

} // namespace

std::unique_ptr<Primitive> makePrimitive(const MatmulRequest& request, uint32_t slots) {
  const Layout a = matrix(request.type, request.rows, request.inner, request.aStride, request.transposeA);
  const Layout b = matrix(request.type, request.inner, request.columns, request.bStride, request.transposeB);
  const Layout c = matrix(request.type, request.rows, request.columns, request.cStride, false);
  const dnnl::matmul::primitive_desc description = describe(a, b, c);
  if (!description) {
    return nullptr;
  }
  return wrap(dnnl::matmul(description), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}}, {DNNL_ARG_DST, c},
              description.scratchpad_desc(), slots);
}

} // namespace dfc::onednn
