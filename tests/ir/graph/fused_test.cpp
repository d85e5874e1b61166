// Fused bodies: their text form both ways, and what the rule refuses.
#include "ir/graph/fused_instruction.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/op_samples.h"

#include <random>

using namespace dfc;
using ops::Fused;
using ops::FusedBody;
using ops::FusedInstruction;

namespace {

using Types = std::vector<TensorType>;

Fused fused(std::string_view text, Fused::Reduction reduction = Fused::Reduction::None, Dims axes = {}) {
  Fused op;
  REQUIRE(op.body.decode(text));
  op.reduction = reduction;
  op.axes = std::move(axes);
  return op;
}

std::string errorOf(const Fused& op, const Types& operands) { return resultTypes(op, operands).error; }

} // namespace

TEST_CASE("fused: the text form") {
  FusedBody body;
  body.instructions = {{OpKind::Add, 0, ElementType::F32, {0, 1}},
                       {OpKind::Compare, 2, ElementType::Bool, {2, 0}},
                       {OpKind::Cast, 0, ElementType::BF16, {3}}};
  CHECK(body.encode() == "add:f32 %0 %1; compare.lt:bool %2 %0; cast:bf16 %3");
  FusedBody again;
  CHECK(again.decode(body.encode()));
  CHECK(again.instructions == body.instructions);
  CHECK(again.decode("  add:f32   %0 %1;relu:f32 %2 "));
  CHECK(again.encode() == "add:f32 %0 %1; relu:f32 %2");
}

TEST_CASE("fused: variants go by name") {
  FusedBody body;
  body.instructions = {{OpKind::Gelu, 0, ElementType::F32, {0}}, {OpKind::Gelu, 1, ElementType::F32, {1}}};
  CHECK(body.encode() == "gelu:f32 %0; gelu.tanh:f32 %1");
  FusedBody again;
  CHECK(again.decode("gelu.none:f32 %0; gelu.tanh:f32 %1"));
  CHECK(again.instructions == body.instructions);
  CHECK_FALSE(again.decode("gelu.lt:f32 %0"));
  ops::Gelu gelu;
  gelu.approximate = ops::Gelu::Approximation::Tanh;
  const FusedBody one = bodyOfOne(gelu, 1, ElementType::F16);
  CHECK(one.encode() == "gelu.tanh:f16 %0");
  CHECK(sameAttributes(opOf(one.instructions.front()), gelu));
}

TEST_CASE("fused: text that is no body leaves the body as it was") {
  FusedBody body;
  REQUIRE(body.decode("relu:f32 %0"));
  for (const std::string_view text :
       {"relu", "relu:", "relu:f33 %0", "relo:f32 %0", "relu:f32 0", "relu:f32 %", "relu:f32 %-1",
        "relu:f32 %0x", "relu:f32 %99999999999", ";", "relu:f32 %0;;", "compare:bool %0 %1",
        "compare.xx:bool %0 %1", "compare.256:bool %0 %1", ":f32 %0", "relu.:f32 %0 \n"}) {
    INFO(text);
    CHECK_FALSE(body.decode(text));
    CHECK(body.encode() == "relu:f32 %0");
  }
}

TEST_CASE("fused: every body survives its text, legal or not") {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    FusedBody body, again;
    body.instructions.resize(random() % 6);
    for (FusedInstruction& instruction : body.instructions) {
      instruction.kind = static_cast<OpKind>(random() % opKindCount);
      instruction.variant = static_cast<uint8_t>(random() % 9);
      instruction.type = allElementTypes[random() % allElementTypes.size()];
      instruction.inputs.resize(random() % 4);
      for (uint32_t& input : instruction.inputs) {
        input = random() % 8;
      }
    }
    REQUIRE(again.decode(body.encode()));
    CHECK(again.instructions == body.instructions);
    Fused op;
    op.body = body;
    const TypeResult types = resultTypes(op, {f32({2, 3}), {ElementType::Bool, {3}}, f32({})});
    CHECK(types.ok() == !types.types.empty());
  }
}

TEST_CASE("fused: types") {
  const Types operands = {f32({2, 3}), f32({3})};
  CHECK(resultTypes(fused("add:f32 %0 %1; relu:f32 %2"), operands).types.front() == f32({2, 3}));
  CHECK(resultTypes(fused("compare.gt:bool %0 %1"), operands).types.front() ==
        TensorType{ElementType::Bool, {2, 3}});
  CHECK(resultTypes(fused("mul:f32 %0 %1", Fused::Reduction::Sum, {0}), operands).types.front() == f32({3}));
  CHECK(resultTypes(fused("relu:f32 %0", Fused::Reduction::Mean, {}), {f32({})}).types.front() == f32({}));
  Fused kept = fused("mul:f32 %0 %1", Fused::Reduction::Max, {0, 1});
  kept.keepDims = true;
  CHECK(resultTypes(kept, operands).types.front() == f32({1, 1}));
}

TEST_CASE("fused: a wrong body is refused at the instruction") {
  const Types two = {f32({2, 3}), f32({3})};
  const std::string head = "fused of f32[2, 3] and f32[3]: ";
  CHECK(errorOf(Fused{}, two) == head + "the body is empty");
  CHECK(errorOf(fused("add:f32 %0 %2"), two) ==
        head + "instruction 0 of the body: it reads %2, which is not written yet");
  CHECK(errorOf(fused("add:f32 %0 %1; matmul:f32 %0 %1"), two) ==
        head + "instruction 1 of the body: it is no elementwise op");
  CHECK(errorOf(fused("add:f64 %0 %1"), two) == head + "instruction 0 of the body: it makes f32, not f64");
  CHECK(errorOf(fused("add:f32 %0"), two) ==
        head + "instruction 0 of the body: add takes 2 operands (a, b), not 1");
  CHECK(errorOf(fused("cast:i32 %0; exp:i32 %2"), two) ==
        head + "instruction 1 of the body: exp of i32[]: exp takes f32, f64, f16 or bf16");
  CHECK(errorOf(fused("compare.7:bool %0 %1"), two) ==
        head + "instruction 0 of the body: compare of f32[] and f32[]: unknown direction");
  CHECK(errorOf(fused("add.1:f32 %0 %1"), two) == head + "instruction 0 of the body: add has no variants");
  CHECK(errorOf(fused("gelu.2:f32 %0"), two) ==
        head + "instruction 0 of the body: gelu of f32[]: unknown variant");
}

TEST_CASE("fused: a wrong reduction is refused") {
  const Types two = {f32({2, 3}), f32({3})};
  const std::string head = "fused of f32[2, 3] and f32[3]: ";
  CHECK(errorOf(fused("add:f32 %0 %1", Fused::Reduction::None, {0}), two) ==
        head + "axes without a reduction");
  CHECK(errorOf(fused("add:f32 %0 %1", Fused::Reduction::Sum, {1, 0}), two) ==
        head + "the reduced axes are not listed in ascending order");
  CHECK(errorOf(fused("add:f32 %0 %1", Fused::Reduction::Sum), two) ==
        head + "the reduced axes are not listed in ascending order");
  CHECK(errorOf(fused("add:f32 %0 %1", Fused::Reduction::Sum, {-1}), two) ==
        head + "the reduced axes are not listed in ascending order");
  CHECK(errorOf(fused("add:f32 %0 %1", Fused::Reduction::Sum, {2}), two) ==
        "fused of f32[2, 3]: there is no axis 2");
  CHECK(errorOf(fused("cast:i32 %0", Fused::Reduction::Mean, {0}), two) ==
        "fused of i32[2, 3]: fused takes f32, f64, f16 or bf16");
  CHECK(errorOf(fused("relu:f32 %0", Fused::Reduction::Max, {0}), {f32({0, 3})}) ==
        "fused of f32[0, 3]: axis 0 has length 0");
}

TEST_CASE("fused: the cost is the sum over its instructions") {
  const Types operands = {f32({2, 3}), f32({3})};
  const Fused op = fused("add:f32 %0 %1; exp:f32 %2", Fused::Reduction::Sum, {1});
  const OpCost cost = costOf(op, operands, resultTypes(op, operands).types);
  CHECK(cost.flops == 6 * (1 + 8 + 1)); // add, exp and the sum for each of 2 * 3 elements
  CHECK(cost.bytes == (6 + 3 + 2) * 4); // both operands and the two sums
}
