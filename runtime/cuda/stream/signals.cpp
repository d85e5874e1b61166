#include "runtime/cuda/stream/signals.h"

#include "runtime/backend.h"
#include "runtime/cuda/memory.h"

#include <algorithm>
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
struct Ends { Publication rows[16]; };
__device__ u64 load(const u64* word) {
  u64 value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}
__device__ void store(u64* word, u64 value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" :: "l"(word), "l"(value) : "memory");
}
__device__ void storeBehindFence(u64* word, u64 value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" :: "l"(word), "l"(value) : "memory");
}
__device__ u64 now() {
  u64 value;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(value) :: "memory");
  return value;
}
)";

constexpr const char* waitText = R"(
extern "C" __global__ void dfc_kernel(const u64* round, Waits waits, int count) {
  if (threadIdx.x < count) {
    const Wait wait = waits.rows[threadIdx.x];
    const u64 target = wait.perRound * load(round) + wait.offset;
    while (load(wait.word) < target) { }
  }
  __threadfence_system();
}
)";

constexpr const char* publishText = R"(
extern "C" __global__ void dfc_kernel(const u64* round, Publication to) {
  __threadfence_system();
  store(to.word, to.perRound * load(round) + to.offset);
}
)";

// May be launched ahead of the end of what comes before it on its stream. Reads nothing over the bus, and has
// one fence for all that it stores: a store that releases is another fence, which waits until the stores
// before it have crossed the bus. (On an H200 a step took 1.1 us more with two of them.) Nobody needs the
// stores in an order: who reads the counter comes behind this kernel, by streams and events.
constexpr const char* endText = R"(
extern "C" __global__ void dfc_kernel(u64* round, u64* own, Ends ends, int count, int last) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const u64 current = *own;
  __threadfence_system();
  if (threadIdx.x < count) {
    storeBehindFence(ends.rows[threadIdx.x].word, ends.rows[threadIdx.x].perRound * (current + 1));
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    *own = current + 1;
    storeBehindFence(round, current + 1);
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

void launch(cudaKernel_t kernel, cudaStream_t stream, unsigned threads, void** arguments, const char* doing) {
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(threads), arguments, 0, stream),
        doing);
}

void launchEarly(cudaKernel_t kernel, cudaStream_t stream, unsigned threads, void** arguments,
                 const char* doing) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments), doing);
}

} // namespace

Signals::Signals(KernelLibrary& library, const std::string& architecture, uint64_t* round) : round_(round) {
  const std::string start(common);
  const auto kernels =
      library.load({start + waitText, start + publishText, start + endText, start + stampText}, architecture);
  wait_ = kernels[0], publish_ = kernels[1], end_ = kernels[2], stamp_ = kernels[3];
}

void Signals::carryOut(cudaStream_t stream, llvm::ArrayRef<WordOperation> operations) const {
  llvm::SmallVector<DeviceWait, rowsAtOnce> waits; // side by side, so far: one kernel serves them
  const auto waitForThem = [&] {
    if (!waits.empty()) {
      wait(stream, waits);
      waits.clear();
    }
  };
  for (const WordOperation& operation : operations) {
    switch (operation.kind) {
    case WordOperation::Kind::Wait:
      waits.push_back({operation.word, operation.perRound, operation.offset});
      if (waits.size() == rowsAtOnce) {
        waitForThem();
      }
      break;
    case WordOperation::Kind::Write:
      waitForThem();
      publish(stream, {operation.word, operation.perRound, operation.offset});
      break;
    }
  }
  waitForThem();
}

void Signals::wait(cudaStream_t stream, llvm::ArrayRef<DeviceWait> waits) const {
  std::array<DeviceWait, rowsAtOnce> rows{};
  std::copy(waits.begin(), waits.end(), rows.begin());
  const uint64_t* round = round_;
  int count = static_cast<int>(waits.size());
  std::array<void*, 3> arguments = {&round, rows.data(), &count};
  launch(wait_, stream, 32, arguments.data(), "waiting for the host");
}

void Signals::publish(cudaStream_t stream, const DevicePublication& publication) const {
  const uint64_t* round = round_;
  DevicePublication to = publication;
  std::array<void*, 2> arguments = {&round, &to};
  launch(publish_, stream, 1, arguments.data(), "telling the host");
}

void Signals::endRound(cudaStream_t stream, uint64_t* own, llvm::ArrayRef<DevicePublication> ends,
                       bool alone) const {
  for (size_t i = 0; i < ends.size(); i += rowsAtOnce) {
    const auto some = ends.slice(i, std::min<size_t>(ends.size() - i, rowsAtOnce));
    std::array<DevicePublication, rowsAtOnce> rows{};
    std::copy(some.begin(), some.end(), rows.begin());
    uint64_t* round = round_;
    int count = static_cast<int>(some.size()), last = i + rowsAtOnce >= ends.size() ? 1 : 0;
    std::array<void*, 5> arguments = {&round, &own, rows.data(), &count, &last};
    (alone ? launchEarly : launch)(end_, stream, 32, arguments.data(), "ending a round");
  }
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
  launch(kernelOf(library, architecture, clockText), stream, 1, arguments.data(), "reading the GPU's clock");
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
