// insertTransfers: one transfer for each (value, destination), staging, replicated state, the orderings
// around writes, and which small transfers are reads at the peer.
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/peer_reads.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <functional>

namespace dfc::test {
namespace {

/// cpu0 and `gpus` gpus; each gpu has a link in and a link out and no peer route, so copies between gpus are
/// staged.
Machine starMachine(int gpus) {
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = ""});
  for (int i = 0; i < gpus; ++i) {
    const DeviceId gpu =
        machine.devices.add({.name = "gpu" + std::to_string(i), .kind = DeviceKind::Gpu, .model = ""});
    for (const bool in : {true, false}) {
      const LinkId link = machine.links.add({(in ? "in" : "out") + std::to_string(i), 0, 1e9, 1});
      machine.routes.push_back({in ? DeviceId(0) : gpu, in ? gpu : DeviceId(0), {link}});
    }
  }
  return machine;
}

Graph finish(Builder&& g) {
  auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  return *std::move(graph);
}

/// Every op on the device that its pin names, the host without one.
PlacedGraph placeByName(const Graph& graph, const Machine& machine) {
  Placement placement{graph, SideTable<OpId, DeviceId>(graph.opCount(), machine.host()), "test"};
  for (const OpId op : graph.ops()) {
    if (!graph.pinOf(op).empty()) {
      placement.device[op] = machine.findDevice(graph.pinOf(op));
    }
  }
  PlacedGraph placed = insertTransfers(placement, machine);
  INFO(render(verifyPlacedGraph(placed, machine)));
  CHECK(verifyPlacedGraph(placed, machine).empty());
  return placed;
}

int countOf(const PlacedGraph& placed, OpKind kind) {
  const auto ops = placed.graph.ops();
  return static_cast<int>(
      std::count_if(ops.begin(), ops.end(), [&](OpId op) { return placed.graph[op].kind() == kind; }));
}

} // namespace

TEST_CASE("a value read twice on a device is copied there once") {
  Builder g;
  Tensor x = g.input("x", f32({8}));
  Tensor a = relu(x).on("gpu0");
  Tensor b = exp(x).on("gpu0");
  g.fetch("y", (a + b).on("gpu0"));
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(1));
  CHECK(placed.transfers.size() == 2); // x to gpu0, y back to the host
}

TEST_CASE("a copy between gpus without a peer route is staged through the host, and both hops are shared") {
  Builder g;
  Tensor x = g.input("x", f32({8}));
  Tensor a = relu(x).on("gpu0");
  Tensor b = exp(a).on("gpu1");
  g.fetch("a", a);
  g.fetch("b", b);
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(2));
  // x>gpu0, a>cpu0 (first hop and the fetch), a>gpu1, b>cpu0
  CHECK(placed.transfers.size() == 4);
}

TEST_CASE("a parameter read elsewhere has a replica there, refreshed by one copy of its next value") {
  Builder g;
  Tensor x = g.input("x", f32({8}));
  Tensor w = g.parameter("w", f32({8})).on("cpu0");
  Tensor y = (x * w).on("gpu0");
  g.assign(w, (w + y).on("cpu0")).on("cpu0");
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(1));
  CHECK(countOf(placed, OpKind::Parameter) == 2);
  CHECK(countOf(placed, OpKind::Assign) == 2);
  CHECK(placed.replicas.size() == 1);
  CHECK(placed.transfers.size() == 3); // x>gpu0, y>cpu0, next w>gpu0
}

namespace {

/// w is read in 16 bits on `reader`, and assigned on its own device.
Graph castParameter(const char* reader, ElementType to) {
  Builder g;
  Tensor x = g.input("x", TensorType{to, {8}});
  Tensor w = g.parameter("w", f32({8}), constantInit(2)).on("gpu0");
  Tensor y = (x * cast(w, to).on(reader)).on(reader);
  g.assign(w, (w * 0.5).on("gpu0")).on("gpu0");
  g.fetch("y", y);
  return finish(std::move(g));
}

} // namespace

TEST_CASE("a parameter that is cast to 16 bits is kept in that type, refreshed by its update") {
  for (const ElementType to : {ElementType::BF16, ElementType::F16}) {
    const PlacedGraph placed = placeByName(castParameter("gpu0", to), starMachine(1));
    CHECK(hasNarrowReplicas(placed));
    CHECK(placed.replicas.size() == 1);
    CHECK(countOf(placed, OpKind::Cast) == 1); // of the next value
    CHECK(countOf(placed, OpKind::Assign) == 2);
    CHECK(placed.transfers.size() == 2); // x>gpu0, y>cpu0
  }
}

TEST_CASE("a parameter that another device reads in 16 bits crosses the link in 16 bits") {
  const PlacedGraph placed = placeByName(castParameter("gpu1", ElementType::BF16), starMachine(2));
  CHECK(placed.replicas.size() == 1);
  REQUIRE(placed.transfers.size() == 4); // x>gpu1, y>cpu0, next w>cpu0>gpu1
  for (const auto& [op, row] : placed.transfers) {
    CHECK(row.bytes == 16);
  }
}

TEST_CASE("a parameter is kept in each 16-bit type, on each device that reads it") {
  Builder g;
  Tensor w = g.parameter("w", f32({8}), constantInit(2)).on("gpu0");
  for (const char* device : {"gpu0", "gpu1"}) {
    for (const ElementType to : {ElementType::BF16, ElementType::F16}) {
      const Tensor narrow = cast(w, to).on(device);
      g.fetch(std::string(device) + std::string(name(to)), (narrow + narrow).on(device));
    }
  }
  g.assign(w, (w * 0.5).on("gpu0")).on("gpu0");
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(2));
  CHECK(placed.replicas.size() == 4);
  CHECK(countOf(placed, OpKind::Cast) == 4); // of the next value
  CHECK(countOf(placed, OpKind::Assign) == 5);
}

TEST_CASE("casts that outlive the step, or of another type, are made in the step") {
  Builder g;
  Tensor w = g.parameter("w", f32({8}), constantInit(2));
  Tensor v = g.parameter("v", TensorType{ElementType::BF16, {8}});
  Tensor wide = g.parameter("wide", TensorType{ElementType::F64, {8}});
  g.fetch("fetched", cast(w, ElementType::F16));
  g.assign(v, cast(w, ElementType::BF16));
  g.fetch("rounded", cast(wide, ElementType::BF16) + 1);
  g.fetch("whole", cast(w, ElementType::F64) + 1);
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(0));
  CHECK(placed.replicas.empty());
  CHECK(countOf(placed, OpKind::Cast) == 4);
}

TEST_CASE("casts of parameters are made anew where that is asked for") {
  const Graph graph = castParameter("gpu0", ElementType::BF16);
  const Machine machine = starMachine(1);
  Placement placement{graph, SideTable<OpId, DeviceId>(graph.opCount(), machine.host()), "test"};
  CHECK_FALSE(hasNarrowReplicas(insertTransfers(placement, machine, Narrow::CastAnew)));
}

TEST_CASE("a parameter that no step assigns is never copied") {
  Builder g;
  Tensor x = g.input("x", f32({8}));
  Tensor w = g.parameter("w", f32({8}), constantInit(2)).on("cpu0");
  g.fetch("y", (x * w).on("gpu0"));
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(1));
  CHECK(placed.transfers.size() == 2); // x>gpu0, y>cpu0
}

TEST_CASE("a fetched parameter that lies on a gpu has a replica on the host, and no step copies it") {
  Builder g;
  Tensor x = g.input("x", f32({8}));
  Tensor w = g.parameter("w", f32({8}), constantInit(2)).on("gpu0");
  g.fetch("w", w);
  g.fetch("y", (x * w).on("gpu0"));
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(1));
  CHECK(placed.replicas.size() == 1);
  CHECK(placed.transfers.size() == 2); // x>gpu0, y>cpu0
}

TEST_CASE("readers of the old value come before its overwriting") {
  Builder g;
  Tensor w = g.parameter("w", f32({8}));
  Tensor old = exp(w).named("old");
  Tensor next = (w * 2.0).named("next");
  g.assign(w, next);
  g.fetch("old", old);
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(0));
  const OpId reader = placed.graph[placed.graph.findValue("old")].producer;
  const OpId writer = placed.graph[placed.graph.findValue("next")].producer;
  // `next` comes after every other reader of w, so it may be made in w's place: the ordering binds it, not
  // the assign
  REQUIRE(placed.orderings.size() == 1);
  CHECK(placed.orderings[0].before == reader);
  CHECK(placed.orderings[0].after == writer);
}

TEST_CASE("two parameters may change places within a step") {
  Builder g;
  Tensor p = g.parameter("p", f32({8}), constantInit(1));
  Tensor q = g.parameter("q", f32({8}), constantInit(2));
  g.assign(p, q);
  g.assign(q, p);
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(0));
  CHECK(countOf(placed, OpKind::Broadcast) ==
        2); // both old values are set aside before either is overwritten
}

TEST_CASE("a fetched parameter gives the old value although the step overwrites it") {
  Builder g;
  Tensor p = g.parameter("p", f32({8}), constantInit(1));
  g.fetch("before", p);
  g.fetch("after", g.assign(p, p + 1));
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(0));
  CHECK(countOf(placed, OpKind::Broadcast) == 1);
  CHECK(placed.graph.fetches()[0].value != placed.graph.findValue("p"));
}

TEST_CASE("a view of an assign's result gives the assigned parameter's old value, wherever it is used") {
  Builder g;
  Tensor p = g.parameter("p", f32({8})), q = g.parameter("q", f32({8}));
  Tensor kept = g.parameter("kept", f32({2, 4}));
  const Tensor view = reshape(g.assign(p, q), {2, 4}).named("view");
  g.assign(q, q + 1);
  g.assign(kept, view);
  g.fetch("view", view);
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(0));
  // What p, kept and the fetch take is q's old value, which is set aside for each before q is overwritten.
  CHECK(countOf(placed, OpKind::Broadcast) == 3);
  CHECK(placed.graph.fetches()[0].value != placed.graph.findValue("view"));
}

TEST_CASE(
    "a parameter that another is assigned from has a replica where that one lies, and no step copies it") {
  Builder g;
  Tensor start = g.parameter("start", f32({8}), constantInit(2)).on("cpu0");
  Tensor w = g.parameter("w", f32({8})).on("gpu0");
  g.fetch("y", exp(w).on("gpu0"));
  g.assign(w, start).on("gpu0");
  const PlacedGraph placed = placeByName(finish(std::move(g)), starMachine(1));
  CHECK(placed.replicas.size() == 1);
  CHECK(placed.transfers.size() == 1); // y>cpu0
}

TEST_CASE("the route of a copy is the quickest for its bytes") {
  // Directly 1000 bytes a second at once, through the host a second later on each of two quick links.
  Machine machine = starMachine(2);
  for (const LinkId link : machine.links.ids()) {
    machine.links[link].latencySeconds = 1;
  }
  const LinkId direct = machine.links.add({"direct", 0, 1e3, 1});
  machine.routes.push_back({DeviceId(1), DeviceId(2), {direct}});
  for (const int64_t elements : {250, 750}) { // 1 or 3 seconds directly, 2 through the host
    Builder g;
    const Tensor a = exp(g.input("x", f32({elements}))).on("gpu0");
    g.fetch("y", reduceMax(a).on("gpu1"));
    const PlacedGraph placed = placeByName(finish(std::move(g)), machine);
    CHECK(placed.transfers.size() == (elements == 250 ? 3 : 4)); // x>gpu0, a>gpu1 or its two hops, y>cpu0
  }
}

namespace {

constexpr double latency = 1e-3;

/// cpu0 and GPUs, with a link between any two devices; `peers`: between GPUs, too.
Machine joinedGpus(uint32_t gpus, bool peers = true) {
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = ""});
  for (uint32_t gpu = 0; gpu < gpus; ++gpu) {
    machine.devices.add({.name = "gpu" + std::to_string(gpu), .kind = DeviceKind::Gpu, .model = ""});
  }
  for (uint32_t from = 0; from <= gpus; ++from) {
    for (uint32_t to = 0; to <= gpus; ++to) {
      if (from != to && (peers || from == 0 || to == 0)) {
        const LinkId link = machine.links.add({std::to_string(from) + ">" + std::to_string(to), latency, 0});
        machine.routes.push_back({DeviceId(from), DeviceId(to), {link}});
      }
    }
  }
  return machine;
}

/// x is computed on gpu0 and read elsewhere.
PlacedGraph sentBetween(const Machine& machine, int64_t elements,
                        const std::function<void(Builder&, const Tensor&)>& read) {
  Builder g;
  const Tensor x = exp(g.parameter("p", f32({elements})).on("gpu0")).on("gpu0");
  read(g, x);
  auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  Placement placement{*graph, SideTable<OpId, DeviceId>(graph->opCount(), machine.host()), "test"};
  for (const OpId op : graph->ops()) {
    if (!graph->pinOf(op).empty()) {
      placement.device[op] = machine.findDevice(graph->pinOf(op));
    }
  }
  return insertTransfers(placement, machine);
}

size_t readsOf(const PlacedGraph& placed, const Machine& machine) {
  const SideTable<OpId, OpId> read = smallPeerReads(placed, machine);
  size_t count = 0;
  for (const OpId op : placed.graph.ops()) {
    count += read[op].valid() ? 1 : 0;
  }
  return count;
}

void readOnce(Builder& g, const Tensor& x) { g.fetch("y", relu(x).on("gpu1")); }

} // namespace

TEST_CASE("peer reads: a small value with one elementwise reader on another GPU") {
  CHECK(readsOf(sentBetween(joinedGpus(2), 64, readOnce), joinedGpus(2)) == 1);
  // 64 KiB of f32 are 16384 elements.
  CHECK(readsOf(sentBetween(joinedGpus(2), 16384, readOnce), joinedGpus(2)) == 1);
  CHECK(readsOf(sentBetween(joinedGpus(2), 16385, readOnce), joinedGpus(2)) == 0);
  CHECK(readsOf(sentBetween(joinedGpus(2, false), 64, readOnce), joinedGpus(2, false)) ==
        0); // staged through the host
}

TEST_CASE("peer reads: none over a network between hosts") {
  Machine machine = joinedGpus(4); // gpu0 and gpu1 in one host, gpu2 and gpu3 in another
  const auto hostOf = [](DeviceId device) { return (device.index() - 1) / 2; };
  for (const Route& route : machine.routes) {
    const bool crosses =
        route.from.index() > 0 && route.to.index() > 0 && hostOf(route.from) != hostOf(route.to);
    LinkRow& link = machine.links[route.links.front()];
    link.latencySeconds = 1e-5;
    link.bandwidth = crosses ? 25e9 : 400e9;
  }
  const PeerAccess peers(machine);
  CHECK(peers.reaches(DeviceId(1), DeviceId(2)));
  CHECK(peers.reaches(DeviceId(4), DeviceId(3)));
  CHECK(!peers.reaches(DeviceId(1), DeviceId(3)));
  CHECK(!peers.reaches(DeviceId(4), DeviceId(2)));
  CHECK(!peers.reaches(DeviceId(1), DeviceId(0))); // the host's memory is no peer's
  CHECK(readsOf(sentBetween(machine, 64, readOnce), machine) == 1);
  CHECK(
      readsOf(sentBetween(machine, 64, [](Builder& g, const Tensor& x) { g.fetch("y", relu(x).on("gpu2")); }),
              machine) == 0);
}

TEST_CASE("peer reads: other readers get a copy") {
  const Machine machine = joinedGpus(2);
  const auto readTwice = [](Builder& g, const Tensor& x) {
    g.fetch("y", relu(x).on("gpu1"));
    g.fetch("z", exp(x).on("gpu1"));
  };
  const auto summed = [](Builder& g, const Tensor& x) { g.fetch("y", reduceSum(x, {0}).on("gpu1")); };
  const auto repeated = [](Builder& g, const Tensor& x) {
    g.fetch("y", (x + g.parameter("q", f32({3, 64})).on("gpu1")).on("gpu1")); // each element is read thrice
  };
  const auto onHost = [](Builder& g, const Tensor& x) { g.fetch("y", relu(x)); };
  CHECK(readsOf(sentBetween(machine, 64, readTwice), machine) == 0);
  CHECK(readsOf(sentBetween(machine, 64, summed), machine) == 0);
  CHECK(readsOf(sentBetween(machine, 64, repeated), machine) == 0);
  CHECK(readsOf(sentBetween(machine, 64, onHost), machine) == 0);
}

TEST_CASE("peer reads: a kernel reads at several peers at once, and is never ahead of them") {
  const Machine machine = joinedGpus(4);
  const PlacedGraph placed = sentBetween(machine, 64, [](Builder& g, const Tensor& x) {
    const Tensor q = g.parameter("q", f32({64})).on("gpu1");
    const Tensor z = exp(g.parameter("r", f32({64})).on("gpu2")).on("gpu2");
    g.fetch("y", select(compare(q, 0, Direction::Lt).on("gpu1"), x, z).on("gpu3"));
  });
  REQUIRE(readsOf(placed, machine) == 3);
  const RooflineCostModel cost; // ops take nothing; behind the reads, y is copied to the host
  CHECK(makeSchedule(placed, machine, cost, {.peerReads = true}).makespan ==
        Approx(2 * latency).epsilon(1e-3));
  CHECK(predictedMakespan(placed, machine, cost, 0, {.peerReads = true}) ==
        Approx(2 * latency).epsilon(1e-3));
  CHECK(predictedMakespan(placed, machine, cost, 0, {.peerReads = true}) >
        2 * latency); // of equals, fewer reads win
}

} // namespace dfc::test
