// Data sets and IDX files adapt to the input that they feed; what does not fit is told what they offer.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;
using Json = nlohmann::json;

namespace {

/// Three images of 2 x 2 bytes: 0 51 102 153, 204 255 0 0, 1 2 3 4. gzread takes files that are not packed.
const std::string images("\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02"
                         "\x00\x33\x66\x99\xcc\xff\0\0\x01\x02\x03\x04",
                         28);
const std::string labels("\0\0\x08\x01\0\0\0\x03\x07\x08\x09", 11);

Json fed(const std::string& type, const std::string& source, const std::string& steps) {
  const Workshop shop;
  shop.write("images.gz", images);
  shop.write("labels.gz", labels);
  shop.write("g.dfg", "graph g {\n  input x : " + type + "\n  y = reshape(x, shape=[4])\n  fetch x\n}\n");
  const Outcome outcome = shop.dfc({"run", "g.dfg", "--feed", "x=" + source, "--steps", steps, "--json"});
  INFO(type << outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out)["fetches"]["x"]["values"];
}

} // namespace

TEST_CASE("dfc run: bytes become the input's elements, rows its shape") {
  for (const std::string type : {"u8[1, 4]", "u8[2, 2]", "u8[1, 2, 2]", "i32[4]", "i64[1, 1, 2, 2]"}) {
    CHECK(fed(type, "images.gz", "2") == Json({204, 255, 0, 0}));
  }
  // 51, 102 and 153 are 1/5, 2/5 and 3/5 of 255.
  CHECK(fed("f64[1, 4]", "images.gz", "1") == Json({0.0, 51 / 255.0, 102 / 255.0, 153 / 255.0}));
  CHECK(fed("f32[2, 2]", "images.gz", "1")[1] == 51 / 255.0F);
}

TEST_CASE("dfc run: what does not fit is told what the source offers") {
  const Workshop shop;
  shop.write("images.gz", images);
  shop.write("labels.gz", labels);
  shop.write("g.dfg", "graph g {\n  input x : f16[1, 4]\n  input y : i64[5]\n  fetch x\n  fetch y\n}\n");
  const Outcome outcome = shop.dfc({"run", "g.dfg", "--feed", "x=images.gz", "--feed", "y=labels.gz"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err ==
        "images.gz: error: offers 3 rows of 2 x 2 bytes, which do not fit input 'x', f16[1, 4]\n"
        "  hint: declare the input as [N, 2, 2] or [N, 4] with N up to 3, of u8, i32, i64, or of f32 or f64, "
        "which "
        "hold the byte / 255; each step takes the next N rows\n"
        "labels.gz: error: has 3 rows, too few for one batch of 5: input 'y' is i64[5]\n"
        "  hint: give it 5 rows or more, or declare the input with a batch of at most 3\n");
}

TEST_CASE("dfc run: shipped data and shipped graphs fit together") {
  if (!std::filesystem::is_directory("/usr/share/datasets/fashion-mnist")) {
    DFC_SKIP("the Debian package dataset-fashion-mnist is not installed");
  }
  const std::string samples = dfc::shippedFile("samples").string() + "/";
  const std::string folder = "/usr/share/datasets/fashion-mnist/train-";
  for (const std::string graph : {"02_train_mlp/mlp.dfg", "04_graph_file/figure.dfg"}) {
    std::vector<Json> losses;
    const std::vector<std::pair<std::string, std::string>> sources = {
        {"fashion-mnist/train/images", "fashion-mnist/train/labels"},
        {folder + "images-idx3-ubyte.gz", folder + "labels-idx1-ubyte.gz"}};
    for (const auto& [pictures, classes] : sources) {
      const Outcome outcome =
          runDfc({"run", samples + graph, "-m", "cpu-2gpu", "--steps", "20", "--backend", "gpu=emulated",
                  "--feed", "images=" + pictures, "--feed", "labels=" + classes, "--json"});
      INFO(graph << outcome.err);
      REQUIRE(outcome.status == 0);
      losses.push_back(Json::parse(outcome.out)["fetches"]["loss"]);
      CHECK(losses.back()["values"][0].get<double>() < 2.3); // ln 10 is what guessing has
    }
    CHECK(losses[0] == losses[1]);
  }
}
