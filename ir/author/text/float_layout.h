// Where sign, exponent and significand of the float types lie, and elements as raw bits; for number.cpp and
// print_number.cpp.
#pragma once

#include "ir/base/assert.h"
#include "ir/graph/tensor_type.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace dfc::text {

struct FloatLayout {
  int significandBits;
  int bits;
  uint64_t significandMask() const { return (uint64_t(1) << significandBits) - 1; }
  uint64_t signMask() const { return uint64_t(1) << (bits - 1); }
  uint64_t exponentMask() const { return (signMask() - 1) & ~significandMask(); }
  uint64_t quietBit() const { return uint64_t(1) << (significandBits - 1); }
};

inline FloatLayout layoutOf(ElementType type) {
  switch (type) {
  case ElementType::F32: return {23, 32};
  case ElementType::F64: return {52, 64};
  case ElementType::F16: return {10, 16};
  case ElementType::BF16: return {7, 16};
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U8:
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("layout of a type that is no float");
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

inline uint64_t loadBits(ElementType type, const std::byte* element) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(byteWidth(type)));
  return bits;
}

inline void storeBits(ElementType type, uint64_t bits, std::byte* element) {
  std::memcpy(element, &bits, static_cast<size_t>(byteWidth(type)));
}

} // namespace dfc::text
