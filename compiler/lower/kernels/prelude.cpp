// The prelude in front of every kernel. Values live in registers as f32 (for f32, f16 and bf16), f64,
// i32, i64, u8 or bool; `valueOf` and `stored` go between them and storage, `rounded` rounds a register to
// its own type. The scalar functions mean what compiler/interpreter/evaluate_scalar.cpp says, to the bit
// where it is exact. A host that runs the prelude without CUDA (tests) defines DFC_ON_HOST and brings
// those four functions, and what else stands behind that name in a kernel's prelude.
#include "compiler/lower/kernels/formula_text.h"
#include "compiler/lower/kernels/generated_kernel.h"

namespace dfc::cuda {
namespace {

constexpr std::string_view beforeFormulas = R"(
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i32 = int;
using i64 = long long;
using f32 = float;
using f64 = double;
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
#define DFC_INLINE __device__ __forceinline__

// Every kernel's first words. It may have been launched while the kernel before still runs: here it waits for
// that one's end, and from here on the next may be launched in the same way.
DFC_INLINE void beginKernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Which block of its launch's grid a block is, and how many there are along x.
struct Block { u32 x, y, count; };
// An argument, whatever it points to.
struct Pointer {
  void* at;
  template <class T> DFC_INLINE operator T*() const { return static_cast<T*>(at); }
};

// Storage and registers.
#ifndef DFC_ON_HOST
DFC_INLINE f32 widened(f16 a) { f32 r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(a.bits)); return r; }
DFC_INLINE f32 widened(bf16 a) { return __uint_as_float(u32(a.bits) << 16); }
DFC_INLINE u16 halfBits(f32 a) { u16 r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(a)); return r; }
DFC_INLINE u16 brainBits(f32 a) { u16 r; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(a)); return r; }
#endif
template <class S> DFC_INLINE S valueOf(S a) { return a; }
DFC_INLINE f32 valueOf(f16 a) { return widened(a); }
DFC_INLINE f32 valueOf(bf16 a) { return widened(a); }
template <class S> struct Storage {
  template <class V> static DFC_INLINE S of(V a) { return S(a); }
};
template <> struct Storage<f16> {
  static DFC_INLINE f16 of(f32 a) { return {halfBits(a)}; }
};
template <> struct Storage<bf16> {
  static DFC_INLINE bf16 of(f32 a) { return {brainBits(a)}; }
};
template <class S, class V> DFC_INLINE S stored(V a) { return Storage<S>::of(a); }
template <class S, class V> DFC_INLINE V rounded(V a) { return valueOf(stored<S>(a)); }

// Arithmetic. Integers wrap; the quotient by zero is zero.
DFC_INLINE f32 plus(f32 a, f32 b) { return a + b; }
DFC_INLINE f64 plus(f64 a, f64 b) { return a + b; }
DFC_INLINE i32 plus(i32 a, i32 b) { return i32(u32(a) + u32(b)); }
DFC_INLINE i64 plus(i64 a, i64 b) { return i64(u64(a) + u64(b)); }
DFC_INLINE u8 plus(u8 a, u8 b) { return u8(u32(a) + u32(b)); }
DFC_INLINE f32 minus(f32 a, f32 b) { return a - b; }
DFC_INLINE f64 minus(f64 a, f64 b) { return a - b; }
DFC_INLINE i32 minus(i32 a, i32 b) { return i32(u32(a) - u32(b)); }
DFC_INLINE i64 minus(i64 a, i64 b) { return i64(u64(a) - u64(b)); }
DFC_INLINE u8 minus(u8 a, u8 b) { return u8(u32(a) - u32(b)); }
DFC_INLINE f32 times(f32 a, f32 b) { return a * b; }
DFC_INLINE f64 times(f64 a, f64 b) { return a * b; }
DFC_INLINE i32 times(i32 a, i32 b) { return i32(u32(a) * u32(b)); }
DFC_INLINE i64 times(i64 a, i64 b) { return i64(u64(a) * u64(b)); }
DFC_INLINE u8 times(u8 a, u8 b) { return u8(u32(a) * u32(b)); }
DFC_INLINE f32 negated(f32 a) { return -a; }
DFC_INLINE f64 negated(f64 a) { return -a; }
DFC_INLINE i32 negated(i32 a) { return i32(0u - u32(a)); }
DFC_INLINE i64 negated(i64 a) { return i64(0ull - u64(a)); }
DFC_INLINE u8 negated(u8 a) { return u8(0u - u32(a)); }
DFC_INLINE f32 over(f32 a, f32 b) { return a / b; }
DFC_INLINE f64 over(f64 a, f64 b) { return a / b; }
DFC_INLINE i32 over(i32 a, i32 b) { return b == 0 ? 0 : b == -1 ? negated(a) : a / b; }
DFC_INLINE i64 over(i64 a, i64 b) { return b == 0 ? 0 : b == -1 ? negated(a) : a / b; }
DFC_INLINE u8 over(u8 a, u8 b) { return b == 0 ? u8(0) : u8(a / b); }

// NaN wins; of two equal operands (zeros of both signs) the first does.
template <class V> DFC_INLINE bool isNan(V) { return false; }
DFC_INLINE bool isNan(f32 a) { return a != a; }
DFC_INLINE bool isNan(f64 a) { return a != a; }
template <class V> DFC_INLINE V larger(V a, V b) { return isNan(a) || !(b > a || isNan(b)) ? a : b; }
template <class V> DFC_INLINE V smaller(V a, V b) { return isNan(a) || !(b < a || isNan(b)) ? a : b; }
template <class V> DFC_INLINE V reluOf(V a) { return isNan(a) || a > V(0) ? a : V(0); }

template <class V> DFC_INLINE V clipped(V a, V low, V high) { return smaller(larger(a, low), high); }
template <class V> DFC_INLINE V magnitude(V a) { return a < V(0) ? negated(a) : a; }
DFC_INLINE f32 magnitude(f32 a) { return fabsf(a); }
DFC_INLINE f64 magnitude(f64 a) { return fabs(a); }
DFC_INLINE u8 magnitude(u8 a) { return a; }
template <class V> DFC_INLINE V signOf(V a) { // zeros and NaN stay
  return a > V(0) ? V(1) : a < V(0) ? V(-1) : a;
}
DFC_INLINE u8 signOf(u8 a) { return a != 0 ? u8(1) : u8(0); }

// Bits; a bool has one.
template <class V> DFC_INLINE V bitsAnd(V a, V b) { return V(a & b); }
template <class V> DFC_INLINE V bitsOr(V a, V b) { return V(a | b); }
template <class V> DFC_INLINE V bitsXor(V a, V b) { return V(a ^ b); }
template <class V> DFC_INLINE V bitsNot(V a) { return V(~a); }
DFC_INLINE bool bitsNot(bool a) { return !a; }

// Functions of floats.
DFC_INLINE f32 floorOf(f32 a) { return floorf(a); }
DFC_INLINE f64 floorOf(f64 a) { return floor(a); }
DFC_INLINE f32 ceilOf(f32 a) { return ceilf(a); }
DFC_INLINE f64 ceilOf(f64 a) { return ceil(a); }
DFC_INLINE f32 roundOf(f32 a) { return rintf(a); } // halves to even
DFC_INLINE f64 roundOf(f64 a) { return rint(a); }
DFC_INLINE f32 expOf(f32 a) { return expf(a); }
DFC_INLINE f64 expOf(f64 a) { return exp(a); }
DFC_INLINE f32 logOf(f32 a) { return logf(a); }
DFC_INLINE f64 logOf(f64 a) { return log(a); }
DFC_INLINE f32 rootOf(f32 a) { return sqrtf(a); }
DFC_INLINE f64 rootOf(f64 a) { return sqrt(a); }
DFC_INLINE f32 powOf(f32 a, f32 b) { return powf(a, b); }
DFC_INLINE f64 powOf(f64 a, f64 b) { return pow(a, b); }
DFC_INLINE f32 sinOf(f32 a) { return sinf(a); }
DFC_INLINE f64 sinOf(f64 a) { return sin(a); }
DFC_INLINE f32 cosOf(f32 a) { return cosf(a); }
DFC_INLINE f64 cosOf(f64 a) { return cos(a); }
DFC_INLINE f32 erfOf(f32 a) { return erff(a); }
DFC_INLINE f64 erfOf(f64 a) { return erf(a); }
DFC_INLINE f32 tanhOf(f32 a) { return tanhf(a); }
DFC_INLINE f64 tanhOf(f64 a) { return tanh(a); }
DFC_INLINE f32 log1pOf(f32 a) { return log1pf(a); }
DFC_INLINE f64 log1pOf(f64 a) { return log1p(a); }
DFC_INLINE f32 expm1Of(f32 a) { return expm1f(a); }
DFC_INLINE f64 expm1Of(f64 a) { return expm1(a); }
DFC_INLINE f32 erfcOf(f32 a) { return erfcf(a); }
DFC_INLINE f64 erfcOf(f64 a) { return erfc(a); }
DFC_INLINE f32 mulAddOf(f32 a, f32 b, f32 c) { return fmaf(a, b, c); }
DFC_INLINE f64 mulAddOf(f64 a, f64 b, f64 c) { return fma(a, b, c); }
DFC_INLINE f32 geluOf(f32 a) { return a * normcdff(a); }
DFC_INLINE f64 geluOf(f64 a) { return a * normcdf(a); }
)";

constexpr std::string_view behindFormulas = R"(
// Casts: float to integer truncates and saturates, NaN gives 0; to bool: a != 0.
template <class S> struct CastTo {
  template <class V> static DFC_INLINE S of(V a) { return S(a); }
  static DFC_INLINE S of(f32 a) { return saturated(a); }
  static DFC_INLINE S of(f64 a) { return saturated(a); }
  template <class V> static DFC_INLINE S saturated(V a) {
    const V beyond = S(-1) > S(0) ? V(256) : sizeof(S) == 4 ? V(2147483648.0) : V(9223372036854775808.0);
    const S most = S(-1) > S(0) ? S(255) : sizeof(S) == 4 ? S(2147483647) : S(9223372036854775807ll);
    const V least = S(-1) > S(0) ? V(0) : -beyond;
    return isNan(a) ? S(0) : a >= beyond ? most : a <= least ? S(least) : S(a);
  }
};
template <> struct CastTo<bool> {
  template <class V> static DFC_INLINE bool of(V a) { return a != V(0); }
};
template <> struct CastTo<f32> {
  template <class V> static DFC_INLINE f32 of(V a) { return f32(a); }
};
template <> struct CastTo<f64> {
  template <class V> static DFC_INLINE f64 of(V a) { return f64(a); }
};
template <> struct CastTo<f16> : CastTo<f32> {};  // the caller rounds
template <> struct CastTo<bf16> : CastTo<f32> {};
template <class S, class V> DFC_INLINE auto castTo(V a) { return CastTo<S>::of(a); }

// Packs: elements that one access moves, 16 bytes at most.
template <int bytes> struct RawOf;
template <> struct RawOf<1> { using Type = u8; };
template <> struct RawOf<2> { using Type = u16; };
template <> struct RawOf<4> { using Type = u32; };
template <> struct RawOf<8> { using Type = uint2; };
template <> struct RawOf<16> { using Type = uint4; };
template <class S, int width> struct Pack { S at[width]; };
template <class S, int width> union PackBits {
  typename RawOf<int(sizeof(S)) * width>::Type raw;
  Pack<S, width> pack;
};
template <int width, class S> DFC_INLINE Pack<S, width> loadPack(const S* from) {
  PackBits<S, width> bits;
  bits.raw = *reinterpret_cast<const typename RawOf<int(sizeof(S)) * width>::Type*>(from);
  return bits.pack;
}
template <class S, int width> DFC_INLINE void storePack(S* to, const Pack<S, width>& pack) {
  PackBits<S, width> bits;
  bits.pack = pack;
  *reinterpret_cast<typename RawOf<int(sizeof(S)) * width>::Type*>(to) = bits.raw;
}
template <int width, class S> DFC_INLINE Pack<S, width> splatPack(S value) {
  Pack<S, width> pack;
#pragma unroll
  for (int k = 0; k < width; ++k) pack.at[k] = value;
  return pack;
}
)";

} // namespace

std::string_view prelude() {
  static const std::string text =
      std::string(beforeFormulas) + formulaFunctions() + std::string(behindFormulas);
  return text;
}

} // namespace dfc::cuda
