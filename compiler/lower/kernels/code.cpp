#include "compiler/lower/kernels/code.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

namespace dfc::cuda {

std::string_view storageName(ElementType type) { return name(type); }

std::string_view valueName(ElementType type) { return isHalf(type) ? "f32" : name(type); }

std::string_view bitsName(ElementType type) {
  switch (byteWidth(type)) {
  case 1: return "u8";
  case 2: return "u16";
  case 4: return "u32";
  case 8: return "u64";
  default: DFC_UNREACHABLE("byte width");
  }
}

std::string IndexText::of(int64_t number) const { return fmt::format("{}{}", number, wide_ ? "ull" : "u"); }

std::string filled(std::string_view text, Holes holes) {
  std::string result;
  while (!text.empty()) {
    const size_t open = text.find('$');
    result += text.substr(0, open);
    if (open == std::string_view::npos) {
      break;
    }
    const size_t close = text.find('$', open + 1);
    DFC_ASSERT(close != std::string_view::npos, "a hole without an end");
    const std::string_view wanted = text.substr(open + 1, close - open - 1);
    const auto* hole = holes.begin();
    while (hole != holes.end() && hole->first != wanted) {
      ++hole;
    }
    DFC_ASSERT(hole != holes.end(), fmt::format("nothing fills ${}$", wanted));
    result += hole->second;
    text.remove_prefix(close + 1);
  }
  return result;
}

std::string constant(std::string_view type, std::string_view name, std::string_view value) {
  return fmt::format("constexpr {} {} = {};\n", type, name, value);
}

std::string constant(std::string_view name, int64_t value) {
  return constant("int", name, fmt::format("{}", value));
}

int64_t powerOf2From(int64_t n) {
  int64_t power = 1;
  while (power < n) {
    power *= 2;
  }
  return power;
}

int64_t commonPowerOf2(int64_t most, std::initializer_list<int64_t> numbers) {
  int64_t power = most;
  for (const int64_t number : numbers) {
    while (number % power != 0) {
      power /= 2;
    }
  }
  return power;
}

} // namespace dfc::cuda
