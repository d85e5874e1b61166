// Seeds by format.
#include "tests/fuzz/seeds.h"

#include "compiler/compile.h"
#include "ir/author/onnx/export/export.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "runtime/executable_folder.h"
#include "runtime/files/npy.h"
#include "runtime/files/npz.h"
#include "runtime/files/safetensors.h"
#include "tests/support/onnx/onnx_message.h"
#include "tests/support/random_graph.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace dfc::test {
namespace {

using Bytes = std::vector<std::byte>;
using Seeds = std::vector<Bytes>;

constexpr uint64_t mostBytes = 64 * 1024;
constexpr uint64_t randomGraphs = 12;

Bytes bytesOf(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void addFiles(const std::string& folder, std::string_view ending, Seeds& seeds) {
  namespace fs = std::filesystem;
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(shippedFile(folder))) {
    if (entry.is_regular_file() && entry.path().extension() == ending && entry.file_size() <= mostBytes) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.push_back(bytesOf(std::string(std::istreambuf_iterator<char>(file), {})));
  }
}

Graph smallGraph(uint64_t seed) {
  RandomGraphOptions options;
  options.ops = 4 + seed;
  options.scopes = {"a", "b c"};
  options.request = seed % 2 == 1;
  options.mostElements = 30;
  return randomGraph(seed, options);
}

Seeds graphs() {
  Seeds seeds;
  addFiles("samples", ".dfg", seeds);
  addFiles("tests/golden", ".dfg", seeds);
  addFiles("tests/invalid", ".dfg", seeds);
  for (uint64_t seed = 1; seed <= randomGraphs; ++seed) {
    seeds.push_back(bytesOf(printGraph(smallGraph(seed))));
  }
  return seeds;
}

Seeds machines() {
  Seeds seeds;
  addFiles("samples/machines", ".json", seeds);
  addFiles("tests/invalid/machines", ".json", seeds);
  return seeds;
}

Seeds plans() {
  Seeds seeds;
  const Machine machine = *readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  for (uint64_t seed = 1; seed <= randomGraphs; ++seed) {
    CompileOptions options;
    const Graph graph = smallGraph(seed);
    for (const OpId op : graph.ops()) {
      const OpClass kind = classOf(graph[op].kind());
      if (kind != OpClass::Source && kind != OpClass::State && op.index() % 3 != 0) {
        options.pins.push_back({std::string(graph.nameOf(op)), op.index() % 3 == 1 ? "gpu0" : "gpu1"});
      }
    }
    const Result<Executable> plan = compile(graph, machine, RooflineCostModel(), options);
    DFC_ASSERT(plan.ok(), "a random graph must compile: " + render(plan.errors()));
    seeds.push_back(plan->serialise());
    seeds.emplace_back(seeds.back().begin(), seeds.back().end() - 1);
  }
  return seeds;
}

/// Arrays of every type and some shapes.
std::vector<Literal> arrays() {
  Dice dice(7);
  std::vector<Literal> all;
  for (const ElementType element : allElementTypes) {
    for (const Shape& shape :
         {Shape{}, Shape{3}, Shape{2, 0, 1}, Shape{2, 3}, Shape{1, 1, 1, 2, 1, 1, 1, 1}}) {
      all.push_back(randomLiteral({element, shape}, dice, Mood::Wild));
    }
  }
  return all;
}

/// An .npy file with this header and as many zeros as anybody could want.
Bytes npyOf(const std::string& header, char version) {
  std::string text = "\x93NUMPY";
  text += version;
  text += '\0';
  text += static_cast<char>(header.size());
  text += version == 1 ? std::string(1, '\0') : std::string(3, '\0');
  return bytesOf(text + header + std::string(64, '\0'));
}

Seeds npys() {
  Seeds seeds;
  for (const Literal& array : arrays()) {
    if (const auto bytes = printNpy(array, "seed"); bytes.ok()) { // bf16 has no NumPy type
      seeds.push_back(*bytes);
    }
  }
  for (const char version : {1, 2, 3}) {
    for (const std::string type : {"<f4", ">f8", "|b1", ">i4", "|u1", "=i8", "<f2"}) {
      for (const std::string order : {"True", "False"}) {
        seeds.push_back(
            npyOf(fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': (2, 4), }}\n", type, order),
                  version));
      }
    }
  }
  return seeds;
}

NamedLiterals namedArrays() {
  NamedLiterals named;
  for (const Literal& array : arrays()) {
    if (array.type().element != ElementType::BF16) {
      named.emplace(fmt::format("array {}", named.size()), array);
    }
  }
  return named;
}

/// The archive again, its members compressed, as np.savez_compressed writes them.
Bytes compressed(const Bytes& archive) {
  zip_error_t error;
  zip_source_t* source = zip_source_buffer_create(archive.data(), archive.size(), 0, &error);
  zip_t* zip = zip_open_from_source(source, 0, &error);
  DFC_ASSERT(zip != nullptr, "the seed is an archive");
  zip_source_keep(source);
  for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); ++i) {
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(i), ZIP_CM_DEFLATE, 9);
  }
  zip_close(zip);
  zip_source_open(source);
  zip_source_seek(source, 0, SEEK_END);
  Bytes bytes(static_cast<size_t>(zip_source_tell(source)));
  zip_source_seek(source, 0, SEEK_SET);
  zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  zip_source_free(source);
  return bytes;
}

Seeds npzs() {
  const NamedLiterals all = namedArrays();
  const NamedLiterals one = {*all.begin()};
  Seeds seeds{*printNpz(one, "seed"), *printNpz(all, "seed")};
  seeds.push_back(compressed(seeds[0]));
  seeds.push_back(compressed(seeds[1]));
  return seeds;
}

Seeds safetensors() {
  Seeds seeds{*printSafetensors({}, "seed"), *printSafetensors(namedArrays(), "seed")};
  for (const Literal& array : arrays()) {
    seeds.push_back(*printSafetensors({{"weight", array}}, "seed"));
  }
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
      R"("a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  seeds.push_back(bytesOf(file + header + "12345678"));
  return seeds;
}

/// Behind a byte that says how it is read: fuzz_csv.cpp.
Seeds csvs() {
  Seeds seeds;
  for (const std::string text : {"a,b\n1,2\n3,4.5\n", "1,2\r\n-3,1e5\r\n", "\"a, b\",c\n\"1\",\"2\"\n",
                                 "x\n\nnan\ninf\n", "1,,2\n3,4,\n", "word\nother \"\"\n",
                                 "\xEF\xBB\xBF"
                                 "a;b\n1;2\n"}) {
    for (const char choice : {0, 1, 20, 24, 40, 104}) {
      seeds.push_back(bytesOf(std::string(1, choice) + text));
    }
  }
  return seeds;
}

using Fields = std::vector<WireWriter>;

Bytes modelOf(std::vector<NodeMessage> nodes, Fields tensors = {},
              Fields inputs = {portMessage("x", {2, 3})}) {
  GraphMessage graph;
  graph.nodes = std::move(nodes);
  graph.tensors = std::move(tensors);
  graph.inputs = std::move(inputs);
  return bytesOf(modelBytes(graph));
}

/// Nodes of which what we write has none.
Seeds foreignModels() {
  GraphMessage turn;
  turn.nodes = {{"Add", {"v", "v"}, {"w"}}};
  turn.inputs = {portMessage("i", {}, 7), portMessage("c", {}, 9), portMessage("v", {})};
  turn.outputs = {portMessage("c", {}), portMessage("w", {})};
  const Fields picture = {portMessage("x", {1, 2, 5, 5})}, sequence = {portMessage("x", {4, 2, 3})};
  const std::vector<float> ones(72, 1);
  const auto tensor = [&](const char* name, const std::vector<int64_t>& dims, size_t count) {
    return floatTensor(name, dims,
                       std::vector<float>(ones.begin(), ones.begin() + static_cast<int64_t>(count)));
  };
  return {
      modelOf({{"Einsum", {"x", "x"}, {"y"}, {textField("equation", "ij,kj->ik")}}}),
      modelOf({{"Loop", {"n", "", "x"}, {"y"}, {graphField("body", messageOf(turn))}}},
              {wholeTensor("n", {3})}),
      modelOf({{"LSTM", {"x", "w", "r"}, {"y"}, {textField("direction", "bidirectional")}}},
              {tensor("w", {2, 8, 3}, 48), tensor("r", {2, 8, 2}, 32)}, sequence),
      modelOf(
          {{"Conv", {"x", "w"}, {"y"}, {listField("pads", {1, 1, 1, 1}), textField("auto_pad", "NOTSET")}}},
          {tensor("w", {4, 2, 3, 3}, 72)}, picture),
      modelOf({{"MaxPool", {"x"}, {"y"}, {listField("kernel_shape", {2, 2}), integerField("ceil_mode", 1)}}},
              {}, picture),
      modelOf({{"Resize", {"x", "", "s"}, {"y"}, {textField("mode", "cubic")}}}, {tensor("s", {4}, 4)},
              picture),
      modelOf({{"Shape", {"x"}, {"s"}}, {"Gather", {"s", "i"}, {"d"}}, {"Reshape", {"x", "d"}, {"y"}}},
              {wholeTensor("i", {1, 0})}, {portMessage("x", {-1, 3})}),
      modelOf({{"QuantizeLinear", {"x", "s"}, {"q"}}, {"DequantizeLinear", {"q", "s"}, {"y"}}},
              {tensor("s", {}, 1)}),
      modelOf({{"Add", {"x", "w"}, {"y"}}}, {externalTensor("w", {3}, "w.bin", "0", "12")}),
      modelOf({{"Constant", {}, {"c"}, {tensorField("value", tensor("", {3}, 3))}},
               {"BatchNormalization", {"x", "c", "c", "c", "c"}, {"y"}, {realField("epsilon", 0.5F)}}})};
}

/// And what we write of random graphs.
Seeds models() {
  Seeds seeds = foreignModels();
  for (uint64_t seed = 1; seed <= 4 * randomGraphs; ++seed) {
    RandomGraphOptions options;
    options.ops = 3 + seed % 12;
    options.mostElements = 30;
    const Graph graph = randomGraph(seed, options);
    onnx::ExportSettings settings;
    const auto zeros = [&](OpId op) { return Literal(graph.typeOf(graph[op].firstResult)); };
    settings.valueOf = zeros;
    if (const auto written = onnx::exportModel(graph, settings)) {
      seeds.push_back(bytesOf(written->bytes));
    }
  }
  return seeds;
}

std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += "\"" + word + "\"\n";
  }
  return text;
}

} // namespace

std::vector<std::vector<std::byte>> seedsOf(std::string_view target) {
  return target == "graph"     ? graphs()
         : target == "machine" ? machines()
         : target == "plan"    ? plans()
         : target == "npy"     ? npys()
         : target == "npz"     ? npzs()
         : target == "csv"     ? csvs()
         : target == "onnx"    ? models()
                               : safetensors();
}

std::string dictionaryOf(std::string_view target) {
  std::vector<std::string> words;
  if (target == "graph") {
    words = {"graph",  "input", "parameter", "fetch", "scope", "on",  "gradients", "normal",  "uniform",
             "glorot", "zeros", "file",      "seed=", "fill",  "inf", "nan",       "-0x1p-3", "# "};
    for (size_t i = 0; i < opKindCount; ++i) {
      words.emplace_back(nameOf(static_cast<OpKind>(i)));
    }
  } else if (target == "machine") {
    words = {"name",
             "devices",
             "links",
             "routes",
             "kind",
             "cpu",
             "gpu",
             "memory",
             "computeQueues",
             "threads",
             "flops",
             "tf32",
             "matmulHalfInner",
             "matmulHalfTile",
             "convolutionFlops",
             "stridedFlops",
             "matmulLaunch",
             "multiprocessors",
             "latency",
             "bandwidth",
             "slots",
             "from",
             "to",
             "1e308",
             "-1",
             "9223372036854775808"};
  } else if (target == "npy") {
    words = {"descr", "fortran_order", "shape", "True", "False", "<f4", ">f8", "(2,)", "()", "4294967296"};
  } else if (target == "onnx") {
    words = {"axis",         "axes",      "perm",        "to",          "strides", "pads",      "dilations",
             "kernel_shape", "group",     "then_branch", "else_branch", "body",    "location",  "offset",
             "length",       "direction", "batch",       "Loop",        "If",      "Scan",      "LSTM",
             "GRU",          "Einsum",    "Resize",      "Conv",        "Gather",  "ScatterND", "Slice",
             "Split",        "Range",     "Expand",      "TopK",        "CumSum",  "Pad"};
  } else if (target == "safetensors") {
    words = {"dtype", "shape", "data_offsets", "__metadata__", "BF16", "F64", "BOOL", "18446744073709551615"};
  }
  for (const ElementType element : allElementTypes) {
    words.emplace_back(name(element));
  }
  return target == "npz" || target == "plan" ? "" : quoted(words);
}

} // namespace dfc::test
