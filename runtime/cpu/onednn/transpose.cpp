// A matrix transposed by oneDNN's reorder. Elements are declared as a type of the same width that a reorder
// only copies.
#include "runtime/cpu/onednn/primitive.h"

#include "ir/base/assert.h"

namespace dfc::onednn {
namespace {

dnnl::memory::data_type typeOfWidth(int64_t width) {
  switch (width) {
  case 1: return dnnl::memory::data_type::u8;
  case 2: return dnnl::memory::data_type::bf16;
  default: DFC_UNREACHABLE("a width that oneDNN is not given");
  }
}

} // namespace

std::unique_ptr<Primitive> makePrimitive(const TransposeRequest& r, uint32_t slots) {
  const dnnl::memory::data_type type = typeOfWidth(r.width);
  const dnnl::memory::desc from({r.rows, r.columns}, type, dnnl::memory::dims{1, r.fromStride}),
      to({r.rows, r.columns}, type, dnnl::memory::dims{r.toStride, 1});
  const dnnl::reorder::primitive_desc description(cpuEngine(), from, cpuEngine(), to, callerOwnsScratch(),
                                                  true);
  if (!usable(description)) {
    return nullptr;
  }
  return wrap(dnnl::reorder(description), {{DNNL_ARG_FROM, from}}, {DNNL_ARG_TO, to},
              description.scratchpad_desc(), slots);
}

} // namespace dfc::onednn
