// Launches of convolutions by a library: with all pointers that it needs, never merged, and only where the
// library supports them. The library is a fake.
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "runtime/cuda/launches/launch_plan.h"
#include "tests/support/catch.h"

using namespace dfc;
using namespace dfc::cuda;

namespace {

/// Supports convolutions without groups, with a workspace of 1000 bytes.
class FakeConvolutions final : public ConvolutionLibrary {
 public:
  std::optional<int64_t> workspaceFor(const OpAttributes& attributes, OperandTypes) override {
    const auto* op = attributes.getIf<ops::Conv2d>();
    return op != nullptr && op->groups == 1 ? std::optional<int64_t>(1000) : std::nullopt;
  }
};

/// relu, conv2d of it, conv2d in two groups of that.
struct Net {
  Graph graph;
  std::vector<Computation> computations;

  Net() : graph(written()) {
    uint64_t at = uint64_t{1} << 32;
    for (const OpId op : graph.ops()) {
      if (graph[op].operands.empty()) {
        continue;
      }
      Computation& computation = computations.emplace_back();
      computation.op = op;
      computation.position = static_cast<uint32_t>(op.index());
      for (size_t i = 0; i < graph[op].operands.size(); ++i) {
        computation.at.operands.push_back(reinterpret_cast<std::byte*>(at += 1 << 20));
      }
      computation.at.results.push_back(reinterpret_cast<std::byte*>(at += 1 << 20));
    }
  }
  static Graph written() {
    Builder g("net");
    const Tensor image = relu(g.parameter("image", f32({2, 4, 8, 8})));
    const Tensor first = conv2d(image, g.parameter("first", f32({6, 4, 3, 3})));
    g.fetch("out", conv2d(first, g.parameter("second", f32({4, 3, 3, 3})), {}, 2));
    return *std::move(g).finish();
  }
};

} // namespace

TEST_CASE("launches: a convolution that a library supports is a launch of its own, with workspace") {
  const Net net;
  REQUIRE(net.computations.size() == 3);
  for (const bool merge : {false, true}) {
    FakeConvolutions library;
    const LaunchPlan plan = planLaunches(net.graph, net.computations, merge, {.convolutions = &library});
    size_t taken = 0;
    for (const PlannedLaunch& launch : plan.launches) {
      if (launch.convolution) {
        ++taken;
        CHECK(launch.computations == std::vector<uint32_t>{1});
        CHECK(launch.text.empty());
        REQUIRE(launch.pointers.size() == 4);
        const Addresses& at = net.computations[1].at;
        CHECK(launch.pointers[0].resolved(nullptr) == at.operands[0]);
        CHECK(launch.pointers[1].resolved(nullptr) == at.operands[1]);
        CHECK(launch.pointers[2].resolved(nullptr) == at.results[0]);
        CHECK(launch.pointers[3].inWorkspace);
      } else {
        CHECK(launch.computations != std::vector<uint32_t>{1});
        CHECK(!launch.text.empty());
      }
    }
    CHECK(taken == 1);
    CHECK(plan.workspaceBytes >= 1000);
  }
}

TEST_CASE("launches: without a library every convolution is generated") {
  const Net net;
  for (const PlannedLaunch& launch : planLaunches(net.graph, net.computations, true).launches) {
    CHECK(!launch.convolution);
    CHECK(!launch.text.empty());
  }
}
