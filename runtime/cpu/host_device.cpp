// Host devices: arenas, work and the threads that the kernels of a device share.
#include "runtime/cpu/host_device.h"

#include "runtime/available_processors.h"
#include "runtime/cpu/host_work.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/worker_group.h"

#include <algorithm>

namespace dfc {
namespace {

struct HostDevice {
  std::string name;
  ThreadPool pool; // shared by the kernels of all queues
  HostDevice(const DeviceRow& row, const HostDeviceTraits& traits)
      : name(row.name), pool(hostThreads(row.threads), traits.addressable) {}
};

} // namespace

uint32_t hostThreads(uint32_t wanted) {
  constexpr uint32_t manyCores = 8;
  const uint32_t cores = availableProcessors();
  return std::max(1U, cores >= manyCores && wanted > cores - 2 ? cores - 2 : wanted);
}

std::unique_ptr<DeviceGroup> openHostDevices(llvm::ArrayRef<DeviceRequest> devices, HostDeviceTraits traits,
                                             const BackendOptions& options) {
  const auto opened = std::make_shared<std::deque<HostDevice>>();
  for (const DeviceRequest& request : devices) {
    opened->emplace_back(request.row, traits);
  }
  return std::make_unique<WorkerGroup>(
      WorkerDevices{[opened, traits](size_t device, int64_t bytes) {
                      return std::make_unique<HostArena>((*opened)[device].name, bytes, traits);
                    },
                    [opened, functions = options.customFunctions](size_t device) {
                      return std::make_unique<HostWork>((*opened)[device].pool, functions);
                    }},
      options.marks);
}

bool hasHostKernel(const Graph& graph, OpId op) {
  const OpRow& row = graph[op];
  if (!isTimed(row.kind())) { // copies, or nothing at all
    return classOf(row.kind()) != OpClass::Request;
  }
  if (row.kind() == OpKind::Custom) {
    return true;
  }
  return hasCpuKernel(row.attributes, graph.operandTypesOf(op), graph.resultTypesOf(op));
}

} // namespace dfc
