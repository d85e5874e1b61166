// The module's one exported symbol.
#include "runtime/cpu/onednn/primitive.h"

namespace dfc::onednn {
namespace {

class OnednnModule final : public Module {
 public:
  std::string version() const override {
    const dnnl_version_t* version = dnnl_version();
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }
  std::unique_ptr<Primitive> matmul(const MatmulRequest& request, uint32_t slots) override {
    return makeMatmul(request, slots);
  }
  std::unique_ptr<Primitive> convolution(const ConvolutionRequest& request, uint32_t slots) override {
    return makeConvolution(request, slots);
  }
  std::unique_ptr<Primitive> softmax(const SoftmaxRequest& request, uint32_t slots) override {
    return makeSoftmax(request, slots);
  }
  std::unique_ptr<Primitive> layerNorm(const LayerNormRequest& request, uint32_t slots) override {
    return makeLayerNorm(request, slots);
  }
  std::unique_ptr<Primitive> pool(const PoolRequest& request, uint32_t slots) override {
    return makePool(request, slots);
  }
  std::unique_ptr<Primitive> transpose(const TransposeRequest& request, uint32_t slots) override {
    return makeTranspose(request, slots);
  }
};

} // namespace
} // namespace dfc::onednn

extern "C" __attribute__((visibility("default"))) dfc::onednn::Module* dfcOnednnModule() {
  static dfc::onednn::OnednnModule module;
  return &module;
}
