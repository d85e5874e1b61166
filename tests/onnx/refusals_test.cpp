// What a mapping does not read or does not know is out of scope by name, whatever it would compute without.
#include "tests/onnx/made_node.h"
#include "tests/support/catch.h"

namespace dfc::test {

TEST_CASE("onnx: an attribute or operand that nobody reads is out of scope by name") {
  const Literal a = floats({2}, {-1, 2});
  CHECK(outcomeOf({"Relu", 18, {}, {a}, {floats({2}, {0, 2})}}) == "passes");
  CHECK(outcomeOf({"Relu", 18, {{"surprise", integerAttribute(0)}}, {a}}) ==
        "out of scope: Relu with attribute 'surprise'");
  CHECK(outcomeOf({"Relu", 18, {}, {a, a}}) == "out of scope: Relu with operand 1 ('x1')");
  CHECK(outcomeOf({"Add", 6, {{"broadcast", integerAttribute(1)}}, {a, a}}) ==
        "out of scope: Add with attribute 'broadcast'");
}

TEST_CASE("onnx: an operand or attribute that is missing is out of scope by name") {
  const Literal a = floats({2}, {-1, 2});
  CHECK(outcomeOf({"Add", 18, {}, {a}}) == "out of scope: Add without operand 1");
  CHECK(outcomeOf({"Upsample", 7, {}, {a}}) == "out of scope: Upsample without attribute 'scales'");
}

TEST_CASE("onnx: a value of an attribute that a mapping does not know is out of scope by name") {
  const Literal a = floats({1, 2}, {-1, 2}), pads = whole({0, 0, 0, 0}), scales = floats({2}, {1, 0.5});
  CHECK(outcomeOf({"Pad", 18, {{"mode", textAttribute("mirror")}}, {a, pads}}) ==
        "out of scope: Pad with mode = 'mirror'");
  CHECK(outcomeOf({"Pad", 18, {{"mode", integerAttribute(1)}}, {a, pads}}) ==
        "out of scope: Pad with attribute 'mode' that is no text");
  CHECK(outcomeOf({"LeakyRelu", 16, {{"alpha", integerAttribute(1)}}, {a}}) ==
        "out of scope: LeakyRelu with attribute 'alpha' that is no float");
  CHECK(outcomeOf({"Flatten", 13, {{"axis", textAttribute("1")}}, {a}}) ==
        "out of scope: Flatten with attribute 'axis' that is no integer");
  CHECK(outcomeOf({"Transpose", 13, {{"perm", integerAttribute(1)}}, {a}}) ==
        "out of scope: Transpose with attribute 'perm' that is no list of integers");
  CHECK(outcomeOf({"Resize", 18, {{"antialias", integerAttribute(1)}}, {a, {}, scales}}) ==
        "out of scope: Resize with antialias = 1");
  CHECK(outcomeOf({"Resize", 18, {{"keep_aspect_ratio_policy", textAttribute("fit")}}, {a, {}, scales}}) ==
        "out of scope: Resize with keep_aspect_ratio_policy = 'fit'");
  CHECK(outcomeOf({"Mod", 13, {{"fmod", integerAttribute(0)}}, {a, a}}) ==
        "out of scope: Mod with fmod = 0 of floats");
}

TEST_CASE("onnx: an attribute that contradicts the operands is out of scope by name") {
  const Literal picture = floats({1, 1, 3, 3}, std::vector<double>(9, 1)), filter = floats({1, 1, 1, 1}, {1});
  CHECK(outcomeOf({"Conv", 11, {{"kernel_shape", listAttribute({3, 3})}}, {picture, filter}}) ==
        "out of scope: Conv with kernel_shape = [3, 3]");
  CHECK(outcomeOf({"Conv", 11, {{"strides", listAttribute({2})}}, {picture, filter}}) ==
        "out of scope: Conv with 1 numbers in 'strides' instead of 2");
  CHECK(outcomeOf({"MaxPool", 11, {{"kernel_shape", listAttribute({2})}}, {picture}}) ==
        "out of scope: MaxPool with windows of 1 axes over rank 4");
  CHECK(outcomeOf({"ReverseSequence",
                   10,
                   {{"time_axis", integerAttribute(1)}, {"batch_axis", integerAttribute(1)}},
                   {floats({2, 2}, {1, 2, 3, 4}), whole({1, 2})}}) ==
        "out of scope: ReverseSequence with batch_axis = 1");
  CHECK(outcomeOf({"RNN",
                   14,
                   {{"hidden_size", integerAttribute(1)}, {"direction", textAttribute("sideways")}},
                   {floats({1, 1, 1}, {1}), floats({2, 1, 1}, {1, 1}), floats({2, 1, 1}, {1, 1})}}) ==
        "out of scope: RNN with direction = 'sideways'");
}

TEST_CASE("onnx: sizes and paddings that do not fit the axes are out of scope by name") {
  const Literal a = floats({1, 2}, {-1, 2});
  CHECK(outcomeOf({"Resize", 18, {}, {a, {}, {}, whole({4})}}) ==
        "out of scope: Resize with 0 scales and 1 sizes for 2 axes");
  CHECK(outcomeOf({"Resize", 18, {{"axes", listAttribute({2})}}, {a, {}, {}, whole({4})}}) ==
        "out of scope: Resize with axis 2 of 2");
  CHECK(outcomeOf({"Pad", 18, {}, {a, whole({1, 1})}}) == "out of scope: Pad with 2 pads for 2 axes");
}

} // namespace dfc::test
