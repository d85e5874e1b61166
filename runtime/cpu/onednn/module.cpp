// The module's one exported symbol.
#include "runtime/cpu/onednn/primitive.h"

namespace dfc::onednn {
namespace {

/// What `make` gives; null where oneDNN refuses the shape or the layout.
template <class Request>
std::unique_ptr<Primitive> orNull(std::unique_ptr<Primitive> (*make)(const Request&, uint32_t),
                                  const Request& request, uint32_t slots) {
  try {
    useOneThread();
    return make(request, slots);
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

class OnednnModule final : public Module {
 public:
  std::string version() const override {
    const dnnl_version_t* version = dnnl_version();
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }
  std::unique_ptr<Primitive> matmul(const MatmulRequest& request, uint32_t slots) override {
    return orNull(makeMatmul, request, slots);
  }
  std::unique_ptr<Primitive> convolution(const ConvolutionRequest& request, uint32_t slots) override {
    return orNull(makeConvolution, request, slots);
  }
  std::unique_ptr<Primitive> softmax(const SoftmaxRequest& request, uint32_t slots) override {
    return orNull(makeSoftmax, request, slots);
  }
  std::unique_ptr<Primitive> layerNorm(const LayerNormRequest& request, uint32_t slots) override {
    return orNull(makeLayerNorm, request, slots);
  }
  std::unique_ptr<Primitive> pool(const PoolRequest& request, uint32_t slots) override {
    return orNull(makePool, request, slots);
  }
  std::unique_ptr<Primitive> transpose(const TransposeRequest& request, uint32_t slots) override {
    return orNull(makeTranspose, request, slots);
  }
};

} // namespace
} // namespace dfc::onednn

extern "C" __attribute__((visibility("default"))) dfc::onednn::Module* dfcOnednnModule() {
  static dfc::onednn::OnednnModule module;
  return &module;
}
