// Groups of devices by their contract alone, without a session: all programs of several devices are loaded at
// once, a launch ends on every queue, and so does a step that fails.
#include "tests/conformance/contenders.h"

#include "ir/author/dsl.h"
#include "ir/plan/executable_parts.h"
#include "runtime/resolve.h"
#include "tests/support/catch.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <deque>
#include <set>

using namespace dfc;
using namespace dfc::test;

namespace {

constexpr int64_t elements = 8;

/// u on a device that the contender does not play; on each of its own a sum of u and the value of the device
/// before, and the sum's square. So every own queue waits for the other device.
Graph chain(const Contender& contender, const std::string& other) {
  Builder g("chain");
  const Tensor u = (-g.input("x", f32({elements}))).on(other);
  Tensor before = u;
  for (const std::string& device : contender.devices()) {
    const auto guard = g.on(device);
    before = u + before;
    g.fetch("square on " + device, before * before);
  }
  return *std::move(g).finish();
}

/// The contender's devices with their part of a plan. The test plays the queues of the other device, whose
/// memory is there.
class LoadedGroup {
 public:
  explicit LoadedGroup(const Contender& contender)
      : plan_(planFor(contender)), board(plan_->schedule().queues.size(), 20) {
    const Machine& machine = plan_->machine();
    const std::vector<std::string> names = contender.devices();
    std::vector<DeviceRequest> ownRequests, otherRequests;
    for (const DeviceId device : machine.devices.ids()) {
      const bool own = llvm::is_contained(names, machine.devices[device].name);
      auto& requests = own ? ownRequests : otherRequests;
      indices_.push_back(requests.size());
      own_.push_back(own);
      requests.push_back({machine.devices[device], static_cast<uint32_t>(requests.size())});
    }
    group = contender.backend->open(ownRequests, contender.options().backendOptions);
    others_ = backendNamed(contender.kind == DeviceKind::Gpu ? "cpu" : "emulated")->open(otherRequests, {});
    allocate();
    load();
  }

  LoadedGroup(const LoadedGroup&) = delete;
  LoadedGroup& operator=(const LoadedGroup&) = delete;
  /// After a test that gave up no queue waits for another any longer.
  ~LoadedGroup() { board.fail(0, std::make_exception_ptr(MachineError("the test is over"))); }

  void launch(uint64_t number, bool traced = false) {
    group->launch({number, feedAddresses_, fetchAddresses_, traced});
  }
  void endOthers(uint64_t number) {
    for (const auto& [queue, perStep] : otherQueues_) {
      board[queue.index()].publish(perStep * (number + 1));
    }
  }
  /// Whether the step ends on all queues of the group; gives up after a minute.
  bool ends(uint64_t number) {
    static const std::atomic<bool> never{false};
    const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    return llvm::all_of(queues, [&](const auto& queue) {
      return board[queue.first.index()].wait(queue.second * (number + 1), never, board.spins(), deadline);
    });
  }
  const Schedule& schedule() const { return plan_->schedule(); }

 private:
  static std::shared_ptr<const Executable> planFor(const Contender& contender) {
    const bool gpu = contender.kind == DeviceKind::Gpu;
    const Machine machine = gpu ? contender.machine(2) : smallMachine(1, 2);
    return tinyPlan(chain(contender, gpu ? "cpu0" : "gpu0"), machine, /*fetchWhereMade=*/true);
  }

  void allocate() {
    for (size_t i = 0; i < own_.size(); ++i) {
      DeviceGroup& from = own_[i] ? *group : *others_;
      arenas_.push_back(
          from.allocate(indices_[i], plan_->memory().arenaBytes[DeviceId(static_cast<uint32_t>(i))]));
    }
  }

  void load() {
    SideTable<DeviceId, Arena*> arenas(arenas_.size());
    for (const DeviceId device : arenas.ids()) {
      arenas[device] = arenas_[device.index()].get();
    }
    ResolvedPlan resolved = resolve(*plan_, arenas, board);
    std::vector<Program> programs;
    for (Program& program : resolved.programs) {
      const size_t device = schedule().queues[program.queue].device.index();
      program.device = indices_[device];
      (own_[device] ? queues : otherQueues_).emplace_back(program.queue, program.commands.size());
      if (own_[device]) {
        programs.push_back(std::move(program));
      }
    }
    makeBuffers(resolved);
    group->load(*plan_, std::move(programs), board);
  }

  void makeBuffers(const ResolvedPlan& resolved) {
    for (const FeedRow& row : resolved.feeds) {
      buffers_.emplace_back(row.type);
      feedAddresses_.push_back(buffers_.back().bytes().data());
    }
    for (const FetchRow& row : resolved.fetches) {
      buffers_.emplace_back(row.type);
      fetchAddresses_.push_back(buffers_.back().mutableBytes().data());
    }
  }

  std::shared_ptr<const Executable> plan_;
  std::vector<bool> own_;       // by device of the machine
  std::vector<size_t> indices_; // likewise: in its group
  std::deque<Literal> buffers_;
  std::vector<const std::byte*> feedAddresses_;
  std::vector<std::byte*> fetchAddresses_;
  std::vector<std::pair<QueueId, uint64_t>> otherQueues_;

 public:
  ProgressBoard board;
  std::vector<std::pair<QueueId, uint64_t>> queues; ///< of the group, and how many commands each has
  std::unique_ptr<DeviceGroup> group;

 private:
  std::unique_ptr<DeviceGroup> others_;
  std::vector<std::unique_ptr<Arena>> arenas_;
};

} // namespace

TEST_CASE("a group runs the programs of all its devices, and a launch ends on every queue") {
  for (const Contender& contender : contenders(Aspect::Order)) {
    INFO(contender.name);
    LoadedGroup loaded(contender);
    std::multiset<uint32_t> expected, seen;
    std::set<uint32_t> devices;
    for (const auto& [queue, perStep] : loaded.queues) {
      devices.insert(loaded.schedule().queues[queue].device.index());
      for (const StepId step : loaded.schedule().queues[queue].steps) {
        expected.insert(step.index());
      }
    }
    REQUIRE(devices.size() == contender.devices().size());
    for (uint64_t number = 0; number < 3; ++number) {
      loaded.launch(number, /*traced=*/number == 1);
      loaded.endOthers(number);
      REQUIRE(loaded.ends(number));
    }
    CHECK_FALSE(loaded.board.failed());
    for (const auto& [queue, perStep] : loaded.queues) {
      CHECK(loaded.board[queue.index()].ended() == 3 * perStep);
      CHECK_FALSE(loaded.group->current(queue).valid());
    }
    for (const Span& span : loaded.group->takeSpans()) {
      CHECK(span.stepNumber == 1);
      seen.insert(span.step.index());
    }
    CHECK(seen == expected);
    CHECK(loaded.group->takeSpans().empty());
  }
}

TEST_CASE("a group ends a step that another queue fails, those launched behind it, and runs the next") {
  for (const Contender& contender : contenders(Aspect::Order)) {
    INFO(contender.name);
    LoadedGroup loaded(contender);
    loaded.launch(0);
    loaded.launch(1);
    loaded.board.fail(0, std::make_exception_ptr(MachineError("the other device is lost")));
    loaded.endOthers(0);
    loaded.endOthers(1);
    REQUIRE(loaded.ends(1));
    loaded.launch(2); // while the failure is there
    loaded.endOthers(2);
    REQUIRE(loaded.ends(2));
    REQUIRE(loaded.board.failure().has_value());
    CHECK(loaded.board.failure()->step == 0);
    loaded.board.clearFailure();
    loaded.launch(3);
    loaded.endOthers(3);
    REQUIRE(loaded.ends(3));
    CHECK_FALSE(loaded.board.failed());
  }
}

TEST_CASE("an op that fails on one device of a group fails the step, and the next one is good") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    INFO(contender.name);
    Builder g("roots");
    const Tensor x = g.input("x", f32({elements}));
    for (const std::string& device : contender.devices()) {
      g.fetch("on " + device, sqrt(device == contender.devices().back() ? x : x * x).on(device));
    }
    SessionOptions options = contender.options();
    options.checkFinite = true;
    const auto session = Session::open(tinyPlan(*std::move(g).finish(), contender.machine()), options);
    if (!session.ok()) { // it cannot look at its values, and says so
      CHECK(render(session.errors()).find("checkFinite") != std::string::npos);
      continue;
    }
    const Literal good = filledLiteral({ElementType::F32, {elements}}, 4);
    const Literal bad = filledLiteral({ElementType::F32, {elements}}, -4);
    CHECK((*session)->run({{"x", good}}).ok());
    CHECK_THROWS_AS((*session)->run({{"x", bad}}), NotFiniteError);
    CHECK((*session)->run({{"x", good}}).ok());
  }
}
