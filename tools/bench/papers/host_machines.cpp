#include "tools/bench/papers/host_machines.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace dfc::bench {
namespace {

struct Rates {
  const char* name;
  DeviceRow gpu;
  double inHost = 0;     ///< bytes a second into or out of a GPU, over its links to the others of the host
  double network = 0;    ///< bytes a second into or out of a port
  size_t gpusOfPort = 1; ///< that share a network port
};

constexpr double linkLatency = 4e-6, networkLatency = 8e-6; // estimates, of no data sheet
constexpr double hostLinks = 12e9;                          // PCIe 3.0 x16, of copies from and to the host

DeviceRow gpuOf(const char* model, int64_t memory, double f32, double halfs, double bandwidth) {
  DeviceRow gpu;
  gpu.kind = DeviceKind::Gpu;
  gpu.model = model;
  gpu.memoryBytes = memory;
  gpu.threadsPerMultiprocessor = 2048;
  gpu.peakFlops.fill(f32);
  gpu.peakFlops[static_cast<size_t>(ElementType::F16)] = halfs;
  gpu.peakFlops[static_cast<size_t>(ElementType::BF16)] = halfs;
  // Bytes of the inner dimension at half the peak rate: those of the shipped machine file.
  gpu.matmulHalfInner[static_cast<size_t>(ElementType::F16)] = 512;
  gpu.matmulHalfInner[static_cast<size_t>(ElementType::BF16)] = 512;
  gpu.memoryBandwidth = bandwidth;
  gpu.launchSeconds = 4e-6;
  return gpu;
}

/// Every link of the machine is a port, in one direction.
class Hosts {
 public:
  Hosts(const Rates& rates, size_t gpus) : rates_(rates) {
    made_.name = fmt::format("{} {} GPUs", rates.name, gpus);
    DeviceRow cpu;
    cpu.name = "cpu0";
    cpu.memoryBytes = int64_t{1} << 40;
    cpu.threads = 32;
    cpu.peakFlops.fill(1e12);
    cpu.memoryBandwidth = 1e11;
    cpu.launchSeconds = 1e-6;
    cpu_ = made_.devices.add(cpu);
    for (size_t i = 0; i < gpus; ++i) {
      addGpu(i);
    }
    for (size_t from = 0; from < gpus; ++from) {
      for (size_t to = 0; to < gpus; ++to) {
        if (from != to) {
          const bool sameHost = from / gpusPerHost == to / gpusPerHost;
          const Port& out = sameHost ? links_[from] : network_[from / rates_.gpusOfPort];
          const Port& in = sameHost ? links_[to] : network_[to / rates_.gpusOfPort];
          made_.routes.push_back({gpus_[from], gpus_[to], {out.out, in.in}});
        }
      }
    }
  }

  Machine take() { return std::move(made_); }

 private:
  struct Port {
    LinkId in, out;
  };

  Port addPort(const std::string& of, double latency, double bandwidth) {
    return {made_.links.add({of + " in", latency, bandwidth}),
            made_.links.add({of + " out", latency, bandwidth})};
  }

  // The host's copies to GPUs of other hosts go over the network; they are small, and counted as PCIe's.
  void addGpu(size_t i) {
    DeviceRow gpu = rates_.gpu;
    gpu.name = fmt::format("gpu{}", i);
    gpus_.push_back(made_.devices.add(gpu));
    const Port pcie = addPort(gpu.name + " pcie", linkLatency, hostLinks);
    made_.routes.push_back({cpu_, gpus_.back(), {pcie.in}});
    made_.routes.push_back({gpus_.back(), cpu_, {pcie.out}});
    links_.push_back(addPort(gpu.name + " nvlink", linkLatency, rates_.inHost));
    if (i % rates_.gpusOfPort == 0) {
      network_.push_back(addPort(fmt::format("port{}", network_.size()), networkLatency, rates_.network));
    }
  }

  const Rates& rates_;
  Machine made_;
  DeviceId cpu_;
  std::vector<DeviceId> gpus_;
  std::vector<Port> links_, network_;
};

} // namespace

// Sources: NVIDIA, "Tesla V100 GPU Accelerator" data sheet (SXM2: 15.7 TFLOP/s f32, 125 TFLOP/s tensor,
// 900 GB/s, six NVLinks of 25 GB/s each way); AWS, EC2 P3 instances (25 Gb/s). The eight GPUs of a host form
// a hybrid cube mesh; here each has the sum of its NVLinks into a switch, which collectives over all of them
// come near to.
Machine v100Hosts(size_t gpus) {
  Rates rates{"p3.16xlarge", gpuOf("V100-SXM2-16GB", 16'000'000'000, 15.7e12, 125e12, 900e9), 150e9, 3.125e9,
              gpusPerHost};
  rates.gpu.multiprocessors = 80;
  rates.gpu.architecture = "sm_70";
  return Hosts(rates, gpus).take();
}

// Sources: NVIDIA, "A100 Tensor Core GPU" data sheet (SXM 80 GB: 19.5 TFLOP/s f32, 312 TFLOP/s bf16, 2039
// GB/s, NVSwitch 300 GB/s each way); NVIDIA, "DGX A100" data sheet (eight ports of 200 Gb/s HDR InfiniBand).
Machine a100Hosts(size_t gpus) {
  Rates rates{"DGX A100", gpuOf("A100-SXM4-80GB", 80'000'000'000, 19.5e12, 312e12, 2039e9), 300e9, 25e9, 1};
  rates.gpu.multiprocessors = 108;
  rates.gpu.architecture = "sm_80";
  return Hosts(rates, gpus).take();
}

} // namespace dfc::bench
