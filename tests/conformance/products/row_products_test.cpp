// Products of few rows, their text run on the host: both layouts of the matrix, edges in every direction,
// one block and many, 16-bit factors, and bodies behind the product, against sums in f64.
#include "tests/conformance/emulated_kernels.h"
#include "tests/conformance/products/product_sums.h"

#include "compiler/interpreter/evaluate.h"
#include "compiler/lower/kernels/products/row_product.h"
#include "ir/graph/rules/op_rules.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

// Columns first and inner axis first: whole packs and odd ones, fewer terms than threads, many.
constexpr std::array rowSizes = {ProductSizes{1, 64, 32},
                                 ProductSizes{1, 37, 300},
                                 ProductSizes{3, 96, 70},
                                 ProductSizes{8, 20, 513},
                                 ProductSizes{1, 1000, 3},
                                 ProductSizes{1, 64, 32, false, true},
                                 ProductSizes{2, 37, 301, false, true},
                                 ProductSizes{8, 130, 96, false, true},
                                 ProductSizes{5, 3, 2600, false, true},
                                 ProductSizes{1, 1025, 8, false, true},
                                 ProductSizes{1, 40, 24, true, false}};

const GpuShape few{2, 2048, 99 * 1024}, many{132, 2048, 227 * 1024};

struct RowKernels {
  size_t plain, whole;
  cuda::RowProduct product;
};

/// One accumulator of f32, and the rounding of the result.
double rowErrorOf(const TermSum& sum, const ProductSizes& size, ElementType element) {
  const double last = element == ElementType::F32 ? 0 : element == ElementType::F16 ? 0x1p-11 : 0x1p-8;
  return sum.magnitude * static_cast<double>(size.inner) * 0x1p-24 + std::fabs(sum.value) * last + 1e-7;
}

void checkRows(ElementType element, const GpuShape& gpu) {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  // A bias, an activation, and the residual stream.
  ops::Fused after;
  REQUIRE(after.body.decode(element == ElementType::F32    ? "add:f32 %0 %1; relu:f32 %3; add:f32 %4 %2"
                            : element == ElementType::BF16 ? "add:bf16 %0 %1; relu:bf16 %3; add:bf16 %4 %2"
                                                           : "add:f16 %0 %1; relu:f16 %3; add:f16 %4 %2"));
  EmulatedKernels kernels;
  std::vector<RowKernels> made;
  for (const ProductSizes& size : rowSizes) {
    const TensorType a{element, size.ofA()}, b{element, size.ofB()},
        result{element, {size.rows, size.columns}};
    const auto product = cuda::RowProduct::of(size.matmul(ops::Precision::Ieee), {a, b});
    REQUIRE(product);
    const TensorType behind[] = {result, {element, {size.columns}}, result};
    made.push_back(
        {kernels.add(cuda::rowProductKernel(*product, cuda::identityChain(result), gpu)),
         kernels.add(cuda::rowProductKernel(*product, cuda::elementwiseChain(after, behind, element), gpu)),
         *product});
  }
  REQUIRE(kernels.build() == "");
  Dice dice(7);
  for (size_t i = 0; i < rowSizes.size(); ++i) {
    const ProductSizes& size = rowSizes[i];
    INFO(size.rows << " by " << size.columns << " of " << size.inner);
    const TensorType result{element, {size.rows, size.columns}};
    std::vector<Literal> operands = {randomLiteral({element, size.ofA()}, dice),
                                     randomLiteral({element, size.ofB()}, dice)};
    std::string problem;
    const Literal product = kernels.run(made[i].plain, operands, result, problem)[0];
    REQUIRE(problem == "");
    for (int64_t n = 0; n < size.rows * size.columns; ++n) {
      const TermSum sum = sumAt(size, operands[0], operands[1], n / size.columns, n % size.columns);
      if (!(std::fabs(product.at(n) - sum.value) <= rowErrorOf(sum, size, element))) {
        FAIL_CHECK("element " << n << ": " << product.at(n) << " for " << sum.value);
        break;
      }
    }
    operands.push_back(randomLiteral({element, {size.columns}}, dice));
    operands.push_back(randomLiteral(result, dice));
    const Literal whole = kernels.run(made[i].whole, operands, result, problem)[0];
    REQUIRE(problem == "");
    const std::vector<Literal> behind = {product, operands[2], operands[3]};
    CHECK(bitDifference(evaluateOp(after, behind)[0], whole) == "");
  }
}

} // namespace

TEST_CASE("row products are right, with what follows them") {
  checkRows(ElementType::F32, few);
  checkRows(ElementType::BF16, many);
}
TEST_CASE("row products of f16, and of f32 on many multiprocessors") {
  checkRows(ElementType::F16, few);
  checkRows(ElementType::F32, many);
}

TEST_CASE("products of few rows with one matrix are row products") {
  const auto made = [](const TensorType& a, const TensorType& b, const ops::Matmul& op) {
    return cuda::RowProduct::of(op, {a, b}).has_value();
  };
  ops::Matmul plain;
  CHECK(made(f32({1, 16}), f32({16, 12}), plain));
  CHECK(made(f32({2, 4, 16}), f32({16, 12}), plain));          // leading axes are rows
  CHECK_FALSE(made(f32({9, 16}), f32({16, 12}), plain));       // a library's tiles
  CHECK_FALSE(made(f32({2, 1, 16}), f32({2, 16, 12}), plain)); // a batch of matrices
  CHECK_FALSE(made(f32({1, 16}), f32({16, 1}), plain));        // a product of vectors
  CHECK_FALSE(made(f32({1, 0}), f32({0, 12}), plain));
  CHECK_FALSE(made(f64({1, 16}), f64({16, 12}), plain));
  ops::Matmul transposed;
  transposed.transposeA = true;
  CHECK(made(f32({16, 1}), f32({16, 12}), transposed));
  CHECK_FALSE(made(f32({16, 2}), f32({16, 12}), transposed));
}
