#include "runtime/cuda/measure/probe_together.h"

#include "runtime/backend.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace dfc::cuda {
namespace {

/// A stream for each copy.
class Streams {
 public:
  explicit Streams(llvm::ArrayRef<LinkCopy> copies) : copies_(copies) {
    for (const LinkCopy& copy : copies) {
      const OnDevice current(copy.ordinal);
      check(cudaStreamCreateWithFlags(&streams_.emplace_back(), cudaStreamNonBlocking), "opening a stream");
    }
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    for (cudaStream_t stream : streams_) {
      ignore(cudaStreamDestroy(stream));
    }
  }

  double seconds(int64_t bytes) const {
    const double begin = steadySeconds();
    for (size_t i = 0; i < copies_.size(); ++i) {
      const OnDevice current(copies_[i].ordinal);
      check(cudaMemcpyAsync(copies_[i].to, copies_[i].from, static_cast<size_t>(bytes), cudaMemcpyDefault,
                            streams_[i]),
            "a measured copy");
    }
    for (cudaStream_t stream : streams_) {
      check(cudaStreamSynchronize(stream), "a measured copy");
    }
    return steadySeconds() - begin;
  }

 private:
  llvm::ArrayRef<LinkCopy> copies_;
  llvm::SmallVector<cudaStream_t, 8> streams_;
};

} // namespace

double atOnce(llvm::ArrayRef<LinkCopy> copies, int64_t bytes, llvm::ArrayRef<double> alone) {
  const Streams streams(copies);
  std::array<double, 7> seconds{};
  for (double& one : seconds) {
    one = streams.seconds(bytes);
  }
  std::sort(seconds.begin() + 2, seconds.end()); // the first two warm up
  double work = 0;
  for (const double one : alone) {
    work += one;
  }
  return std::clamp(work / seconds[4], 1.0, static_cast<double>(copies.size()));
}

void measureTogether(Machine& machine, const std::string& name, llvm::ArrayRef<LinkCopy> copies,
                     int64_t bytes) {
  llvm::SmallVector<double, 8> alone;
  for (const LinkCopy& copy : copies) {
    const LinkRow& link = machine.links[copy.link];
    alone.push_back(link.latencySeconds + static_cast<double>(bytes) / link.bandwidth);
  }
  // Slots are whole: a loss of less than a quarter of the concurrency is not modelled.
  constexpr double lost = 0.25;
  const double together = atOnce(copies, bytes, alone);
  if (together > static_cast<double>(copies.size()) * (1 - lost)) {
    return;
  }
  LinkRow shared;
  shared.name = name;
  shared.slots = static_cast<uint32_t>(std::max(1.0, std::round(together)));
  const LinkId link = machine.links.add(shared);
  for (Route& route : machine.routes) {
    const bool held = llvm::any_of(copies, [&](const LinkCopy& copy) { return route.links[0] == copy.link; });
    if (held) {
      route.links.push_back(link);
    }
  }
}

} // namespace dfc::cuda
