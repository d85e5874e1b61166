#include "tests/support/random_values.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace dfc::test {
namespace {

double tameReal(Dice& dice) {
  static constexpr std::array favourites = {0.0, -0.0, 1.0, -1.0, 0.5, -0.25, 2.0, 1.5};
  return dice.chance(40) ? dice.oneOf(favourites) : dice.unit() * 4 - 2;
}

double wildReal(Dice& dice) {
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::array favourites = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN(),
                                            1e-42,    -3e-7,     65504.0,
                                            3e38,     -1e300,    300.0,
                                            0x1p31,   0x1p63};
  return dice.chance(30) ? dice.oneOf(favourites) : tameReal(dice);
}

int64_t tameWhole(ElementType type, Dice& dice) {
  return type == ElementType::Bool ? dice.below(2)
         : type == ElementType::U8 ? dice.below(9)
                                   : dice.below(17) - 8;
}

int64_t wildWhole(ElementType type, Dice& dice) {
  if (type == ElementType::Bool || dice.chance(60)) {
    return tameWhole(type, dice);
  }
  switch (type) {
  case ElementType::U8: return dice.chance(50) ? 255 : 128;
  case ElementType::I32:
    return dice.chance(50) ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
  default: return dice.chance(50) ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  }
}

template <class T, class Source>
void fill(Literal& literal, Source source) {
  for (T& element : literal.mutableData<T>()) {
    element = static_cast<T>(source());
  }
}

NamedLiterals valuesFor(const Graph& graph, OpKind kind, uint64_t seed, Mood mood) {
  Dice dice(seed);
  NamedLiterals values;
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() == kind) {
      values[std::string(graph.nameOf(op))] = randomLiteral(graph.typeOf(graph[op].firstResult), dice, mood);
    }
  }
  return values;
}

} // namespace

Literal randomLiteral(const TensorType& type, Dice& dice, Mood mood) {
  Literal literal(type);
  const auto real = [&] { return mood == Mood::Wild ? wildReal(dice) : tameReal(dice); };
  const auto narrow = [&] { return static_cast<float>(real()); };
  const auto whole = [&] {
    return mood == Mood::Wild ? wildWhole(type.element, dice) : tameWhole(type.element, dice);
  };
  switch (type.element) {
  case ElementType::F32: fill<float>(literal, narrow); break;
  case ElementType::F64: fill<double>(literal, real); break;
  case ElementType::F16: fill<Half>(literal, narrow); break;
  case ElementType::BF16: fill<BFloat16>(literal, narrow); break;
  case ElementType::I32: fill<int32_t>(literal, whole); break;
  case ElementType::I64: fill<int64_t>(literal, whole); break;
  case ElementType::U8: fill<uint8_t>(literal, whole); break;
  case ElementType::Bool: fill<bool>(literal, whole); break;
  }
  return literal;
}

NamedLiterals randomFeeds(const Graph& graph, uint64_t seed, Mood mood) {
  return valuesFor(graph, OpKind::Input, seed, mood);
}

NamedLiterals randomParameters(const Graph& graph, uint64_t seed, Mood mood) {
  return valuesFor(graph, OpKind::Parameter, seed, mood);
}

std::string bitDifference(const Literal& expected, const Literal& actual) {
  if (!(expected.type() == actual.type())) {
    return fmt::format("{} became {}", toString(expected.type()), toString(actual.type()));
  }
  const auto width = static_cast<size_t>(byteWidth(expected.type().element));
  for (int64_t i = 0; i < expected.type().shape.elements(); ++i) {
    const size_t at = static_cast<size_t>(i) * width;
    const bool same = std::memcmp(expected.bytes().data() + at, actual.bytes().data() + at, width) == 0;
    if (!same && !(std::isnan(expected.at(i)) && std::isnan(actual.at(i)))) {
      return fmt::format("element {} of {}: {:a} became {:a}", i, toString(expected.type()), expected.at(i),
                         actual.at(i));
    }
  }
  return "";
}

} // namespace dfc::test
