// resize and convTranspose2d against formulas of their own in f64, their gradients against differences, and
// what they refuse.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/composites.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"
#include "tests/support/matchers.h"
#include "tests/support/random_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc::test {
namespace {

Literal ofInputs(const std::function<Tensor(const std::vector<Tensor>&)>& write,
                 const std::vector<Literal>& values) {
  Builder g;
  std::vector<Tensor> inputs;
  NamedLiterals feeds;
  for (const Literal& value : values) {
    const std::string name = fmt::format("x{}", inputs.size());
    inputs.push_back(g.input(name, value.type()));
    feeds.emplace(name, value);
  }
  g.fetch("y", write(inputs));
  const Result<Graph> graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  return evaluate(*graph, feeds).orThrow().fetches.at("y");
}

std::vector<double> resized(const std::vector<double>& row, int64_t size, ResizeOptions options) {
  Literal a(f64({static_cast<int64_t>(row.size())}));
  for (size_t i = 0; i < row.size(); ++i) {
    a.set(static_cast<int64_t>(i), row[i]);
  }
  const Literal made = ofInputs([&](const auto& x) { return resize(x[0], {size}, options); }, {a});
  std::vector<double> all;
  for (int64_t i = 0; i < size; ++i) {
    all.push_back(made.at(i));
  }
  return all;
}

// Each element adds the filter, times itself, to its window: by the definition, one product after the other.
std::vector<double> addedByWindows(const Literal& a, const Literal& filter, const Window& w,
                                   const Dims& extra, int64_t groups, Shape& shape) {
  const Shape &in = a.type().shape, &f = filter.type().shape;
  const int64_t perGroup = f[1], rows = (in[2] - 1) * w.strides[0] - w.low[0] - w.high[0] +
                                        w.dilations[0] * (f[2] - 1) + 1 + extra[0];
  const int64_t columns =
      (in[3] - 1) * w.strides[1] - w.low[1] - w.high[1] + w.dilations[1] * (f[3] - 1) + 1 + extra[1];
  shape = {in[0], perGroup * groups, rows, columns};
  std::vector<double> made(static_cast<size_t>(shape.elements()));
  for (int64_t i = 0; i < in.elements(); ++i) {
    const int64_t x = i % in[3], y = i / in[3] % in[2], c = i / in[3] / in[2] % in[1],
                  n = i / in[3] / in[2] / in[1];
    const int64_t group = c / (in[1] / groups);
    for (int64_t k = 0; k < perGroup * f[2] * f[3]; ++k) {
      const int64_t kx = k % f[3], ky = k / f[3] % f[2], m = k / f[3] / f[2];
      const int64_t row = y * w.strides[0] + ky * w.dilations[0] - w.low[0],
                    column = x * w.strides[1] + kx * w.dilations[1] - w.low[1];
      if (row >= 0 && row < rows && column >= 0 && column < columns) {
        const int64_t at = ((n * shape[1] + group * perGroup + m) * rows + row) * columns + column;
        made[static_cast<size_t>(at)] += a.at(i) * filter.at(((c * perGroup + m) * f[2] + ky) * f[3] + kx);
      }
    }
  }
  return made;
}

std::string refusal(const std::function<Tensor(Builder&)>& write) {
  Builder g;
  g.fetch("y", write(g));
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.errors().size() == 1);
  CHECK_THAT(graph.errors()[0].where.file, containing("resize_test"));
  return graph.errors()[0].message + " | " + graph.errors()[0].hint;
}

TEST_CASE("resize: the nearest element rounds down, exactly") {
  CHECK(resized({1, 2, 3}, 6, {}) == std::vector<double>{1, 1, 2, 2, 3, 3});
  CHECK(resized({1, 2, 3, 4, 5, 6}, 3, {}) == std::vector<double>{1, 3, 5});
  for (int64_t from = 1; from <= 24; ++from) { // quotients that a product with an inverse would miss
    std::vector<double> row(static_cast<size_t>(from));
    for (int64_t i = 0; i < from; ++i) {
      row[static_cast<size_t>(i)] = static_cast<double>(i);
    }
    for (int64_t to = 1; to <= 24; ++to) {
      const std::vector<double> made = resized(row, to, {});
      for (int64_t i = 0; i < to; ++i) {
        INFO(from << " to " << to);
        REQUIRE(made[static_cast<size_t>(i)] == static_cast<double>(i * from / to));
      }
    }
  }
}

TEST_CASE("resize: between elements, of short and of long axes") {
  const ResizeOptions linear{.method = ResizeMethod::Linear}, corners{ResizeMethod::Linear, true};
  CHECK(resized({0, 4}, 4, linear) == std::vector<double>{0, 1, 3, 4});
  CHECK(resized({0, 4, 8, 0}, 2, linear) == std::vector<double>{2, 4});
  std::vector<double> slope(20); // of a straight line the line, but for the ends
  for (size_t i = 0; i < slope.size(); ++i) {
    slope[i] = 2 * static_cast<double>(i);
  }
  const std::vector<double> made = resized(slope, 39, corners);
  for (size_t i = 0; i < made.size(); ++i) {
    CHECK(made[i] == Approx(static_cast<double>(i)).margin(1e-12));
  }
  const std::vector<double> cubic = resized(slope, 40, {.method = ResizeMethod::Cubic});
  // 20.5 / 2 - 0.5 = 9.75; the kernel at distances 1.75, 0.75, 0.25 and 1.25 from 8, 9, 10 and 11
  CHECK(cubic[20] == Approx(16 * -0.03515625 + 18 * 0.26171875 + 20 * 0.87890625 + 22 * -0.10546875));
}

TEST_CASE("resize: pictures along both axes, whole numbers by the nearest") {
  Literal a(i32({1, 1, 2, 2}));
  for (int64_t i = 0; i < 4; ++i) {
    a.set(i, static_cast<double>(i));
  }
  const Literal made = ofInputs([](const auto& x) { return resize(x[0], {4, 2}); }, {a});
  REQUIRE(made.type() == i32({1, 1, 4, 2}));
  for (int64_t i = 0; i < 8; ++i) {
    CHECK(made.at(i) == static_cast<double>(i / 4 * 2 + i % 2));
  }
}

TEST_CASE("resize: gradients agree with differences") {
  for (const ResizeMethod method : {ResizeMethod::Nearest, ResizeMethod::Linear, ResizeMethod::Cubic}) {
    checkDifferences(
        [&](const auto& x) {
          return resize(x[0], {5, 7}, {.method = method});
        },
        {f64({1, 2, 3, 4})});
  }
}

TEST_CASE("convTranspose2d: strides, paddings, dilations, groups and what is behind") {
  struct Case {
    Window window;
    Dims extra;
    int64_t groups;
  };
  for (const Case& c :
       {Case{{{1, 1}, {0, 0}, {0, 0}, {1, 1}}, {0, 0}, 1}, Case{{{2, 2}, {1, 1}, {1, 1}, {1, 1}}, {1, 1}, 1},
        Case{{{3, 2}, {0, 1}, {1, 0}, {1, 2}}, {2, 0}, 2},
        Case{{{2, 1}, {0, 0}, {0, 0}, {2, 1}}, {1, 0}, 4}}) {
    Dice dice(1);
    const Literal a = randomLiteral(f64({2, 4, 3, 2}), dice), filter = randomLiteral(f64({4, 3, 3, 2}), dice);
    const Literal made = ofInputs(
        [&](const auto& x) { return convTranspose2d(x[0], x[1], c.window, c.extra, c.groups); }, {a, filter});
    Shape shape;
    const std::vector<double> expected = addedByWindows(a, filter, c.window, c.extra, c.groups, shape);
    REQUIRE(made.type().shape == shape);
    for (size_t i = 0; i < expected.size(); ++i) {
      REQUIRE(made.at(static_cast<int64_t>(i)) == Approx(expected[i]).epsilon(1e-12).margin(1e-14));
    }
    checkDifferences([&](const auto& x) { return convTranspose2d(x[0], x[1], c.window, c.extra, c.groups); },
                     {f64({1, 4, 2, 2}), f64({4, 3, 3, 2})});
  }
}

TEST_CASE("resize, convTranspose2d: operands that do not fit are refused where they are given") {
  const auto picture = [](Builder& g) { return g.input("x", f32({1, 4, 5, 5})); };
  const auto filter = [](Builder& g, Shape shape) { return g.input("w", f32(shape)); };
  CHECK_THAT(refusal([&](Builder& g) { return resize(picture(g), {0, 4}); }), containing("sizes above 0"));
  CHECK_THAT(refusal([&](Builder& g) {
               return resize(picture(g), {1, 2, 3, 4, 5});
             }),
             containing("to 5 sizes"));
  CHECK_THAT(refusal([&](Builder& g) {
               return resize(g.input("n", i32({4})), {8}, {.method = ResizeMethod::Linear});
             }),
             containing("a tensor of floats"));
  CHECK_THAT(refusal([&](Builder& g) {
               return convTranspose2d(picture(g), filter(g, {3, 2, 2, 2}));
             }),
             containing("a filter [C, M / groups, KH, KW]"));
  CHECK_THAT(refusal([&](Builder& g) {
               const Tensor tall = g.input("x", f32({1, 4, int64_t{1} << 40, 5}));
               return convTranspose2d(tall, filter(g, {4, 2, 2, 2}), {.strides = {1 << 29}});
             }),
             containing("axes below 2^30"));
  CHECK_THAT(refusal([&](Builder& g) {
               return convTranspose2d(picture(g), filter(g, {4, 2, 2, 2}), {.strides = {0}});
             }),
             containing("strides"));
  CHECK_THAT(refusal([&](Builder& g) {
               return convTranspose2d(picture(g), filter(g, {4, 2, 2, 2}), {}, {1});
             }),
             containing("an output padding below the stride"));
  CHECK_THAT(refusal([&](Builder& g) {
               return convTranspose2d(picture(g), filter(g, {4, 2, 2, 2}), {.low = {3}, .high = {3}});
             }),
             containing("an element or more"));
}

} // namespace
} // namespace dfc::test
