#include "runtime/cuda/signals.h"

#include "runtime/backend.h"
#include "runtime/cuda/memory.h"

#include <array>
#include <atomic>
#include <limits>

namespace dfc::cuda {
namespace {

constexpr const char* common = R"(
typedef unsigned long long u64;
struct Wait { const u64* word; u64 perRound; u64 offset; };
struct Publication { u64* word; u64 perRound; u64 offset; };
struct Waits { Wait rows[16]; };
struct Publications { Publication rows[16]; };
__device__ u64 load(const u64* word) {
  u64 value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}
__device__ void store(u64* word, u64 value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" :: "l"(word), "l"(value) : "memory");
}
__device__ u64 now() {
  u64 value;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(value) :: "memory");
  return value;
}
)";

constexpr const char* waitText = R"(
extern "C" __global__ void dfc_kernel(const u64* round, const u64* stop, Waits waits, int count) {
  if (threadIdx.x < count) {
    const Wait wait = waits.rows[threadIdx.x];
    const u64 target = wait.perRound * load(round) + wait.offset;
    for (unsigned looks = 1; load(wait.word) < target; ++looks) {
      if (looks % 4096 == 0 && load(stop) != 0) break;
    }
  }
  __threadfence_system();
}
)";

constexpr const char* publishText = R"(
extern "C" __global__ void dfc_kernel(const u64* round, Publications to, int count) {
  __threadfence_system();
  if (threadIdx.x < count) {
    const Publication row = to.rows[threadIdx.x];
    store(row.word, row.perRound * load(round) + row.offset);
  }
}
)";

constexpr const char* endText = R"(
extern "C" __global__ void dfc_kernel(u64* round, const Publication* ends, int count) {
  const u64 current = load(round);
  __threadfence_system();
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    store(ends[i].word, ends[i].perRound * current + ends[i].offset);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    store(round, current + 1);
  }
}
)";

constexpr const char* stampText = R"(
extern "C" __global__ void dfc_kernel(const u64* round, u64* slots, unsigned ring, unsigned perRound, unsigned index) {
  const u64 time = now();
  slots[(load(round) % ring) * perRound + index] = time;
}
)";

// The host writes a number, the GPU answers with its time and the number, `times` times over.
constexpr const char* clockText = R"(
extern "C" __global__ void dfc_kernel(const u64* asked, u64* answered, u64* time, int times) {
  for (u64 i = 1; i <= times; ++i) {
    while (load(asked) < i) { }
    *time = now();
    store(answered, i);
  }
}
)";

cudaKernel_t kernelOf(KernelLibrary& library, const std::string& architecture, const char* text) {
  return library.load({std::string(common) + text}, architecture)[0];
}

} // namespace

Signals::Signals(KernelLibrary& library, const std::string& architecture, uint64_t* round,
                 const uint64_t* stop)
    : round_(round), stop_(stop) {
  const std::string start(common);
  const auto kernels =
      library.load({start + waitText, start + publishText, start + endText, start + stampText}, architecture);
  wait_ = kernels[0], publish_ = kernels[1], end_ = kernels[2], stamp_ = kernels[3];
  int least = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &priority_), "asking for priorities");
}

// A signal that waited behind the blocks of a large kernel would hold up whoever waits for it.
void Signals::launch(cudaKernel_t kernel, cudaStream_t stream, unsigned threads, void** arguments,
                     const char* doing) const {
  cudaLaunchAttribute urgent{};
  urgent.id = cudaLaunchAttributePriority;
  urgent.val.priority = priority_;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &urgent;
  config.numAttrs = 1;
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments), doing);
}

void Signals::wait(cudaStream_t stream, const DeviceWait* waits, int count) const {
  std::array<DeviceWait, atOnce> rows{};
  std::copy_n(waits, count, rows.begin());
  const uint64_t *round = round_, *stop = stop_;
  std::array<void*, 4> arguments = {&round, &stop, rows.data(), &count};
  launch(wait_, stream, 32, arguments.data(), "waiting for another device");
}

void Signals::publish(cudaStream_t stream, const DevicePublication* publications, int count) const {
  std::array<DevicePublication, atOnce> rows{};
  std::copy_n(publications, count, rows.begin());
  const uint64_t* round = round_;
  std::array<void*, 3> arguments = {&round, rows.data(), &count};
  launch(publish_, stream, 32, arguments.data(), "telling another device");
}

void Signals::endRound(cudaStream_t stream, const DevicePublication* ends, int count) const {
  uint64_t* round = round_;
  std::array<void*, 3> arguments = {&round, &ends, &count};
  launch(end_, stream, 32, arguments.data(), "ending a round");
}

void Signals::stamp(cudaStream_t stream, uint64_t* slots, uint32_t ring, uint32_t perRound,
                    uint32_t index) const {
  const uint64_t* round = round_;
  std::array<void*, 5> arguments = {&round, &slots, &ring, &perRound, &index};
  launch(stamp_, stream, 1, arguments.data(), "stamping the time");
}

ClockReading readClock(KernelLibrary& library, const std::string& architecture, cudaStream_t stream) {
  constexpr int times = 32;
  const PinnedBuffer buffer(3 * 64);
  auto word = [&](size_t index) { return reinterpret_cast<uint64_t*>(buffer.get() + 64 * index); };
  uint64_t *asked = word(0), *answered = word(1), *time = word(2);
  int count = times;
  std::array<void*, 4> arguments = {&asked, &answered, &time, &count};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernelOf(library, architecture, clockText)), dim3(1),
                         dim3(1), arguments.data(), 0, stream),
        "reading the GPU's clock");
  ClockReading best;
  double quickest = std::numeric_limits<double>::infinity();
  for (uint64_t i = 1; i <= times; ++i) {
    const double before = steadySeconds();
    std::atomic_ref<uint64_t>(*asked).store(i, std::memory_order_release);
    while (std::atomic_ref<uint64_t>(*answered).load(std::memory_order_acquire) < i) {
      if (steadySeconds() - before > 1) {
        check(cudaStreamQuery(stream), "reading the GPU's clock"); // an error ends the wait
      }
    }
    const double after = steadySeconds();
    if (after - before < quickest) {
      quickest = after - before;
      best = {*time, (before + after) / 2};
    }
  }
  check(cudaStreamSynchronize(stream), "reading the GPU's clock");
  return best;
}

double hostTime(uint64_t gpu, const ClockReading& first, const ClockReading& last) {
  const auto seconds = [&](uint64_t time) {
    return static_cast<double>(static_cast<int64_t>(time - first.gpu)) * 1e-9;
  };
  constexpr double longEnough = 1e-3; // for the slope to mean more than the readings' noise
  const double span = seconds(last.gpu);
  const double rate = span > longEnough ? (last.host - first.host) / span : 1;
  return first.host + seconds(gpu) * rate;
}

} // namespace dfc::cuda
