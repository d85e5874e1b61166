// What generated kernels need of CUDA, on the host. Included by their text as the tests compile it, never by
// the tests themselves. Each thread of a block is a fiber (ucontext); blocks run one after the other, in the
// order of their numbers or against it: CUDA promises none; or in turns, where a launch says so. A fiber
// gives way only where it waits: at barriers and shuffles, until every live thread of its block or warp is
// there, and for what another thread writes.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __grid_constant__
#define DFC_ON_HOST

struct uint2 {
  unsigned int x, y;
} __attribute__((aligned(8)));
struct uint4 {
  unsigned int x, y, z, w;
} __attribute__((aligned(16)));

namespace imitation {

struct Place {
  unsigned int x = 0, y = 0, z = 0;
};
inline Place thread, block, grid, blockSize;

struct Meeting { // of the live threads of a warp or of the block, or of so many of a block
  int live = 0, here = 0;
  unsigned int round = 0;
};

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack; // not filled: most of it is never touched
  bool done = false;
};

struct alignas(256) Chunk {
  char bytes[256];
};

// A block that has started: its threads, and what they share.
struct Live {
  Place place;
  std::vector<Fiber> fibers;
  unsigned int left = 0;
  Meeting whole, warps[32], groups[16];
  std::uint64_t slots[1024];
  unsigned int fragments[1024][6];
  std::vector<Chunk> memory;
};

inline std::vector<Live> started;
inline Live* now = nullptr; // whose fiber runs
inline ucontext_t scheduler;
inline bool moved = false;
inline void (*body)(void**) = nullptr;
inline void** arguments = nullptr;

inline void settle(Meeting& meeting) {
  if (meeting.live > 0 && meeting.here == meeting.live) {
    meeting.here = 0;
    ++meeting.round;
    moved = true;
  }
}

inline void giveWay() { swapcontext(&now->fibers[thread.x].context, &scheduler); }

inline void meet(Meeting& meeting) {
  const unsigned int round = meeting.round;
  ++meeting.here;
  settle(meeting);
  while (meeting.round == round) {
    giveWay();
  }
}

inline void runFiber() {
  body(arguments);
  const unsigned int self = thread.x;
  now->fibers[self].done = moved = true;
  for (Meeting* meeting : {&now->whole, &now->warps[self / 32]}) {
    --meeting->live;
    settle(*meeting); // the others need not wait for it
  }
}

inline void start(Live& live, Place place) {
  const unsigned int count = blockSize.x;
  live.place = place;
  live.whole = {static_cast<int>(count)};
  for (unsigned int warp = 0; warp < 32; ++warp) {
    const int left = static_cast<int>(count) - static_cast<int>(warp) * 32;
    live.warps[warp] = {left < 0 ? 0 : left < 32 ? left : 32};
  }
  for (Meeting& group : live.groups) {
    group = {};
  }
  live.left = count;
  live.memory.clear();
  live.fibers.resize(count);
  for (Fiber& fiber : live.fibers) {
    constexpr std::size_t stackBytes = 1 << 16;
    if (fiber.stack == nullptr) {
      fiber.stack.reset(new char[stackBytes]);
    }
    fiber.done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = stackBytes;
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, runFiber, 0);
  }
}

// Each thread of the block that can go on does so, until it waits for others; from thread `first` on.
inline void advance(Live& live, unsigned int first) {
  now = &live;
  block = live.place;
  for (unsigned int n = 0; n < blockSize.x; ++n) {
    const unsigned int i = (first + n) % blockSize.x;
    if (!live.fibers[i].done) {
      thread.x = i;
      swapcontext(&scheduler, &live.fibers[i].context);
      live.left -= live.fibers[i].done ? 1 : 0;
    }
  }
}

// False: the threads that are left wait for each other for ever. (One may go from wait to wait a few times
// without moving anything that others see.)
inline bool runStarted() {
  int still = 0;
  unsigned int dice = 1;
  for (bool left = true; left;) {
    left = moved = false;
    for (Live& live : started) {
      if (live.left > 0) {
        dice = dice * 1664525U + 1013904223U; // blocks side by side begin with another thread each time
        advance(live, started.size() > 1 ? (dice >> 16) % blockSize.x : 0);
        left = left || live.left > 0;
      }
    }
    still = moved ? 0 : still + 1;
    if (left && still == 64) {
      return false;
    }
  }
  return true;
}

template <class T>
T shuffled(T value, int mask) {
  const unsigned int self = thread.x;
  Live& live = *now;
  std::memcpy(&live.slots[self], &value, sizeof(T));
  meet(live.warps[self / 32]);
  T other;
  std::memcpy(&other, &live.slots[self ^ static_cast<unsigned int>(mask)], sizeof(T));
  meet(live.warps[self / 32]);
  return other;
}

// The value of another thread of the warp: `from` its lane, or the own lane where there is no such thread.
template <class T>
T exchanged(T value, int from) {
  const unsigned int self = thread.x;
  Live& live = *now;
  std::memcpy(&live.slots[self], &value, sizeof(T));
  meet(live.warps[self / 32]);
  T other;
  std::memcpy(&other, &live.slots[self / 32 * 32 + (from < 0 ? self % 32 : static_cast<unsigned int>(from))],
              sizeof(T));
  meet(live.warps[self / 32]);
  return other;
}

// A bit for each thread of the warp that says yes; those that have ended say no.
inline unsigned int voted(bool yes) {
  const unsigned int self = thread.x, first = self / 32 * 32;
  Live& live = *now;
  live.slots[self] = yes ? 1 : 0;
  meet(live.warps[self / 32]);
  unsigned int votes = 0;
  for (unsigned int lane = 0; lane < 32 && first + lane < blockSize.x; ++lane) {
    votes |= !live.fibers[first + lane].done && live.slots[first + lane] != 0 ? 1U << lane : 0U;
  }
  meet(live.warps[self / 32]);
  return votes;
}

// What `multiplyTiles` of kernels/tile_product.cpp is: PTX's mma.m16n8k8 for tf32, of which a warp's threads
// hold the fragments as PTX lays them out. The bits behind tf32's last place count for nothing.
inline float tf32(unsigned int bits) {
  bits &= ~0x1fffU;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline void multiplyFragments(float* sums, const unsigned int* a, const unsigned int* b) {
  const unsigned int self = thread.x, first = self / 32 * 32, lane = self % 32;
  Live& live = *now;
  const auto& fragments = live.fragments;
  std::memcpy(live.fragments[self], a, 4 * sizeof *a);
  std::memcpy(live.fragments[self] + 4, b, 2 * sizeof *b);
  meet(live.warps[self / 32]);
  for (unsigned int i = 0; i < 4; ++i) {
    const unsigned int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    for (unsigned int k = 0; k < 8; ++k) {
      sums[i] += tf32(fragments[first + row % 8 * 4 + k % 4][row / 8 + k / 4 * 2]) *
                 tf32(fragments[first + column * 4 + k % 4][4 + k / 4]);
    }
  }
  meet(live.warps[self / 32]);
}

template <class... P, size_t... i>
void call(void (*kernel)(P...), void** given, std::index_sequence<i...>) {
  kernel(static_cast<P>(given[i])...);
}
template <class... P>
void call(void (*kernel)(P...), void** given) {
  call(kernel, given, std::index_sequence_for<P...>());
}

// The pointers one behind the other are the kernel's one parameter.
template <class P>
void callByValue(void (*kernel)(P), void** given) {
  std::remove_const_t<P> all;
  std::memcpy(&all, given, sizeof all);
  kernel(all);
}

// Blocks one after the other, or `allAtOnce`.
inline bool runGrid(void (*kernel)(void**), void** given, const unsigned int* size, unsigned int threads,
                    bool backwards, bool allAtOnce) {
  body = kernel;
  arguments = given;
  grid = {size[0], size[1], size[2]};
  blockSize.x = threads;
  const unsigned int count = grid.x * grid.y;
  started.resize(allAtOnce ? count : 1);
  for (unsigned int turn = 0; turn < count; ++turn) {
    const unsigned int number = backwards ? count - 1 - turn : turn;
    start(started[allAtOnce ? turn : 0], {number % grid.x, number / grid.x});
    if (!allAtOnce && !runStarted()) {
      return false;
    }
  }
  return !allAtOnce || runStarted();
}

inline void* sharedMemory(std::size_t bytes) {
  if (now->memory.empty()) { // as a block finds it: nothing that makes sense
    Chunk nothing;
    std::memset(&nothing, 0xFF, sizeof nothing);
    now->memory.assign((bytes + sizeof(Chunk) - 1) / sizeof(Chunk), nothing);
  }
  return now->memory.data();
}

} // namespace imitation

#define threadIdx imitation::thread
#define blockIdx imitation::block
#define gridDim imitation::grid
#define __syncthreads() imitation::meet(imitation::now->whole)
#define DFC_LARGE_SHARED(Type, name) Type& name = *static_cast<Type*>(imitation::sharedMemory(sizeof(Type)))
#define __shfl_xor_sync(mask, value, lane) imitation::shuffled(value, lane)
#define __shfl_up_sync(mask, value, distance)                                                                \
  imitation::exchanged(value, static_cast<int>(imitation::thread.x % 32) - static_cast<int>(distance))
#define __ballot_sync(mask, yes) imitation::voted(yes)
#define __popc(bits) __builtin_popcount(bits)
#define __ldcs(from) (*(from)) // caches are none of the host's business
#define __stcs(to, value) (void)(*(to) = (value))

// CUDA's normal distribution function; the wider erfc hides what the quotient loses.
inline double normcdf(double a) {
  return static_cast<double>(0.5L * std::erfc(-static_cast<long double>(a) * 0.70710678118654752440L));
}
inline float normcdff(float a) { return static_cast<float>(normcdf(a)); }

inline float __uint_as_float(unsigned int bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline float __int_as_float(int bits) { return __uint_as_float(static_cast<unsigned int>(bits)); }
inline double __longlong_as_double(long long bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Asynchronous copies are made at once: a kernel that reads before it waits is not found out here.
inline void copyPack(float* to, const float* from, bool present) {
  for (int i = 0; i < 4; ++i) {
    to[i] = present ? from[i] : 0;
  }
}
inline void commitCopies() {}
template <int left>
void awaitCopies() {}
inline void multiplyTiles(float (&sums)[4], const unsigned int (&a)[4], const unsigned int (&b)[2]) {
  imitation::multiplyFragments(sums, a, b);
}
inline unsigned int bitsOf(float a) {
  unsigned int bits;
  std::memcpy(&bits, &a, sizeof bits);
  return bits;
}

// What kernels/columns_ring.cpp calls. A gate counts arrivals, as PTX's mbarrier does.
struct Gate {
  unsigned short wanted, missing;
  unsigned int phase;
};
inline void prepare(Gate& gate, unsigned int arrivals) {
  gate.wanted = gate.missing = static_cast<unsigned short>(arrivals);
  gate.phase = 0;
}
inline void arrive(Gate& gate) {
  imitation::moved = true;
  if (--gate.missing == 0) {
    gate.missing = gate.wanted;
    ++gate.phase;
  }
}
inline void arriveWithCopies(Gate& gate) { arrive(gate); }
inline void pass(Gate& gate, unsigned int phase) {
  while (gate.phase % 2 == phase) {
    imitation::giveWay();
  }
}
template <int number, int threads>
void meet() {
  imitation::now->groups[number].live = threads;
  imitation::meet(imitation::now->groups[number]);
}
struct Keep {};
inline Keep keepShortest() { return {}; }
inline Keep keepLongest() { return {}; }
inline void copyPack(void* to, const void* from, Keep) { std::memcpy(to, from, 16); }
inline void storeWord(unsigned long long* to, unsigned long long word, Keep) {
  *to = word;
  imitation::moved = true;
}
inline unsigned long long loadWord(const unsigned long long* from, Keep) { return *from; }
template <unsigned int>
void idle() {
  imitation::giveWay();
}
