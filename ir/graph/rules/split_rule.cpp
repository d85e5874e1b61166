#include "ir/graph/rules/split_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dfc {
namespace {

int64_t floorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

int64_t ceilQuotient(int64_t a, int64_t b) { return -floorQuotient(-a, b); }

std::string axesText(llvm::ArrayRef<SplitFactor> factors, const TensorType& type,
                     llvm::function_ref<const SplitAxis&(const SplitFactor&)> of) {
  std::string text;
  for (size_t axis = 0; axis < type.shape.rank(); ++axis) {
    std::string letters;
    for (size_t f = 0; f < factors.size(); ++f) {
      const SplitAxis& at = of(factors[f]);
      if (at.cut() && at.axis == axis) {
        letters += at.stride > 1 ? std::to_string(at.stride) : "";
        letters += static_cast<char>('a' + f);
      }
    }
    text += letters.empty() ? "_" : letters;
  }
  for (size_t f = 0; f < factors.size(); ++f) {
    if (of(factors[f]).form == SplitAxis::Form::Partial) {
      text += '+';
      text += static_cast<char>('a' + f);
    }
  }
  return text;
}

} // namespace

SplitRange SplitAxis::elements(SplitRange positions) const {
  if (!cut()) {
    return {0, length};
  }
  if (positions.size() <= 0) {
    return {0, 0};
  }
  SplitRange range;
  if (form == Form::Forward) {
    range = {positions.begin * stride - low, (positions.end - 1) * stride - low + span};
  } else {
    range = {ceilQuotient(positions.begin + low - span + 1, stride),
             floorQuotient(positions.end - 1 + low, stride) + 1};
  }
  range.begin = std::clamp<int64_t>(range.begin, 0, length);
  range.end = std::clamp(range.end, range.begin, length);
  return range;
}

SplitAxis alongAxis(const TensorType& type, size_t axis) { return groupsAlongAxis(type, axis, 1); }

SplitAxis groupsAlongAxis(const TensorType& type, size_t axis, int64_t size) {
  return {SplitAxis::Form::Forward, axis, type.shape[axis], size, size, 0};
}

SplitAxis pieceOfAxis(const TensorType& type, size_t axis, int64_t first) {
  return {SplitAxis::Form::Forward, axis, type.shape[axis], 1, 1, first};
}

TensorType partType(const TensorType& whole, const SplitAxis& axis, SplitRange positions) {
  if (!axis.cut()) {
    return whole;
  }
  Dims dims(whole.shape.dims().begin(), whole.shape.dims().end());
  dims[axis.axis] = axis.elements(positions).size();
  return {whole.element, Shape(dims)};
}

std::string toString(const SplitRule& rule, llvm::ArrayRef<TensorType> operands,
                     llvm::ArrayRef<TensorType> results) {
  static constexpr std::array<std::string_view, 7> kinds = {"",     "sum",  "max",   "min",
                                                            "prod", "scan", "window"};
  std::string text = "(";
  for (size_t i = 0; i < operands.size(); ++i) {
    text += i > 0 ? "," : "";
    text += axesText(rule.factors, operands[i],
                     [i](const SplitFactor& factor) -> const SplitAxis& { return factor.operands[i]; });
  }
  text += ")->(";
  for (size_t i = 0; i < results.size(); ++i) {
    text += i > 0 ? "," : "";
    text += axesText(rule.factors, results[i],
                     [i](const SplitFactor& factor) -> const SplitAxis& { return factor.results[i]; });
  }
  text += ")";
  for (size_t f = 0; f < rule.factors.size(); ++f) {
    if (rule.factors[f].kind != SplitKind::Free) {
      text +=
          fmt::format(" {}:{}", static_cast<char>('a' + f), kinds[static_cast<size_t>(rule.factors[f].kind)]);
    }
  }
  return text;
}

} // namespace dfc
