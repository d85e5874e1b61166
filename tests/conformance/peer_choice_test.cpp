// The choice of peer reads: which transfers between GPUs are replaced by a read of the peer's memory, and
// which stay copies.
#include "tests/conformance/peer_plans.h"

#include "compiler/lower/peer_reads.h"
#include "ir/plan/executable_parts.h"
#include "tests/support/catch.h"
#include "tests/support/relowered.h"

using namespace dfc;
using namespace dfc::test;
using cuda::choosePeerReads;
using cuda::lowerPeerReads;

namespace {

/// Nothing is chosen of what `use` makes of a value of a peer.
template <class Use>
void checkNoneOf(Shape shape, const Use& use) {
  const Plan plan = exchangePlan(std::move(shape), use);
  CHECK(written(*plan, choosePeerReads(stagesOf(*plan), everywhere)) == "");
}

/// What gpu0 reads elsewhere of the value that `source` makes on the host.
template <class Source>
std::string readFromHost(const Source& source) {
  Builder g("host");
  const Tensor value = source(g);
  {
    const auto here = g.on("gpu0");
    g.fetch("y", (-value).named("y"));
  }
  const Plan plan = tinyPlan(requireGraph(std::move(g)), smallMachine(1), true);
  return written(*plan, choosePeerReads(stagesOf(*plan), everywhere));
}

} // namespace

TEST_CASE("peer reads: an update reads the gradient where the peer made it") {
  const Plan plan = updatePlan();
  const auto chosen = choosePeerReads(stagesOf(*plan), everywhere);
  REQUIRE(written(*plan, chosen) == "made@gpu0 by next");
  CHECK(chosen[0].operand == 1);
  const PeerReads lowered = lowerPeerReads(plan->schedule(), chosen);
  const StepId made = stepNamed(*plan, "made"), transfer = chosen[0].transfer, next = chosen[0].reader;
  CHECK(lowered.waits[next] == StepList{made});
  CHECK(lowered.waits[transfer].empty());
  CHECK(orderOf(plan->schedule(), lowered.waits).size() == plan->schedule().steps.size());
}

TEST_CASE("peer reads: not through the host, nor from a GPU without access") {
  const Plan plan = updatePlan();
  CHECK(choosePeerReads(stagesOf(*plan), [](DeviceId, DeviceId) { return false; }).empty());
  const DeviceId gpu0 = plan->machine().findDevice("gpu0"), gpu1 = plan->machine().findDevice("gpu1");
  CHECK(choosePeerReads(stagesOf(*plan), [&](DeviceId a, DeviceId b) {
          return a == gpu1 && b == gpu0;
        }).empty());
  CHECK(choosePeerReads(stagesOf(*plan), [&](DeviceId a, DeviceId b) {
          return a == gpu0 && b == gpu1;
        }).size() == 1);
}

TEST_CASE("peer reads: not of what others read too, or the caller, or one op twice") {
  checkNoneOf({64}, [](Builder& g, Tensor made, Tensor w) {
    g.assign(w, w - made);
    g.fetch("other", -made);
  });
  checkNoneOf({64}, [](Builder& g, Tensor made, Tensor w) { g.assign(w, made * made); });
  checkNoneOf({64}, [](Builder& g, Tensor made, Tensor w) {
    g.assign(w, w - made);
    const auto there = g.on("gpu0");
    g.fetch("made", reshape(made, {8, 8}));
  });
}

TEST_CASE("peer reads: only by kernels that read each element once") {
  const Shape shape{8, 8};
  checkNoneOf(shape, [](Builder& g, Tensor made, Tensor) { g.fetch("sum", reduceSum(made, {0})); });
  checkNoneOf(shape, [](Builder& g, Tensor made, Tensor w) { g.assign(w, matmul(w, made)); });
  checkNoneOf(shape, [](Builder& g, Tensor made, Tensor w) {
    g.fetch("large", broadcast(w, {4, 8, 8}) + made);
  });
}

TEST_CASE("peer reads: not of an operand that is broadcast") {
  const auto wide = [](Builder& g, const Shape& shape) { return g.parameter("wide", f32(shape)); };
  checkNoneOf({}, [&](Builder& g, Tensor made, Tensor) { g.fetch("y", wide(g, {64}) - made); });
  checkNoneOf({1}, [&](Builder& g, Tensor made, Tensor) { g.fetch("y", wide(g, {64}) - made); });
  checkNoneOf({64}, [&](Builder& g, Tensor made, Tensor) { g.fetch("y", wide(g, {3, 64}) - made); });
  checkNoneOf({3, 1}, [&](Builder& g, Tensor made, Tensor) { g.fetch("y", wide(g, {3, 64}) - made); });
  // The other operand may be.
  const Plan plan = exchangePlan({3, 64}, [](Builder& g, Tensor made, Tensor) {
    g.fetch("y", (made - g.parameter("row", f32({64}))).named("y"));
  });
  CHECK(written(*plan, choosePeerReads(stagesOf(*plan), everywhere)) == "made@gpu0 by y");
}

TEST_CASE("peer reads: not of values without bytes") {
  for (const Shape& shape : {Shape{0}, Shape{4, 0}}) {
    const Plan plan = updatePlan(shape);
    CHECK(written(*plan, choosePeerReads(stagesOf(*plan), everywhere)) == "");
  }
}

TEST_CASE("peer reads: not of what the caller feeds, which lies on no device") {
  const auto input = [](Builder& g) { return g.input("x", f32({64})); };
  CHECK(readFromHost(input) == "");
  CHECK(readFromHost([&](Builder& g) { return reshape(input(g), {8, 8}); }) == "");
  // As a parameter it does lie there.
  const auto parameter = [](Builder& g) { return g.parameter("x", f32({64})); };
  CHECK(readFromHost(parameter) == "x@gpu0 by y");
}

TEST_CASE("peer reads: of the MLP's gradients those whose copies nothing hides") {
  const Plan large = exchangingNet(8192); // both large copies run under backward products
  CHECK(written(*large,
                lowerPeerReads(large->schedule(), choosePeerReads(stagesOf(*large), everywhere)).reads) ==
        "b1@gpu1.gradient@gpu0 by sub.8, w3@gpu1.gradient@gpu0 by sub.3, b2@gpu1.gradient@gpu0 by sub.6, "
        "b3@gpu1.gradient@gpu0 by sub.4, b1@gpu0.gradient@gpu1 by sub.14, w3@gpu0.gradient@gpu1 by sub.9, "
        "b2@gpu0.gradient@gpu1 by sub.12, b3@gpu0.gradient@gpu1 by sub.10");
  const Plan middle = exchangingNet(1024); // that of w2 still does
  const auto reads = lowerPeerReads(middle->schedule(), choosePeerReads(stagesOf(*middle), everywhere)).reads;
  CHECK(reads.size() == 10);
  CHECK(written(*middle, reads).find("w2") == std::string::npos);
  const Plan small = exchangingNet(64);
  CHECK(lowerPeerReads(small->schedule(), choosePeerReads(stagesOf(*small), everywhere)).reads.size() == 12);
}
