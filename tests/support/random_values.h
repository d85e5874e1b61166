// Random tensors for tests: the same seed gives the same values on every platform. Mixed so that corner cases
// come up often: zeros of both signs, ones, halves, repeated values, the ends of the integer ranges.
#pragma once

#include "ir/graph/graph.h"

#include <random>
#include <string>

namespace dfc::test {

/// A source of small decisions. (The standard distributions may differ between libraries, so it uses none.)
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(bound));
  } ///< in [0, bound)
  bool chance(int64_t percent) { return below(100) < percent; }
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; } ///< in [0, 1)
  template <class Range>
  decltype(auto) oneOf(Range&& range) {
    return range[static_cast<size_t>(below(static_cast<int64_t>(range.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

enum class Mood : uint8_t {
  Tame, ///< floats in [-2, 2], integers in [-8, 8] (u8: [0, 8])
  Wild, ///< also infinities, NaN, subnormal and very large numbers, the ends of the integer ranges
};

Literal randomLiteral(const TensorType& type, Dice& dice, Mood mood = Mood::Tame);

/// A value for every input, or every parameter, of the graph, by name.
NamedLiterals randomFeeds(const Graph& graph, uint64_t seed, Mood mood = Mood::Tame);
NamedLiterals randomParameters(const Graph& graph, uint64_t seed, Mood mood = Mood::Tame);

/// Same type and, element by element, the same bits or both NaN. "" when so, else the first difference.
std::string bitDifference(const Literal& expected, const Literal& actual);

} // namespace dfc::test
