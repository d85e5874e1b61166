// Which folds are made along with what they fold, and what keeps others where they are.
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/graph/rules/op_rules.h"
#include "ir/machine/calibration.h"
#include "runtime/cuda/launches/launch_plan.h"
#include "runtime/cuda/launches/reduction_fusion.h"
#include "tests/support/catch.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

using namespace dfc;
using namespace dfc::cuda;

namespace {

constexpr uint64_t apart = uint64_t{1} << 32; // between values

Range valueAt(uint64_t number, const TensorType& type) {
  return {{false, (number + 1) * apart}, type.bytes()};
}

/// The first launch of an op, reading and writing values by their numbers.
SingleLaunch unitOf(uint32_t computation, const OpAttributes& op, const std::vector<TensorType>& types,
            const std::vector<uint64_t>& values, uint64_t result) {
  const TensorType type = resultTypes(op, types).types[0];
  auto work = generateKernels(op, types, type);
  REQUIRE(work);
  SingleLaunch unit;
  unit.computation = computation;
  unit.kernel = work->launches[0];
  for (size_t i = 0; i < types.size(); ++i) {
    unit.reads.push_back(valueAt(values[i], types[i]));
    unit.pointers.push_back(unit.reads.back().begin);
  }
  const bool inParts = work->launches.size() > 1;
  unit.writes.push_back(inParts ? Range{{true, 0}, work->workspaceBytes} : valueAt(result, type));
  unit.pointers.push_back(unit.writes.back().begin);
  for (size_t i = 0; i < types.size(); ++i) {
    unit.reads[i].stride = unit.kernel.arguments[i].stride;
  }
  unit.writes[0].stride = unit.kernel.arguments.back().stride;
  return unit;
}

const TensorType large = f32({16384, 256}), small = f32({64, 256});

SingleLaunch product(uint32_t computation, const TensorType& type, uint64_t a, uint64_t b, uint64_t result) {
  return unitOf(computation, ops::Mul(), {type, type}, {a, b}, result);
}
SingleLaunch sumOf(uint32_t computation, const TensorType& type, uint64_t value, uint64_t result,
           std::vector<int64_t> axes = {0}) {
  ops::ReduceSum op;
  op.axes.assign(axes.begin(), axes.end());
  return unitOf(computation, op, {type}, {value}, result);
}

/// "0+1 2": by their computations, those that are made along behind a plus sign.
std::string joined(std::vector<SingleLaunch> units) {
  std::string text;
  for (const SingleLaunch& unit : withFoldsMadeAlong(std::move(units))) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", unit.computation,
                        unit.along ? fmt::format("+{}", *unit.along) : "");
  }
  return text;
}

} // namespace

TEST_CASE("made folds: a sum is made along with what it sums") {
  const auto units = withFoldsMadeAlong({product(0, large, 0, 1, 2), sumOf(1, large, 2, 3)});
  REQUIRE(units.size() == 1);
  const SingleLaunch &both = units[0], alone = sumOf(1, large, 2, 3);
  CHECK(both.along == std::optional<uint32_t>(1));
  CHECK(both.kernel.grid == alone.kernel.grid);
  CHECK(both.kernel.threads == alone.kernel.threads);
  CHECK(both.kernel.elements == alone.kernel.elements);
  REQUIRE(both.pointers.size() == 4); // two operands, what is made, and the sums
  CHECK(both.pointers.size() == both.kernel.arguments.size());
  for (uint64_t value = 0; value < 3; ++value) {
    CHECK(both.pointers[value].at == valueAt(value, large).begin.at);
  }
  CHECK(both.pointers[3].at == alone.pointers[1].at);
  const SingleLaunch maker = product(0, large, 0, 1, 2);
  REQUIRE(both.writes.size() == 2);
  REQUIRE(both.reads.size() == 2);
  for (const auto& [joint, own] :
       {std::pair(both.writes[0], maker.writes[0]), std::pair(both.reads[0], maker.reads[0]),
        std::pair(both.reads[1], maker.reads[1])}) {
    CHECK(own.stride == 4); // element by element, which its threads no longer are
    CHECK(joint.stride == 0);
  }
}

TEST_CASE("made folds: others may stand between, if they are not in the way") {
  const SingleLaunch maker = product(0, large, 0, 1, 2), sum = sumOf(2, large, 2, 3);
  CHECK(joined({maker, product(1, large, 2, 1, 4), sum}) == "0+2 1"); // it reads the same
  CHECK(joined({maker, product(1, large, 0, 1, 2), sum}) == "0 1+2"); // the later one is what is summed
  CHECK(joined({maker, product(1, large, 4, 5, 0), sum}) == "0+2 1"); // what was read may be gone
  SingleLaunch product = maker;
  product.product.emplace();
  CHECK(joined({product, sum}) == "0 2"); // by a library
  SingleLaunch later = sum;
  later.region = {1, 0}; // somebody waits for what is between
  CHECK(joined({maker, later}) == "0+2");
  later.region = {1, 1}; // it waits for somebody
  CHECK(joined({maker, later}) == "0 2");
}

TEST_CASE("made folds: a fold whose result lies where others still read stays behind them") {
  const SingleLaunch sum = sumOf(1, large, 2, 3, {1}); // by rows, in one launch: the result lies among the values
  REQUIRE(sum.writes[0].begin.at == valueAt(3, large).begin.at);
  CHECK(joined({product(0, large, 0, 1, 2), sum}) == "0+1");
  CHECK(joined({product(0, large, 0, 3, 2), sum}) == "0 1");                               // the maker does
  CHECK(joined({product(0, large, 0, 1, 2), product(7, large, 3, 1, 4), sum}) == "0 7 1"); // one between does
}

TEST_CASE("made folds: only one along with each, of the same elements, and where a GPU is filled") {
  const SingleLaunch maker = product(0, large, 0, 1, 2);
  CHECK(joined({maker, sumOf(1, large, 2, 3), sumOf(2, large, 2, 4, {1})}) == "0+1 2");
  CHECK(joined({product(0, small, 0, 1, 2), sumOf(1, small, 2, 3)}) == "0 1");
  CHECK(joined({maker, sumOf(1, f32({2048, 256}), 2, 3)}) == "0 1"); // of its half
  const TensorType halves{ElementType::F16, large.shape};
  ops::Cast cast;
  cast.to = ElementType::F16;
  const SingleLaunch narrowed = unitOf(0, cast, {large}, {0}, 2);
  CHECK(joined({narrowed, sumOf(1, halves, 2, 3)}) == "0 1"); // by packs of four, where sums take eight
  CHECK(joined({product(0, halves, 0, 1, 2), sumOf(1, halves, 2, 3)}) == "0+1");
  const SingleLaunch moved = unitOf(0, ops::Transpose{{}, {1, 0}}, {f32({256, 16384})}, {0}, 2);
  CHECK(joined({moved, sumOf(1, large, 2, 3)}) == "0 1"); // no chain
}

TEST_CASE("made folds: not where what is made would be written in pieces, or by few") {
  struct Case {
    TensorType type;
    int64_t axis;
    bool along;
  };
  const auto bf16 = [](const Shape& shape) { return TensorType{ElementType::BF16, shape}; };
  for (const Case& one :
       {Case{f32({32768, 64}), 1, false},
        Case{f32({16384, 128}), 1, true},   // eight threads a row from 68 elements on
        Case{bf16({262144, 29}), 1, false}, // one element at a time
        Case{f32({4096, 256, 4}), 1, false},
        Case{f32({4096, 16, 64}), 1, true}, // pieces of 16 bytes, and of 256
        Case{f32({1 << 19, 4}), 0, true},   // rows that follow one another
        Case{bf16({16384, 2047}), 0, false}, Case{bf16({16384, 2048}), 0, true}, // packs of one, and of eight
        Case{f32({66, 65532}), 1, false}}) {                                     // 66 blocks
    INFO(toString(one.type) << " over axis " << one.axis);
    CHECK(joined({product(0, one.type, 0, 1, 2), sumOf(1, one.type, 2, 3, {one.axis})}) ==
          (one.along ? "0+1" : "0 1"));
  }
}

TEST_CASE("made folds: a launch says which ops it works for") {
  Builder g("bias");
  const Tensor h = g.parameter("h", large), dy = g.parameter("dy", f32({16384, 64})),
               w = g.parameter("w", f32({64, 256}));
  const Tensor dz = select(compare(h, 0, Direction::Gt), matmul(dy, w), 0);
  g.fetch("dz", dz);
  g.fetch("db", reduceSum(dz, {0}));
  const Graph graph = *std::move(g).finish();
  std::vector<Computation> computations;
  for (const OpId op : graph.ops()) {
    if (!isTimed(graph[op].kind())) {
      continue;
    }
    Computation& computation = computations.emplace_back();
    computation.op = op;
    computation.position = op.index();
    const auto addressOf = [](ValueId value) {
      return reinterpret_cast<std::byte*>((value.index() + 1) * apart);
    };
    for (const ValueId operand : graph[op].operands) {
      computation.at.operands.push_back(addressOf(operand));
    }
    for (const ValueId result : graph[op].results()) {
      computation.at.results.push_back(addressOf(result));
    }
  }
  const auto launchesOf = [&](bool merge) { return planLaunches(graph, computations, merge).launches; };
  const auto selects = static_cast<uint32_t>(computations.size()) - 2, sums = selects + 1;
  CHECK(llvm::any_of(launchesOf(true), [&](const PlannedLaunch& launch) {
    return launch.computations == std::vector<uint32_t>{selects, sums};
  }));
  CHECK(llvm::all_of(launchesOf(false),
                     [&](const PlannedLaunch& launch) { return launch.computations.size() == 1; }));
  CHECK(launchesOf(true).size() < launchesOf(false).size());
}
