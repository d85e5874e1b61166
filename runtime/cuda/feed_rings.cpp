// Threads copy the parts of a feed in order. The thread that completes a slab enqueues its prefetch, so that
// the bus transfers one slab while the next is copied.
#include "runtime/cuda/feed_rings.h"
#include "runtime/available_processors.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dfc::cuda {
namespace {

constexpr int64_t slabBytes = 8 << 20;   // of one prefetch: 0.15 ms at 55 GB/s
constexpr int64_t partBytes = 512 << 10; // of one thread at a time
constexpr uint32_t mostThreads =
    8; // 45 to 51 GB/s on a 16-core Xeon beside an H100, about the rate of its bus
constexpr size_t spareBytes = size_t{1} << 30;

uint32_t copyingThreads() { return std::clamp(availableProcessors() / 2, 1U, mostThreads); }

// memcpy with non-temporal stores, which do not read the destination's cache lines first: 1.1 to 1.45 times
// as fast on that Xeon, by size and number of threads. `to` is aligned to 16 bytes.
void copyNonTemporal(std::byte* to, const std::byte* from, int64_t bytes) {
  int64_t done = 0;
#if defined(__SSE2__)
  for (; done + 64 <= bytes; done += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + done);
    auto* target = reinterpret_cast<__m128i*>(to + done);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1),
                  c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();
#endif
  std::memcpy(to + done, from + done, static_cast<size_t>(bytes - done));
}

// Slots of a ring begin at whole cache lines.
int64_t strideOf(int64_t bytes) { return (bytes + 255) / 256 * 256; }

// Free memory of a GPU in bytes; 0 if CUDA does not tell.
size_t freeBytes(int ordinal) {
  const OnDevice current(ordinal);
  size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

} // namespace

FeedRings::~FeedRings() {
  for (const CopyStream& known : copyStreams_) {
    ignore(cudaStreamSynchronize(known.stream));
    ignore(cudaEventDestroy(known.copied));
    ignore(cudaStreamDestroy(known.stream));
  }
}

void FeedRings::make(llvm::ArrayRef<StreamProgram> programs) {
  rings_.clear();
  for (const StreamProgram& program : programs) {
    for (const StreamCommand& command : program.commands) {
      const Location& from = command.copy.from;
      if (from.base != Location::Base::Feed) {
        continue;
      }
      auto ring = llvm::find_if(rings_, [&](const Ring& known) { return known.feed == from.buffer; });
      if (ring == rings_.end()) {
        rings_.push_back({from.buffer,
                          from.bytes,
                          PinnedBuffer(static_cast<int64_t>(hostSlots) * strideOf(from.bytes)),
                          {}});
        ring = std::prev(rings_.end());
      }
      if (from.bytes >= leastPrefetchedBytes) {
        addGpuRing(*ring, program.gpu->ordinal);
      }
    }
  }
}

void FeedRings::addGpuRing(Ring& ring, int ordinal) {
  const int64_t bytes = static_cast<int64_t>(gpuSlots) * strideOf(ring.bytes);
  const bool known =
      llvm::any_of(ring.onGpus, [&](const GpuRing& onGpu) { return onGpu.ordinal == ordinal; });
  if (!known && freeBytes(ordinal) >= static_cast<size_t>(bytes) + spareBytes) {
    try {
      DeviceBuffer buffer(ordinal, bytes, "prefetched feeds");
      streamTo(ordinal);
      ring.onGpus.push_back({ordinal, std::move(buffer)});
    } catch (const MachineError&) { // another process took the memory: no prefetch
      ignore(cudaGetLastError());
    }
  }
}

const FeedRings::CopyStream& FeedRings::streamTo(int ordinal) {
  const auto known =
      llvm::find_if(copyStreams_, [&](const CopyStream& one) { return one.ordinal == ordinal; });
  if (known != copyStreams_.end()) {
    return *known;
  }
  const OnDevice current(ordinal);
  CopyStream made;
  made.ordinal = ordinal;
  check(cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking), "making a stream for feeds");
  if (const cudaError_t failed = cudaEventCreateWithFlags(&made.copied, cudaEventDisableTiming);
      failed != cudaSuccess) {
    ignore(cudaStreamDestroy(made.stream));
    check(failed, "making an event for feeds");
  }
  copyStreams_.push_back(made);
  return copyStreams_.back();
}

void FeedRings::stage(const Step& step, llvm::function_ref<void(uint64_t)> waitForStep) {
  const bool prefetches = !step.traced && !copyStreams_.empty();
  const uint64_t slots = prefetches ? gpuSlots : hostSlots;
  if (!rings_.empty() && step.number >= slots) {
    waitForStep(step.number - slots);
  }
  for (const Ring& ring : rings_) {
    copy(ring, step);
  }
  for (const CopyStream& known : copyStreams_) {
    const OnDevice current(known.ordinal);
    check(cudaEventRecord(known.copied, known.stream), "marking the end of the prefetch");
  }
}

void FeedRings::copy(const Ring& ring, const Step& step) {
  std::byte* const to = hostSlot(ring, step.number);
  const std::byte* const from = step.feeds[ring.feed];
  if (ring.bytes < leastPrefetchedBytes) {
    std::memcpy(to, from, static_cast<size_t>(ring.bytes));
    return;
  }
  if (threads_ == nullptr) {
    // Threads that spin would take cores from the CPU's kernels.
    threads_ = std::make_unique<ThreadPool>(copyingThreads(), /*spins=*/false);
  }
  const auto parts = static_cast<uint32_t>((ring.bytes + partBytes - 1) / partBytes);
  std::mutex mutex;
  std::vector<bool> copied(parts, false); // by part; guarded by the mutex, as are the next two
  uint32_t complete = 0;                  // copied parts before the first missing one
  int64_t sent = 0;                       // bytes whose prefetch is enqueued
  threads_->run(parts, [&](uint32_t part) {
    const int64_t first = part * partBytes, last = std::min(ring.bytes, first + partBytes);
    copyNonTemporal(to + first, from + first, last - first);
    const std::lock_guard lock(mutex);
    copied[part] = true;
    while (complete < parts && copied[complete]) {
      ++complete;
    }
    const int64_t ready = std::min(ring.bytes, complete * partBytes);
    if (!step.traced && (ready - sent >= slabBytes || (ready == ring.bytes && sent < ready))) {
      prefetch(ring, step, sent, ready);
      sent = ready;
    }
  });
}

void FeedRings::prefetch(const Ring& ring, const Step& step, int64_t begin, int64_t end) {
  for (const GpuRing& onGpu : ring.onGpus) {
    const OnDevice current(onGpu.ordinal);
    check(cudaMemcpyAsync(gpuSlot(ring, onGpu, step.number) + begin, hostSlot(ring, step.number) + begin,
                          static_cast<size_t>(end - begin), cudaMemcpyHostToDevice,
                          streamTo(onGpu.ordinal).stream),
          "prefetching a feed");
  }
}

void FeedRings::awaitOn(cudaStream_t stream) const {
  for (const CopyStream& known : copyStreams_) {
    check(cudaStreamWaitEvent(stream, known.copied), "waiting for the prefetch");
  }
}

std::byte* FeedRings::source(uint32_t feed, int ordinal, const Step& step) const {
  const auto ring = llvm::find_if(rings_, [&](const Ring& known) { return known.feed == feed; });
  DFC_ASSERT(ring != rings_.end(), "a ring for every feed that is copied");
  for (const GpuRing& onGpu : ring->onGpus) {
    if (onGpu.ordinal == ordinal && !step.traced) {
      return gpuSlot(*ring, onGpu, step.number);
    }
  }
  return hostSlot(*ring, step.number);
}

std::byte* FeedRings::hostSlot(const Ring& ring, uint64_t step) {
  return ring.host.get() + static_cast<int64_t>(step % hostSlots) * strideOf(ring.bytes);
}

std::byte* FeedRings::gpuSlot(const Ring& ring, const GpuRing& onGpu, uint64_t step) {
  return onGpu.buffer.get() + static_cast<int64_t>(step % gpuSlots) * strideOf(ring.bytes);
}

} // namespace dfc::cuda
