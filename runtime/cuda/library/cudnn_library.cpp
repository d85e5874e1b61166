#include "runtime/cuda/library/cudnn_library.h"

#include "runtime/cuda/check.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <optional>

namespace dfc::cuda {
namespace {

// The symbols of the library, all or none.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    complete_ = complete_ && function != nullptr;
  }
  bool complete() const { return complete_; }

 private:
  void* library_;
  bool complete_ = true;
};

// Never closed: launches hold its objects, possibly until the process ends.
std::optional<Cudnn> open() {
  void* library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return std::nullopt;
  }
  Cudnn found{};
  Symbols symbols(library);
  symbols.find(found.create, "cudnnCreate");
  symbols.find(found.setStream, "cudnnSetStream");
  symbols.find(found.errorString, "cudnnGetErrorString");
  symbols.find(found.createTensor, "cudnnCreateTensorDescriptor");
  symbols.find(found.destroyTensor, "cudnnDestroyTensorDescriptor");
  symbols.find(found.setTensor, "cudnnSetTensor4dDescriptor");
  symbols.find(found.createFilter, "cudnnCreateFilterDescriptor");
  symbols.find(found.destroyFilter, "cudnnDestroyFilterDescriptor");
  symbols.find(found.setFilter, "cudnnSetFilter4dDescriptor");
  symbols.find(found.createConvolution, "cudnnCreateConvolutionDescriptor");
  symbols.find(found.destroyConvolution, "cudnnDestroyConvolutionDescriptor");
  symbols.find(found.setConvolution, "cudnnSetConvolution2dDescriptor");
  symbols.find(found.setGroups, "cudnnSetConvolutionGroupCount");
  symbols.find(found.setMath, "cudnnSetConvolutionMathType");
  symbols.find(found.proposeForward, "cudnnGetConvolutionForwardAlgorithm_v7");
  symbols.find(found.proposeData, "cudnnGetConvolutionBackwardDataAlgorithm_v7");
  symbols.find(found.proposeFilter, "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
  symbols.find(found.forwardWorkspace, "cudnnGetConvolutionForwardWorkspaceSize");
  symbols.find(found.dataWorkspace, "cudnnGetConvolutionBackwardDataWorkspaceSize");
  symbols.find(found.filterWorkspace, "cudnnGetConvolutionBackwardFilterWorkspaceSize");
  symbols.find(found.forward, "cudnnConvolutionForward");
  symbols.find(found.backwardData, "cudnnConvolutionBackwardData");
  symbols.find(found.backwardFilter, "cudnnConvolutionBackwardFilter");
  return symbols.complete() ? std::optional(found) : std::nullopt;
}

} // namespace

const Cudnn* cudnn() {
  static const std::optional<Cudnn> library = open();
  return library ? &*library : nullptr;
}

CudnnDevice& cudnnDevice(int ordinal) {
  static std::mutex mutex;
  static auto* const devices = new std::map<int, CudnnDevice>; // outlives static destruction
  const std::lock_guard lock(mutex);
  const auto [device, fresh] = devices->try_emplace(ordinal);
  if (fresh && cudnn() != nullptr) {
    const OnDevice current(ordinal);
    if (cudnn()->create(&device->second.context) != cudnnSuccess) {
      device->second.context = nullptr;
    }
  }
  return device->second;
}

} // namespace dfc::cuda
