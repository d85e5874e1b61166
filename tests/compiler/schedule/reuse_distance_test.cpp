// Bytes found in a cache, by hand.
#include "compiler/schedule/reuse_distance.h"

#include "ir/author/text/parse.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_plan.h"

namespace dfc {
namespace {

Machine gpuWithCache(int64_t bytes) {
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = ""});
  machine.devices.add({.name = "gpu0", .kind = DeviceKind::Gpu, .model = "", .cacheBytes = bytes});
  const LinkId bus = machine.links.add({"bus", 0, 0, 0});
  machine.routes = {{DeviceId(0), DeviceId(1), {bus}}, {DeviceId(1), DeviceId(0), {bus}}};
  return machine;
}

struct Parts {
  PlacedGraph placed;
  SideTable<OpId, double> parts;
  double of(const char* name) const { return parts[placed.graph[placed.graph.findValue(name)].producer]; }
};

/// 400 B a tensor.
Parts partsWith(int64_t cache) {
  const auto graph = parseGraph(R"(graph chain {
  on gpu0 {
    parameter p : f32[100] = zeros()
    a = exp(p)
    b = neg(a)
    c = mul(b, a)
    next = assign(p, sub(p, c))
  }
}
)",
                                "chain.dfg");
  REQUIRE(graph.ok());
  Parts parts{test::placeByPins(*graph, gpuWithCache(cache)), {}};
  parts.parts = partsFromMemory(parts.placed, gpuWithCache(cache));
  return parts;
}

} // namespace

TEST_CASE("reuse distance: what was touched lately is in the cache") {
  // Bytes touched between a's first reader and c's read of it: 800. Between the two reads of p: 2400.
  // Between the making of c and its read: 400. What the step before assigned is read at once.
  const Parts large = partsWith(1000);
  CHECK(large.of("a") == 0);
  CHECK(large.of("b") == 0);
  CHECK(large.of("c") == 0);
  CHECK(large.of("sub") == Approx(1.0 / 3)); // p, of p, c and the result
  CHECK(partsWith(2400).of("sub") == 0);
}

TEST_CASE("reuse distance: a result that leaves the cache before it is read is written to memory") {
  CHECK(partsWith(500).of("c") == Approx(1.0 / 3)); // a
  const Parts small = partsWith(300);
  CHECK(small.of("c") == Approx(2.0 / 3));
  CHECK(small.of("sub") == Approx(2.0 / 3));
  CHECK(small.of("a") == 0); // read at once
}

TEST_CASE("reuse distance: a machine file without caches leaves all operands where they are") {
  const Parts parts = partsWith(0);
  CHECK((parts.of("a") == 0 && parts.of("c") == 0 && parts.of("sub") == 0));
}

} // namespace dfc
