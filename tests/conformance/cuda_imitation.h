// What generated kernels need of CUDA, on the host. Included by their text as the tests compile it, never by
// the tests themselves. Each thread of a block is a fiber; blocks run one after the other, in the order of
// their numbers or against it: CUDA promises none. A fiber gives way only at barriers and shuffles, where it
// waits until every live thread of its block or warp is there. Fibers start by ucontext and change places by
// the compiler's own jumps, which ask the system for nothing.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstring>
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

struct Meeting { // of the live threads of a warp or of the block
  int live = 0, here = 0;
  unsigned int round = 0;
};

using JumpBuffer = void* [5]; // of __builtin_setjmp

struct Fiber {
  JumpBuffer left; // where it gave way
  std::vector<char> stack;
  bool started = false; // in this launch: the fiber of an earlier one may be code of another library
  bool done = false;
};

inline std::vector<Fiber> fibers;
inline JumpBuffer scheduler;
inline Meeting wholeBlock, warps[32];
inline std::uint64_t slots[1024];
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

[[gnu::noinline]] inline void jump(JumpBuffer& to) { __builtin_longjmp(to, 1); }
[[gnu::noinline]] inline void change(JumpBuffer& from, JumpBuffer& to) {
  if (__builtin_setjmp(from) == 0) {
    jump(to);
  }
}

inline void meet(Meeting& meeting) {
  const unsigned int round = meeting.round, self = thread.x;
  ++meeting.here;
  settle(meeting);
  while (meeting.round == round) {
    change(fibers[self].left, scheduler);
  }
}

inline void runThread() {
  const unsigned int self = thread.x;
  body(arguments);
  fibers[self].done = moved = true;
  for (Meeting* meeting : {&wholeBlock, &warps[self / 32]}) {
    --meeting->live;
    settle(*meeting); // the others need not wait for it
  }
}

inline void runFiber() {
  for (;;) { // a block after the other
    runThread();
    change(fibers[thread.x].left, scheduler);
  }
}

// Runs thread.x for the first time, until it gives way.
[[gnu::noinline]] inline void start(Fiber& fiber) {
  fiber.started = true;
  fiber.stack.resize(1 << 16);
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack.data();
  context.uc_stack.ss_size = fiber.stack.size();
  makecontext(&context, runFiber, 0);
  if (__builtin_setjmp(scheduler) == 0) {
    setcontext(&context);
  }
}

inline void goOn(Fiber& fiber) { fiber.started ? change(scheduler, fiber.left) : start(fiber); }

inline void seat(unsigned int count) {
  wholeBlock = {static_cast<int>(count)};
  for (unsigned int warp = 0; warp < 32; ++warp) {
    const int left = static_cast<int>(count) - static_cast<int>(warp) * 32;
    warps[warp] = {left < 0 ? 0 : left < 32 ? left : 32};
  }
  if (fibers.size() < count) {
    fibers.resize(count);
  }
  for (Fiber& fiber : fibers) {
    fiber.done = false;
  }
}

// False: the threads that are left wait for each other for ever.
inline bool runBlock() {
  const unsigned int count = blockSize.x;
  seat(count);
  for (unsigned int left = count; left > 0;) {
    moved = false;
    for (unsigned int i = 0; i < count; ++i) {
      if (!fibers[i].done) {
        thread.x = i;
        goOn(fibers[i]);
        left -= fibers[i].done ? 1 : 0;
      }
    }
    if (left > 0 && !moved) {
      return false;
    }
  }
  return true;
}

template <class T>
T shuffled(T value, int mask) {
  const unsigned int self = thread.x;
  std::memcpy(&slots[self], &value, sizeof(T));
  meet(warps[self / 32]);
  T other;
  std::memcpy(&other, &slots[self ^ static_cast<unsigned int>(mask)], sizeof(T));
  meet(warps[self / 32]);
  return other;
}

// The value of another thread of the warp: `from` its lane, or the own lane where there is no such thread.
template <class T>
T exchanged(T value, int from) {
  const unsigned int self = thread.x;
  std::memcpy(&slots[self], &value, sizeof(T));
  meet(warps[self / 32]);
  T other;
  std::memcpy(&other, &slots[self / 32 * 32 + (from < 0 ? self % 32 : static_cast<unsigned int>(from))],
              sizeof(T));
  meet(warps[self / 32]);
  return other;
}

// A bit for each thread of the warp that says yes; those that have ended say no.
inline unsigned int voted(bool yes) {
  const unsigned int self = thread.x, first = self / 32 * 32;
  slots[self] = yes ? 1 : 0;
  meet(warps[self / 32]);
  unsigned int votes = 0;
  for (unsigned int lane = 0; lane < 32 && first + lane < blockSize.x; ++lane) {
    votes |= !fibers[first + lane].done && slots[first + lane] != 0 ? 1U << lane : 0U;
  }
  meet(warps[self / 32]);
  return votes;
}

// What `multiplyTiles` of kernels/products/tile_product.cpp is: PTX's mma.m16n8k8 for tf32, of which a warp's
// threads hold the fragments as PTX lays them out. The bits behind tf32's last place count for nothing.
inline unsigned int fragments[1024][6];

inline float tf32(unsigned int bits) {
  bits &= ~0x1fffU;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline void multiplyFragments(float* sums, const unsigned int* a, const unsigned int* b) {
  const unsigned int self = thread.x, first = self / 32 * 32, lane = self % 32;
  std::memcpy(fragments[self], a, 4 * sizeof *a);
  std::memcpy(fragments[self] + 4, b, 2 * sizeof *b);
  meet(warps[self / 32]);
  for (unsigned int i = 0; i < 4; ++i) {
    const unsigned int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    for (unsigned int k = 0; k < 8; ++k) {
      sums[i] += tf32(fragments[first + row % 8 * 4 + k % 4][row / 8 + k / 4 * 2]) *
                 tf32(fragments[first + column * 4 + k % 4][4 + k / 4]);
    }
  }
  meet(warps[self / 32]);
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

inline bool runGrid(void (*kernel)(void**), void** given, const unsigned int* size, unsigned int threads,
                    bool backwards) {
  body = kernel;
  arguments = given;
  grid = {size[0], size[1], size[2]};
  blockSize.x = threads;
  for (Fiber& fiber : fibers) {
    fiber.started = false;
  }
  const unsigned int count = grid.x * grid.y;
  for (unsigned int turn = 0; turn < count; ++turn) {
    const unsigned int number = backwards ? count - 1 - turn : turn;
    block = {number % grid.x, number / grid.x};
    if (!runBlock()) {
      return false;
    }
  }
  return true;
}

} // namespace imitation

#define threadIdx imitation::thread
#define blockIdx imitation::block
#define gridDim imitation::grid
#define __syncthreads() imitation::meet(imitation::wholeBlock)
#define __shfl_xor_sync(mask, value, lane) imitation::shuffled(value, lane)
#define __shfl_up_sync(mask, value, distance)                                                                \
  imitation::exchanged(value, static_cast<int>(imitation::thread.x % 32) - static_cast<int>(distance))
#define __syncwarp() imitation::meet(imitation::warps[imitation::thread.x / 32])
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

// What kernels/attention needs: shared memory by address, conversions of pairs, and products of 16-bit
// elements.
using SharedAddress = char*;
inline SharedAddress sharedAddress(void* at) { return static_cast<char*>(at); }
template <int bytes>
void copyAsync(SharedAddress to, const void* from, bool present) {
  present ? std::memcpy(to, from, bytes) : std::memset(to, 0, bytes);
}
template <class T>
void loadShared(T& to, SharedAddress from) {
  std::memcpy(&to, from, sizeof to);
}
template <class T>
void storeShared(SharedAddress to, T a) {
  std::memcpy(to, &a, sizeof a);
}
inline float power2(float a) { return exp2f(a); }
inline unsigned int roundedToTf32(unsigned int bits) { // halves away from zero; NaN and infinity stay
  return (bits & 0x7f800000U) == 0x7f800000U ? bits : (bits + 0x1000U) & ~0x1fffU;
}

extern "C" float (*dfcWidenHalf)(unsigned short), (*dfcWidenBrain)(unsigned short);
extern "C" unsigned short (*dfcNarrowHalf)(float), (*dfcNarrowBrain)(float);
inline unsigned int pairOfBrains(float low, float high) {
  return dfcNarrowBrain(low) | static_cast<unsigned int>(dfcNarrowBrain(high)) << 16;
}
inline unsigned int pairOfHalves(float low, float high) {
  return dfcNarrowHalf(low) | static_cast<unsigned int>(dfcNarrowHalf(high)) << 16;
}

namespace imitation {

inline char* matrixRows[1024];

inline void loadMatrices(unsigned int* to, char* row, bool transposed) {
  const unsigned int self = thread.x, first = self / 32 * 32, lane = self % 32;
  matrixRows[self] = row;
  meet(warps[self / 32]);
  for (unsigned int i = 0; i < 4; ++i) {
    char* const* rows = matrixRows + first + i * 8;
    unsigned short pair[2];
    for (unsigned int e = 0; e < 2; ++e) {
      const unsigned int across = lane % 4 * 2 + e, along = lane / 4;
      std::memcpy(&pair[e], transposed ? rows[across] + along * 2 : rows[along] + across * 2, 2);
    }
    std::memcpy(&to[i], pair, 4);
  }
  meet(warps[self / 32]);
}

inline float half(unsigned int pair, unsigned int which, bool brain) {
  const auto bits = static_cast<unsigned short>(pair >> which * 16);
  return brain ? dfcWidenBrain(bits) : dfcWidenHalf(bits);
}

// PTX's mma.m16n8k16 for 16-bit elements.
inline void multiplyPairs(float* const* sums, const unsigned int* a, const unsigned int* b, bool brain) {
  const unsigned int self = thread.x, first = self / 32 * 32, lane = self % 32;
  std::memcpy(fragments[self], a, 4 * sizeof *a);
  std::memcpy(fragments[self] + 4, b, 2 * sizeof *b);
  meet(warps[self / 32]);
  for (unsigned int i = 0; i < 4; ++i) {
    const unsigned int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    for (unsigned int k = 0; k < 16; ++k) {
      *sums[i] += half(fragments[first + row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2], k % 2, brain) *
                  half(fragments[first + column * 4 + k % 8 / 2][4 + k / 8], k % 2, brain);
    }
  }
  meet(warps[self / 32]);
}

} // namespace imitation

inline void loadMatrices(unsigned int (&to)[4], SharedAddress row) {
  imitation::loadMatrices(to, row, false);
}
inline void loadTransposedMatrices(unsigned int (&to)[4], SharedAddress row) {
  imitation::loadMatrices(to, row, true);
}
inline void multiplyBrains(float& c0, float& c1, float& c2, float& c3, const unsigned int (&a)[4],
                           unsigned int b0, unsigned int b1) {
  float* const sums[] = {&c0, &c1, &c2, &c3};
  const unsigned int b[] = {b0, b1};
  imitation::multiplyPairs(sums, a, b, true);
}
inline void multiplyHalves(float& c0, float& c1, float& c2, float& c3, const unsigned int (&a)[4],
                           unsigned int b0, unsigned int b1) {
  float* const sums[] = {&c0, &c1, &c2, &c3};
  const unsigned int b[] = {b0, b1};
  imitation::multiplyPairs(sums, a, b, false);
}
inline void multiplyRounded(float& c0, float& c1, float& c2, float& c3, const unsigned int (&a)[4],
                            unsigned int b0, unsigned int b1) {
  float sums[] = {c0, c1, c2, c3};
  const unsigned int b[] = {b0, b1};
  imitation::multiplyFragments(sums, a, b);
  c0 = sums[0], c1 = sums[1], c2 = sums[2], c3 = sums[3];
}
