// The reading half of number.h. std::from_chars does the exact work and knows no locale; the 16-bit floats go
// through f32.
#include "ir/author/text/number.h"

#include "ir/author/text/float_layout.h"
#include "ir/author/text/quote.h"
#include "ir/base/half.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace dfc::text {
namespace {

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
