// The passes promise to keep every bit. The evaluator vouches for that in tests/compiler/passes; here the cpu
// kernels do, op by op: what folding computes at compile time is what they would have computed, a fused body
// gives what its ops gave one by one, behind a matrix product too, and so does a fused reduction, whose sums
// must run in the same order.
#include "compiler/passes/passes.h"
#include "runtime/cpu/kernels/kernel.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"

namespace dfc {
namespace {

void runOp(const Graph& graph, OpId op, SideTable<ValueId, Literal>& values, ThreadPool& pool) {
  const OpRow& row = graph[op];
  llvm::SmallVector<const std::byte*, 4> operands;
  for (const ValueId operand : row.operands) {
    operands.push_back(values[operand].bytes().data());
  }
  llvm::SmallVector<std::byte*, 4> results;
  for (const ValueId result : row.results()) {
    values[result] = Literal(graph.typeOf(result));
    results.push_back(values[result].mutableBytes().data());
  }
  const auto kernel = makeCpuKernel(row.attributes, graph.operandTypesOf(op), graph.resultTypesOf(op), pool);
  INFO(graph.nameOf(op));
  REQUIRE(kernel != nullptr);
  kernel->run(operands, results);
}

// One step on kernels: the fetches by name.
NamedLiterals runGraph(const Graph& graph, const NamedLiterals& given, ThreadPool& pool) {
  SideTable<ValueId, Literal> values(graph.valueCount());
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    const auto* constant = row.getIf<ops::Constant>();
    if (classOf(row.kind()) == OpClass::Source) {
      values[row.firstResult] = constant != nullptr ? constant->value : given.find(graph.nameOf(op))->second;
    } else {
      runOp(graph, op, values, pool);
    }
  }
  NamedLiterals fetches;
  for (const Fetch& fetch : graph.fetches()) {
    fetches[std::string(graph.text(fetch.name))] = values[fetch.value];
  }
  return fetches;
}

struct Case {
  Graph graph;
  NamedLiterals given; // feeds and parameters
};

Case caseOf(uint64_t seed) {
  test::RandomGraphOptions options;
  options.request = seed % 2 == 0;
  if (seed % 3 == 0) {
    options.kinds = {OpKind::Add,  OpKind::Neg,       OpKind::Sub,  OpKind::Mul,       OpKind::Select,
                     OpKind::Relu, OpKind::Cast,      OpKind::Tanh, OpKind::ReduceSum, OpKind::ReduceMean,
                     OpKind::Exp,  OpKind::Broadcast, OpKind::Div,  OpKind::Maximum,   OpKind::Sigmoid};
  }
  if (seed % 6 == 5) {
    options.kinds = {OpKind::Gelu,  OpKind::Silu,   OpKind::Clip,     OpKind::Pow,  OpKind::LeakyRelu,
                     OpKind::Abs,   OpKind::Select, OpKind::Compare,  OpKind::And,  OpKind::Not,
                     OpKind::Floor, OpKind::Erf,    OpKind::Softplus, OpKind::Sign, OpKind::ReduceSum,
                     OpKind::Sin,   OpKind::Rsqrt,  OpKind::Cast,     OpKind::Add,  OpKind::Mul};
  }
  if (seed % 3 == 1) {
    options.kinds = {OpKind::Matmul, OpKind::Matmul, OpKind::Add,  OpKind::Mul,    OpKind::Sub,
                     OpKind::Relu,   OpKind::Cast,   OpKind::Tanh, OpKind::Select, OpKind::Compare};
  }
  Graph graph = *decompose(*expandGradients(test::randomGraph(seed, options)));
  const auto mood = seed % 4 < 2 ? test::Mood::Tame : test::Mood::Wild;
  NamedLiterals given = test::randomFeeds(graph, seed, mood);
  given.merge(test::randomParameters(graph, seed, mood));
  return {std::move(graph), std::move(given)};
}

} // namespace

TEST_CASE("passes on cpu kernels: every pass keeps every bit that the kernels give") {
  ThreadPool pool(1);
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Case before = caseOf(seed);
    const NamedLiterals expected = runGraph(before.graph, before.given, pool);
    Graph graph = before.graph;
    for (const PassRow& pass : allPasses()) {
      INFO("seed " << seed << ", up to pass " << pass.name);
      graph = *pass.run(graph, {});
      for (const auto& [name, value] : runGraph(graph, before.given, pool)) {
        INFO("fetch " << name);
        REQUIRE(test::bitDifference(expected.find(name)->second, value) == "");
      }
    }
  }
}

} // namespace dfc
