// Models with a mistake each. They are made here, since a damaged binary in the tree tells nobody what is
// wrong with it; what is said of each is a file of tests/invalid/onnx, to the letter.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/onnx/import.h"
#include "ir/base/atomic_file.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/onnx/onnx_message.h"
#include "tests/support/temporary_folder.h"

#include <cmath>
#include <filesystem>

namespace dfc::test {
namespace {

using Dims = std::map<std::string, int64_t>;

std::string replacedAll(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// Beside the model lies "w.bin" of 12 bytes.
void check(const std::string& name, const std::string& bytes, const Dims& dims = {}) {
  CAPTURE(name);
  const TemporaryFolder folder;
  const std::string path = folder.file("m.onnx");
  writeFileAtomically(path, bytes).orThrow();
  writeFileAtomically(folder.file("w.bin"), std::string(12, '\0')).orThrow();
  std::filesystem::create_symlink("/etc/passwd", folder.file("link.bin"));
  onnx::ImportSettings settings;
  settings.dims = dims;
  settings.weightFile = path;
  settings.evaluate = evaluateOp;
  const auto graph = onnx::importFile(path, settings);
  REQUIRE_FALSE(graph.ok());
  for (const Diagnostic& error : graph.errors()) {
    CHECK(error.where.file == path);
  }
  const std::string home = path.substr(0, path.rfind('/') + 1);
  checkAgainstFile(shippedFile("tests/invalid/onnx/" + name + ".expected"),
                   replacedAll(render(graph.errors()), home, ""));
}

/// One node with these operands and attributes gives y.
std::string one(const std::string& op, const std::vector<std::string>& inputs,
                const std::vector<WireWriter>& attributes = {}, const std::vector<WireWriter>& tensors = {}) {
  GraphMessage graph;
  graph.nodes = {{op, inputs, {"y"}, attributes, "it"}};
  graph.tensors = tensors;
  return modelBytes(graph);
}

/// The same over an x of these dimensions.
std::string oneOf(const std::vector<int64_t>& dims, const std::string& op,
                  const std::vector<std::string>& inputs, const std::vector<WireWriter>& attributes = {},
                  const std::vector<WireWriter>& tensors = {}) {
  GraphMessage graph;
  graph.nodes = {{op, inputs, {"y"}, attributes, "it"}};
  graph.inputs = {portMessage("x", dims)};
  graph.tensors = tensors;
  return modelBytes(graph);
}

GraphMessage bodyGiving(const std::vector<NodeMessage>& nodes, const std::string& output) {
  GraphMessage body;
  body.nodes = nodes;
  body.inputs = {};
  body.outputs = {portMessage(output, {})};
  return body;
}

WireWriter literalOfNoAxes(const std::string& name) {
  WireWriter made;
  made.integer(2, 7);
  made.integers(7, std::vector<int64_t>{1});
  made.text(8, name);
  return made;
}

std::vector<float> zerosOf(size_t count) { return std::vector<float>(count); }

} // namespace

TEST_CASE("invalid onnx: files that are none") {
  const std::string whole = one("Relu", {"x"});
  check("empty", "");
  check("text", "graph g {\n}\n");
  check("truncated", whole.substr(0, whole.size() / 2));
  check("one_byte_less", whole.substr(0, whole.size() - 1));
  WireWriter number;
  number.integer(7, 5);
  check("wrong_wire_type", number.str());
  check("endless_number", std::string(20, '\xff'));
  check("announced_bytes", std::string("\x3a\xff\xff\xff\xff\x07") + "abc");
  WireWriter nothing;
  check("no_graph", (nothing.integer(1, 8), nothing.str()));
  check("too_old", modelBytes({{{"Relu", {"x"}, {"y"}}}}, 6));
  check("too_new", modelBytes({{{"Relu", {"x"}, {"y"}}}}, 99));
}

TEST_CASE("invalid onnx: graphs in graphs without end") {
  GraphMessage inner = bodyGiving({{"Relu", {"x"}, {"z"}}}, "z");
  for (int i = 0; i < 70; ++i) {
    const WireWriter message = messageOf(inner);
    inner = bodyGiving({{"If", {"c"}, {"z"}, {graphField("then_branch", message)}}}, "z");
  }
  check("deep_graphs", one("If", {"x"}, {graphField("then_branch", messageOf(inner))}));
}

TEST_CASE("invalid onnx: initialisers") {
  check("missing_initialiser", one("Add", {"x", "w"}));
  check("initialiser_too_short", one("Add", {"x", "w"}, {}, {floatTensor("w", {3}, {1, 2})}));
  check("initialiser_of_negative_shape", one("Add", {"x", "w"}, {}, {floatTensor("w", {-3}, {1, 2, 3})}));
  check("initialiser_of_absurd_shape",
        one("Add", {"x", "w"}, {}, {floatTensor("w", {int64_t{1} << 60, 64}, {1, 2, 3})}));
  check("initialiser_of_many_axes",
        one("Add", {"x", "w"}, {}, {floatTensor("w", std::vector<int64_t>(20, 1), {1})}));
  WireWriter strange;
  strange.integers(1, std::vector<int64_t>{3});
  strange.integer(2, 77);
  strange.text(8, "w");
  check("initialiser_of_unknown_type", one("Add", {"x", "w"}, {}, {strange}));
  WireWriter texts;
  texts.integers(1, std::vector<int64_t>{3});
  texts.integer(2, 8);
  texts.text(8, "w");
  check("initialiser_of_text", one("Add", {"x", "w"}, {}, {texts}));
  check("initialiser_twice",
        one("Add", {"x", "w"}, {}, {floatTensor("w", {3}, {1, 2, 3}), floatTensor("w", {3}, {1, 2, 3})}));
}

TEST_CASE("invalid onnx: external data") {
  const auto add = [](const WireWriter& tensor) { return one("Add", {"x", "w"}, {}, {tensor}); };
  check("external_escapes", add(externalTensor("w", {3}, "../w.bin")));
  check("external_absolute", add(externalTensor("w", {3}, "/etc/passwd")));
  check("external_link", add(externalTensor("w", {3}, "link.bin")));
  check("external_missing", add(externalTensor("w", {3}, "none.bin")));
  check("external_folder", add(externalTensor("w", {3}, ".")));
  check("external_without_place", add(externalTensor("w", {3}, "")));
  check("external_offset", add(externalTensor("w", {3}, "w.bin", "8", "12")));
  check("external_length", add(externalTensor("w", {3}, "w.bin", "0", "8")));
  check("external_no_number", add(externalTensor("w", {3}, "w.bin", "-4", "12")));
  check("external_huge_offset", add(externalTensor("w", {3}, "w.bin", "999999999999999999", "12")));
}

TEST_CASE("invalid onnx: nodes, all at once") {
  GraphMessage graph;
  graph.nodes = {{"Frob", {"x"}, {"a"}, {}, "first"},
                 {"Relu", {"a"}, {"b"}},
                 {"Frob", {"x"}, {"c"}},
                 {"Knit", {"b", "c"}, {"d"}, {}, "second"},
                 {"Add", {"x"}, {"e"}, {}, "short"},
                 {"MatMul", {"x", "x"}, {"y"}, {}, "shapes"}};
  check("unknown_ops", modelBytes(graph));
}

TEST_CASE("invalid onnx: names") {
  GraphMessage graph;
  graph.nodes = {{"Relu", {"b"}, {"a"}, {}, "one"},
                 {"Neg", {"a"}, {"b"}, {}, "two"},
                 {"Add", {"x", "b"}, {"y"}, {}, "three"}};
  check("cycle", modelBytes(graph));
  graph.nodes = {{"Relu", {"x"}, {"y"}, {}, "one"}, {"Neg", {"x"}, {"y"}, {}, "two"}};
  check("value_twice", modelBytes(graph));
  graph.nodes = {{"Relu", {"x"}, {"y"}, {}, "one"}};
  graph.inputs = {portMessage("x", {2, 3}), portMessage("x", {2, 3})};
  check("input_twice", modelBytes(graph));
  graph.inputs = {portMessage("x", {2, 3})};
  graph.outputs = {portMessage("y", {}), portMessage("y", {})};
  check("output_twice", modelBytes(graph));
  graph.outputs = {portMessage("nowhere", {})};
  check("output_of_nothing", modelBytes(graph));
  graph.outputs = {};
  check("no_output", modelBytes(graph));
}

TEST_CASE("invalid onnx: dimensions") {
  const std::string free = oneOf({-1, 3}, "Relu", {"x"});
  check("dims_not_bound", free);
  check("dim_of_no_name", free, {{"batch", 8}, {"bach", 8}});
  check("dim_below_zero", free, {{"batch", -8}});
  check("dims_absurd", oneOf({int64_t{1} << 40, int64_t{1} << 40}, "Relu", {"x"}));
  check("dims_many", oneOf(std::vector<int64_t>(20, 1), "Relu", {"x"}));
  check("dim_bound_absurdly", free, {{"batch", int64_t{1} << 62}});
}

TEST_CASE("invalid onnx: counts of inputs and attributes of the wrong kind") {
  check("no_input", one("Relu", {}));
  check("too_many_inputs", one("Relu", {"x", "x"}));
  check("attribute_of_another_kind", one("Softmax", {"x"}, {textField("axis", "last")}));
  check("attribute_unknown", one("Relu", {"x"}, {integerField("surprise", 1)}));
  check("attribute_no_list", one("Transpose", {"x"}, {integerField("perm", 1)}));
  check("permutation", one("Transpose", {"x"}, {listField("perm", {1, 1})}));
  check("axis_out_of_range", one("Softmax", {"x"}, {integerField("axis", 5)}));
  check("cast_to_nothing", one("Cast", {"x"}, {integerField("to", 99)}));
  check("reshape", one("Reshape", {"x", "s"}, {}, {wholeTensor("s", {4, -1})}));
  check("reshape_absurd", one("Reshape", {"x", "s"}, {}, {wholeTensor("s", {int64_t{1} << 62, 4})}));
  check("type_mismatch", one("Add", {"x", "w"}, {}, {wholeTensor("w", {1, 2, 3})}));
  check("slice", one("Slice", {"x", "s"}, {}, {wholeTensor("s", {0})}));
  check("shape_from_data", one("Reshape", {"x", "x"}));
}

TEST_CASE("invalid onnx: control flow that is not constant, or has no body") {
  const WireWriter body = messageOf(bodyGiving({{"Relu", {"x"}, {"z"}}}, "z"));
  GraphMessage graph;
  graph.inputs = {portMessage("x", {2, 3}), portMessage("c", {}, 9)};
  graph.nodes = {
      {"If", {"c"}, {"y"}, {graphField("then_branch", body), graphField("else_branch", body)}, "it"}};
  check("if_not_constant", modelBytes(graph));
  graph.nodes = {{"If", {"x"}, {"y"}, {integerField("then_branch", 1)}, "it"}};
  check("if_without_body", modelBytes(graph));
  check("loop_without_end",
        one("Loop", {"n", "", "x"},
            {graphField(
                "body", messageOf([] {
                  GraphMessage turn = bodyGiving({{"Relu", {"v"}, {"w"}}}, "c");
                  turn.inputs = {portMessage("i", {}, 7), portMessage("c", {}, 9), portMessage("v", {})};
                  turn.outputs = {portMessage("c", {}), portMessage("w", {})};
                  return turn;
                }()))},
            {wholeTensor("n", {int64_t{1} << 50})}));
  check("loop_with_few_outputs", one("Loop", {"", "", "x"}, {graphField("body", body)}));
  check("scan_inputs", one("Scan", {"x"}, {graphField("body", body), integerField("num_scan_inputs", 1)}));
}

TEST_CASE("invalid onnx: windows") {
  const std::vector<int64_t> picture = {1, 2, 5, 5};
  const auto conv = [&](const std::vector<WireWriter>& attributes, const std::vector<int64_t>& filter,
                        const std::vector<int64_t>& dims) {
    size_t count = 1;
    for (const int64_t dim : filter) {
      count *= static_cast<size_t>(dim);
    }
    return oneOf(dims, "Conv", {"x", "w"}, attributes, {floatTensor("w", filter, zerosOf(count))});
  };
  check("conv_without_axes", conv({}, {4}, {1, 2, 5, 5}));
  check("conv_of_no_picture", conv({}, {4, 2, 3, 3}, {2, 3}));
  check("conv_channels", conv({}, {4, 3, 3, 3}, picture));
  check("conv_groups", conv({integerField("group", 0)}, {4, 2, 3, 3}, picture));
  check("conv_stride", conv({listField("strides", {0, 1})}, {4, 2, 3, 3}, picture));
  check("conv_pads", conv({listField("pads", {1, 1})}, {4, 2, 3, 3}, picture));
  check("conv_absurd_pads",
        conv({listField("pads", {int64_t{1} << 62, 0, int64_t{1} << 62, 0})}, {4, 2, 3, 3}, picture));
  check("conv_kernel", conv({listField("kernel_shape", {2, 2})}, {4, 2, 3, 3}, picture));
  check("conv_padding_mode", conv({textField("auto_pad", "ROUND")}, {4, 2, 3, 3}, picture));
  check("conv_bias", oneOf(picture, "Conv", {"x", "w", "b"}, {},
                           {floatTensor("w", {4, 2, 3, 3}, zerosOf(72)), floatTensor("b", {}, {1})}));
  check("pool_without_window", oneOf(picture, "MaxPool", {"x"}));
  check("pool_window", oneOf(picture, "MaxPool", {"x"}, {listField("kernel_shape", {0, 3})}));
  check("pool_same_without_stride", oneOf(picture, "AveragePool", {"x"},
                                          {listField("kernel_shape", {2, 2}), listField("strides", {0, 0}),
                                           textField("auto_pad", "SAME_UPPER")}));
  check("pool_ceil_without_stride", oneOf(picture, "MaxPool", {"x"},
                                          {listField("kernel_shape", {2, 2}), listField("strides", {0, 0}),
                                           integerField("ceil_mode", 1)}));
  check("transposed_without_rank",
        oneOf({3}, "ConvTranspose", {"x", "w"}, {}, {floatTensor("w", {1, 1, 2, 2}, zerosOf(4))}));
  check("transposed_filter",
        oneOf(picture, "ConvTranspose", {"x", "w"}, {}, {floatTensor("w", {4}, zerosOf(4))}));
  check("matmul_of_scalar", oneOf({}, "MatMul", {"x", "x"}));
  check("gemm_alpha", one("Gemm", {"x", "x"}, {textField("alpha", "two")}));
}

TEST_CASE("invalid onnx: einsum") {
  const auto einsum = [](const std::string& equation) {
    return one("Einsum", {"x"}, {textField("equation", equation)});
  };
  check("einsum_empty", einsum(""));
  check("einsum_letters", einsum("ijk->ij"));
  check("einsum_few_letters", einsum("i->i"));
  check("einsum_new_letter", einsum("ij->ik"));
  check("einsum_operands", einsum("ij,jk->ik"));
  check("einsum_signs", einsum("i%->i"));
  check("einsum_twice_in_result", einsum("ij->ii"));
  check("einsum_many_dots", einsum("......->..."));
  check("einsum_dots_beyond_rank", einsum("ijk...->i"));
  check("einsum_lengths", einsum("ii->i"));
}

TEST_CASE("invalid onnx: recurrent layers") {
  const auto lstm = [](const std::vector<int64_t>& dims, const std::vector<int64_t>& w,
                       const std::vector<int64_t>& r, const std::vector<WireWriter>& attributes = {}) {
    const auto count = [](const std::vector<int64_t>& of) {
      size_t all = 1;
      for (const int64_t dim : of) {
        all *= static_cast<size_t>(dim);
      }
      return all;
    };
    return oneOf(dims, "LSTM", {"x", "w", "r"}, attributes,
                 {floatTensor("w", w, zerosOf(count(w))), floatTensor("r", r, zerosOf(count(r)))});
  };
  check("lstm_rank", lstm({2, 3}, {1, 8, 3}, {1, 8, 2}));
  check("lstm_weights", lstm({5, 2, 3}, {8, 3}, {8, 2}));
  check("lstm_sizes", lstm({5, 2, 3}, {1, 8, 4}, {1, 8, 2}));
  check("lstm_gates", lstm({5, 2, 3}, {1, 7, 3}, {1, 7, 2}));
  check("lstm_hidden", lstm({5, 2, 3}, {1, 8, 3}, {1, 8, 2}, {integerField("hidden_size", -2)}));
  check("lstm_direction", lstm({5, 2, 3}, {1, 8, 3}, {1, 8, 2}, {textField("direction", "sideways")}));
  check("lstm_steps", lstm({int64_t{1} << 40, 2, 3}, {1, 8, 3}, {1, 8, 2}));
}

TEST_CASE("invalid onnx: indices, resizing, quantised elements") {
  check("gather_axis", one("Gather", {"x", "i"}, {integerField("axis", 2)}, {wholeTensor("i", {0})}));
  check("scatter_shapes", one("ScatterND", {"x", "i", "x"}, {}, {wholeTensor("i", {0, 0, 0, 0})}));
  check("loss_classes", one("SoftmaxCrossEntropyLoss", {"x", "i"}, {integerField("ignore_index", 1)},
                            {literalOfNoAxes("i")}));
  check("topk", one("TopK", {"x", "k"}, {}, {wholeTensor("k", {99})}));
  check("split_sizes", one("Split", {"x", "s"}, {}, {wholeTensor("s", {5, 5})}));
  check("resize_scales", one("Resize", {"x", "", "s"}, {}, {floatTensor("s", {1}, {2})}));
  check("resize_negative", one("Resize", {"x", "", "s"}, {}, {floatTensor("s", {2}, {-2, 1})}));
  check("resize_absurd", one("Resize", {"x", "", "s"}, {}, {floatTensor("s", {2}, {1e18F, 1})}));
  // 2^40 elements of 2^24 channels with two weights each: 2^65.
  check("resize_channels", oneOf({1, int64_t{1} << 24, 16}, "Resize", {"x", "", "s"},
                                 {textField("mode", "linear")}, {floatTensor("s", {3}, {1, 1, 0x1p36F})}));
  const auto part = [](float begin) {
    return one(
        "Resize", {"x", "p", "s"},
        {textField("mode", "cubic"), textField("coordinate_transformation_mode", "tf_crop_and_resize")},
        {floatTensor("p", {4}, {0, begin, 1, 1}), floatTensor("s", {2}, {1, 2})});
  };
  check("resize_part", part(NAN));
  check("resize_far_part", part(-1e30F));
  check("range_endless",
        one("Range", {"a", "b", "c"}, {},
            {floatTensor("a", {}, {0}), floatTensor("b", {}, {1}), floatTensor("c", {}, {0})}));
  check("quantise_scale", one("QuantizeLinear", {"x", "s"}, {}, {floatTensor("s", {2, 2}, {1, 1, 1, 1})}));
  check("constant_of_text", one("Constant", {}, {textField("value_string", "words")}));
  check("constant_cut_short", one("Constant", {}, {tensorField("value", floatTensor("", {3}, {1}))}));
  check("pad_negative", one("Pad", {"x", "p"}, {}, {wholeTensor("p", {-5, 0, 0, 0})}));
  check("expand", one("Expand", {"x", "s"}, {}, {wholeTensor("s", {5, 5})}));
  check("tile_absurd", one("Tile", {"x", "s"}, {}, {wholeTensor("s", {int64_t{1} << 62, int64_t{1} << 62})}));
  check("one_hot_depth", one("OneHot", {"i", "d", "v"}, {},
                             {wholeTensor("i", {0}), wholeTensor("d", {-3}), wholeTensor("v", {0, 1})}));
}

} // namespace dfc::test
