#include "ir/graph/tensor_type.h"

#include "ir/base/assert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace dfc {

int64_t byteWidth(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64: return 8;
  case ElementType::F32:
  case ElementType::I32: return 4;
  case ElementType::F16:
  case ElementType::BF16: return 2;
  case ElementType::U8:
  case ElementType::Bool: return 1;
  }
  DFC_UNREACHABLE("element type");
}

bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 || type == ElementType::F16 ||
         type == ElementType::BF16;
}

bool isInteger(ElementType type) {
  return type == ElementType::I32 || type == ElementType::I64 || type == ElementType::U8;
}

std::string_view name(ElementType type) {
  switch (type) {
  case ElementType::F32: return "f32";
  case ElementType::F64: return "f64";
  case ElementType::F16: return "f16";
  case ElementType::BF16: return "bf16";
  case ElementType::I32: return "i32";
  case ElementType::I64: return "i64";
  case ElementType::U8: return "u8";
  case ElementType::Bool: return "bool";
  }
  DFC_UNREACHABLE("element type");
}

std::optional<ElementType> elementTypeNamed(std::string_view text) {
  const auto* found = std::find_if(allElementTypes.begin(), allElementTypes.end(),
                                   [&](ElementType type) { return name(type) == text; });
  return found == allElementTypes.end() ? std::nullopt : std::optional(*found);
}

Shape::Shape(std::span<const int64_t> dims) : illFormed_(!valid(dims)) {
  const std::span<const int64_t> kept = dims.first(std::min(dims.size(), maxRank));
  rank_ = static_cast<uint8_t>(kept.size());
  std::copy(kept.begin(), kept.end(), dims_.begin());
}

bool Shape::valid(std::span<const int64_t> dims) {
  if (dims.size() > maxRank || std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; })) {
    return false;
  }
  // Zero dimensions are left out on purpose: [0, 2^62, 2^62] has no element but is no shape that anyone
  // means.
  int64_t left = std::numeric_limits<int64_t>::max() / 8;
  for (const int64_t dim : dims) {
    left /= std::max<int64_t>(dim, 1);
  }
  return left > 0;
}

int64_t Shape::elements() const {
  if (illFormed_) {
    return 0;
  }
  int64_t count = 1;
  for (const int64_t dim : dims()) {
    count *= dim;
  }
  return count;
}

std::string toString(const Shape& shape) {
  // Truncation: a shape of more than 8 axes is ill-formed and stores the first 8.
  const bool truncated = !shape.wellFormed() && Shape::valid(shape.dims()) && shape.rank() == Shape::maxRank;
  return fmt::format("[{}{}]", fmt::join(shape.dims(), ", "), truncated ? ", ..." : "");
}

std::string toString(const TensorType& type) {
  return fmt::format("{}{}", name(type.element), toString(type.shape));
}

std::optional<Shape> broadcastShapes(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.rank(), b.rank());
  std::array<int64_t, Shape::maxRank> dims{};
  for (size_t fromEnd = 1; fromEnd <= rank; ++fromEnd) {
    const int64_t left = fromEnd <= a.rank() ? a[a.rank() - fromEnd] : 1;
    const int64_t right = fromEnd <= b.rank() ? b[b.rank() - fromEnd] : 1;
    if (left != right && left != 1 && right != 1) {
      return std::nullopt;
    }
    dims[rank - fromEnd] = left == 1 ? right : left;
  }
  const std::span<const int64_t> result(dims.data(), rank);
  return Shape::valid(result) ? std::optional(Shape(result)) : std::nullopt;
}

} // namespace dfc
