// Which reductions are fused with the producers of their operands, and which stay launches of their own.
#include "compiler/lower/plan_launches.h"
#include "compiler/lower/reduction_fusion.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/graph/rules/op_rules.h"
#include "ir/machine/calibration.h"
#include "tests/support/catch.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

using namespace dfc;
using namespace dfc::cuda;

namespace {

constexpr int64_t apart = int64_t{1} << 32; // between values

Range valueAt(uint64_t number, const TensorType& type) {
  return {{DeviceId(0), static_cast<int64_t>(number + 1) * apart}, type.bytes()};
}

/// The first launch of an op, reading and writing values by their numbers.
UnmergedLaunch launchOf(uint32_t computation, const OpAttributes& op, const std::vector<TensorType>& types,
                        const std::vector<uint64_t>& values, uint64_t result) {
  const TensorType type = resultTypes(op, types).types[0];
  auto work = generateKernels(op, types, type, GpuShape::assumed());
  REQUIRE(work);
  UnmergedLaunch launch;
  launch.computation = computation;
  launch.kernel = work->launches[0];
  for (size_t i = 0; i < types.size(); ++i) {
    launch.reads.push_back(valueAt(values[i], types[i]));
    launch.pointers.push_back(launch.reads.back().begin);
  }
  const bool inParts = work->launches.size() > 1;
  launch.writes.push_back(inParts ? Range{{DeviceId(), 0}, work->workspaceBytes} : valueAt(result, type));
  launch.pointers.push_back(launch.writes.back().begin);
  for (size_t i = 0; i < types.size(); ++i) {
    launch.reads[i].stride = launch.kernel.arguments[i].stride;
  }
  launch.writes[0].stride = launch.kernel.arguments.back().stride;
  return launch;
}

const TensorType large = f32({16384, 256}), small = f32({64, 256});

UnmergedLaunch product(uint32_t computation, const TensorType& type, uint64_t a, uint64_t b,
                       uint64_t result) {
  return launchOf(computation, ops::Mul(), {type, type}, {a, b}, result);
}
UnmergedLaunch sumOf(uint32_t computation, const TensorType& type, uint64_t value, uint64_t result,
                     std::vector<int64_t> axes = {0}) {
  ops::ReduceSum op;
  op.axes.assign(axes.begin(), axes.end());
  return launchOf(computation, op, {type}, {value}, result);
}

/// "0+1 2": by their computations; a fused reduction follows a plus sign.
std::string fused(std::vector<UnmergedLaunch> launches) {
  std::string text;
  for (const UnmergedLaunch& launch : fuseReductions(std::move(launches))) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", launch.computation,
                        launch.fusedReduction ? fmt::format("+{}", *launch.fusedReduction) : "");
  }
  return text;
}

} // namespace

TEST_CASE("reduction fusion: a sum is fused with the producer of its operand") {
  const auto launches = fuseReductions({product(0, large, 0, 1, 2), sumOf(1, large, 2, 3)});
  REQUIRE(launches.size() == 1);
  const UnmergedLaunch &both = launches[0], alone = sumOf(1, large, 2, 3);
  CHECK(both.fusedReduction == std::optional<uint32_t>(1));
  CHECK(both.kernel.grid == alone.kernel.grid);
  CHECK(both.kernel.threads == alone.kernel.threads);
  CHECK(both.kernel.elements == alone.kernel.elements);
  REQUIRE(both.pointers.size() == 4); // two operands, the product, and the sums
  CHECK(both.pointers.size() == both.kernel.arguments.size());
  for (uint64_t value = 0; value < 3; ++value) {
    CHECK(both.pointers[value] == valueAt(value, large).begin);
  }
  CHECK(both.pointers[3] == alone.pointers[1]);
  const UnmergedLaunch producer = product(0, large, 0, 1, 2);
  REQUIRE(both.writes.size() == 2);
  REQUIRE(both.reads.size() == 2);
  for (const auto& [joint, own] :
       {std::pair(both.writes[0], producer.writes[0]), std::pair(both.reads[0], producer.reads[0]),
        std::pair(both.reads[1], producer.reads[1])}) {
    CHECK(own.stride == 4); // element by element, unlike the fused launch
    CHECK(joint.stride == 0);
  }
}

TEST_CASE("reduction fusion: only launches that depend on one of the two stand in the way") {
  const UnmergedLaunch producer = product(0, large, 0, 1, 2), sum = sumOf(2, large, 2, 3);
  CHECK(fused({producer, product(1, large, 2, 1, 4), sum}) == "0+2 1"); // it only reads the same value
  CHECK(fused({producer, product(1, large, 0, 1, 2), sum}) == "0 1+2"); // the later one produces the operand
  CHECK(fused({producer, product(1, large, 4, 5, 0), sum}) ==
        "0+2 1"); // it overwrites an operand of the producer, after it
  UnmergedLaunch product = producer;
  product.product.emplace();
  CHECK(fused({product, sum}) == "0 2"); // by a library
  UnmergedLaunch later = sum;
  later.region = {1, 0}; // another region: an end is published in between
  CHECK(fused({producer, later}) == "0+2");
  later.region = {1, 1}; // another queue region: the queue waits in between
  CHECK(fused({producer, later}) == "0 2");
}

TEST_CASE("reduction fusion: a reduction stays behind launches that read the bytes of its result") {
  const UnmergedLaunch sum =
      sumOf(1, large, 2, 3, {1}); // by rows, in one launch: the result lies among the values
  REQUIRE(sum.writes[0].begin == valueAt(3, large).begin);
  CHECK(fused({product(0, large, 0, 1, 2), sum}) == "0+1");
  CHECK(fused({product(0, large, 0, 3, 2), sum}) == "0 1");                               // the producer does
  CHECK(fused({product(0, large, 0, 1, 2), product(7, large, 3, 1, 4), sum}) == "0 7 1"); // one between does
}

TEST_CASE("reduction fusion: one per producer, of the same elements, and only where it fills a GPU") {
  const UnmergedLaunch producer = product(0, large, 0, 1, 2);
  CHECK(fused({producer, sumOf(1, large, 2, 3), sumOf(2, large, 2, 4, {1})}) == "0+1 2");
  CHECK(fused({product(0, small, 0, 1, 2), sumOf(1, small, 2, 3)}) == "0 1");
  CHECK(fused({producer, sumOf(1, f32({2048, 256}), 2, 3)}) == "0 1"); // of its half
  const TensorType halves{ElementType::F16, large.shape};
  ops::Cast cast;
  cast.to = ElementType::F16;
  const UnmergedLaunch narrowed = launchOf(0, cast, {large}, {0}, 2);
  CHECK(fused({narrowed, sumOf(1, halves, 2, 3)}) == "0 1"); // by packs of four, where sums take eight
  CHECK(fused({product(0, halves, 0, 1, 2), sumOf(1, halves, 2, 3)}) == "0+1");
  const UnmergedLaunch moved = launchOf(0, ops::Transpose{{}, {1, 0}}, {f32({256, 16384})}, {0}, 2);
  CHECK(fused({moved, sumOf(1, large, 2, 3)}) == "0 1"); // no chain
}

TEST_CASE("reduction fusion: not where the operand would be written in pieces or by few threads") {
  struct Case {
    TensorType type;
    int64_t axis;
    bool fused;
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
    CHECK(fused({product(0, one.type, 0, 1, 2), sumOf(1, one.type, 2, 3, {one.axis})}) ==
          (one.fused ? "0+1" : "0 1"));
  }
}

TEST_CASE("reduction fusion: a launch names all ops that it computes") {
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
      return LaunchPointer{DeviceId(0), (int64_t{value.index()} + 1) * apart};
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
