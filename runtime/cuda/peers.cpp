#include "runtime/cuda/peers.h"

#include "runtime/cuda/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <set>

namespace dfc::cuda {
namespace {

/// Switches access on once a process: to ask again is an error, which CUDA's tools would report.
class Switches {
 public:
  cudaError_t on(int from, int to) {
    const std::lock_guard lock(mutex_);
    if (on_.count({from, to}) != 0) {
      return cudaSuccess;
    }
    const OnDevice current(from);
    const cudaError_t code = cudaDeviceEnablePeerAccess(to, 0);
    const bool known = code == cudaErrorPeerAccessAlreadyEnabled; // by somebody else in this process
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

/// "" where access from `from` to `to`'s memory is on now, else why it is not.
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

std::vector<uint64_t> noise(size_t words, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> values(words);
  std::generate(values.begin(), values.end(), random);
  return values;
}

/// Random bytes from the host to `from`, from there to `to`, and back to the host: are they the same?
bool copiesWell(int from, int to) {
  constexpr size_t words = size_t{1} << 17;
  constexpr size_t bytes = words * sizeof(uint64_t);
  const DeviceBuffer source(from, bytes, "a peer check"), target(to, bytes, "a peer check");
  const std::vector<uint64_t> sent =
      noise(words, static_cast<uint64_t>(from) * 1000 + static_cast<uint64_t>(to));
  std::vector<uint64_t> received(words);
  const auto copy = [&](void* out, const void* in) {
    return cudaMemcpy(out, in, bytes, cudaMemcpyDefault) == cudaSuccess;
  };
  const bool done = copy(source.get(), sent.data()) && copy(target.get(), source.get()) &&
                    cudaDeviceSynchronize() == cudaSuccess && copy(received.data(), target.get());
  ignore(cudaGetLastError());
  return done && sent == received;
}

} // namespace

Peers::Peers(const std::vector<int>& ordinals, bool wanted) {
  if (!wanted) {
    return;
  }
  for (const int from : ordinals) {
    for (const int to : ordinals) {
      if (from == to) {
        continue;
      }
      std::string fault = switchOn(from, to);
      if (fault.empty() && !copiesWell(from, to)) {
        fault = "bytes copied for a check arrived changed; switch off the IOMMU's translation or ACS, or "
                "run with --no-peer-access";
      }
      if (fault.empty()) {
        direct_.emplace_back(from, to);
      } else {
        warnings_.push_back(fmt::format("GPU {} to GPU {} goes through the host: {}", from, to, fault));
      }
    }
  }
}

bool Peers::direct(int from, int to) const {
  return from == to || std::find(direct_.begin(), direct_.end(), std::pair(from, to)) != direct_.end();
}

} // namespace dfc::cuda
