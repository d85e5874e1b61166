// The carries. Sums run in f32 (f64 for f64, unsigned for integers, which wrap) and are rounded once;
// products of floats run in f64, where those of f32 neither overflow early nor vanish. Maxima and minima
// carry where they were found: the first of equal elements wins, whatever order the lanes merge in, so zeros
// of both signs and ties of argMax come out as in a row-major walk; NaN beats everything but an earlier NaN.
#include "compiler/lower/kernels/reduction_plan.h"
#include "ir/base/assert.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

constexpr std::string_view sumText = R"(
struct Carry { $Sum$ sum; };
DFC_INLINE Carry start() { return {$Sum$(0)}; }
DFC_INLINE void accumulate(Carry& into, Value x, Position) { into.sum += $Sum$(x); }
DFC_INLINE void merge(Carry& into, const Carry& from) { into.sum += from.sum; }
DFC_INLINE Carry shuffled(const Carry& carry, int lane) {
  return {__shfl_xor_sync(0xffffffffu, carry.sum, lane)};
}
DFC_INLINE Result finish(const Carry& carry) { return stored<Result>(Value(carry.sum$mean$)); }
)";

constexpr std::string_view productText = R"(
struct Carry { $Product$ product; };
DFC_INLINE Carry start() { return {$Product$(1)}; }
DFC_INLINE void accumulate(Carry& into, Value x, Position) { into.product *= $Product$(x); }
DFC_INLINE void merge(Carry& into, const Carry& from) { into.product *= from.product; }
DFC_INLINE Carry shuffled(const Carry& carry, int lane) {
  return {__shfl_xor_sync(0xffffffffu, carry.product, lane)};
}
DFC_INLINE Result finish(const Carry& carry) { return stored<Result>(Value(carry.product)); }
)";

constexpr std::string_view bestText = R"(
struct Carry { $Best$ best; Position at; }; // `at`: its place in the row-major walk
DFC_INLINE Carry start() { return {$worst$, ~Position(0)}; }
DFC_INLINE void accumulate(Carry& into, Value x, Position at) { // later than all before
  if (!isNan(into.best) && ($Best$(x) $beats$ into.best || isNan(x))) into = {$Best$(x), at};
}
DFC_INLINE void merge(Carry& into, const Carry& from) {
  const bool earlier = from.at < into.at;
  const bool wins = isNan(from.best) ? !isNan(into.best) || earlier
                                     : from.best $beats$ into.best || (from.best == into.best && earlier);
  if (wins) into = from;
}
DFC_INLINE Carry shuffled(const Carry& carry, int lane) {
  return {__shfl_xor_sync(0xffffffffu, carry.best, lane), __shfl_xor_sync(0xffffffffu, carry.at, lane)};
}
DFC_INLINE Result finish(const Carry& carry) { return $finish$; }
)";

// Merges the carries of a block of whole warps; the first thread gets the result.
constexpr std::string_view mergedBlockText = R"(
template <int threads> DFC_INLINE Carry mergedBlock(Carry carry, Carry (&ofWarps)[32]) {
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) merge(carry, shuffled(carry, lane));
  if constexpr (threads > 32) {
    if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = carry;
    __syncthreads();
    carry = threadIdx.x < threads / 32 ? ofWarps[threadIdx.x] : start();
    if (threadIdx.x < 32) {
#pragma unroll
      for (int lane = 16; lane > 0; lane /= 2) merge(carry, shuffled(carry, lane));
    }
  }
  return carry;
}
)";

std::string sumType(ElementType element) {
  switch (element) {
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16: return "f32";
  case ElementType::F64: return "f64";
  case ElementType::I64: return "u64";
  case ElementType::I32:
  case ElementType::U8:
  case ElementType::Bool: return "u32";
  }
  DFC_UNREACHABLE("element type");
}

// The register that holds the best value: shuffles know no u8.
std::string bestType(ElementType element) {
  return byteWidth(element) == 1 ? "u32" : std::string(valueName(element));
}

std::string lowest(ElementType element) {
  switch (element) {
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16: return "-__int_as_float(0x7f800000)";
  case ElementType::F64: return "-__longlong_as_double(0x7ff0000000000000ll)";
  case ElementType::I32: return "-2147483647 - 1";
  case ElementType::I64: return "-9223372036854775807ll - 1";
  case ElementType::U8:
  case ElementType::Bool: return "0u";
  }
  DFC_UNREACHABLE("element type");
}

std::string highest(ElementType element) {
  switch (element) {
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16: return "__int_as_float(0x7f800000)";
  case ElementType::F64: return "__longlong_as_double(0x7ff0000000000000ll)";
  case ElementType::I32: return "2147483647";
  case ElementType::I64: return "9223372036854775807ll";
  case ElementType::U8:
  case ElementType::Bool: return "255u";
  }
  DFC_UNREACHABLE("element type");
}

std::string productType(ElementType element) { return isFloat(element) ? "f64" : sumType(element); }

bool sums(ReductionKind kind) { return kind == ReductionKind::Sum || kind == ReductionKind::Mean; }

IndexText positions(int64_t length) { return IndexText(length); }

// An element as bad as the worst value does not beat it, so a carry that found nothing stands for the first
// element.
std::string finishOf(ReductionKind kind) {
  return kind == ReductionKind::ArgMax ? "carry.at == ~Position(0) ? 0 : i64(carry.at)"
                                       : "stored<Result>(Value(carry.best))";
}

} // namespace

std::string reductionText(ReductionKind kind, ElementType element, int64_t length, int64_t meanOf) {
  std::string text =
      fmt::format("using Position = {};\nusing Value = {};\nusing Result = {};\n", positions(length).type(),
                  valueName(element), kind == ReductionKind::ArgMax ? "i64" : storageName(element));
  const std::string sum = sumType(element);
  switch (kind) {
  case ReductionKind::Sum: return text + filled(sumText, {{"Sum", sum}, {"mean", ""}});
  case ReductionKind::Mean:
    return text + filled(sumText, {{"Sum", sum}, {"mean", fmt::format(" / {}({}ll)", sum, meanOf)}});
  case ReductionKind::Product: return text + filled(productText, {{"Product", productType(element)}});
  case ReductionKind::Max:
  case ReductionKind::Min:
  case ReductionKind::ArgMax:
    return text +
           filled(bestText, {{"Best", bestType(element)},
                             {"worst", kind == ReductionKind::Min ? highest(element) : lowest(element)},
                             {"beats", kind == ReductionKind::Min ? "<" : ">"},
                             {"finish", finishOf(kind)}});
  }
  DFC_UNREACHABLE("kind of reduction");
}

std::string blockReductionText() { return std::string(mergedBlockText); }

int64_t carryBytes(ReductionKind kind, ElementType element, int64_t length) {
  const int64_t value = std::max<int64_t>(4, byteWidth(element)); // f16 and bf16 in f32, u8 in u32
  if (sums(kind)) {
    return value;
  }
  if (kind == ReductionKind::Product) {
    return isFloat(element) ? 8 : value;
  }
  const int64_t position = positions(length).type() == "u64" ? 8 : 4;
  return 2 * std::max(value, position);
}

} // namespace dfc::cuda
