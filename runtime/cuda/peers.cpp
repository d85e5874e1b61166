#include "runtime/cuda/peers.h"

#include "runtime/cuda/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <random>
#include <set>

namespace dfc::cuda {
namespace {

/// Enables access once per process: a second call is an error, which CUDA's tools would report.
class Switches {
 public:
  cudaError_t on(int from, int to) {
    const std::lock_guard lock(mutex_);
    if (on_.count({from, to}) != 0) {
      return cudaSuccess;
    }
    const OnDevice current(from);
    const cudaError_t code = cudaDeviceEnablePeerAccess(to, 0);
    const bool known = code == cudaErrorPeerAccessAlreadyEnabled; // by other code in this process
    if (code != cudaSuccess) {
      ignore(cudaGetLastError());
    }
    if (code == cudaSuccess || known) {
      on_.insert({from, to});
    }
    return known ? cudaSuccess : code;
  }

 private:
  std::mutex mutex_;
  std::set<std::pair<int, int>> on_;
};

/// "" where access from `from` to `to`'s memory is enabled now, else the reason.
std::string switchOn(int from, int to) {
  int able = 0;
  check(cudaDeviceCanAccessPeer(&able, from, to), "asking for peer access");
  if (able == 0) {
    return "the system offers none";
  }
  static Switches switches;
  const cudaError_t code = switches.on(from, to);
  return code == cudaSuccess ? "" : cudaGetErrorString(code);
}

constexpr int64_t checkedBytes = int64_t{1} << 20;

constexpr const char* readText = R"(
extern "C" __global__ void dfc_kernel(const uint4* from, uint4* to) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  to[i] = from[i];
}
)";

/// Waits for the current GPU; whether it had no error.
bool settled() { return cudaDeviceSynchronize() == cudaSuccess; }

std::vector<uint64_t> noise(size_t words, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> values(words);
  std::generate(values.begin(), values.end(), random);
  return values;
}

/// Sends random bytes from the host to `from`, by `bring` to `to`, and back to the host; whether they arrive
/// unchanged. Two passes with different bytes, since a stale cache shows only when the bytes change.
template <class Bring>
bool arriveWell(int from, int to, const Bring& bring) {
  const DeviceBuffer source(from, checkedBytes, "a peer check"), target(to, checkedBytes, "a peer check");
  std::vector<uint64_t> received(checkedBytes / sizeof(uint64_t));
  const auto copy = [](void* out, const void* in) {
    return cudaMemcpy(out, in, checkedBytes, cudaMemcpyDefault) == cudaSuccess && settled();
  };
  bool well = true;
  for (uint64_t pass = 0; pass < 2 && well; ++pass) {
    const std::vector<uint64_t> sent =
        noise(received.size(), (static_cast<uint64_t>(from) * 1000 + static_cast<uint64_t>(to)) * 2 + pass);
    {
      const OnDevice current(from);
      well = copy(source.get(), sent.data());
    }
    const OnDevice current(to);
    well =
        well && bring(source.get(), target.get()) && copy(received.data(), target.get()) && sent == received;
  }
  ignore(cudaGetLastError());
  return well;
}

bool copiesWell(int from, int to) {
  return arriveWell(from, to, [](const std::byte* in, std::byte* out) {
    return cudaMemcpy(out, in, checkedBytes, cudaMemcpyDefault) == cudaSuccess && settled();
  });
}

/// Whether a kernel of `reader` reads the right bytes in `owner`'s memory. It loads as single-pass kernels do
/// (kernels/prelude.cpp): packs of 16 bytes, through no cache that may be stale.
bool readsWell(KernelLibrary& library, int reader, int owner) {
  cudaKernel_t kernel = library.load({readText}, architectureOf(reader))[0];
  return arriveWell(owner, reader, [&](const std::byte* in, std::byte* out) {
    constexpr unsigned threads = 256, blocks = checkedBytes / 16 / threads;
    std::array<void*, 2> arguments = {&in, &out};
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads),
                            arguments.data(), 0, nullptr) == cudaSuccess &&
           settled();
  });
}

/// "" where copies and reads from `from` to `to` are right, else the fault.
std::string faultOf(KernelLibrary& library, int from, int to) {
  const std::string cure = "; switch off the IOMMU's translation or ACS, or run with --no-peer-access";
  if (!copiesWell(from, to)) {
    return "bytes copied for a check arrived changed" + cure;
  }
  return readsWell(library, from, to) ? "" : "bytes read for a check were not those that are there" + cure;
}

} // namespace

Peers::Peers(const std::vector<int>& ordinals, KernelLibrary& library, bool wanted) {
  std::map<std::pair<int, int>, std::string> faults;
  for (const int from : ordinals) {
    for (const int to : ordinals) {
      if (wanted && from != to) {
        faults[{from, to}] = switchOn(from, to);
      }
    }
  }
  // The checks run with all pairs enabled, as sessions do.
  for (auto& [pair, fault] : faults) {
    const auto [from, to] = pair;
    fault = fault.empty() ? faultOf(library, from, to) : fault;
    if (fault.empty()) {
      direct_.push_back(pair);
    } else {
      warnings_.push_back(fmt::format("GPU {} to GPU {} goes through the host: {}", from, to, fault));
    }
  }
}

bool Peers::direct(int from, int to) const {
  return from == to || std::find(direct_.begin(), direct_.end(), std::pair(from, to)) != direct_.end();
}

} // namespace dfc::cuda
