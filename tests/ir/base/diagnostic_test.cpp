// How a message looks, and when a name is near enough to be suggested.
#include "ir/base/diagnostic.h"
#include "tests/support/catch.h"

using namespace dfc;

TEST_CASE("diagnostic: place, line, caret and hint") {
  Diagnostic diagnostic{Severity::Error, {"mlp.dfg", 3, 9}, "no value is named 'w3'", "did you mean 'w2'?"};
  diagnostic.lineText = "  y = add x, w3";
  diagnostic.width = 3;
  CHECK(render(diagnostic) == "mlp.dfg:3:9: error: no value is named 'w3'\n"
                              "    y = add x, w3\n"
                              "          ^~~\n"
                              "  hint: did you mean 'w2'?\n");
}

TEST_CASE("diagnostic: the scope is a note before the hint") {
  const Diagnostic plain{Severity::Error, {"a.cpp", 7, 0}, "odd", "even it"};
  CHECK(render(inScope(plain, "encoder/layer 3")) ==
        "a.cpp:7: error: odd\n  note: in scope 'encoder/layer 3'\n  hint: even it\n");
  CHECK(render(inScope(plain, "")) == "a.cpp:7: error: odd\n  hint: even it\n");
}

TEST_CASE("diagnostic: what is not known is left out") {
  CHECK(render(errorWithoutPlace("no machine")) == "error: no machine\n");
  CHECK(render(Diagnostic{Severity::Warning, {"a.cpp", 7, 0}, "slow"}) == "a.cpp:7: warning: slow\n");
  CHECK(render(Diagnostic{Severity::Error, {"", 2, 1}, "odd"}) == "<input>:2:1: error: odd\n");
  CHECK(render(Diagnostics{errorWithoutPlace("one"), errorWithoutPlace("two", "go")}) ==
        "error: one\nerror: two\n  hint: go\n");
}

TEST_CASE("diagnostic: the caret lines up under tabs") {
  Diagnostic diagnostic{Severity::Error, {"f", 1, 3}, "m"};
  diagnostic.lineText = "\tab";
  CHECK(render(diagnostic) == "f:1:3: error: m\n  \tab\n  \t ^\n");
}

TEST_CASE("nearestName: a slip is recognised, another word is not") {
  const std::vector<std::string> names = {"matmul", "maximum", "reduceSum", "w1"};
  CHECK(nearestName("matmull", names) == "matmul");
  CHECK(nearestName("reduceSun", names) == "reduceSum");
  CHECK(nearestName("w2", names) == "w1");
  CHECK(nearestName("rnu", {"run", "view"}) == "run"); // neighbours swapped are one slip
  CHECK_FALSE(nearestName("nur", {"run", "view"}));
  CHECK_FALSE(nearestName("softmax", names));
  CHECK_FALSE(nearestName("", names));
  CHECK_FALSE(nearestName("v", {"w"}));
  CHECK(nearestName("v", {"w", "V"}) == "V");
  CHECK_FALSE(nearestName("anything", {}));
}

TEST_CASE("result: a value or the reasons") {
  Result<int> good(7);
  CHECK(good.ok());
  CHECK(*good == 7);
  const Result<int> bad(errorWithoutPlace("why"));
  CHECK_FALSE(bad);
  CHECK(bad.errors().size() == 1);
  CHECK_THROWS_AS(*bad, Error);          // the author's mistake, where nobody asked whether there is one
  CHECK_THROWS_WITH(*bad, "error: why"); // without the newline that `render` ends in
  CHECK_THROWS_AS(Result<int>(Diagnostics{}), InternalError);
  CHECK(success().ok());
}
