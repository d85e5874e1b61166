// The rules as text, a line for each family of ops.
#include "ir/graph/rules/split_rule.h"
#include "tests/support/catch.h"
#include "tests/support/op_samples.h"

namespace dfc::test {
namespace {

std::string ruleOf(const OpAttributes& attributes, const std::vector<TensorType>& operands) {
  const TypeResult results = resultTypes(attributes, operands);
  REQUIRE(results.ok());
  return toString(splitOf(attributes, operands, results.types), operands, results.types);
}

} // namespace

TEST_CASE("split rules: notation") {
  CHECK(ruleOf(ops::Matmul{}, {f32({5, 6}), f32({6, 4})}) == "(ac,cb)->(ab) c:sum");
  CHECK(ruleOf(ops::Add{}, {f32({5, 6}), f32({6})}) == "(ab,b)->(ab)");
  CHECK(ruleOf(ops::ReduceSum{}, {f32({5, 6})}) == "(ab)->() a:sum b:sum");
  CHECK(ruleOf(ops::Softmax{}, {f32({5, 6})}) == "(a_)->(a_)");
  CHECK(ruleOf(ops::LayerNormGradient{}, {f32({5, 6}), f32({6}), f32({5, 6})}) ==
        "(a_,_,a_)->(a_,_,_) a:sum");
  CHECK(ruleOf(ops::SoftmaxCrossEntropy{}, {f32({5, 6}), i64({5})}) == "(a_,a)->() a:sum");
  CHECK(ruleOf(ops::CumSum{}, {f32({5, 6})}) == "(ab)->(ab) a:scan");
  CHECK(ruleOf(ops::Gather{}, {f32({9, 6}), i64({5})}) == "(cb,a)->(ab) c:sum");
  CHECK(ruleOf(ops::ScatterAdd{}, {f32({9, 6}), i64({5}), f32({5, 6})}) == "(ab+c,c,cb)->(ab) c:sum");
  CHECK(ruleOf(ops::DynamicUpdateSlice{{}, {1}}, {f32({4, 9, 6}), f32({4, 1, 6}), i64({})}) ==
        "(a_b,a_b,)->(a_b)");
  CHECK(ruleOf(ops::Conv2d{}, {f32({2, 3, 8, 8}), f32({4, 3, 3, 3})}) ==
        "(abde,cb__)->(acde) b:sum d:window e:window");
  ops::Reshape reshape;
  reshape.shape = {24, 5};
  CHECK(ruleOf(reshape, {f32({4, 6, 5})}) == "(a_b)->(6ab)");
  CHECK(ruleOf(ops::Attention{}, {f32({2, 6, 5, 4}), f32({2, 3, 7, 4}), f32({2, 3, 7, 4})}) ==
        "(a2bc_,ab__,ab__)->(a2bc_,a2bc)");
  CHECK(ruleOf(ops::BatchNormTraining{}, {f32({2, 3, 4}), f32({3}), f32({3})}) == "(_a_,a,a)->(_a_,a,a)");
}

TEST_CASE("split rules: elements of positions") {
  // Windows of 3 in strides of 2 over 9 elements and 1 of padding: windows 1 and 2 look at 1 … 5.
  const SplitAxis windows{SplitAxis::Form::Forward, 0, 9, 2, 3, 1};
  CHECK(windows.elements({1, 3}) == SplitRange{1, 6});
  CHECK(windows.elements({0, 1}) == SplitRange{0, 2}); // -1 is padding
  CHECK(windows.elements({2, 2}).size() == 0);
  // Elements 2 and 3 are in windows 1 (1 … 3) and 2 (3 … 5).
  const SplitAxis elements{SplitAxis::Form::Backward, 0, 5, 2, 3, 1};
  CHECK(elements.elements({2, 4}) == SplitRange{1, 3});
}

} // namespace dfc::test
