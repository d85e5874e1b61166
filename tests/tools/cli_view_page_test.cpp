// `dfc view -o page.html`: the data of the page, whatever the names, and what it refuses. The page itself is
// tested in a browser by tests/tools/page/page_test.py.
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;
using Json = nlohmann::json;

namespace {

constexpr const char* layers = R"(graph layers {
  input x : f32[8, 8]
  scope "h.0" { a = relu(matmul(x, x)) }
  scope "h.1" { b = relu(matmul(a, a)) }
  scope "h.2" { c = relu(matmul(b, b)) }
  scope "head" { y = reduceSum(c, axes=[0]) }
  fetch y
}
)";

/// The JSON element of a page.
Json dataOf(const std::string& page) {
  const std::string begin = R"(<script id="data" type="application/json">)";
  const size_t at = page.find(begin) + begin.size();
  REQUIRE(at > begin.size());
  return Json::parse(page.substr(at, page.find("</script>", at) - at));
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t number = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++number;
  }
  return number;
}

} // namespace

TEST_CASE("dfc view: a page folds equal layers, and has slack, memory and an explanation") {
  const Workshop shop;
  shop.write("layers.dfg", layers);
  const Outcome made = shop.dfc({"view", "layers.dfg", "-m", machineFile("cpu"), "-o", "page.html"});
  INFO(made.err);
  REQUIRE(made.status == 0);
  const Json data = dataOf(readText(shop.file("page.html")));
  std::vector<std::string> folds;
  for (const Json& scope : data["scopes"]) {
    if (scope["kind"] == "fold") {
      folds.push_back(scope["name"].get<std::string>() + " x " + std::to_string(scope["layers"].get<int>()));
      CHECK(scope["equal"] == true);
    }
  }
  CHECK(folds == std::vector<std::string>{"h.* x 3"});
  CHECK(data["steps"]["slack"].size() == data["steps"]["op"].size());
  CHECK_FALSE(data["path"].empty());
  CHECK(data["explanation"]["graph"] == "layers");
  // Bytes that are held: never more than the arena, and at some time as much as the largest value.
  int64_t most = 0;
  const Json& held = data["memory"]["held"][0];
  for (size_t i = 1; i < held.size(); i += 2) {
    most = std::max(most, held[i].get<int64_t>());
  }
  CHECK(most >= 8 * 8 * 4);
  CHECK(most <= data["devices"][0]["arena"].get<int64_t>());
}

TEST_CASE("dfc view: hostile names stay text in the page's data") {
  const Workshop shop;
  const std::string name =
      R"(</script><script>alert(1)</script> \"'&\\ é 漢字 @DATA@ )" + std::string(4000, 'n');
  shop.write("odd.dfg", "graph \"" + name + "\" {\n  input \"" + name + "\" : f32[2]\n  scope \"" + name +
                            "\" { y = relu(\"" + name + "\") }\n  fetch y\n}\n");
  const Outcome made = shop.dfc({"view", "odd.dfg", "-o", "page.html"});
  INFO(made.err);
  REQUIRE(made.status == 0);
  const std::string page = readText(shop.file("page.html"));
  CHECK(occurrences(page, "</script>") == 2); // of the data and of the scripts
  CHECK(page.find("alert(1)</script>") == std::string::npos);
  CHECK_THAT(dataOf(page)["graph"].get<std::string>(),
             startingWith("</script><script>alert(1)</script> \"'&\\ é 漢字"));
}

TEST_CASE("dfc view: a page shows all of a plan, also of a sealed one, and refuses a choice of pictures") {
  const Workshop shop;
  shop.write("layers.dfg", layers);
  REQUIRE(shop.dfc({"compile", "layers.dfg", "-m", machineFile("cpu"), "-o", "layers.plan"}).status == 0);
  REQUIRE(shop.dfc({"view", "layers.plan", "-o", "page.html"}).status == 0);
  CHECK(dataOf(readText(shop.file("page.html")))["explanation"]["considered"].empty());
  const Outcome both = shop.dfc({"view", "layers.plan", "--what=graph", "-o", "other.html"});
  CHECK(both.status == 1);
  CHECK(both.err == "error: a page shows all of a plan\n  hint: leave out --what and --collapse\n");
  CHECK_FALSE(std::filesystem::exists(shop.file("other.html")));
}
