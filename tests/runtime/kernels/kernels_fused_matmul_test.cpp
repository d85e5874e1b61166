// The kernel of fusedMatmul against the kernels of its two halves: the same bits, wherever the product lies.
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"
#include "tests/support/typed_body.h"

namespace dfc::testing {
namespace {

ops::FusedMatmul fusedMatmul(std::string body, ElementType type, bool transposeA = false,
                             bool transposeB = false) {
  ops::FusedMatmul op;
  op.transposeA = transposeA;
  op.transposeB = transposeB;
  const std::string typed = test::withType(std::move(body), type);
  REQUIRE(op.body.decode(typed));
  return op;
}

Literal apart(const ops::FusedMatmul& op, const std::vector<Literal>& operands) {
  std::vector<Literal> inputs{runKernel(op.product(), {operands[0], operands[1]})};
  inputs.insert(inputs.end(), operands.begin() + 2, operands.end());
  return runKernel(op.epilogue(), inputs);
}

Shape matrix(int64_t rows, int64_t columns, bool transposed) {
  return transposed ? Shape{columns, rows} : Shape{rows, columns};
}

// A layer; an update; a mask from another operand; the product read twice and a factor read again below.
const std::vector<std::string> bodies = {
    "add:T %0 %1; relu:T %3",
    "mul:T %0 %1; sub:T %2 %3",
    "compare.gt:bool %2 %1; select:T %3 %0 %1",
    "mul:T %0 %0; max:T %3 %2; add:T %4 %1",
};

void checkBodies(ElementType type, int64_t rows, int64_t inner, int64_t columns) {
  for (const uint32_t transposes : {0U, 1U, 2U, 3U}) {
    const bool a = (transposes & 1U) != 0, b = (transposes & 2U) != 0;
    const std::vector<Literal> operands = {randomLiteral({type, matrix(rows, inner, a)}, 91, 0, 3),
                                           randomLiteral({type, matrix(inner, columns, b)}, 92, 0, 3),
                                           randomLiteral({type, {columns}}, 93, 0, 3),
                                           randomLiteral({type, {rows, columns}}, 94, 0, 9)};
    for (const std::string& body : bodies) {
      INFO(body << " of " << name(type) << ", " << rows << " x " << inner << " x " << columns
                << ", transposes " << transposes);
      const ops::FusedMatmul op = fusedMatmul(body, type, a, b);
      const Literal expected = apart(op, operands);
      CHECK(runKernel(op, operands) == expected);
      CHECK(runKernel(op, operands, 3) == expected);
      for (const uint32_t threads : {1U, 3U}) {
        CHECK(runKernelInPlace(op, operands, 3, threads) == expected); // the result over the last operand
      }
    }
  }
}

} // namespace

TEST_CASE("fusedMatmul gives the bits of its matmul and its body, in place too") {
  for (const ElementType type : allElementTypes) {
    if (type != ElementType::Bool) {
      checkBodies(type, 5, 7, 3);
      checkBodies(type, 1, 1, 40);
      checkBodies(type, 3, 0, 2); // an empty sum
    }
  }
  checkBodies(ElementType::F32, 300, 130, 270);
  checkBodies(ElementType::F32, 520, 250, 1040); // panels cut both ways
  checkBodies(ElementType::F32, 1030, 90, 1040); // the first operand, transposed, packed once for two panels
  checkBodies(ElementType::BF16, 2060, 60, 530); // the same, with rows as long as pages
  checkBodies(ElementType::F32, 1500, 16, 600);  // one panel, while its epilogue is shared by threads
  checkBodies(ElementType::F32, 1100, 520, 600); // packed operands, panels in a place of their own
  checkBodies(ElementType::F32, 1500, 1, 600);   // of two vectors, dealt out by bytes
  checkBodies(ElementType::F32, 3000, 120, 1);   // with a vector
  checkBodies(ElementType::F64, 520, 130, 600);  // several panels by our own blocks
  checkBodies(ElementType::BF16, 520, 130, 600);
}

TEST_CASE("fusedMatmul of nothing gives nothing") {
  const ops::FusedMatmul op = fusedMatmul("relu:f32 %0", ElementType::F32);
  CHECK(runKernel(op, {Literal(f32({0, 3})), Literal(f32({3, 2}))}) == Literal(f32({0, 2})));
}

TEST_CASE("fusedMatmul's result may have another element type than its product, wider or narrower") {
  const std::vector<Literal> operands = {randomLiteral(f32({33, 20}), 95), randomLiteral(f32({20, 65}), 96),
                                         randomLiteral(f32({33, 1}), 97)};
  for (const std::string body :
       {"compare.lt:bool %0 %1", "cast:f64 %0; cast:f64 %1; mul:f64 %2 %3", "cast:bf16 %0", "cast:i32 %0"}) {
    INFO(body);
    const ops::FusedMatmul op = fusedMatmul(body, ElementType::F32);
    CHECK(runKernel(op, operands) == apart(op, operands));
  }
  const std::vector<Literal> large = {randomLiteral(f32({2, 530, 200}), 95),
                                      randomLiteral(f32({200, 600}), 96),
                                      randomLiteral(f32({530, 1}), 97)}; // several panels, twice
  for (const std::string body : {"compare.lt:bool %0 %1", "cast:f64 %0; cast:f64 %1; mul:f64 %2 %3"}) {
    INFO(body);
    const ops::FusedMatmul op = fusedMatmul(body, ElementType::F32);
    CHECK(runKernel(op, large, 3) == apart(op, large));
  }
}

TEST_CASE("fusedMatmul stretches its other operands over the batch") {
  const std::vector<Literal> operands = {randomLiteral(f32({2, 1, 4, 6}), 98),
                                         randomLiteral(f32({3, 6, 5}), 99),
                                         randomLiteral(f32({3, 1, 5}), 90)};
  const ops::FusedMatmul op = fusedMatmul("sub:f32 %1 %0", ElementType::F32);
  CHECK(runKernel(op, operands) == apart(op, operands));
}

} // namespace dfc::testing
