// A workshop with two graphs and their feeds, for tests of `dfc run`.
#pragma once

#include "runtime/files/npy.h"
#include "tests/support/catch.h"
#include "tests/tools/run_dfc.h"

namespace dfc::test {

inline constexpr const char* affine = R"(graph affine {
  input x : f32[4]
  input y : f32[4]
  z = x * y + 2
  total = reduceSum(z)
  fetch z
  fetch total
}
)";

// Counts the rows that were fed and remembers their sum.
inline constexpr const char* counting = R"(graph counting {
  input row : f32[2]
  parameter seen : f32[] = zeros()
  parameter sum : f32[2] = zeros()
  seenNext = seen + 1
  assign(seen, seenNext)
  sumNext = sum + row
  assign(sum, sumNext)
  first = reduceSum(row)
  fetch first
  fetch seen = seenNext
  fetch sum = sumNext
}
)";

inline Literal floats(const Shape& shape, std::vector<float> values) {
  return Literal(shape, std::span<const float>(values));
}

inline void save(const Workshop& shop, const std::string& name, const Literal& value) {
  REQUIRE(writeNpy(shop.file(name), value).ok());
}

inline Literal load(const Workshop& shop, const std::string& name) {
  const auto value = readNpy(shop.file(name));
  INFO(render(value.errors()));
  REQUIRE(value.ok());
  return *value;
}

/// A workshop with both graphs and feeds x = 1 2 3 4, y = 10 20 30 40.
struct Bench : Workshop {
  Bench() {
    write("affine.dfg", affine);
    write("counting.dfg", counting);
    save(*this, "x.npy", floats({4}, {1, 2, 3, 4}));
    save(*this, "y.npy", floats({4}, {10, 20, 30, 40}));
  }
};

inline const std::vector<float> expectedZ = {12, 42, 92, 162}; // 1*10+2, 2*20+2, 3*30+2, 4*40+2

} // namespace dfc::test
