// Host devices: arenas, queues and the threads that their kernels share.
#include "runtime/cpu/host_device.h"

#include "runtime/cpu/host_work.h"

#include <algorithm>

namespace dfc {

uint32_t hostThreads(uint32_t wanted) {
  constexpr uint32_t manyCores = 8;
  const uint32_t cores = std::thread::hardware_concurrency();
  return std::max(1U, cores >= manyCores && wanted > cores - 2 ? cores - 2 : wanted);
}

HostDevice::HostDevice(const DeviceRow& row, HostDeviceTraits traits, Marks* marks)
    : name_(row.name), traits_(traits), marks_(marks), pool_(hostThreads(row.threads), traits.addressable) {}

std::unique_ptr<Arena> HostDevice::allocate(int64_t bytes) {
  return std::make_unique<HostArena>(name_, bytes, traits_);
}

std::unique_ptr<Queue> HostDevice::openQueue(QueueKind /*kind*/, uint32_t /*index*/) {
  return std::make_unique<WorkerQueue>(std::make_unique<HostWork>(pool_), marks_);
}

std::vector<std::unique_ptr<Device>> openHostDevices(llvm::ArrayRef<DeviceRequest> devices,
                                                     HostDeviceTraits traits, const BackendOptions& options) {
  std::vector<std::unique_ptr<Device>> opened;
  for (const DeviceRequest& request : devices) {
    opened.push_back(std::make_unique<HostDevice>(request.row, traits, options.marks));
  }
  return opened;
}

bool hasHostKernel(const Graph& graph, OpId op) {
  const OpRow& row = graph[op];
  if (!isTimed(row.kind())) { // copies, or nothing at all
    return classOf(row.kind()) != OpClass::Request;
  }
  return hasCpuKernel(row.attributes, graph.operandTypesOf(op), graph.resultTypesOf(op));
}

} // namespace dfc
