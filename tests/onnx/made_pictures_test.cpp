// Nodes over pictures as ONNX Runtime and the format's text have them, where Debian's node tests have no
// case.
#include "tests/onnx/made_node.h"
#include "tests/support/catch.h"

namespace dfc::test {
namespace {

using Attributes = std::map<std::string, OnnxAttribute>;

Literal places(const Shape& shape, const std::vector<double>& values) {
  return literal(ElementType::I64, shape, values);
}

} // namespace

TEST_CASE("onnx: places of the maxima count from the picture, never from its padding") {
  const Attributes attributes = {{"kernel_shape", listAttribute({3})}, {"pads", listAttribute({1, 1})}};
  // Of two channels; of equal elements, the padding among them or not, the first one of the picture.
  const Literal bytes = literal(ElementType::U8, {1, 2, 3}, {0, 0, 0, 2, 1, 2});
  CHECK(outcomeOf({"MaxPool",
                   12,
                   attributes,
                   {bytes},
                   {literal(ElementType::U8, {1, 2, 3}, {0, 0, 0, 2, 2, 2}),
                    places({1, 2, 3}, {0, 0, 1, 3, 3, 5})}}) == "passes");
}

TEST_CASE("onnx: places of the maxima by columns, and over three axes") {
  Attributes attributes = {{"kernel_shape", listAttribute({1, 2})}, {"storage_order", integerAttribute(1)}};
  const Literal a = floats({1, 1, 2, 3}, {1, 3, 2, 6, 5, 4});
  // Row i, column j stands at i + 2 j: 3 of (0, 1) twice, 6 of (1, 0), 5 of (1, 1).
  CHECK(outcomeOf({"MaxPool",
                   12,
                   attributes,
                   {a},
                   {floats({1, 1, 2, 2}, {3, 3, 6, 5}), places({1, 1, 2, 2}, {2, 2, 1, 3})}}) == "passes");
  attributes = {{"kernel_shape", listAttribute({2, 1, 1})}};
  const Literal deep = floats({1, 1, 2, 1, 3}, {1, 5, 2, 4, 3, 6});
  CHECK(outcomeOf({"MaxPool",
                   12,
                   attributes,
                   {deep},
                   {floats({1, 1, 1, 1, 3}, {4, 5, 6}), places({1, 1, 1, 1, 3}, {3, 1, 5})}}) == "passes");
}

TEST_CASE("onnx: MaxUnpool puts an element once where overlapping windows name it twice") {
  const Attributes attributes = {{"kernel_shape", listAttribute({2})}};
  CHECK(outcomeOf({"MaxUnpool",
                   11,
                   attributes,
                   {floats({1, 1, 2}, {7, 7}), places({1, 1, 2}, {1, 1})},
                   {floats({1, 1, 3}, {0, 7, 0})}}) == "passes");
}

TEST_CASE("onnx: ConvTranspose over three axes") {
  // Depth 2 at a stride of 2, a filter of depth 3: elements 1 2 * [1 10 100] at 0 and 2; one taken off
  // before.
  const Attributes attributes = {{"strides", listAttribute({2, 1, 1})},
                                 {"pads", listAttribute({1, 0, 0, 0, 0, 0})},
                                 {"output_padding", listAttribute({1, 0, 0})}};
  CHECK(
      outcomeOf({"ConvTranspose",
                 11,
                 attributes,
                 {floats({1, 1, 2, 1, 1}, {1, 2}), floats({1, 1, 3, 1, 1}, {1, 10, 100}), floats({1}, {0.5})},
                 {floats({1, 1, 5, 1, 1}, {10.5, 102.5, 20.5, 200.5, 0.5})}}) == "passes");
}

TEST_CASE("onnx: ConvTranspose of an output_shape takes the odd element off at the begin") {
  const Literal a = floats({1, 1, 2}, {1, 2}), filter = floats({1, 1, 3}, {1, 10, 100});
  const auto made = [&](Attributes attributes, const std::vector<double>& wanted) {
    attributes["strides"] = listAttribute({2});
    attributes["output_shape"] = listAttribute({4});
    return outcomeOf({"ConvTranspose", 11, std::move(attributes), {a, filter}, {floats({1, 1, 4}, wanted)}});
  };
  // All five are 1 10 102 20 200.
  CHECK(made({}, {10, 102, 20, 200}) == "passes");
  CHECK(made({{"auto_pad", textAttribute("SAME_LOWER")}}, {10, 102, 20, 200}) == "passes");
  CHECK(made({{"auto_pad", textAttribute("SAME_UPPER")}}, {1, 10, 102, 20}) == "passes");
}

TEST_CASE("onnx: GridSample of pictures of three axes") {
  const Attributes attributes = {{"align_corners", integerAttribute(1)}};
  // The grid has x, y, z: the middle of all four elements of the front; half way from 4 to 8; the border.
  CHECK(outcomeOf({"GridSample",
                   20,
                   attributes,
                   {floats({1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                    floats({1, 1, 1, 3, 3}, {0, 0, -1, 1, 1, 0, 2, -1, -1})},
                   {floats({1, 1, 1, 1, 3}, {2.5, 6, 1})}}) == "passes");
}

TEST_CASE("onnx: Resize gives extrapolation_value where a part reaches beyond the picture") {
  OnnxAttribute minusOne;
  minusOne.real = -1;
  Attributes attributes = {{"mode", textAttribute("linear")},
                           {"coordinate_transformation_mode", textAttribute("tf_crop_and_resize")},
                           {"extrapolation_value", minusOne}};
  // Of two columns the places -1, 0.5, 2; of two rows 0 and 1, and then 0 and 2.
  const Literal a = floats({1, 1, 2, 2}, {1, 3, 5, 7});
  const auto made = [&](const Literal& part, const std::vector<double>& wanted) {
    return outcomeOf({"Resize",
                      13,
                      attributes,
                      {a, part, std::nullopt, whole({1, 1, 2, 3})},
                      {floats({1, 1, 2, 3}, wanted)}});
  };
  CHECK(made(floats({8}, {0, 0, 0, -1, 1, 1, 1, 2}), {-1, 2, -1, -1, 6, -1}) == "passes");
  CHECK(made(floats({8}, {0, 0, 0, 0, 1, 1, 2, 1}), {1, 2, 3, -1, -1, -1}) == "passes");
  attributes["mode"] = textAttribute("nearest");
  attributes.erase("extrapolation_value"); // 0
  CHECK(made(floats({8}, {0, 0, 0, -1, 1, 1, 1, 2}), {0, 1, 0, 0, 5, 0}) == "passes");
}

TEST_CASE("onnx: what pictures are not sampled by is out of scope by name") {
  const Literal a = floats({1, 1, 2, 2}, {1, 2, 3, 4}), region = floats({1, 4}, {0, 0, 1, 1});
  CHECK(outcomeOf({"GridSample", 16, {}, {a, floats({1, 1, 1, 3}, {0, 0, 0})}}) ==
        "out of scope: GridSample with a grid of shape [1, 1, 1, 3] for [1, 1, 2, 2]");
  CHECK(outcomeOf({"RoiAlign", 16, {}, {a, region, whole({0})}}) ==
        "out of scope: RoiAlign with sampling_ratio = 0: how many places a region has would depend on its "
        "size");
  CHECK(outcomeOf({"BitShift", 11, {{"direction", textAttribute("LEFT")}}, {whole({1}), whole({1})}}) ==
        "out of scope: BitShift with operands of int64; it shifts unsigned integers");
  CHECK(outcomeOf({"MaxUnpool",
                   11,
                   {{"kernel_shape", listAttribute({1})}, {"pads", listAttribute({2, 2})}},
                   {floats({1, 1, 1}, {1}), places({1, 1, 1}, {0})}}) ==
        "out of scope: MaxUnpool with pads = [2, 2]");
}

} // namespace dfc::test
