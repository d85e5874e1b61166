// dfc export: graph and state in, a model out that dfc runs to the same results; what it refuses.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/tools/run_dfc.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace dfc::test {
namespace {

constexpr const char* net = R"(graph net {
  input x : f32[2, 3]
  parameter w : f32[3, 4] = glorot(seed=1)
  fetch y = gelu(matmul(x, w))
}
)";

constexpr const char* training = R"(graph training {
  parameter w : f32[3, 4] = normal(0, 1, seed=7)
  parameter other : f32[2] = zeros()
  next = assign(w, w * w)
  fetch next
}
)";

std::string bytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void expectRefusal(const Outcome& outcome, const std::string& why) {
  CHECK(outcome.status == 1);
  CHECK(outcome.err.find(why) != std::string::npos);
  CHECK(outcome.out.empty());
}

} // namespace

TEST_CASE("dfc export: the model of a graph and a state computes what they do") {
  const Workshop shop;
  shop.write("net.dfg", net);
  shop.write("training.dfg", training);
  REQUIRE(shop.dfc({"run", "training.dfg", "--checkpoint", "w.safetensors", "--every", "1"}).status == 0);
  const Outcome exported =
      shop.dfc({"export", "net.dfg", "-o", "net.onnx", "--state", "w.safetensors", "--partial"});
  CHECK(exported.err == "");
  CHECK(exported.out == "wrote net.onnx: 1 parameters\n");
  const auto run = [&](std::vector<std::string> words, const std::string& to) {
    words.insert(words.end(), {"--feed", "x=ones.npy", "--fetch", "y=" + to});
    return shop.dfc(words).status;
  };
  shop.write("ones.dfg",
             "graph ones {\n  constant a : f32[2, 3] = [[1, 2, 3], [-1, 0.5, 0]]\n  fetch a\n}\n");
  REQUIRE(shop.dfc({"run", "ones.dfg", "--fetch", "a=ones.npy"}).status == 0);
  REQUIRE(run({"run", "net.dfg", "--state", "w.safetensors", "--partial"}, "graph.npy") == 0);
  REQUIRE(run({"run", "net.onnx"}, "model.npy") == 0);
  CHECK(!bytesOf(shop.file("graph.npy")).empty());
  CHECK(bytesOf(shop.file("graph.npy")) == bytesOf(shop.file("model.npy")));
}

TEST_CASE("dfc export: what is wrong with its words is said, and nothing is written") {
  const Workshop shop;
  shop.write("net.dfg", net);
  shop.write("training.dfg", training);
  shop.write(
      "drops.dfg",
      "graph drops {\n  input x : f32[4]\n  constant step : i64[] = 1\n  fetch y = dropout(x, step)\n}\n");
  REQUIRE(shop.dfc({"run", "training.dfg", "--checkpoint", "w.safetensors", "--every", "1"}).status == 0);
  expectRefusal(shop.dfc({"export", "net.dfg", "-o", "net.pb"}), "net.pb");
  expectRefusal(shop.dfc({"export", "net.dfg", "-o", "net.onnx", "--partial"}), "add --state");
  expectRefusal(shop.dfc({"export", "net.dfg", "-o", "net.onnx", "--state", "w.safetensors"}),
                "has tensors for 1 of 1 parameter of the graph; no parameters of the graph are ");
  expectRefusal(shop.dfc({"export", "net.dfg", "-o", "no/such/net.onnx"}), "no/such");
  expectRefusal(shop.dfc({"export", "drops.dfg", "-o", "net.onnx"}),
                "drops.dfg:4:13: error: ops that cannot be said in ONNX: dropout (which");
  CHECK(!std::filesystem::exists(shop.file("net.onnx")));
}

} // namespace dfc::test
