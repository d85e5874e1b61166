// See number.h. std::from_chars and std::to_chars (C++17) do the exact work and know no locale; the 16-bit
// floats go through f32, with as few digits as read back.
#include "ir/text/number.h"

#include "ir/assert.h"
#include "ir/half.h"
#include "ir/text/quote.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace dfc::text {
namespace {

struct FloatLayout {
  int significandBits;
  int bits;
  uint64_t significandMask() const { return (uint64_t(1) << significandBits) - 1; }
  uint64_t signMask() const { return uint64_t(1) << (bits - 1); }
  uint64_t exponentMask() const { return (signMask() - 1) & ~significandMask(); }
  uint64_t quietBit() const { return uint64_t(1) << (significandBits - 1); }
};

FloatLayout layoutOf(ElementType type) {
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

uint64_t loadBits(ElementType type, const std::byte* element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(byteWidth(type))); // little-endian, as all our hosts
  return bits;
}

void storeBits(ElementType type, uint64_t bits, std::byte* element) {
  std::memcpy(element, &bits, static_cast<size_t>(byteWidth(type)));
}

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

std::string asWritten(const NumberWords& number) {
  const std::string payload = number.payload.empty() ? "" : fmt::format("({})", number.payload);
  return fmt::format("{}{}{}", number.negative ? "-" : "", number.word, payload);
}

bool isHexadecimal(std::string_view word) {
  return word.size() > 2 && word[0] == '0' && (word[1] | 0x20) == 'x';
}

template <class T>
std::errc parseFloat(std::string_view word, T& out) {
  const bool hexadecimal = isHexadecimal(word);
  word.remove_prefix(hexadecimal ? 2 : 0);
  const auto format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out, format);
  return end == word.data() + word.size() ? error : std::errc::invalid_argument;
}

std::string readNan(const NumberWords& number, ElementType type, std::byte* out) {
  const FloatLayout layout = layoutOf(type);
  uint64_t payload = layout.quietBit();
  if (!number.payload.empty()) {
    const std::string_view digits = number.payload.substr(std::min<size_t>(2, number.payload.size()));
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), payload, 16);
    if (!isHexadecimal(number.payload) || error != std::errc() || end != digits.data() + digits.size() ||
        payload == 0 || payload > layout.significandMask()) {
      return fmt::format("{} is no payload of a {} NaN (0x1 to {:#x})", shown(number.payload), name(type),
                         layout.significandMask());
    }
  }
  storeBits(type, layout.exponentMask() | payload | (number.negative ? layout.signMask() : 0), out);
  return "";
}

bool startsLikeNumber(std::string_view word) { return word[0] == '.' || (word[0] >= '0' && word[0] <= '9'); }

// The magnitude as f64, correctly rounded.
std::string readMagnitude(const NumberWords& number, ElementType type, double& out) {
  if (number.word == "inf") {
    out = std::numeric_limits<double>::infinity();
    return "";
  }
  if (!startsLikeNumber(number.word)) {
    return fmt::format("{} is no {} value", shown(asWritten(number)), name(type));
  }
  const std::errc error = parseFloat(number.word, out);
  if (error == std::errc::result_out_of_range) {
    return fmt::format("{} is beyond the range of {}", shown(asWritten(number)), name(type));
  }
  return error == std::errc() ? "" : fmt::format("{} is no number", shown(asWritten(number)));
}

// Straight to f32, so that nothing is rounded twice; what f32 alone calls out of range is rounded from f64.
float nearestFloat(const NumberWords& number, double magnitude) {
  float value = 0;
  if (number.word == "inf" || parseFloat(number.word, value) != std::errc()) {
    value = static_cast<float>(magnitude);
  }
  return number.negative ? -value : value;
}

bool storeFloat(const NumberWords& number, double magnitude, ElementType type, std::byte* out) {
  if (type == ElementType::F64) {
    store(out, number.negative ? -magnitude : magnitude);
    return true;
  }
  const float value = nearestFloat(number, magnitude);
  if (type == ElementType::F32) {
    store(out, value);
    return std::isfinite(value);
  }
  if (type == ElementType::F16) {
    store(out, Half(value));
    return std::isfinite(static_cast<float>(Half(value)));
  }
  store(out, BFloat16(value));
  return std::isfinite(static_cast<float>(BFloat16(value)));
}

std::string readFloat(const NumberWords& number, ElementType type, std::byte* out) {
  if (number.word == "nan") {
    return readNan(number, type, out);
  }
  double magnitude = 0;
  std::string problem = readMagnitude(number, type, magnitude);
  if (problem.empty() && !storeFloat(number, magnitude, type, out) && number.word != "inf") {
    problem = fmt::format("{} is beyond the range of {}", shown(asWritten(number)), name(type));
  }
  return problem;
}

// "" when the word is a whole number from `least` to `most`; `type` is for the message.
std::string readWithin(const NumberWords& number, std::string_view type, int64_t least, int64_t most,
                       int64_t& out) {
  const char* wordEnd = number.word.data() + number.word.size();
  uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(number.word.data(), wordEnd, magnitude);
  if (end != wordEnd || error == std::errc::invalid_argument) {
    return fmt::format("{} is no {} value: write a whole number in decimal", shown(asWritten(number)), type);
  }
  const uint64_t limit =
      number.negative ? uint64_t(0) - static_cast<uint64_t>(least) : static_cast<uint64_t>(most);
  if (error != std::errc() || magnitude > limit) {
    return fmt::format("{} does not fit in {} ({} to {})", shown(asWritten(number)), type, least, most);
  }
  out = static_cast<int64_t>(number.negative ? uint64_t(0) - magnitude : magnitude);
  return "";
}

template <class T>
std::string readIntegerElement(const NumberWords& number, ElementType type, std::byte* out) {
  int64_t value = 0;
  std::string problem =
      readWithin(number, name(type), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), value);
  store(out, static_cast<T>(value));
  return problem;
}

std::string readBool(const NumberWords& number, std::byte* out) {
  if (number.negative || (number.word != "true" && number.word != "false")) {
    return fmt::format("{} is no bool value: it takes true or false", shown(asWritten(number)));
  }
  store(out, static_cast<uint8_t>(number.word == "true"));
  return "";
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

std::string readElement(const NumberWords& number, ElementType type, std::byte* out) {
  switch (type) {
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::F16:
  case ElementType::BF16: return readFloat(number, type, out);
  case ElementType::I32: return readIntegerElement<int32_t>(number, type, out);
  case ElementType::I64: return readIntegerElement<int64_t>(number, type, out);
  case ElementType::U8: return readIntegerElement<uint8_t>(number, type, out);
  case ElementType::Bool: return readBool(number, out);
  }
  DFC_UNREACHABLE("element type");
}

std::string readDouble(const NumberWords& number, double& out) {
  return readElement(number, ElementType::F64, reinterpret_cast<std::byte*>(&out));
}

std::string readInteger(const NumberWords& number, int64_t& out) {
  return readWithin(number, "i64", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                    out);
}

bool isNumberWord(std::string_view name) {
  return name == "inf" || name == "nan" || name == "true" || name == "false";
}

} // namespace dfc::text
