// Ops that only move elements, against index arithmetic, for elements of every width.
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <algorithm>

namespace dfc::testing {
namespace {

const std::vector<ElementType> widths = {ElementType::F32, ElementType::F64, ElementType::F16,
                                         ElementType::U8, ElementType::Bool};

// Checks got[index] == from[source(index)] for every element.
void checkMoved(const Literal& got, const Literal& from, const std::function<Index(const Index&)>& source) {
  INFO(toString(from.type()) << " to " << toString(got.type()));
  checkElements(
      got,
      [&](int64_t i) { return from.at(offsetOf(from.type().shape, source(indexOf(got.type().shape, i)))); },
      0);
}

} // namespace

TEST_CASE("transpose moves element [i, j, …] where the permutation says") {
  const std::vector<std::pair<Shape, Dims>> cases = {
      {{3, 4}, {}},
      {{100, 70}, {1, 0}},
      {{2, 3, 4}, {0, 2, 1}},
      {{33, 5, 40}, {2, 0, 1}},
      {{4, 5, 6}, {}},
      {{0, 3}, {}},
      {{7}, {0}},
      {{}, {}},
      {{2, 3, 1, 2, 2, 1, 3, 2}, {7, 1, 3, 5, 0, 2, 4, 6}},
      {{5, 1, 9}, {1, 2, 0}},
      {{130, 3, 65}, {2, 1, 0}},
      // Matrices that are oneDNN's for the narrower widths: of several units, the last of each axis smaller.
      {{130, 601}, {1, 0}},
      {{2, 70, 90}, {0, 2, 1}},
      {{65, 2, 64}, {2, 1, 0}},
  };
  for (const ElementType type : widths) {
    for (const auto& [shape, permutation] : cases) {
      ops::Transpose op;
      op.permutation = permutation;
      const Literal from = randomLiteral({type, shape}, 51, 0, 100);
      const auto axes = permutation;
      checkMoved(runKernel(op, {from}), from, [&](const Index& to) {
        Index source(to.size());
        for (size_t axis = 0; axis < to.size(); ++axis) {
          source[axes.empty() ? to.size() - 1 - axis : static_cast<size_t>(axes[axis])] = to[axis];
        }
        return source;
      });
    }
  }
}

TEST_CASE("matrices of words of every small size are transposed") {
  for (int64_t rows = 1; rows <= 37; ++rows) {
    for (int64_t columns = 1; columns <= 37; ++columns) {
      const Literal from = randomLiteral(f32({rows, columns}), 52);
      const Literal got = runKernel(ops::Transpose{}, {from});
      bool same = true;
      for (int64_t at = 0; at < rows * columns; ++at) {
        same &= got.at(at) == from.at(at % rows * columns + at / rows);
      }
      INFO(rows << " rows, " << columns << " columns");
      CHECK(same);
    }
  }
}

TEST_CASE("a transpose leaves every bit of an element alone, NaN or not") {
  for (const ElementType type : {ElementType::F16, ElementType::BF16, ElementType::F32}) {
    Literal from(TensorType{type, {256, 256}});
    const auto width = static_cast<size_t>(byteWidth(type));
    for (size_t i = 0; i < 65536; ++i) { // every pattern of the high 16 bits
      std::byte* const element = from.mutableBytes().data() + i * width;
      element[width - 2] = static_cast<std::byte>(i & 0xFF);
      element[width - 1] = static_cast<std::byte>(i >> 8);
    }
    const Literal got = runKernel(ops::Transpose{}, {from});
    bool same = true;
    for (size_t i = 0; i < 65536; ++i) {
      const size_t source = i % 256 * 256 + i / 256;
      same &= std::equal(got.bytes().data() + i * width, got.bytes().data() + (i + 1) * width,
                         from.bytes().data() + source * width);
    }
    INFO(name(type));
    CHECK(same);
  }
}

TEST_CASE("broadcast repeats what it stretches") {
  const std::vector<std::pair<Shape, Dims>> cases = {
      {{}, {5}},
      {{1}, {0}},
      {{3, 1}, {3, 70}},
      {{70}, {3, 70}},
      {{2, 1, 4}, {2, 3, 4}},
      {{1, 5, 1}, {4, 5, 6}},
      {{3}, {2, 2, 2, 2, 2, 2, 2, 3}},
  };
  for (const ElementType type : widths) {
    for (const auto& [shape, to] : cases) {
      ops::Broadcast op;
      op.shape = to;
      const Literal from = randomLiteral({type, shape}, 52, 0, 100);
      const Literal got = runKernel(op, {from});
      const Shape whole = got.type().shape, own = shape;
      checkElements(
          got, [&](int64_t i) { return from.at(broadcastOffset(own, whole, i)); }, 0);
    }
  }
}

TEST_CASE("slice takes every stride-th element from starts to ends") {
  struct Case {
    Shape shape;
    Dims starts, ends, strides;
  };
  const std::vector<Case> cases = {
      {{10}, {2}, {9}, {3}},
      {{10}, {4}, {4}, {}},
      {{8, 40}, {1, 3}, {7, 40}, {}},
      {{8, 40}, {0, 0}, {8, 40}, {2, 7}},
      {{3, 4, 5}, {1, 0, 2}, {3, 4, 3}, {1, 2, 1}},
      {{}, {}, {}, {}},
  };
  for (const ElementType type : widths) {
    for (const Case& test : cases) {
      ops::Slice op;
      op.starts = test.starts;
      op.ends = test.ends;
      op.strides = test.strides;
      const Literal from = randomLiteral({type, test.shape}, 53, 0, 100);
      checkMoved(runKernel(op, {from}), from, [&](const Index& to) {
        Index source(to);
        for (size_t axis = 0; axis < to.size(); ++axis) {
          source[axis] = test.starts[axis] + to[axis] * (test.strides.empty() ? 1 : test.strides[axis]);
        }
        return source;
      });
    }
  }
}

TEST_CASE("pad puts its value before, after and between") {
  struct Case {
    Shape shape;
    Dims low, high, interior;
  };
  const std::vector<Case> cases = {
      {{3}, {2}, {1}, {}},
      {{3}, {0}, {0}, {2}},
      {{4, 30}, {1, 2}, {3, 0}, {0, 1}},
      {{0, 2}, {1, 1}, {1, 1}, {3, 3}},
      {{2, 2, 2}, {0, 1, 0}, {1, 0, 2}, {1, 2, 3}},
  };
  for (const ElementType type : widths) {
    for (const Case& test : cases) {
      ops::Pad op;
      op.low = test.low;
      op.high = test.high;
      op.interior = test.interior;
      op.value = 1;
      const Literal from = randomLiteral({type, test.shape}, 54, 0, 100);
      const Literal got = runKernel(op, {from});
      checkElements(
          got,
          [&](int64_t i) {
            Index at = indexOf(got.type().shape, i);
            for (size_t axis = 0; axis < at.size(); ++axis) {
              const int64_t step = 1 + (test.interior.empty() ? 0 : test.interior[axis]);
              const int64_t shifted = at[axis] - test.low[axis];
              if (shifted < 0 || shifted % step != 0 || shifted / step >= test.shape[axis]) {
                return 1.0;
              }
              at[axis] = shifted / step;
            }
            return from.at(offsetOf(test.shape, at));
          },
          0);
    }
  }
}

TEST_CASE("concat puts its operands one after the other") {
  for (const ElementType type : widths) {
    for (const int64_t axis : {0, 1, -1}) {
      std::vector<Literal> parts;
      std::vector<int64_t> lengths = {2, 0, 5};
      const size_t at = axis == 0 ? 0 : axis == 1 ? 1 : 2;
      for (size_t i = 0; i < lengths.size(); ++i) {
        Dims dims = {3, 4, 6};
        dims[at] = lengths[i];
        parts.push_back(randomLiteral({type, Shape(dims)}, uint32_t(55 + i), 0, 100));
      }
      ops::Concat op;
      op.axis = axis;
      const Literal got = runKernel(op, parts);
      checkElements(
          got,
          [&](int64_t i) {
            Index index = indexOf(got.type().shape, i);
            size_t part = 0;
            while (index[at] >= lengths[part]) {
              index[at] -= lengths[part++];
            }
            return parts[part].at(offsetOf(parts[part].type().shape, index));
          },
          0);
    }
  }
}

TEST_CASE("reshape and assign copy where they have a place of their own") {
  const Literal from = randomLiteral(f32({3, 4}), 58);
  ops::Reshape reshape;
  reshape.shape = {2, -1};
  CHECK(bitsOf(runKernel(reshape, {from})) == bitsOf(from));
  CHECK(runKernel(ops::Assign{}, {Literal(f32({3, 4})), from}) == from);
}

TEST_CASE("movement gives the same bits with one thread and with three") {
  const Literal from = randomLiteral(f32({700, 900}), 59);
  CHECK(runKernel(ops::Transpose{}, {from}, 1) == runKernel(ops::Transpose{}, {from}, 3));
}

} // namespace dfc::testing
