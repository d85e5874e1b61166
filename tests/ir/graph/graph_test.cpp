// GraphBuilder and Rewriter: names, provenance, state, and errors all at once.
#include "ir/graph/graph.h"
#include "ir/graph/rewriter.h"
#include "tests/support/catch.h"

using namespace dfc;

namespace {

ops::Input inputOf(const TensorType& type) {
  ops::Input input;
  input.type = type;
  return input;
}

ops::Parameter parameterOf(const TensorType& type) {
  ops::Parameter parameter;
  parameter.type = type;
  return parameter;
}

} // namespace

TEST_CASE("graph: an op keeps its provenance") {
  GraphBuilder builder("g");
  const OpId x = builder.append(inputOf(f32({2})), {}, {"x", "outer/inner", "gpu0", {"a.dfg", 4, 2}});
  const Graph& graph = builder.soFar();
  CHECK(graph.name() == "g");
  CHECK(graph.nameOf(x) == "x");
  CHECK(graph.scopeOf(x) == "outer/inner");
  CHECK(graph.pinOf(x) == "gpu0");
  CHECK(graph.locationOf(x) == SourceLocation{"a.dfg", 4, 2});
  CHECK(graph[builder.result(x)].producer == x);
  CHECK(graph.findValue("x") == builder.result(x));
  CHECK_FALSE(graph.findValue("y").valid());
}

TEST_CASE("graph: names are unique, whatever comes first") {
  GraphBuilder builder;
  const auto named = [&](std::string_view name) {
    return builder.soFar().nameOf(builder.append(inputOf(f32({})), {}, {name}));
  };
  CHECK(named("x") == "x");
  CHECK(named("x.2") == "x.2");
  CHECK(named("x") == "x.3");
  CHECK(named("x") == "x.4");
  CHECK(named("") == "input");
  CHECK(named("") == "input.2");
}

TEST_CASE("graph: renaming frees the old name") {
  GraphBuilder builder;
  const ValueId a = builder.result(builder.append(inputOf(f32({})), {}, {"a"}));
  const ValueId b = builder.result(builder.append(inputOf(f32({})), {}, {"b"}));
  const Graph& graph = builder.soFar();
  builder.rename(a, "a");
  CHECK(graph.nameOf(a) == "a");
  builder.rename(a, "b");
  CHECK(graph.nameOf(a) == "b.2");
  CHECK_FALSE(graph.findValue("a").valid());
  builder.rename(b, "a");
  CHECK(graph.findValue("a") == b);
  builder.rename(b, "");
  CHECK(graph.nameOf(b) == "input");
  builder.rename(ValueId(), "c"); // of a poisoned value: nothing
  CHECK_FALSE(graph.findValue("c").valid());
}

TEST_CASE("graph: several results have names of their own") {
  GraphBuilder builder;
  const ValueId loss = builder.result(builder.append(inputOf(f32({})), {}, {"loss"}));
  const ValueId x = builder.result(builder.append(inputOf(f32({3})), {}, {"x"}));
  const OpId request = builder.append(ops::Gradients{}, {loss, x, loss}, {"d"});
  CHECK(builder.soFar()[request].resultCount == 2);
  CHECK(builder.soFar().nameOf(builder.result(request, 0)) == "d");
  CHECK(builder.soFar().nameOf(builder.result(request, 1)) == "d.2");
  CHECK(builder.soFar().typeOf(builder.result(request, 0)) == f32({3}));
  CHECK(builder.soFar().operandTypesOf(request).size() == 3);
  CHECK(builder.soFar().resultTypesOf(request).size() == 2);
}

TEST_CASE("graph: errors are collected, and an op on a poisoned value adds none") {
  GraphBuilder builder;
  const ValueId x = builder.result(builder.append(inputOf(i32({3})), {}, {"x"}));
  const OpId bad = builder.append(ops::Exp{}, {x}, {"y", "", "", {"a.dfg", 2, 5}});
  CHECK_FALSE(bad.valid());
  CHECK_FALSE(builder.append(ops::Neg{}, {builder.result(bad)}, {}).valid());
  builder.fetch("y", builder.result(bad));
  builder.append(ops::Log{}, {x}, {"z", "", "", {"a.dfg", 3, 5}});
  CHECK(builder.soFar().opCount() == 1);
  const Result<Graph> graph = std::move(builder).finish();
  REQUIRE(graph.errors().size() == 2);
  CHECK(graph.errors()[0].where == SourceLocation{"a.dfg", 2, 5});
  CHECK(graph.errors()[1].where == SourceLocation{"a.dfg", 3, 5});
}

TEST_CASE("graph: a parameter is assigned at most once, and only a parameter is") {
  GraphBuilder builder;
  const ValueId w = builder.result(builder.append(parameterOf(f32({})), {}, {"w"}));
  const ValueId x = builder.result(builder.append(inputOf(f32({})), {}, {"x"}));
  CHECK(builder.append(ops::Assign{}, {w, x}, {}).valid());
  CHECK_FALSE(builder.append(ops::Assign{}, {w, x}, {}).valid());
  CHECK_FALSE(builder.append(ops::Assign{}, {x, w}, {}).valid());
  REQUIRE(builder.errors().size() == 2);
  CHECK(builder.errors()[0].message == "parameter 'w' is assigned twice");
  CHECK(builder.errors()[1].message == "assign to 'x', which is no parameter but the result of input");
}

TEST_CASE("graph: fetches have names of their own") {
  GraphBuilder builder;
  const ValueId x = builder.result(builder.append(inputOf(f32({})), {}, {"x"}));
  builder.fetch("a", x);
  builder.fetch("b", x);
  builder.fetch("a", x, {"a.dfg", 9, 1});
  const Result<Graph> graph = std::move(builder).finish();
  REQUIRE(graph.errors().size() == 1);
  CHECK(graph.errors()[0].message == "two fetches are named 'a'");
  CHECK(graph.errors()[0].where.line == 9);
}

TEST_CASE("graph: a copy is a graph of its own") {
  GraphBuilder builder;
  const OpId x = builder.append(inputOf(f32({2})), {}, {"x", "s"});
  const Graph copy = builder.soFar();
  builder.append(ops::Neg{}, {builder.result(x)}, {"y"});
  CHECK(copy.opCount() == 1);
  CHECK(copy.nameOf(x) == "x");
  CHECK(copy.scopeOf(x) == "s");
  CHECK_FALSE(copy.findValue("y").valid());
}

TEST_CASE("graph: ops are listed by their kind") {
  GraphBuilder builder;
  const OpId x = builder.append(inputOf(f32({2})), {}, {"x"});
  const OpId w = builder.append(parameterOf(f32({2})), {}, {"w"});
  const OpId sum = builder.append(ops::Add{}, {builder.result(x), builder.result(w)}, {"sum"});
  const OpId more = builder.append(ops::Add{}, {builder.result(sum), builder.result(w)}, {"more"});
  const Graph before = builder.soFar();
  const OpId next = builder.append(ops::Assign{}, {builder.result(w), builder.result(more)}, {"next"});
  CHECK_FALSE(builder.append(ops::Assign{}, {builder.result(x), builder.result(more)}, {}).valid());
  const Graph& graph = builder.soFar();
  CHECK(graph.opsOf(OpKind::Add).vec() == std::vector<OpId>{sum, more});
  CHECK(graph.opsOf(OpKind::Assign).vec() == std::vector<OpId>{next});
  CHECK(graph.opsOf(OpKind::Parameter).vec() == std::vector<OpId>{w});
  CHECK(graph.opsOf(OpKind::Matmul).empty());
  CHECK(before.opsOf(OpKind::Assign).empty());
}

TEST_CASE("rewriter: a copy keeps names, provenance, state and fetches") {
  GraphBuilder builder("g");
  const ValueId w = builder.result(builder.append(parameterOf(f32({})), {}, {"w"}));
  const OpId request = builder.append(ops::Gradients{}, {w, w, w}, {"d", "s", "gpu0", {"a.dfg", 3, 1}});
  const ValueId second = builder.result(request, 1);
  builder.rename(second, "second");
  builder.append(ops::Assign{}, {w, second}, {"next"});
  builder.fetch("out", second);
  const Result<Graph> old = std::move(builder).finish();
  REQUIRE(old.ok());
  Rewriter rewriter(*old);
  for (const OpId op : old->ops()) {
    rewriter.copy(op);
  }
  const Graph copy = std::move(rewriter).finish();
  CHECK(copy.opCount() == 3);
  CHECK(copy.name() == "g");
  CHECK(copy.findValue("second") == second);
  CHECK(copy.scopeOf(request) == "s");
  CHECK(copy.pinOf(request) == "gpu0");
  CHECK(copy.locationOf(request) == SourceLocation{"a.dfg", 3, 1});
  REQUIRE(copy.fetches().size() == 1);
  CHECK(copy.text(copy.fetches()[0].name) == "out");
}

TEST_CASE("rewriter: replaces a value for all later users") {
  GraphBuilder builder;
  const ValueId x = builder.result(builder.append(inputOf(f32({2})), {}, {"x"}));
  const OpId twice = builder.append(ops::Neg{}, {x}, {"y"});
  const OpId again = builder.append(ops::Neg{}, {builder.result(twice)}, {"z"});
  builder.fetch("z", builder.result(again));
  const Result<Graph> old = std::move(builder).finish();
  REQUIRE(old.ok());
  Rewriter rewriter(*old);
  rewriter.copy(OpId(0));
  rewriter.copy(twice);
  CHECK_FALSE(rewriter.isMapped((*old)[again].firstResult));
  CHECK_THROWS_AS(rewriter.mapped((*old)[again].firstResult), InternalError);
  rewriter.replace((*old)[again].firstResult, rewriter.mapped(x));
  const Graph made = std::move(rewriter).finish();
  CHECK(made.fetches()[0].value == made.findValue("x"));
}
