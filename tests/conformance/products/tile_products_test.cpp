// Products by our own tiles, their text run on the host: every layout of the factors, edges in both
// directions, and bodies behind the product, against sums in f64.
#include "tests/conformance/emulated_kernels.h"
#include "tests/conformance/products/product_sums.h"

#include "compiler/interpreter/evaluate.h"
#include "compiler/lower/kernels/products/tile_product.h"
#include "ir/graph/rules/op_rules.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

// Fewer chunks than are fetched ahead, as many, more; tiles that end within the matrix.
constexpr std::array sizes = {ProductSizes{32, 32, 32},
                              ProductSizes{2, 4, 4},
                              ProductSizes{33, 36, 100},
                              ProductSizes{64, 40, 132, true, false},
                              ProductSizes{7, 20, 160, false, true},
                              ProductSizes{68, 8, 200, true, true}};

struct Factors {
  Literal a, b;
  Factors(const ProductSizes& size, Dice& dice)
      : a(randomLiteral(f32(size.ofA()), dice)), b(randomLiteral(f32(size.ofB()), dice)) {}
};

/// Two thirds of a last place of tf32 for each factor, and an accumulator of f32.
double errorOf(const TermSum& sum, const ProductSizes& size) {
  return sum.magnitude * (4.0 / 3 * 0x1p-10 + static_cast<double>(size.inner) * 0x1p-24);
}

std::vector<Literal> randomOthers(llvm::ArrayRef<TensorType> types, Dice& dice) {
  std::vector<Literal> others;
  for (const TensorType& type : types) {
    others.push_back(randomLiteral(type, dice));
  }
  return others;
}

/// The text of one kernel for each size, with and without `body` behind the product.
class Kernels {
 public:
  struct Results {
    Literal product, whole;
  };

  Kernels(const std::string& body, ElementType element) : element_(element) {
    REQUIRE(after_.body.decode(body));
  }

  /// Operands of the body are `others`, behind the product.
  void add(const ProductSizes& size, llvm::ArrayRef<TensorType> others) {
    Dice dice(1);
    const Factors factors(size, dice);
    const TensorType factorTypes[] = {factors.a.type(), factors.b.type()};
    const auto product = cuda::TileProduct::of(size.matmul(ops::Precision::Tf32), factorTypes);
    REQUIRE(product);
    std::vector<TensorType> behind = {f32({size.rows, size.columns})};
    plain_.push_back(kernels_.add(cuda::tileProductKernel(*product, cuda::identityChain(behind[0]))));
    behind.insert(behind.end(), others.begin(), others.end());
    whole_.push_back(
        kernels_.add(cuda::tileProductKernel(*product, cuda::elementwiseChain(after_, behind, element_))));
  }
  void build() { REQUIRE(kernels_.build() == ""); }

  /// Of what was added as number `i`.
  Results run(size_t i, const ProductSizes& size, const Factors& factors, llvm::ArrayRef<Literal> others) {
    std::vector<Literal> operands = {factors.a, factors.b};
    const Shape shape{size.rows, size.columns};
    const Literal product = once(plain_[i], operands, f32(shape));
    CHECK(bitDifference(product, once(plain_[i], operands, f32(shape))) == "");
    operands.insert(operands.end(), others.begin(), others.end());
    return {product, once(whole_[i], operands, {element_, shape})};
  }
  Literal expected(const Literal& product, llvm::ArrayRef<Literal> others) const {
    std::vector<Literal> operands = {product};
    operands.insert(operands.end(), others.begin(), others.end());
    return evaluateOp(after_, operands)[0];
  }

 private:
  Literal once(size_t kernel, llvm::ArrayRef<Literal> operands, const TensorType& type) {
    std::string problem;
    const auto results = kernels_.run(kernel, operands, type, problem);
    REQUIRE(problem == "");
    return results[0];
  }

  ops::Fused after_;
  ElementType element_;
  EmulatedKernels kernels_;
  std::vector<size_t> plain_, whole_;
};

void checkProduct(const Literal& product, const Factors& factors, const ProductSizes& size) {
  for (int64_t i = 0; i < size.rows * size.columns; ++i) {
    const TermSum sum = sumAt(size, factors.a, factors.b, i / size.columns, i % size.columns);
    if (!(std::fabs(product.at(i) - sum.value) <= errorOf(sum, size))) {
      FAIL_CHECK("element " << i << ": " << product.at(i) << " for " << sum.value);
      return;
    }
  }
}

/// `othersOf(size)`: the types of the body's operands behind the product.
template <class OthersOf>
void check(const std::string& body, ElementType element, const OthersOf& othersOf) {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  Kernels kernels(body, element);
  for (const ProductSizes& size : sizes) {
    kernels.add(size, othersOf(size));
  }
  kernels.build();
  Dice dice(7);
  for (size_t i = 0; i < sizes.size(); ++i) {
    INFO(sizes[i].rows << " by " << sizes[i].columns << " of " << sizes[i].inner);
    const Factors factors(sizes[i], dice);
    const std::vector<Literal> others = randomOthers(othersOf(sizes[i]), dice);
    const auto results = kernels.run(i, sizes[i], factors, others);
    checkProduct(results.product, factors, sizes[i]);
    CHECK(bitDifference(kernels.expected(results.product, others), results.whole) == "");
  }
}

} // namespace

TEST_CASE("tile products are right to tf32's rounding, with a bias and relu, scaled element by element") {
  check("add:f32 %0 %1; relu:f32 %3; mul:f32 %4 %2", ElementType::F32, [](const ProductSizes& size) {
    return std::vector<TensorType>{f32({size.columns}), f32({size.rows, size.columns})};
  });
}

TEST_CASE("tile products end in other element types, with operands of others") {
  check("cast:f32 %1; mul:f32 %0 %2; cast:f64 %3", ElementType::F64, [](const ProductSizes& size) {
    return std::vector<TensorType>{{ElementType::F16, {size.rows, 1}}};
  });
  check("cast:bf16 %0", ElementType::BF16, [](const ProductSizes&) { return std::vector<TensorType>{}; });
}

TEST_CASE("tile products keep infinities and NaNs") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  const ProductSizes size = sizes[0];
  Kernels kernels("neg:f32 %0", ElementType::F32);
  kernels.add(size, {});
  kernels.build();
  Dice dice(3);
  Factors factors(size, dice);
  const double infinity = std::numeric_limits<double>::infinity();
  factors.a.set(0, infinity);
  factors.a.set(size.inner, std::numeric_limits<double>::quiet_NaN());
  for (int64_t column = 0; column < size.columns; ++column) {
    factors.b.set(column, 1);
  }
  const auto results = kernels.run(0, size, factors, {});
  CHECK(results.whole.at(0) == -infinity);
  CHECK(std::isnan(results.whole.at(size.columns)));
  CHECK(std::isfinite(results.whole.at(2 * size.columns)));
}

TEST_CASE("only plain tf32 products in packs of four are made by tiles") {
  const auto made = [](const TensorType& a, const TensorType& b, ops::Matmul op) {
    return cuda::TileProduct::of(op, {a, b}).has_value();
  };
  ops::Matmul tf32 = ProductSizes().matmul(ops::Precision::Tf32);
  CHECK(made(f32({8, 16}), f32({16, 12}), tf32));
  CHECK_FALSE(made(f32({8, 16}), f32({16, 12}), ops::Matmul()));
  CHECK_FALSE(made({ElementType::F16, {8, 16}}, {ElementType::F16, {16, 12}}, tf32));
  CHECK_FALSE(made(f32({2, 8, 16}), f32({16, 12}), tf32));
  CHECK_FALSE(made(f32({8, 15}), f32({15, 12}), tf32));
  CHECK_FALSE(made(f32({8, 16}), f32({16, 10}), tf32));
  CHECK_FALSE(made(f32({1, 16}), f32({16, 12}), tf32)); // a vector times a matrix has a kernel of its own
  CHECK_FALSE(made(f32({0, 16}), f32({16, 12}), tf32));
  CHECK_FALSE(made(f32({8, 0}), f32({0, 12}), tf32));
  tf32.transposeB = true;
  CHECK(made(f32({8, 16}), f32({12, 16}), tf32));
  CHECK_FALSE(made(f32({8, 16}), f32({10, 16}), tf32)); // results in packs, too
}

TEST_CASE("a small product fills a GPU once") {
  const auto small = [](int64_t rows, int64_t columns, int64_t inner) {
    return cuda::TileProduct{rows, columns, inner}.isSmall(GpuShape::assumed());
  };
  CHECK(small(64, 2048, 512)); // 128 tiles
  CHECK(small(512, 512, 64));  // 256
  CHECK_FALSE(small(64, 512, 2048));
  CHECK_FALSE(small(64, 4096, 512)); // 256: each multiprocessor twice 512
  CHECK_FALSE(small(2048, 512, 64)); // 1024
}
