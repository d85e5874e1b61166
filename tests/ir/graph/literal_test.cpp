// Literals: values with shared storage, conversions as casts do.
#include "ir/graph/literal.h"
#include "tests/support/catch.h"

#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

using namespace dfc;

namespace {
Literal of(ElementType element, double value) { return filledLiteral({element, {}}, value); }

std::string mistakeOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const LiteralError& error) {
    return error.what();
  }
  return "no mistake";
}
} // namespace

TEST_CASE("literal: contents, row-major") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Literal literal(Shape{2, 3}, std::span<const float>(values));
  CHECK(literal.type() == f32({2, 3}));
  CHECK(literal.at(4) == 5);
  CHECK(literal.data<float>()[5] == 6);
  CHECK(literal.bytes().size() == 24);
  CHECK(reinterpret_cast<uintptr_t>(literal.bytes().data()) % 64 == 0);
}

TEST_CASE("literal: what the caller asks wrongly is said as the caller's mistake") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  Literal literal(Shape{2, 3}, std::span<const float>(values));
  const std::string asDouble = "elements of f32[2, 3] read or written as f64: call data<float>() or "
                               "mutableData<float>(), or convert element by element with at() and set()";
  CHECK(mistakeOf([&] { literal.data<double>(); }) == asDouble);
  CHECK(mistakeOf([&] { literal.mutableData<double>(); }) == asDouble);
  CHECK(mistakeOf([&] { literal.at(6); }) == "element 6 of f32[2, 3]: it has 6 elements, counted from 0");
  CHECK(mistakeOf([&] { literal.set(-1, 0); }) ==
        "element -1 of f32[2, 3]: it has 6 elements, counted from 0");
  CHECK(mistakeOf([&] { Literal(Shape{7}, std::span<const float>(values)); }) ==
        "f32[7] made from 6 values: it has 7 elements, give as many values");
}

TEST_CASE("named literals: a name that is missing is named, with the nearest there is") {
  NamedLiterals results = {{"loss", of(ElementType::F32, 1)}, {"accuracy", of(ElementType::F32, 2)}};
  CHECK(results.at("loss").at(0) == 1);
  results.at("loss").set(0, 3);
  CHECK(std::as_const(results).at("loss").at(0) == 3);
  const auto missing = [&](std::string_view name) {
    try {
      (void)results.at(name);
    } catch (const std::out_of_range& error) {
      return std::string(error.what());
    }
    return std::string("found");
  };
  CHECK(missing("acuracy") == "there is no tensor named 'acuracy'; did you mean 'accuracy'?");
  CHECK(missing("w1") == "there is no tensor named 'w1'; there are 'accuracy', 'loss'");
  results.clear();
  CHECK(missing("w1") == "there is no tensor named 'w1': there is none at all");
}

TEST_CASE("literal: a copy is a value of its own") {
  Literal first(f32({2}));
  const Literal second = first;
  CHECK(second.bytes().data() == first.bytes().data()); // shared until someone writes
  first.set(0, 7);
  CHECK(first.at(0) == 7);
  CHECK(second.at(0) == 0);
  CHECK_FALSE(first == second);
}

TEST_CASE("literal: equality is by type and bits") {
  CHECK(of(ElementType::F32, 1) == of(ElementType::F32, 1));
  CHECK_FALSE(of(ElementType::F32, 1) == of(ElementType::F64, 1));
  CHECK_FALSE(of(ElementType::F32, 0.0) == of(ElementType::F32, -0.0));
  CHECK(of(ElementType::F32, std::nan("")) == of(ElementType::F32, std::nan("")));
  CHECK(Literal(f32({0, 3})) == Literal(f32({0, 3})));
  CHECK_FALSE(Literal(f32({0, 3})) == Literal(f32({3, 0})));
}

TEST_CASE("literal: set converts as a cast does") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(of(ElementType::I32, -1.9).at(0) == -1);
  CHECK(of(ElementType::I32, 1e300).data<int32_t>()[0] == std::numeric_limits<int32_t>::max());
  CHECK(of(ElementType::I32, -infinity).data<int32_t>()[0] == std::numeric_limits<int32_t>::min());
  CHECK(of(ElementType::I32, std::nan("")).at(0) == 0);
  CHECK(of(ElementType::I64, 0x1p63).data<int64_t>()[0] == std::numeric_limits<int64_t>::max());
  CHECK(of(ElementType::I64, -0x1p63).data<int64_t>()[0] == std::numeric_limits<int64_t>::min());
  CHECK(of(ElementType::I64, 0x1p62).data<int64_t>()[0] == int64_t(1) << 62);
  CHECK(of(ElementType::U8, 300).at(0) == 255);
  CHECK(of(ElementType::U8, -3).at(0) == 0);
  CHECK(of(ElementType::Bool, 0.25).at(0) == 1);
  CHECK(of(ElementType::Bool, std::nan("")).at(0) == 1); // NaN is not 0
  CHECK(of(ElementType::F16, 65520).at(0) == infinity);
  CHECK(of(ElementType::BF16, 1.00390625).at(0) == 1); // halfway between 1 and 1.0078125: to even
}

TEST_CASE("literal: filled") {
  const Literal literal = filledLiteral({ElementType::F16, {3, 2}}, 1.5);
  for (int64_t i = 0; i < 6; ++i) {
    CHECK(literal.at(i) == 1.5);
  }
  CHECK(filledLiteral(f32({0}), 1).bytes().empty());
  CHECK(Literal::scalar(int64_t(7)).type() == i64({}));
  CHECK(Literal::scalar(true).type().element == ElementType::Bool);
}
