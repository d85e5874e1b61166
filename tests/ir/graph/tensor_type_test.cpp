// Element types, shapes and broadcasting.
#include "ir/graph/tensor_type.h"
#include "tests/support/catch.h"

#include <limits>
#include <set>

using namespace dfc;

TEST_CASE("element types: names, widths and classes") {
  std::set<std::string_view> names;
  for (const ElementType type : allElementTypes) {
    CHECK(names.insert(name(type)).second);
    CHECK(elementTypeNamed(name(type)) == type);
    CHECK(byteWidth(type) >= 1);
    CHECK(isFloat(type) + isInteger(type) + (type == ElementType::Bool ? 1 : 0) == 1);
  }
  CHECK_FALSE(elementTypeNamed("float"));
  CHECK(byteWidth(ElementType::BF16) == 2);
  CHECK(byteWidth(ElementType::Bool) == 1);
}

TEST_CASE("shapes: elements and bytes") {
  CHECK(Shape{}.elements() == 1);
  CHECK(Shape({2, 3, 4}).elements() == 24);
  CHECK(Shape({2, 0, 4}).elements() == 0);
  CHECK(f64({2, 3}).bytes() == 48);
  CHECK((TensorType{ElementType::F16, {3}}).bytes() == 6);
  CHECK(f32({5, 0}).bytes() == 0);
  CHECK(Shape({1, 2}) != Shape({2, 1}));
  CHECK(Shape({1}) != Shape{});
  CHECK(toString(f32({2, 3})) == "f32[2, 3]");
  CHECK(toString(i64({})) == "i64[]");
}

TEST_CASE("shapes: what is none") {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  CHECK(Shape::valid(Dims{1, 1, 1, 1, 1, 1, 1, 1}));
  CHECK_FALSE(Shape::valid(Dims{1, 1, 1, 1, 1, 1, 1, 1, 1}));
  CHECK_FALSE(Shape::valid(Dims{2, -1}));
  CHECK(Shape::valid(Dims{huge / 8}));
  CHECK_FALSE(Shape::valid(Dims{huge / 8 + 1}));
  CHECK_FALSE(Shape::valid(Dims{int64_t(1) << 40, int64_t(1) << 40}));
  CHECK_FALSE(Shape::valid(Dims{0, huge, huge})); // no element, yet no shape that anyone means
}

TEST_CASE("shapes: what an author computed wrongly is ill-formed, not a crash") {
  const int64_t large = int64_t(1) << 40;
  const Shape negative = {2, -3}, tooLong = {1, 1, 1, 1, 1, 1, 1, 1, 2}, tooLarge = {large, large};
  for (const Shape& shape : {negative, tooLong, tooLarge}) {
    CHECK_FALSE(shape.wellFormed());
    CHECK(shape.elements() == 0);
    CHECK(f32(shape).bytes() == 0);
  }
  CHECK(Shape({2, 0}).wellFormed());
  CHECK(toString(negative) == "[2, -3]");
  CHECK(tooLong.rank() == 8);
  CHECK(tooLong != Shape({1, 1, 1, 1, 1, 1, 1, 1}));
  CHECK(toString(tooLong) == "[1, 1, 1, 1, 1, 1, 1, 1, ...]");
  CHECK(toString(negative) == "[2, -3]");
}

TEST_CASE("shapes: broadcasting") {
  const auto both = [](const Shape& a, const Shape& b) {
    CHECK(broadcastShapes(a, b) == broadcastShapes(b, a));
    return broadcastShapes(a, b);
  };
  CHECK(both({}, {}) == Shape{});
  CHECK(both({2, 3}, {}) == Shape({2, 3}));
  CHECK(both({2, 1, 3}, {4, 1}) == Shape({2, 4, 3}));
  CHECK(both({0}, {1}) == Shape({0}));
  CHECK(both({0, 1}, {5}) == Shape({0, 5}));
  CHECK_FALSE(both({0}, {2}));
  CHECK_FALSE(both({2, 3}, {2}));
  CHECK_FALSE(both({int64_t(1) << 40, 1}, {1, int64_t(1) << 40}));
}
