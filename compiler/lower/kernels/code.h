// Small pieces of CUDA text: names of element types, index arithmetic of the right width, and raw strings
// with $holes$.
#pragma once

#include "ir/graph/tensor_type.h"

#include <initializer_list>
#include <utility>

namespace dfc::cuda {

/// "f32", …, "u8", "bool": the prelude's names of storage and of the registers that hold it.
std::string_view storageName(ElementType type);
std::string_view valueName(ElementType type); ///< f16 and bf16 live in f32
/// Storage that only moves: "u8", "u16", "u32" or "u64".
std::string_view bitsName(ElementType type);
inline bool isHalf(ElementType type) { return type == ElementType::F16 || type == ElementType::BF16; }

/// How elements are counted in a kernel's text: u32 where every count fits, which is cheaper to divide.
class IndexText {
 public:
  /// `most`: the largest number of elements that is walked or addressed.
  explicit IndexText(int64_t most) : wide_(most >= (int64_t{1} << 30)) {}
  std::string_view type() const { return wide_ ? "u64" : "u32"; }
  std::string of(int64_t number) const; ///< "512u"

 private:
  bool wide_;
};

using Holes = std::initializer_list<std::pair<std::string_view, std::string>>;
/// `text` with each "$name$" replaced.
std::string filled(std::string_view text, Holes holes);

/// "constexpr <type> <name> = <value>;\n"
std::string constant(std::string_view type, std::string_view name, std::string_view value);
std::string constant(std::string_view name, int64_t value); ///< an int

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
/// The smallest power of 2 that is at least `n` (1 for n <= 1).
int64_t powerOf2From(int64_t n);
/// The largest power of 2, `most` at most, that divides every one of `numbers`.
int64_t commonPowerOf2(int64_t most, std::initializer_list<int64_t> numbers);

inline constexpr int64_t packBytes = 16;

} // namespace dfc::cuda
