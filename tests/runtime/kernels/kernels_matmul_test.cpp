// matmul of every type, transposed and batched, against plain double loops.
#include "runtime/cpu/kernels/matmul/packed_panels.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace dfc::testing {
namespace {

const std::vector<ElementType> numbers = {ElementType::F32,  ElementType::F64, ElementType::F16,
                                          ElementType::BF16, ElementType::I32, ElementType::I64,
                                          ElementType::U8};

Shape matrixShape(const Shape& batch, int64_t rows, int64_t columns, bool transposed) {
  Dims dims(batch.dims().begin(), batch.dims().end());
  dims.insert(dims.end(), {transposed ? columns : rows, transposed ? rows : columns});
  return Shape(dims);
}

// Where a stored matrix of the batch that `index` (of the result) names has its element [.., row, column].
int64_t placeOf(const Shape& shape, const Index& index, int64_t row, int64_t column, bool transposed) {
  const size_t batchRank = shape.rank() - 2, skipped = index.size() - shape.rank();
  Index at(shape.rank());
  for (size_t axis = 0; axis < batchRank; ++axis) {
    at[axis] = shape[axis] == 1 ? 0 : index[skipped + axis];
  }
  at[batchRank] = transposed ? column : row;
  at[batchRank + 1] = transposed ? row : column;
  return offsetOf(shape, at);
}

struct Product {
  Shape batchA, batchB;
  int64_t rows, columns, inner;
};

// Looks at every `every`-th element. Integers from -3 to 3 have exact sums in every type up to f16's 2048,
// whatever the order.
void checkProduct(const Product& product, ElementType type, bool transposeA, bool transposeB, bool exact,
                  int64_t every = 1) {
  const double low = type == ElementType::U8 ? 0 : exact ? -3 : -1, high = exact ? 3.9 : 1;
  Literal a = randomLiteral({type, matrixShape(product.batchA, product.rows, product.inner, transposeA)}, 71,
                            low, high);
  Literal b = randomLiteral({type, matrixShape(product.batchB, product.inner, product.columns, transposeB)},
                            72, low, high);
  for (Literal* operand : {&a, &b}) {
    for (int64_t i = 0; exact && i < operand->type().shape.elements(); ++i) {
      operand->set(i, std::trunc(operand->at(i)));
    }
  }
  const Literal got = runKernel(ops::Matmul{{}, transposeA, transposeB}, {a, b});
  INFO(toString(a.type()) << (transposeA ? "^T " : " ") << toString(b.type()) << (transposeB ? "^T" : ""));
  const double unit = type == ElementType::F64 ? 0x1p-52 : 0x1p-23; // f16 and bf16 accumulate in f32
  checkElements(
      got,
      [&](int64_t i) {
        if (i % every != 0) {
          return got.at(i);
        }
        const Index index = indexOf(got.type().shape, i);
        const Shape &ofA = a.type().shape, &ofB = b.type().shape;
        const int64_t inA = placeOf(ofA, index, index[index.size() - 2], 0, transposeA);
        const int64_t inB = placeOf(ofB, index, 0, index[index.size() - 1], transposeB);
        const int64_t nextA = transposeA ? product.rows : 1, nextB = transposeB ? 1 : product.columns;
        double sum = 0;
        for (int64_t k = 0; k < product.inner; ++k) {
          sum += a.at(inA + k * nextA) * b.at(inB + k * nextB);
        }
        return type == ElementType::U8 ? std::fmod(sum, 256) : sum;
      },
      exact ? 0 : 0.51, exact ? 0 : unit * double(product.inner));
}

} // namespace

TEST_CASE("matmul agrees with plain loops for every type, transpose and shape") {
  const std::vector<Product> products = {
      {{}, {}, 1, 1, 1}, {{}, {}, 5, 7, 3}, {{}, {}, 13, 1, 40}, {{}, {}, 1, 50, 9}, {{}, {}, 33, 18, 65},
  };
  for (const ElementType type : numbers) {
    for (const Product& product : products) {
      for (const uint32_t transposes : {0U, 1U, 2U, 3U}) {
        checkProduct(product, type, (transposes & 1U) != 0, (transposes & 2U) != 0, true);
        if (isFloat(type)) {
          checkProduct(product, type, (transposes & 1U) != 0, (transposes & 2U) != 0, false);
        }
      }
    }
  }
}

TEST_CASE("matmul broadcasts its batch axes") {
  const std::vector<Product> products = {
      {{4}, {}, 3, 5, 2},
      {{}, {4}, 3, 5, 2},
      {{2, 1}, {3}, 4, 3, 6},
      {{1, 3}, {2, 1}, 2, 2, 2},
      {{2, 1, 2}, {2, 3, 1}, 1, 4, 3},
  };
  for (const ElementType type : numbers) {
    for (const Product& product : products) {
      checkProduct(product, type, false, false, true);
      checkProduct(product, type, true, true, true);
    }
  }
}

TEST_CASE("matmul without rows, columns or terms gives nothing or zeros") {
  for (const ElementType type : numbers) {
    CHECK(runKernel(ops::Matmul{}, {Literal(TensorType{type, {0, 3}}), Literal(TensorType{type, {3, 2}})})
              .bytes()
              .empty());
    const Literal zeros =
        runKernel(ops::Matmul{}, {Literal(TensorType{type, {2, 0}}), Literal(TensorType{type, {0, 3}})});
    CHECK(zeros == Literal(TensorType{type, {2, 3}}));
  }
}

TEST_CASE("large products, cut into panels and blocks, agree with plain loops") {
  for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::I32}) {
    checkProduct({{}, {}, 300, 520, 270}, type, false, true, true, 61);
    checkProduct({{}, {}, 530, 90, 300}, type, true, false, true, 61);
    checkProduct({{}, {}, 530, 190, 400}, type, true, false, true,
                 61); // several panels, each packed, the last smaller
    checkProduct({{}, {}, 4100, 64, 500}, type, false, false, true, 997); // long panels
    for (const bool transposed : {false, true}) { // cut both ways: 9 x 3, 5 x 3, 2 x 2 and 3 x 3 panels
      checkProduct({{}, {}, 2100, 2050, 60}, type, transposed, !transposed, true, 9973);
      // The last panel of one column.
      checkProduct({{}, {2}, 1100, 513, 40}, type, transposed, transposed, true, 997);
      checkProduct({{}, {}, 1100, 1030, 120}, type, transposed, !transposed, true, 997);
      checkProduct({{}, {}, 512, 512, 100}, type, transposed, transposed, true, 997);
      checkProduct({{}, {}, 520, 1040, 250}, type, transposed, transposed, true, 997);
    }
  }
}

TEST_CASE("products with a vector and of two vectors agree with plain loops") {
  for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::I32}) {
    for (const bool transposed : {false, true}) {
      checkProduct({{}, {}, 1100, 300, 1}, type, transposed, false, true, 7);
      checkProduct({{}, {}, 1, 300, 1100}, type, false, transposed, true, 7);
      checkProduct({{}, {}, 700, 1, 500}, type, transposed, transposed, true, 97);
      checkProduct({{3}, {}, 400, 200, 2}, type, transposed, false, true, 7);
    }
  }
}

TEST_CASE("matmul gives the same bits with one thread and with three") {
  for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::BF16, ElementType::F16}) {
    const Literal a = randomLiteral({type, {500, 300}}, 73), b = randomLiteral({type, {300, 400}}, 74);
    const Literal batch = randomLiteral({type, {3, 400, 300}}, 75);
    CHECK(runKernel(ops::Matmul{}, {a, b}, 1) == runKernel(ops::Matmul{}, {a, b}, 3));
    CHECK(runKernel(ops::Matmul{{}, true, false}, {a, a}, 1) ==
          runKernel(ops::Matmul{{}, true, false}, {a, a}, 3));
    CHECK(runKernel(ops::Matmul{{}, false, true}, {a, batch}, 1) ==
          runKernel(ops::Matmul{{}, false, true}, {a, batch}, 3));
    const Literal column = randomLiteral({type, {500, 1}}, 76), row = randomLiteral({type, {1, 600}}, 77);
    CHECK(runKernel(ops::Matmul{{}, true, false}, {a, column}, 1) ==
          runKernel(ops::Matmul{{}, true, false}, {a, column}, 3));
    CHECK(runKernel(ops::Matmul{}, {column, row}, 1) == runKernel(ops::Matmul{}, {column, row}, 3));
  }
}

TEST_CASE("packed products agree with plain loops") {
  for (const bool transposed : {false, true}) { // the first has two rows of panels
    checkProduct({{}, {}, 1100, 600, 530}, ElementType::F32, transposed, false, true, 997);
    checkProduct({{}, {}, 2100, 513, 517}, ElementType::F32, transposed, true, true, 997);
    checkProduct({{1}, {1}, 512, 512, 512}, ElementType::F32, transposed, transposed, true, 997);
    checkProduct({{}, {}, 600, 1000, 2048}, ElementType::F32, transposed, !transposed, true, 997);
  }
}

TEST_CASE("packed products have the same bits for every number of threads") {
  const Literal x = randomLiteral(f32({1024, 512}), 78), w = randomLiteral(f32({512, 2048}), 79);
  const Literal v = randomLiteral(f32({2048, 512}), 80), g = randomLiteral(f32({1024, 2048}), 81);
  const Literal odd = randomLiteral(f32({700, 533}), 82), other = randomLiteral(f32({700, 1101}), 83);
  const Literal tall = randomLiteral(f32({1536, 897}), 84), flat = randomLiteral(f32({1536, 512}), 85);
  const std::pair<ops::Matmul, std::vector<Literal>> products[] = {{{{}, true, false}, {tall, flat}},
                                                                   {{}, {x, w}},
                                                                   {{{}, false, true}, {x, v}},
                                                                   {{{}, true, false}, {x, g}},
                                                                   {{}, {g, v}},
                                                                   {{{}, true, false}, {g, x}},
                                                                   {{{}, true, false}, {other, odd}},
                                                                   {{{}, true, true}, {w, v}}};
  for (const auto& [op, operands] : products) {
    INFO(toString(operands[0].type()) << " and " << toString(operands[1].type()));
    const Literal many = runKernel(op, operands, 16);
    for (const uint32_t threads : {1U, 2U, 3U, 8U}) {
      CHECK(runKernel(op, operands, threads) == many);
    }
  }
}

namespace {

using Cut = std::array<int64_t, 3>; // rows and columns of a panel, and how many panels; zeros: not packed

Cut packedCut(const ops::Matmul& op, const Shape& a, const Shape& b, const Shape& c) {
  const TensorType operands[2] = {f32(a), f32(b)};
  const auto plan = packedPanels(MatmulPlan(op, operands, f32(c)), ElementType::F32);
  return plan ? Cut{plan->panelRows, plan->panelColumns, plan->panels()} : Cut{};
}

} // namespace

TEST_CASE("packed panels: the least estimated time for many threads, from the shapes alone") {
  const ops::Matmul plain, gradient{{}, true, false};
  // Nanoseconds of a panel for each of its terms, by the estimate: rows x columns / 25 + 0.4 x (rows, twice
  // where a is packed, + 2 x columns), without c. 16 threads have one panel of 512 x 256 each, 5653; panels
  // of 256 x 256 take each of them twice 2928, and of 1024 x 256 half of them 10 906.
  CHECK(packedCut(plain, {1024, 512}, {512, 2048}, {1024, 2048}) == Cut{512, 256, 16});
  CHECK(packedCut(plain, {8192, 512}, {512, 512}, {8192, 512}) == Cut{1024, 256, 16});
  CHECK(packedCut(plain, {512, 512}, {512, 512}, {512, 512}) == Cut{128, 128, 16});
  // A packed a: 16 panels of 256 x 256 take 3031 each, of 512 x 128 3133.
  CHECK(packedCut(gradient, {1024, 2048}, {1024, 512}, {2048, 512}) == Cut{256, 256, 16});
  // All rows of a transposed a, in place: 16 panels of 2048 x 256 take 21 996 each, of 1024 x 256 twice 11
  // 510.
  CHECK(packedCut(gradient, {512, 2048}, {512, 4096}, {2048, 4096}) == Cut{2048, 256, 16});
  // Panels of the same size, rounded up to 64, not one large one and a small rest.
  CHECK(packedCut(plain, {1100, 512}, {512, 4096}, {1100, 4096}) == Cut{576, 256, 32});
}

TEST_CASE("packed panels: not where packing takes longer than it saves, and of f32 alone") {
  const ops::Matmul op;
  CHECK(packedCut(op, {500, 512}, {512, 512}, {500, 512}) == Cut{});          // too few rows to pack b for
  CHECK(packedCut(op, {512, 512}, {512, 500}, {512, 500}) == Cut{});          // too few columns to pack a for
  CHECK(packedCut(op, {512, 500}, {500, 512}, {512, 512}) == Cut{});          // too few terms to move c for
  CHECK(packedCut(op, {1024, 4096}, {4096, 512}, {1024, 512}) == Cut{});      // panels of b would leave L2
  CHECK(packedCut(op, {2, 512, 512}, {2, 512, 512}, {2, 512, 512}) == Cut{}); // a batch
  const TensorType wide[2] = {f32({512, 512}), f32({512, 512})};
  CHECK(!packedPanels(MatmulPlan(op, wide, f32({512, 512})), ElementType::BF16).has_value());
}

TEST_CASE("panels of large products are enough for many threads, and cover the product once") {
  const ops::Matmul plain, gradient{{}, true, false};
  struct Sides {
    int64_t rows, columns, inner;
  };
  for (const auto& [rows, columns, inner] :
       {Sides{384, 1152, 1024}, Sides{384, 384, 1024}, Sides{1024, 1152, 384}, Sides{384, 1536, 1024},
        Sides{1000, 700, 900}, Sides{96, 4000, 512}, Sides{3000, 130, 700}}) {
    for (const ops::Matmul& op : {plain, gradient}) {
      INFO(rows << " x " << columns << " x " << inner << (op.transposeA ? ", transposed" : ""));
      const TensorType operands[2] = {f32(op.transposeA ? Shape({inner, rows}) : Shape({rows, inner})),
                                      f32({inner, columns})};
      const MatmulPlan plan(op, operands, f32({rows, columns}));
      CHECK(plan.panels() >= 12);
      CHECK(2.0 * plan.panelRows * plan.panelColumns * inner >= 16e6); // each pays for a thread
      std::vector<int> times(rows * columns, 0);
      for (int64_t index = 0; index < plan.panels(); ++index) {
        const MatmulPanel panel = plan.panel(index);
        for (int64_t row = panel.row; row < panel.row + panel.rows; ++row) {
          for (int64_t column = panel.column; column < panel.column + panel.columns; ++column) {
            ++times[row * columns + column];
          }
        }
      }
      CHECK(std::count(times.begin(), times.end(), 1) == rows * columns);
    }
  }
  const TensorType small[2] = {f32({64, 64}), f32({64, 64})};
  CHECK(MatmulPlan(plain, small, f32({64, 64})).panels() == 1);
}

} // namespace dfc::testing
