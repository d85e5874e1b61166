// Launches of convolutions by a library: with all pointers that it needs, never merged, each with spare
// kernels; convolutions that the library cannot describe are generated.
#include "compiler/lower/library_convolution.h"
#include "compiler/lower/plan_launches.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

using namespace dfc;
using namespace dfc::cuda;

namespace {

/// relu, conv2d of it, conv2d of that whose image is padded at one end alone.
struct Net {
  Graph graph;
  std::vector<Computation> computations;

  Net() : graph(written()) {
    int64_t at = 0;
    for (const OpId op : graph.ops()) {
      if (graph[op].operands.empty()) {
        continue;
      }
      Computation& computation = computations.emplace_back();
      computation.op = op;
      computation.position = static_cast<uint32_t>(op.index());
      for (size_t i = 0; i < graph[op].operands.size(); ++i) {
        computation.at.operands.push_back({DeviceId(0), at += 1 << 20});
      }
      computation.at.results.push_back({DeviceId(0), at += 1 << 20});
    }
  }
  static Graph written() {
    Builder g("net");
    const Tensor image = relu(g.parameter("image", f32({2, 4, 8, 8})));
    const Tensor first = conv2d(image, g.parameter("first", f32({6, 4, 3, 3})));
    const Window atOneEnd{.high = {1, 1}};
    g.fetch("out", conv2d(first, g.parameter("second", f32({4, 6, 3, 3})), atOneEnd));
    return *std::move(g).finish();
  }
};

} // namespace

TEST_CASE("launches: a convolution by a library is a launch of its own, with a spare kernel") {
  const Net net;
  REQUIRE(net.computations.size() == 3);
  for (const bool merge : {false, true}) {
    size_t taken = 0;
    for (const PlannedLaunch& launch : planLaunches(net.graph, net.computations, merge).launches) {
      if (launch.row.kind != LaunchKind::Convolution) {
        CHECK(launch.computations != std::vector<uint32_t>{1});
        CHECK(!launch.text.empty());
        continue;
      }
      ++taken;
      CHECK(launch.computations == std::vector<uint32_t>{1});
      CHECK(launch.text.empty());
      const Places& at = net.computations[1].at;
      REQUIRE(launch.row.pointers.size() == 3);
      CHECK(launch.row.pointers[0] == at.operands[0]);
      CHECK(launch.row.pointers[1] == at.operands[1]);
      CHECK(launch.row.pointers[2] == at.results[0]);
      REQUIRE(!launch.spare.empty());
      CHECK(!launch.spare[0].text.empty());
    }
    CHECK(taken == 1);
  }
}

TEST_CASE("launches: which convolutions a library describes") {
  const auto describes = [](const Shape& image, int64_t low, int64_t high) {
    ops::Conv2d op;
    op.low = {low, low};
    op.high = {high, high};
    return isLibraryConvolution(op, {f32(image), f32({6, 4, 3, 3})});
  };
  CHECK(describes({2, 4, 8, 8}, 0, 0));
  CHECK(describes({2, 4, 8, 8}, 1, 1));
  CHECK_FALSE(describes({2, 4, 8, 8}, 0, 1));
  CHECK_FALSE(describes({0, 4, 8, 8}, 0, 0));               // nothing to compute
  CHECK_FALSE(describes({1 << 20, 4, 64, 64}, 1, 1));       // more elements than it counts
  CHECK_FALSE(isLibraryConvolution(ops::Relu{}, f32({4}))); // another op
}
