// What kernels of whole rows share: the text of a row's formulas for softmax and its relatives; and, for
// normalisations too, lanes that agree on a row's totals.
#pragma once

#include "compiler/lower/kernels/families.h"

namespace dfc::cuda {

/// Softmax-like: every element of a row becomes a function of the element and of the row's maximum and sum of
/// powers.
struct RowFormula {
  enum class Kind : uint8_t { Softmax, LogSoftmax, CrossEntropyGradient };
  Kind kind = Kind::Softmax;
  ElementType element = ElementType::F32;
  std::string label, loss; ///< storage of the labels and of the cotangent (CrossEntropyGradient)
  int64_t rows = 0;        ///< of the whole (likewise)
};

/// Real, Element, infinity, and a running maximum with its sum of powers: Totals, start, mostOf, powerOf,
/// add, merge, merged (a list of them), shuffled, and `settled`, which makes the sum NaN where the maximum is
/// infinite.
std::string rowTotalsText(ElementType element);
/// Row, rowOf(totals, row, …) and result(row, x, power, column), the power being powerOf(x, row.most).
std::string rowFormulaText(const RowFormula& formula, int64_t classes);
/// `shared`, a struct, and `agreed<use>(totals, shared)`, over Totals, merge, shuffled and settled: merges
/// over `lanes` threads, so that all of them know the result; uses 0 and 1 do not get into one another's way.
/// lanes <= 32, or the whole block.
std::string agreedText(int64_t lanes, std::string_view shared = "Shared");
/// sizeof Totals: of two reals.
int64_t totalsBytes(ElementType element);
/// What that struct adds to a launch's shared bytes: its size, but 0 where it is empty.
int64_t agreementBytes(int64_t lanes, ElementType element);

/// Index and the constants `classes` and `width`, then rowTotalsText and rowFormulaText, which need them.
std::string rowsHead(const RowFormula& formula, int64_t rows, int64_t classes, int64_t width);
/// Where a row lies in packs of `width`: `RowPacks packsOf(base)`, the row's elements [head, tail) in aligned
/// packs and at most one element `beside` them for each thread of a block of 2 * width threads or more;
/// `classes` for none. Loop peeling (`peeled`): unaligned elements at both ends of a row are read one by one,
/// all others in aligned packs, for any length of the row; without it, `width` divides `classes`. Needs what
/// rowsHead needs.
std::string rowPacksText(bool peeled);

/// Softmax or logSoftmax along an axis that is not the last: rows are [outer, classes, inner].
GeneratedKernels columnsSoftmax(const RowFormula& formula, int64_t outer, int64_t classes, int64_t inner,
                                const GpuShape& gpu);

} // namespace dfc::cuda
