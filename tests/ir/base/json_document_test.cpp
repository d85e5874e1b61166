// JSON documents: which names are repeated, and errors at the places of values.
#include "ir/base/json/json_document.h"
#include "tests/support/catch.h"

#include <nlohmann/json.hpp>

using namespace dfc;

namespace {

/// {"k0": 0, …} of so many members.
std::string members(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "{\"k" : ", \"k") + std::to_string(i) + "\": " + std::to_string(i);
  }
  return text;
}

Diagnostics errorsOf(const std::string& text) { return JsonDocument(text, "x.json", 8).takeErrors(); }

} // namespace

TEST_CASE("JSON documents: a repeated name is told once, in an object of any size") {
  const Diagnostics few = errorsOf("{\"a\": {\"b\": 1, \"c\": 2, \"b\": 3}}");
  REQUIRE(few.size() == 1);
  CHECK(few[0].message == "a.b: the name is there already");
  CHECK(few[0].where.line == 1);
  CHECK(few[0].where.column == 24); // behind the 23 characters {"a": {"b": 1, "c": 2, and a blank
  const Diagnostics many = errorsOf(members(100) + ",\n\"k99\": 1}");
  REQUIRE(many.size() == 1);
  CHECK(many[0].where.line == 2);
  CHECK(errorsOf(members(100) + "}").empty());
}

TEST_CASE("JSON documents: the same name in other objects is none that is repeated") {
  CHECK(errorsOf(R"([{"a": 1}, {"a": 2, "b": {"a": 3, "c": [{"a": 4}]}, "c": 5}])").empty());
  CHECK(errorsOf(R"({"a": {"b": 1}, "a.b": 2})").empty());
}

TEST_CASE("JSON documents: errors stand in the order of the text, at their values") {
  const std::string text = "{\"a\": 1,\n \"b\": [1, 22]}";
  JsonDocument document(text, "x.json", 8);
  document.errorAt("b[1]", "too large");
  document.errorAtKey("a", "no such key");
  const Diagnostics errors = document.takeErrors();
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].message == "a: no such key");
  CHECK(errors[0].where.column == 2);
  CHECK(errors[1].where.line == 2);
  CHECK(errors[1].where.column == 11); // ` "b": [1, 22` without its last two characters is 10 long
}
