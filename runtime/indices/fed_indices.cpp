// Once over the data; over the ops only where an element is out of range.
#include "runtime/indices/fed_indices.h"

#include "runtime/finite/finite.h"
#include "runtime/indices/index_uses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

/// Whether a step takes the element of the data, in a batch at one of these places.
class Taken {
 public:
  Taken(const Literal& places, int64_t elements, const RowsOfStep& rows)
      : rowSize_(rows.rows > 0 ? std::max<int64_t>(elements / rows.rows, 1) : 0),
        batchSize_(rows.rows > 0 ? rowSize_ * rows.perStep : elements),
        end_(rows.rows > 0 && !rows.shuffled ? elements / std::max<int64_t>(batchSize_, 1) * batchSize_
                                             : elements),
        shuffled_(rows.shuffled && rows.rows > 0), at_(static_cast<size_t>(batchSize_), false) {
    for (int64_t i = 0; i < places.type().shape.elements(); ++i) {
      const auto place = static_cast<int64_t>(places.at(i));
      if (place < batchSize_) { // data that does not fit has its own error
        at_[static_cast<size_t>(shuffled_ ? place % rowSize_ : place)] = true;
      }
    }
  }
  bool holds(int64_t element) const {
    return element < end_ && at_[static_cast<size_t>(element % (shuffled_ ? rowSize_ : batchSize_))];
  }

 private:
  int64_t rowSize_, batchSize_, end_;
  bool shuffled_;
  std::vector<bool> at_; // by place in a batch, or in a row where rows are shuffled
};

/// "row 7", "element [7, 2]", as the data are indexed.
std::string placeText(const Shape& shape, int64_t element) {
  if (shape.rank() < 2) {
    return shape.rank() == 0 ? "the number" : fmt::format("row {}", element);
  }
  std::vector<int64_t> at(shape.rank());
  for (size_t axis = shape.rank(); axis-- > 0; element /= shape[axis]) {
    at[axis] = element % shape[axis];
  }
  return fmt::format("element [{}]", fmt::join(at, ", "));
}

constexpr auto wrongLabel = "labels are counted from 0; any other gives a loss that is NaN";

WrongIndex wrong(const Graph& graph, const IndexRange& range, const Literal& data, int64_t element) {
  const OpRow& row = graph[range.op];
  const auto message = [&](std::string_view what) {
    return fmt::format("{} is {}, but op '{}' has {} {}, {} to {}", placeText(data.type().shape, element),
                       data.at(element), graph.nameOf(range.op), range.end, what, range.least, range.end - 1);
  };
  switch (row.kind()) {
  case OpKind::SoftmaxCrossEntropy:
  case OpKind::SoftmaxCrossEntropyGradient: return {range.op, message("classes"), wrongLabel};
  case OpKind::OneHot:
    return range.refused ? WrongIndex{range.op, message("classes"), wrongLabel}
                         : WrongIndex{range.op, message("places"), "its row is all zeros", false};
  case OpKind::ScatterAdd: return {range.op, message("slices"), "its update is added nowhere", false};
  default: break;
  }
  const bool givesNan = isFloat(graph.typeOf(row.firstResult).element);
  return {range.op, message("slices to gather"),
          fmt::format("indices are counted from 0, or below 0 from the end; any other gives {}",
                      givesNan ? "NaN" : "0")};
}

/// Whether all integers lie in the range. Without branches, so that it is a loop over vectors: the top bit of
/// a difference says which number is the larger, and wrapping sets it for the other one.
template <class Element>
bool allWithin(std::span<const Element> elements, int64_t least, int64_t end) {
  uint64_t outside = 0;
  for (const Element element : elements) {
    const auto index = static_cast<uint64_t>(static_cast<int64_t>(element));
    outside |= (index - static_cast<uint64_t>(least)) | (static_cast<uint64_t>(end - 1) - index);
  }
  return outside >> 63 == 0;
}

/// The same, but for other labels that do not count.
template <class Element>
bool allFit(std::span<const Element> elements, const FedIndices& range) {
  return allWithin(elements, range.least, range.end) ||
         (!range.others.empty() && llvm::all_of(elements, [&](int64_t index) {
           return (index >= range.least && index < range.end) || llvm::is_contained(range.others, index);
         }));
}

bool allFit(const Literal& data, const FedIndices& range) {
  switch (data.type().element) {
  case ElementType::I32: return allFit(data.data<int32_t>(), range);
  case ElementType::I64: return allFit(data.data<int64_t>(), range);
  case ElementType::U8: return allFit(data.data<uint8_t>(), range);
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::Bool: return true;
  }
  DFC_UNREACHABLE("element type");
}

} // namespace

std::optional<WrongIndex> wrongIndex(const Graph& graph, std::string_view input, const Literal& data,
                                     const RowsOfStep& taken) {
  std::optional<WrongIndex> found;
  const std::vector<IndexUse> uses = indexUsesOf(graph, input);
  const ElementRange all = uses.empty() ? ElementRange() : dfc::rangeOf(data.type(), data.bytes());
  const int64_t elements = data.type().shape.elements();
  for (const IndexUse& use : uses) {
    if (elements == 0 || (use.range.isWithin(all.lowest) && use.range.isWithin(all.highest))) {
      continue;
    }
    const Taken isTaken(use.places, elements, taken);
    for (int64_t i = 0; i < elements; ++i) {
      if (isTaken.holds(i) && !use.range.holds(data.at(i))) {
        WrongIndex one = wrong(graph, use.range, data, i);
        if (!found || one.refused > found->refused) {
          found = std::move(one);
        }
        break;
      }
    }
  }
  return found;
}

std::vector<FedIndices> fedIndicesOf(const Graph& graph) {
  std::vector<FedIndices> all;
  for (const auto& [input, range] : refusedRanges(graph)) {
    all.push_back({input, range.least, range.end, range.others});
  }
  return all;
}

Diagnostics checkIndices(const Graph& graph, llvm::ArrayRef<FedIndices> inputs, const NamedLiterals& given,
                         const RowsOfStep& taken) {
  Diagnostics errors;
  for (const FedIndices& one : inputs) {
    const auto fed = given.find(one.input);
    if (fed == given.end() || allFit(fed->second, one)) {
      continue;
    }
    const auto wrong = wrongIndex(graph, one.input, fed->second, taken);
    if (wrong && wrong->refused) {
      errors.push_back({Severity::Error, graph.locationOf(wrong->op),
                        fmt::format("input '{}': {}", one.input, wrong->message), wrong->effect});
    }
  }
  return errors;
}

} // namespace dfc
