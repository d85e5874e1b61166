// The writing half of number.h. std::to_chars gives the fewest digits that read back to the same f32 or f64;
// the 16-bit floats go through f32, with as few digits as read back.
#include "ir/author/text/float_layout.h"
#include "ir/author/text/number.h"
#include "ir/base/half.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace dfc::text {
namespace {

template <class... Options>
void appendChars(std::string& out, Options... options) {
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), options...);
  DFC_ASSERT(result.ec == std::errc(), "64 characters hold any number");
  out.append(buffer.data(), result.ptr);
}

// `value` is finite and exact in T; 5 digits are always enough for f16, 4 for bf16.
template <class T>
void appendSixteenBits(std::string& out, T value) {
  const auto wide = static_cast<float>(value);
  for (int digits = 1; digits <= 9; ++digits) {
    std::string words;
    appendChars(words, wide, std::chars_format::general, digits);
    float back = 0;
    std::from_chars(words.data(), words.data() + words.size(), back);
    if (T(back).bits == value.bits) {
      out += words;
      return;
    }
  }
  DFC_UNREACHABLE("nine digits name any f32");
}

void appendNan(std::string& out, const FloatLayout& layout, uint64_t bits) {
  out += (bits & layout.signMask()) != 0 ? "-nan" : "nan";
  const uint64_t payload = bits & layout.significandMask();
  if (payload != layout.quietBit()) {
    fmt::format_to(std::back_inserter(out), "({:#x})", payload);
  }
}

void appendFinite(std::string& out, ElementType type, const std::byte* element) {
  switch (type) {
  case ElementType::F32: return appendChars(out, load<float>(element));
  case ElementType::F64: return appendChars(out, load<double>(element));
  case ElementType::F16: return appendSixteenBits(out, load<Half>(element));
  case ElementType::BF16: return appendSixteenBits(out, load<BFloat16>(element));
  case ElementType::I32: return appendChars(out, load<int32_t>(element));
  case ElementType::I64: return appendChars(out, load<int64_t>(element));
  case ElementType::U8: return appendChars(out, static_cast<int>(load<uint8_t>(element)));
  case ElementType::Bool: out += load<uint8_t>(element) != 0 ? "true" : "false"; return;
  }
}

} // namespace

void appendElement(std::string& out, ElementType type, const std::byte* element) {
  if (isFloat(type)) {
    const FloatLayout layout = layoutOf(type);
    const uint64_t bits = loadBits(type, element);
    if ((bits & layout.exponentMask()) == layout.exponentMask()) {
      if ((bits & layout.significandMask()) != 0) {
        return appendNan(out, layout, bits);
      }
      out += (bits & layout.signMask()) != 0 ? "-inf" : "inf";
      return;
    }
  }
  appendFinite(out, type, element);
}

void appendDouble(std::string& out, double value) {
  appendElement(out, ElementType::F64, reinterpret_cast<const std::byte*>(&value));
}

} // namespace dfc::text
