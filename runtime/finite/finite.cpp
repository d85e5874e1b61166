#include "runtime/finite/finite.h"

#include "ir/base/assert.h"
#include "ir/base/half.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace dfc {
namespace {

/// An IEEE number is NaN or infinite exactly where all bits of its exponent are set. Blocks keep the loop
/// free of branches and still end soon.
template <class Bits>
bool exponentsLeaveRoom(std::span<const std::byte> bytes, Bits exponent) {
  constexpr size_t block = 4096;
  const size_t count = bytes.size() / sizeof(Bits);
  for (size_t begin = 0; begin < count; begin += block) {
    bool full = false;
    for (size_t i = begin; i < std::min(count, begin + block); ++i) {
      Bits bits;
      std::memcpy(&bits, bytes.data() + i * sizeof(Bits), sizeof(Bits));
      full |= (bits & exponent) == exponent;
    }
    if (full) {
      return false;
    }
  }
  return true;
}

template <class Element>
ElementRange rangeOfElements(std::span<const std::byte> bytes) {
  ElementRange range;
  range.elements = static_cast<int64_t>(bytes.size() / sizeof(Element));
  range.lowest = std::numeric_limits<double>::infinity();
  range.highest = -range.lowest;
  for (int64_t i = 0; i < range.elements; ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + static_cast<size_t>(i) * sizeof(Element), sizeof(Element));
    double value = 0;
    if constexpr (std::is_same_v<Element, Half> || std::is_same_v<Element, BFloat16>) {
      value = static_cast<double>(static_cast<float>(element));
    } else {
      value = static_cast<double>(element);
    }
    if (std::isnan(value)) {
      ++range.nans;
    } else if (std::isinf(value)) {
      ++range.infinities;
    } else {
      range.lowest = std::min(range.lowest, value);
      range.highest = std::max(range.highest, value);
    }
  }
  return range;
}

} // namespace

bool isFinite(const TensorType& type, std::span<const std::byte> bytes) {
  switch (type.element) {
  case ElementType::F32: return exponentsLeaveRoom<uint32_t>(bytes, 0x7f800000U);
  case ElementType::F64: return exponentsLeaveRoom<uint64_t>(bytes, 0x7ff0000000000000U);
  case ElementType::F16: return exponentsLeaveRoom<uint16_t>(bytes, 0x7c00U);
  case ElementType::BF16: return exponentsLeaveRoom<uint16_t>(bytes, 0x7f80U);
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U8:
  case ElementType::Bool: return true;
  }
  DFC_UNREACHABLE("element type");
}

ElementRange rangeOf(const TensorType& type, std::span<const std::byte> bytes) {
  switch (type.element) {
  case ElementType::F32: return rangeOfElements<float>(bytes);
  case ElementType::F64: return rangeOfElements<double>(bytes);
  case ElementType::F16: return rangeOfElements<Half>(bytes);
  case ElementType::BF16: return rangeOfElements<BFloat16>(bytes);
  case ElementType::I32: return rangeOfElements<int32_t>(bytes);
  case ElementType::I64: return rangeOfElements<int64_t>(bytes);
  case ElementType::U8:
  case ElementType::Bool: return rangeOfElements<uint8_t>(bytes);
  }
  DFC_UNREACHABLE("element type");
}

std::string textOf(const ElementRange& range) {
  if (range.elements == 0) {
    return "no elements";
  }
  std::string text;
  if (range.nans + range.infinities < range.elements) {
    text = fmt::format("from {:.6g} to {:.6g}", range.lowest, range.highest);
  }
  const auto add = [&](int64_t count, std::string_view what, bool first) {
    if (count > 0) {
      text += text.empty() ? "" : ", ";
      text += first ? fmt::format("{} of {} elements {}", count, range.elements, what)
                    : fmt::format("{} {}", count, what);
    }
  };
  add(range.nans, "nan", true);
  add(range.infinities, "infinite", range.nans == 0);
  return text;
}

} // namespace dfc
