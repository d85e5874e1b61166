// The formulas of ir/graph/ops/normalisation/softmax.h and its relatives, in f32 (f64 for f64). The maximum
// and the sum of exp(x - maximum) are found in one sweep (Milakov and Gimelshein, Online normalizer
// calculation for softmax, 2018): a sum is rescaled when its maximum grows. NaN is not looked for: it makes
// the sum NaN, and with it the whole row, as the definition does; a row whose maximum is infinite is NaN as
// well.
#include "compiler/lower/kernels/rows/rows.h"
#include "ir/base/assert.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

constexpr std::string_view totalsText = R"(
using Real = $Real$;
using Element = $Element$;
struct Totals { Real most, sum; }; // sum of exp(x - most)
DFC_INLINE Totals start() { return {$lowest$, Real(0)}; }
DFC_INLINE f32 larger2(f32 a, f32 b) { return fmaxf(a, b); } // the other one, where one is NaN
DFC_INLINE f64 larger2(f64 a, f64 b) { return fmax(a, b); }
DFC_INLINE Real rescaled(const Totals& totals, Real most) { // infinity - infinity would be NaN
  return totals.most == most ? totals.sum : totals.sum * expOf(totals.most - most);
}
template <int count> DFC_INLINE Real mostOf(Real most, const Real (&x)[count]) {
#pragma unroll
  for (int k = 0; k < count; ++k) most = larger2(most, x[k]);
  return most;
}
DFC_INLINE Real powerOf(Real x, Real most) { return x == most ? Real(1) : expOf(x - most); }
// Where nothing but -infinity was seen the sum is 0, which counts nothing beside anything else.
template <int count> DFC_INLINE void add(Totals& into, const Real (&x)[count]) {
  const Real most = mostOf(into.most, x), from = most == start().most ? Real(0) : most;
  Real sum = rescaled(into, most);
#pragma unroll
  for (int k = 0; k < count; ++k) sum += expOf(x[k] - from);
  into = {most, sum};
}
DFC_INLINE void merge(Totals& into, const Totals& from) {
  const Real most = larger2(into.most, from.most);
  into = {most, rescaled(into, most) + rescaled(from, most)};
}
// Every power waits for the maximum only, and not for another power.
template <int count> DFC_INLINE Totals merged(const Totals (&list)[count]) {
  Totals all = {start().most, Real(0)};
#pragma unroll
  for (int n = 0; n < count; ++n) all.most = larger2(all.most, list[n].most);
#pragma unroll
  for (int n = 0; n < count; ++n) all.sum += rescaled(list[n], all.most);
  return all;
}
DFC_INLINE Totals shuffled(const Totals& totals, int lane) {
  return {__shfl_xor_sync(0xffffffffu, totals.most, lane), __shfl_xor_sync(0xffffffffu, totals.sum, lane)};
}
// most - most is 0, or NaN where the maximum is infinite.
DFC_INLINE Totals settled(const Totals& totals) { return {totals.most, totals.sum + (totals.most - totals.most)}; }
)";

constexpr std::string_view softmaxText = R"(
struct Row { Real most, scale; };
DFC_INLINE Row rowOf(const Totals& totals, Index) { return {totals.most, Real(1) / totals.sum}; }
DFC_INLINE Real result(const Row& row, Real, Real power, Index) { return power * row.scale; }
)";

constexpr std::string_view logSoftmaxText = R"(
struct Row { Real most, logSum; };
DFC_INLINE Row rowOf(const Totals& totals, Index) { return {totals.most, logOf(totals.sum)}; }
DFC_INLINE Real result(const Row& row, Real x, Real, Index) { return x - row.most - row.logSum; }
)";

// A label outside the classes makes its row NaN.
constexpr std::string_view gradientText = R"(
struct Row { Real most, scale, gradient; i64 label; };
DFC_INLINE Row rowOf(const Totals& totals, Index row, const $Label$* labels, const $Loss$* cotangent) {
  const i64 label = labels[row];
  const Real gradient = valueOf(cotangent[0]) / Real($rows$ll);
  return {totals.most, Real(1) / totals.sum, label >= 0 && label < $classes$ll ? gradient : $nan$, label};
}
DFC_INLINE Real result(const Row& row, Real, Real power, Index column) {
  const Real probability = power * row.scale;
  return (i64(column) == row.label ? probability - Real(1) : probability) * row.gradient;
}
)";

constexpr std::string_view lanesText = R"(
struct $Shared$ {};
template <int use> DFC_INLINE Totals agreed(Totals totals, $Shared$&) {
#pragma unroll
  for (int lane = lanes / 2; lane > 0; lane /= 2) merge(totals, shuffled(totals, lane));
  return settled(totals);
}
)";

constexpr std::string_view blockText = R"(
struct $Shared$ { Totals ofWarps[2][lanes / 32]; };
template <int use> DFC_INLINE Totals agreed(Totals totals, $Shared$& shared) {
  auto& ofWarps = shared.ofWarps[use];
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) merge(totals, shuffled(totals, lane));
  if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = totals;
  __syncthreads();
  totals = ofWarps[threadIdx.x % (lanes / 32)]; // every warp does the same, so that no second barrier is due
#pragma unroll
  for (int lane = lanes / 64; lane > 0; lane /= 2) merge(totals, shuffled(totals, lane));
  return settled(totals);
}
)";

constexpr std::string_view packsText = R"(
struct RowPacks { Index head, tail, beside; };
DFC_INLINE RowPacks packsOf(Index base) {
  if (!peeled) return {0, classes, classes};
  const Index head = (width - base % width) % width, tail = head + (classes - head) / width * width;
  return {head, tail, threadIdx.x < head ? threadIdx.x : tail + (threadIdx.x - head)};
}
)";

bool wide(ElementType element) { return element == ElementType::F64; }

std::string nan(ElementType element) {
  return wide(element) ? "__longlong_as_double(0x7ff8000000000000ll)" : "__int_as_float(0x7fc00000)";
}

} // namespace

std::string rowTotalsText(ElementType element) {
  return filled(totalsText, {{"Real", wide(element) ? "f64" : "f32"},
                             {"Element", std::string(storageName(element))},
                             {"lowest", wide(element) ? "-__longlong_as_double(0x7ff0000000000000ll)"
                                                      : "-__int_as_float(0x7f800000)"}});
}

std::string rowFormulaText(const RowFormula& formula, int64_t classes) {
  switch (formula.kind) {
  case RowFormula::Kind::Softmax: return std::string(softmaxText);
  case RowFormula::Kind::LogSoftmax: return std::string(logSoftmaxText);
  case RowFormula::Kind::CrossEntropyGradient:
    return filled(gradientText, {{"Label", formula.label},
                                 {"Loss", formula.loss},
                                 {"rows", fmt::format("{}", formula.rows)},
                                 {"classes", fmt::format("{}", classes)},
                                 {"nan", nan(formula.element)}});
  }
  DFC_UNREACHABLE("row formula");
}

std::string rowsHead(const RowFormula& formula, int64_t rows, int64_t classes, int64_t width) {
  const IndexText index(rows * classes);
  return fmt::format("using Index = {};\n", index.type()) + constant("Index", "classes", index.of(classes)) +
         constant("width", width) + rowTotalsText(formula.element) + rowFormulaText(formula, classes);
}

std::string rowPacksText(bool peeled) {
  return constant("bool", "peeled", peeled ? "true" : "false") + std::string(packsText);
}

std::string agreedText(int64_t lanes, std::string_view shared) {
  return filled(lanes <= 32 ? lanesText : blockText, {{"Shared", std::string(shared)}});
}

int64_t totalsBytes(ElementType element) { return wide(element) ? 16 : 8; }

int64_t agreementBytes(int64_t lanes, ElementType element) {
  return lanes <= 32 ? 0 : 2 * lanes / 32 * totalsBytes(element);
}

} // namespace dfc::cuda
