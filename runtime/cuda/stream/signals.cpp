#include "runtime/cuda/stream/signals.h"

#include "runtime/backend.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream/captured_node.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

namespace dfc::cuda {
namespace {

constexpr const char* common = R"(
typedef unsigned long long u64;
struct Wait { const u64* word; u64 perStep; u64 offset; };
struct Publication { u64* word; u64 perStep; u64 offset; };
struct Waits { Wait rows[32]; };
struct Ends { Publication rows[32]; };
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
extern "C" __global__ void dfc_kernel(const u64* step, Waits waits, int count) {
  if (threadIdx.x < count) {
    const Wait wait = waits.rows[threadIdx.x];
    const u64 target = wait.perStep * load(step) + wait.offset;
    while (load(wait.word) < target) { }
  }
  __threadfence_system();
}
)";

constexpr const char* publishText = R"(
extern "C" __global__ void dfc_kernel(const u64* step, Publication to) {
  __threadfence_system();
  store(to.word, to.perStep * load(step) + to.offset);
}
)";

// Writes words in the memory of other GPUs, then waits for words in its own. One fence covers all stores.
// `stop` is across the bus, so it is read rarely: it ends the waits for a GPU that failed.
constexpr const char* exchangeText = R"(
extern "C" __global__ void dfc_kernel(const u64* step, const u64* stop, Ends to, int writes, Waits from, int waits) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const u64 current = *static_cast<const volatile u64*>(step);
  if (writes > 0) {
    __threadfence_system();
    if (threadIdx.x < writes) {
      const Publication row = to.rows[threadIdx.x];
      storeBehindFence(row.word, row.perStep * current + row.offset);
    }
  }
  if (threadIdx.x < waits) {
    const Wait wait = from.rows[threadIdx.x];
    const u64 target = wait.perStep * current + wait.offset;
    for (unsigned polls = 1; load(wait.word) < target; ++polls) {
      if (polls % 65536 == 0 && load(stop) != 0) {
        break;
      }
    }
  }
}
)";

// May be launched ahead of its predecessor's end on its stream. It reads nothing over the bus, and one fence
// covers all its stores: a releasing store would be a second fence, which waits until earlier stores have
// crossed the bus. The stores need no order among themselves: readers of the counter are ordered after this
// kernel by streams and events.
constexpr const char* endText = R"(
extern "C" __global__ void dfc_kernel(u64* step, u64* own, Ends ends, int count, int last) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const u64 current = *own;
  __threadfence_system();
  if (threadIdx.x < count) {
    storeBehindFence(ends.rows[threadIdx.x].word, ends.rows[threadIdx.x].perStep * (current + 1));
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    *own = current + 1;
    storeBehindFence(step, current + 1);
  }
}
)";

constexpr const char* stampText = R"(
extern "C" __global__ void dfc_kernel(const u64* step, u64* slots, unsigned ring, unsigned perStep, unsigned index) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const u64 time = now();
  slots[(*static_cast<const volatile u64*>(step) % ring) * perStep + index] = time;
}
)";

// The host writes a number, the GPU answers with its time and the number; `times` times.
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

// A library's call may end with another node than a kernel.
bool endsWithKernel(cudaStream_t stream) {
  const auto last = lastCapturedNode(stream);
  cudaGraphNodeType type{};
  return last && cudaGraphNodeGetType(*last, &type) == cudaSuccess && type == cudaGraphNodeTypeKernel;
}

} // namespace

Signals::Signals(KernelLibrary& library, const std::string& architecture, uint64_t* step,
                 const uint64_t* stop)
    : step_(step), stop_(stop) {
  const std::string start(common);
  const auto kernels = library.load(
      {start + waitText, start + publishText, start + exchangeText, start + endText, start + stampText},
      architecture);
  wait_ = kernels[0], publish_ = kernels[1], exchange_ = kernels[2], end_ = kernels[3], stamp_ = kernels[4];
}

void Signals::enqueue(cudaStream_t stream, llvm::ArrayRef<WordOperation> operations) const {
  llvm::SmallVector<DeviceWait, rowsAtOnce> waits; // consecutive waits: one kernel performs them
  const auto flushWaits = [&] {
    if (!waits.empty()) {
      wait(stream, waits);
      waits.clear();
    }
  };
  for (const WordOperation& operation : operations) {
    switch (operation.kind) {
    case WordOperation::Kind::Wait:
      waits.push_back({operation.word, operation.perStep, operation.offset});
      if (waits.size() == rowsAtOnce) {
        flushWaits();
      }
      break;
    case WordOperation::Kind::Write:
      flushWaits();
      publish(stream, {operation.word, operation.perStep, operation.offset});
      break;
    }
  }
  flushWaits();
}

void Signals::wait(cudaStream_t stream, llvm::ArrayRef<DeviceWait> waits) const {
  std::array<DeviceWait, rowsAtOnce> rows{};
  std::copy(waits.begin(), waits.end(), rows.begin());
  const uint64_t* step = step_;
  int count = static_cast<int>(waits.size());
  std::array<void*, 3> arguments = {&step, rows.data(), &count};
  launch(wait_, stream, 32, arguments.data(), "waiting for the host");
}

void Signals::publish(cudaStream_t stream, const DevicePublication& publication) const {
  const uint64_t* step = step_;
  DevicePublication to = publication;
  std::array<void*, 2> arguments = {&step, &to};
  launch(publish_, stream, 1, arguments.data(), "telling the host");
}

void Signals::exchange(cudaStream_t stream, llvm::ArrayRef<DevicePublication> writes,
                       llvm::ArrayRef<DeviceWait> waits, bool behind) const {
  for (size_t first = 0; first < std::max(writes.size(), waits.size()); first += rowsAtOnce) {
    exchangeRows(stream, writes.drop_front(std::min(first, writes.size())).take_front(rowsAtOnce),
                 waits.drop_front(std::min(first, waits.size())).take_front(rowsAtOnce), behind);
  }
}

void Signals::exchangeRows(cudaStream_t stream, llvm::ArrayRef<DevicePublication> writes,
                           llvm::ArrayRef<DeviceWait> waits, bool behind) const {
  std::array<DevicePublication, rowsAtOnce> to{};
  std::copy(writes.begin(), writes.end(), to.begin());
  std::array<DeviceWait, rowsAtOnce> from{};
  std::copy(waits.begin(), waits.end(), from.begin());
  int writeCount = static_cast<int>(writes.size()), waitCount = static_cast<int>(waits.size());
  const uint64_t *step = counted_, *stop = stop_;
  std::array<void*, 6> arguments = {&step, &stop, to.data(), &writeCount, from.data(), &waitCount};
  (!behind && endsWithKernel(stream) ? launchEarly : launch)(exchange_, stream, 32, arguments.data(),
                                                             "exchanging progress words");
}

void Signals::endStep(cudaStream_t stream, uint64_t* own, llvm::ArrayRef<DevicePublication> ends,
                      bool alone) const {
  for (size_t i = 0; i < ends.size(); i += rowsAtOnce) {
    const auto some = ends.slice(i, std::min<size_t>(ends.size() - i, rowsAtOnce));
    std::array<DevicePublication, rowsAtOnce> rows{};
    std::copy(some.begin(), some.end(), rows.begin());
    uint64_t* step = step_;
    int count = static_cast<int>(some.size()), last = i + rowsAtOnce >= ends.size() ? 1 : 0;
    std::array<void*, 5> arguments = {&step, &own, rows.data(), &count, &last};
    (alone ? launchEarly : launch)(end_, stream, 32, arguments.data(), "ending a step");
  }
}

void Signals::stamp(cudaStream_t stream, uint64_t* slots, uint32_t ring, uint32_t perStep, uint32_t index,
                    bool afterKernel) const {
  const uint64_t* step = counted_ != nullptr ? counted_ : step_;
  std::array<void*, 5> arguments = {&step, &slots, &ring, &perStep, &index};
  (afterKernel && endsWithKernel(stream) ? launchEarly : launch)(stamp_, stream, 1, arguments.data(),
                                                                 "stamping the time");
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
  constexpr double longEnough = 1e-3; // for the rate to exceed the noise of the readings
  const double span = seconds(last.gpu);
  const double rate = span > longEnough ? (last.host - first.host) / span : 1;
  return first.host + seconds(gpu) * rate;
}

} // namespace dfc::cuda
