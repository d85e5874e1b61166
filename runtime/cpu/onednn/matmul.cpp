// matmul through oneDNN.
#include "runtime/cpu/onednn/primitive.h"

#include <optional>

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

Layout plainB(const MatmulRequest& r) { return matrix(r.type, r.inner, r.columns, r.bStride, r.transposeB); }

// The layout that oneDNN wants for b beside dense a and c. Nothing where it is a plain matrix.
std::optional<Layout> packedB(const MatmulRequest& r) {
  const Layout any({r.inner, r.columns}, dataType(r.type), dnnl::memory::format_tag::any);
  const Layout a =
      matrix(r.type, r.packedForRows, r.inner, r.transposeA ? r.packedForRows : r.inner, r.transposeA);
  const Layout c = matrix(r.type, r.packedForRows, r.columns, r.columns, false);
  const dnnl::matmul::primitive_desc description = describe(a, any, c);
  if (!description) {
    return std::nullopt;
  }
  const Layout wanted = description.weights_desc();
  const bool isPlain = wanted == matrix(r.type, r.inner, r.columns, r.columns, false) ||
                       wanted == matrix(r.type, r.inner, r.columns, r.inner, true);
  return isPlain ? std::nullopt : std::optional(wanted);
}

} // namespace

size_t packedBytes(const MatmulRequest& request) {
  const std::optional<Layout> packed = packedB(request);
  return packed ? packed->get_size() : 0;
}

std::unique_ptr<Primitive> makePrimitive(const MatmulRequest& request, uint32_t slots) {
  const std::optional<Layout> b = request.packedForRows != 0 ? packedB(request) : plainB(request);
  if (!b) {
    return nullptr;
  }
  const Layout a = matrix(request.type, request.rows, request.inner, request.aStride, request.transposeA);
  const Layout c = matrix(request.type, request.rows, request.columns, request.cStride, false);
  const dnnl::matmul::primitive_desc description = describe(a, *b, c);
  if (!description || (request.packedForRows != 0 && !usable(description))) {
    return nullptr;
  }
  return wrap(dnnl::matmul(description), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, *b}}, {DNNL_ARG_DST, c},
              description.scratchpad_desc(), slots);
}

std::unique_ptr<Primitive> makePrimitive(const PackRequest& request, uint32_t slots) {
  const std::optional<Layout> packed = packedB(request.product);
  if (!packed) {
    return nullptr;
  }
  const Layout from = plainB(request.product);
  const dnnl::reorder::primitive_desc description(cpuEngine(), from, cpuEngine(), *packed,
                                                  callerOwnsScratch(), true);
  if (!usable(description)) {
    return nullptr;
  }
  return wrap(dnnl::reorder(description), {{DNNL_ARG_FROM, from}}, {DNNL_ARG_TO, *packed},
              description.scratchpad_desc(), slots);
}

} // namespace dfc::onednn
