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
  std::unique_ptr<Primitive> make(const Request& request, uint32_t slots) override {
    try {
      useOneThread();
      return std::visit([slots](const auto& one) { return makePrimitive(one, slots); }, request);
    } catch (const dnnl::error&) { // a shape or a layout that it does not take
      return nullptr;
    }
  }
};

} // namespace
} // namespace dfc::onednn

extern "C" __attribute__((visibility("default"))) dfc::onednn::Module* dfcOnednnModule() {
  static dfc::onednn::OnednnModule module;
  return &module;
}
