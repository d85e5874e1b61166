// Products whose right operand is a constant: packed once, packed anew when it changes, the same bits in
// both.
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"
#include "tests/support/typed_body.h"

#include <algorithm>
#include <cmath>

namespace dfc::testing {
namespace {

struct ConstantCase {
  Shape batchA, batchB;
  int64_t rows, inner, columns;
};

// Few and many rows, extents that are no multiple of a register tile's, shared and own right operands.
const std::vector<ConstantCase> constantCases = {
    {{}, {}, 2, 300, 165},  {{}, {}, 7, 129, 1000},  {{}, {}, 37, 1100, 70},
    {{3}, {}, 5, 200, 397}, {{2}, {2}, 9, 130, 296}, {{}, {}, 515, 520, 530},
};

/// oneDNN 2 packs operands for products where the CPU has AVX-512.
bool libraryPacks() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0;
#else
  return false;
#endif
}

Shape with(const Shape& batch, int64_t rows, int64_t columns, bool transposed) {
  Dims dims(batch.dims().begin(), batch.dims().end());
  dims.insert(dims.end(), {transposed ? columns : rows, transposed ? rows : columns});
  return Shape(dims);
}

// Whole numbers, whose sums are exact in every type.
Literal wholeNumbers(const TensorType& type, uint32_t seed) {
  Literal drawn = randomLiteral(type, seed, -1, 1.9);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    drawn.set(i, std::trunc(drawn.at(i)));
  }
  return drawn;
}

/// A kernel, told of its right operand, that multiplies what it is given.
class Multiplier {
 public:
  Multiplier(const OpAttributes& op, const std::vector<TensorType>& types, Held right)
      : result_(resultTypes(op, types).types[0]), kernel_(makeCpuKernel(op, types, result_.type(), pool_)) {
    keeps_ = kernel_->hold({Held::No, right});
  }
  bool keeps() const { return keeps_; }
  void change() { kernel_->heldChanged(); }
  const Literal& run(const Literal& a, const Literal& b) {
    const std::byte* operands[] = {a.bytes().data(), b.bytes().data()};
    std::byte* results[] = {result_.mutableBytes().data()};
    kernel_->run(operands, results);
    return result_;
  }

 private:
  ThreadPool pool_{2};
  Literal result_;
  std::unique_ptr<CpuKernel> kernel_;
  bool keeps_ = false;
};

void checkConstant(const ConstantCase& c, ElementType type, bool transposeA, bool transposeB) {
  const TensorType left{type, with(c.batchA, c.rows, c.inner, transposeA)};
  const TensorType right{type, with(c.batchB, c.inner, c.columns, transposeB)};
  const ops::Matmul op{{}, transposeA, transposeB};
  INFO(toString(left) << (transposeA ? "^T " : " ") << toString(right) << (transposeB ? "^T" : ""));
  const Literal a = wholeNumbers(left, 31), first = wholeNumbers(right, 32), second = wholeNumbers(right, 33);
  const Literal ofFirst = runKernel(op, {a, first}), ofSecond = runKernel(op, {a, second});
  Multiplier kept(op, {left, right}, Held::Yes), unseen(op, {left, right}, Held::Constant);
  CHECK((kept.keeps() || !libraryPacks()));
  CHECK((kept.run(a, first) == ofFirst && kept.run(a, first) == ofFirst));
  CHECK(kept.run(a, second) == (kept.keeps() ? ofFirst : ofSecond)); // the packed copy
  kept.change();
  CHECK(kept.run(a, second) == ofSecond);
  CHECK((unseen.run(a, first) == ofFirst && unseen.run(a, second) == ofSecond));
  // Sums that round: the same bits, whether the copy is kept or not.
  const Literal x = randomLiteral(left, 34, -1, 1), w = randomLiteral(right, 35, -1, 1);
  kept.change();
  const std::vector<uint8_t> bits = bitsOf(kept.run(x, w));
  CHECK(bits == bitsOf(unseen.run(x, w)));
}

} // namespace

TEST_CASE("a constant right operand is kept packed until it changes") {
  for (const ElementType type : {ElementType::F32, ElementType::BF16, ElementType::F16}) {
    for (const ConstantCase& c : constantCases) {
      for (const uint32_t transposes : {0U, 1U, 2U, 3U}) {
        checkConstant(c, type, (transposes & 1U) != 0, (transposes & 2U) != 0);
      }
    }
  }
}

TEST_CASE("small right operands, other types and operands that change are not kept") {
  const auto keeps = [](ElementType type, int64_t rows, int64_t inner, int64_t columns, Held right) {
    return Multiplier(ops::Matmul{}, {{type, {rows, inner}}, {type, {inner, columns}}}, right).keeps();
  };
  CHECK((keeps(ElementType::F32, 4, 256, 128, Held::Yes) || !libraryPacks()));
  CHECK(!keeps(ElementType::F32, 4, 256, 128, Held::Constant));
  CHECK(!keeps(ElementType::F32, 4, 256, 128, Held::No));
  CHECK(!keeps(ElementType::F64, 4, 256, 128, Held::Yes));
  CHECK(!keeps(ElementType::F32, 4, 64, 64, Held::Yes)); // 16 KiB
}

TEST_CASE("fusedMatmul with a kept right operand gives the bits of the product and its body") {
  ops::FusedMatmul op;
  REQUIRE(op.body.decode(test::withType("add:T %0 %1; relu:T %3", ElementType::F32)));
  const Literal a = randomLiteral({ElementType::F32, {2, 19, 200}}, 36, -1, 1),
                bias = randomLiteral({ElementType::F32, {300}}, 37, -1, 1),
                other = randomLiteral({ElementType::F32, {2, 19, 300}}, 38, -1, 1);
  const std::vector<TensorType> types = {a.type(), {ElementType::F32, {200, 300}}, bias.type(), other.type()};
  ThreadPool pool(2);
  Literal result(resultTypes(op, types).types[0]);
  const auto kernel = makeCpuKernel(op, types, result.type(), pool);
  CHECK((kernel->hold({Held::No, Held::Yes, Held::Yes, Held::No}) || !libraryPacks()));
  Multiplier product(op.product(), {types[0], types[1]}, Held::Yes);
  std::byte* results[] = {result.mutableBytes().data()};
  for (const uint32_t seed : {39U, 40U}) {
    const Literal b = randomLiteral(types[1], seed, -1, 1);
    kernel->heldChanged();
    product.change();
    const Literal expected = runKernel(op.epilogue(), {product.run(a, b), bias, other});
    const std::byte* operands[] = {a.bytes().data(), b.bytes().data(), bias.bytes().data(),
                                   other.bytes().data()};
    kernel->run(operands, results);
    CHECK(result == expected);
    std::copy_n(other.bytes().data(), other.bytes().size(), results[0]);
    operands[3] = results[0]; // in place
    kernel->run(operands, results);
    CHECK(result == expected);
  }
}

} // namespace dfc::testing
