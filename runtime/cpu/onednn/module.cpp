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
  size_t packedBytes(const MatmulRequest& request) override {
    return unlessRefused<size_t>([&] { return onednn::packedBytes(request); });
  }
  size_t packedBytes(const ConvolutionRequest& request) override {
    return unlessRefused<size_t>([&] { return onednn::packedBytes(request); });
  }
  std::string packedLayout(const ConvolutionRequest& request) override {
    return unlessRefused<std::string>([&] { return onednn::packedLayout(request); });
  }
  std::unique_ptr<Primitive> make(const Request& request, uint32_t slots) override {
    return unlessRefused<std::unique_ptr<Primitive>>(
        [&] { return std::visit([slots](const auto& one) { return makePrimitive(one, slots); }, request); });
  }

 private:
  template <class Result, class Function>
  static Result unlessRefused(Function ask) {
    try {
      useOneThread();
      return ask();
    } catch (const dnnl::error&) { // a shape or a layout that it does not take
      return {};
    }
  }
};

} // namespace
} // namespace dfc::onednn

extern "C" __attribute__((visibility("default"))) dfc::onednn::Module* dfcOnednnModule() {
  static dfc::onednn::OnednnModule module;
  return &module;
}
