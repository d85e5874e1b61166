// A oneDNN primitive behind our interface: memory objects made once for each slot, a scratchpad of the
// caller's, one thread.
#pragma once

#include "runtime/cpu/onednn/api.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <string_view>
#include <unordered_map>
#include <vector>

namespace dfc::onednn {

/// The one engine; memory and primitives belong to it.
const dnnl::engine& cpuEngine();

/// From now on OpenMP regions that the calling thread starts use one thread.
void useOneThread();

dnnl::memory::data_type dataType(ElementType type);

/// Attributes of every primitive: the caller gives the scratchpad.
dnnl::primitive_attr callerOwnsScratch();

/// Whether it describes more than plain loops, which oneDNN has under several names.
template <class Description>
bool usable(const Description& description) {
  if (!description) {
    return false;
  }
  const std::string_view name = description.impl_info_str();
  return !name.starts_with("ref") && !name.starts_with("simple:") && !name.starts_with("simple_nchw");
}

/// Names and layouts of the arguments of a primitive, in the order of Primitive::run.
struct Argument {
  int index;
  dnnl::memory::desc layout;
};

std::unique_ptr<Primitive> wrap(const dnnl::primitive& primitive, const std::vector<Argument>& operands,
                                const Argument& result, const dnnl::memory::desc& scratch, uint32_t slots);

// The functions of the module; all of them may throw dnnl::error.
size_t packedBytes(const MatmulRequest& request);
size_t packedBytes(const ConvolutionRequest& request);
std::string packedLayout(const ConvolutionRequest& request);
std::unique_ptr<Primitive> makePrimitive(const MatmulRequest& request, uint32_t slots);
std::unique_ptr<Primitive> makePrimitive(const PackRequest& request, uint32_t slots);
std::unique_ptr<Primitive> makePrimitive(const ConvolutionRequest& request, uint32_t slots);
std::unique_ptr<Primitive> makePrimitive(const PackFilterRequest& request, uint32_t slots);
std::unique_ptr<Primitive> makePrimitive(const SoftmaxRequest& request, uint32_t slots);
std::unique_ptr<Primitive> makePrimitive(const LayerNormRequest& request, uint32_t slots);
std::unique_ptr<Primitive> makePrimitive(const PoolRequest& request, uint32_t slots);
std::unique_ptr<Primitive> makePrimitive(const TransposeRequest& request, uint32_t slots);

} // namespace dfc::onednn
