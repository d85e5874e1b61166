#include "runtime/cuda/nvtx_marks.h"

#if __has_include(<nvtx3/nvToolsExt.h>)

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

namespace dfc::cuda {
namespace {

class NvtxMarks final : public Marks {
 public:
  explicit NvtxMarks(nvtxDomainHandle_t domain) : domain_(domain) {}

  Name name(const std::string& text) override { return nvtxDomainRegisterStringA(domain_, text.c_str()); }

  void begin(Name name, uint64_t step) override {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = static_cast<nvtxStringHandle_t>(name);
    attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    attributes.payload.ullValue = step;
    nvtxDomainRangePushEx(domain_, &attributes);
  }

  void end() override { nvtxDomainRangePop(domain_); }

 private:
  nvtxDomainHandle_t domain_;
};

} // namespace

Marks* nvtxMarks() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("dfc"); // null without a profiler
  static NvtxMarks marks(domain);
  return domain != nullptr ? &marks : nullptr;
}

void nameStream(void* stream, const std::string& name) {
  nvtxNameCudaStreamA(static_cast<cudaStream_t>(stream), name.c_str());
}

} // namespace dfc::cuda

#else

namespace dfc::cuda {

Marks* nvtxMarks() { return nullptr; }
void nameStream(void* /*stream*/, const std::string& /*name*/) {}

} // namespace dfc::cuda

#endif
