#include "tests/compiler/split/in_parts.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/base/assert.h"
#include "ir/graph/initialise.h"
#include "ir/graph/rules/place_in_whole.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace dfc::test {
namespace {

std::vector<Literal> valuesOfCall(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands,
                                  const Literal* given) {
  if (attributes.is<ops::Parameter>()) {
    return {initialise(attributes.as<ops::Parameter>())};
  }
  if (attributes.is<ops::Input>()) {
    return {*given};
  }
  const auto values = evaluateOp(attributes, operands);
  return {values.begin(), values.end()};
}

// What a caller feeds: each element its own index.
Literal fed(const TensorType& type) {
  Literal value(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    value.set(i, static_cast<double>(i));
  }
  return value;
}

Literal combined(SplitKind kind, const Literal& a, const Literal& b) {
  switch (kind) {
  case SplitKind::Sum:
  case SplitKind::Scan: return evaluateOp(ops::Add{}, {a, b}).front();
  case SplitKind::Max: return evaluateOp(ops::Maximum{}, {a, b}).front();
  case SplitKind::Min: return evaluateOp(ops::Minimum{}, {a, b}).front();
  case SplitKind::Product: return evaluateOp(ops::Mul{}, {a, b}).front();
  case SplitKind::Free:
  case SplitKind::Window: break;
  }
  DFC_UNREACHABLE("free parts are not combined");
}

Literal concatenated(llvm::ArrayRef<Literal> pieces, size_t axis) {
  ops::Concat concat;
  concat.axis = static_cast<int64_t>(axis);
  return evaluateOp(concat, pieces).front();
}

Literal differenceOf(const Literal& a, const Literal& b) { return evaluateOp(ops::Sub{}, {a, b}).front(); }

class Cut {
 public:
  Cut(const SplitCall& call, const SplitFactor& factor, llvm::ArrayRef<SplitRange> ranges, Dice& dice)
      : call_(call), factor_(factor), ranges_(ranges) {
    shares_.resize(call.operands.size());
    for (size_t i = 0; i < shares_.size(); ++i) {
      if (factor.operands[i].form == SplitAxis::Form::Partial) {
        shares_[i] = sharesOf(call.operands[i], dice);
      }
    }
  }

  InParts run(Forgotten forgotten) {
    for (size_t p = 0; p < ranges_.size() && joined_.error.empty(); ++p) {
      runPart(p, forgotten);
    }
    for (size_t i = 0; i < call_.resultTypes.size() && joined_.error.empty(); ++i) {
      joined_.results.push_back(joinedResult(i));
    }
    return std::move(joined_);
  }

 private:
  // Whole numbers that add up to the value's.
  std::vector<Literal> sharesOf(const Literal& value, Dice& dice) const {
    std::vector<Literal> shares;
    Literal rest = value;
    for (size_t p = 1; p < ranges_.size(); ++p) {
      shares.push_back(wholeNumbers(value.type(), dice));
      rest = differenceOf(rest, shares.back());
    }
    shares.push_back(rest);
    return shares;
  }

  Literal operandOf(size_t part, size_t i) const {
    const SplitAxis& at = factor_.operands[i];
    return !shares_[i].empty() ? shares_[i][part]
           : at.cut()          ? sliced(call_.operands[i], at.axis, at.elements(ranges_[part]))
                               : call_.operands[i];
  }

  void runPart(size_t p, Forgotten forgotten) {
    const SplitPart part{factor_, ranges_[p], call_.operandTypes, call_.resultTypes};
    const OpAttributes attributes =
        forgotten == Forgotten::Attributes ? call_.attributes : partOf(call_.attributes, part);
    std::vector<Literal> operands;
    std::vector<TensorType> types;
    for (size_t i = 0; i < call_.operands.size(); ++i) {
      operands.push_back(operandOf(p, i));
      types.push_back(part.operandType(i));
    }
    const TypeResult results = resultTypes(attributes, types);
    joined_.error = results.error;
    for (size_t i = 0; i < results.types.size(); ++i) {
      if (!(results.types[i] == part.resultType(i))) {
        joined_.error = fmt::format("result {} of part {} is {}, not {}", i, p, toString(results.types[i]),
                                    toString(part.resultType(i)));
      }
    }
    if (joined_.error.empty()) {
      const SplitAxis made = factor_.results[0];
      const Literal given = call_.attributes.is<ops::Input>()
                                ? sliced(fed(call_.resultTypes[0]), made.axis, made.elements(ranges_[p]))
                                : Literal();
      parts_.push_back(valuesOfCall(attributes, operands, &given));
    }
  }

  Literal joinedResult(size_t i) {
    const SplitAxis& at = factor_.results[i];
    if (at.cut()) {
      return pieces(i, at);
    }
    Literal result = parts_[0][i];
    for (size_t p = 1; p < parts_.size(); ++p) {
      if (factor_.kind == SplitKind::Free || factor_.kind == SplitKind::Window) {
        joined_.error = parts_[p][i] == result ? joined_.error : "a result without the axis differs in parts";
      } else {
        result = combined(factor_.kind, result, parts_[p][i]);
      }
    }
    return result;
  }

  Literal pieces(size_t i, const SplitAxis& at) {
    std::vector<Literal> all;
    int64_t next = 0;
    for (size_t p = 0; p < parts_.size(); ++p) {
      const SplitRange range = at.elements(ranges_[p]);
      if (range.size() > 0) {
        joined_.error = range.begin == next ? joined_.error : "the pieces of a result leave a gap";
        next = range.end;
        all.push_back(parts_[p][i]);
      }
    }
    joined_.error = next == at.length ? joined_.error : "the pieces are not the whole result";
    if (factor_.kind == SplitKind::Scan) {
      addCarries(all, at.axis);
    }
    return all.empty() ? Literal(call_.resultTypes[i]) : concatenated(all, at.axis);
  }

  // To each piece the sum of the operands of the parts before it (or behind it).
  void addCarries(std::vector<Literal>& pieces, size_t axis) const {
    ops::ReduceSum total;
    total.axes = {static_cast<int64_t>(axis)};
    total.keepDims = true;
    std::optional<Literal> carry;
    for (size_t step = 0; step < pieces.size(); ++step) {
      const size_t p = factor_.reverse ? pieces.size() - 1 - step : step;
      if (carry) {
        pieces[p] = combined(SplitKind::Sum, pieces[p], *carry);
      }
      const Literal own = evaluateOp(total, {operandOf(p, 0)}).front();
      carry = carry ? combined(SplitKind::Sum, *carry, own) : own;
    }
  }

  const SplitCall& call_;
  const SplitFactor& factor_;
  llvm::ArrayRef<SplitRange> ranges_;
  std::vector<std::vector<Literal>> shares_; // of operands that must be partial sums
  std::vector<std::vector<Literal>> parts_;
  InParts joined_;
};

} // namespace

std::vector<SplitRange> unevenRanges(int64_t extent, int64_t count) {
  std::vector<SplitRange> ranges;
  const int64_t weights = count * (count + 1) / 2;
  for (int64_t i = 0, begin = 0; i < count && extent >= count; ++i) {
    const int64_t wanted = extent * (i + 1) * (i + 2) / 2 / weights; // lengths grow as 1, 2, 3, …
    const int64_t end = std::clamp(wanted, begin + 1, extent - (count - 1 - i));
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

InParts runInParts(const SplitCall& call, const SplitFactor& factor, llvm::ArrayRef<SplitRange> ranges,
                   Dice& dice, Forgotten forgotten) {
  return Cut(call, factor, ranges, dice).run(forgotten);
}

std::vector<Literal> runWhole(const SplitCall& call) {
  const Literal given = fed(call.resultTypes[0]);
  return valuesOfCall(call.attributes, call.operands, &given);
}

Literal sumOf(const Literal& a, const Literal& b) { return evaluateOp(ops::Add{}, {a, b}).front(); }

bool sameNumbers(const Literal& a, const Literal& b) {
  bool same = a.type() == b.type();
  for (int64_t i = 0; same && i < a.type().shape.elements(); ++i) {
    same = a.at(i) == b.at(i) || (std::isnan(a.at(i)) && std::isnan(b.at(i)));
  }
  return same;
}

double relativeError(const Literal& a, const Literal& b) {
  double largest = 0, error = 0;
  for (int64_t i = 0; i < b.type().shape.elements(); ++i) {
    if (!std::isfinite(a.at(i)) || !std::isfinite(b.at(i))) {
      return std::numeric_limits<double>::infinity();
    }
    largest = std::max(largest, std::abs(b.at(i)));
    error = std::max(error, std::abs(a.at(i) - b.at(i)));
  }
  return error == 0 ? 0 : error / largest;
}

} // namespace dfc::test
