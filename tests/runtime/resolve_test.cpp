// Resolved programs: what the session may leave out, and that rounds are kept apart by few waits.
#include "ir/plan/executable_parts.h"
#include "runtime/buffer_pool.h"
#include "runtime/resolve.h"
#include "tests/runtime/session_support.h"

using namespace dfc;
using namespace dfc::test;

namespace {

/// Memory that is only addresses.
class PaperArena final : public Arena {
 public:
  explicit PaperArena(bool reachable) : reachable_(reachable) {}
  std::byte* hostAddress() override { return reachable_ ? &base_ : nullptr; }
  void write(int64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {}
  void read(int64_t /*offset*/, std::span<std::byte> /*bytes*/) override {}

 private:
  bool reachable_;
  std::byte base_{};
};

struct Resolved {
  std::shared_ptr<const Executable> plan;
  ProgressBoard board;
  std::vector<std::unique_ptr<PaperArena>> arenas;
  ResolvedPlan programs;

  explicit Resolved(std::shared_ptr<const Executable> thePlan)
      : plan(std::move(thePlan)), board(plan->schedule().queues.size(), 0) {
    SideTable<DeviceId, Arena*> byDevice(plan->machine().devices.size());
    for (const DeviceId device : byDevice.ids()) {
      arenas.push_back(std::make_unique<PaperArena>(device == plan->machine().host()));
      byDevice[device] = arenas.back().get();
    }
    programs = resolve(*plan, byDevice, board);
  }

  const Command& command(std::string_view op) const {
    for (const Program& program : programs.programs) {
      for (const Command& command : program.commands) {
        if (command.step.valid() && plan->graph().nameOf(command.op) == op) {
          return command;
        }
      }
    }
    throw InternalError("no such command");
  }
};

using Kind = Command::Kind;
using Base = Location::Base;

} // namespace

TEST_CASE("resolve: inputs and their views are read where they were fed") {
  Builder g("feeds");
  const Tensor x = g.input("x", f32({2, 3}));
  const Tensor flat = reshape(x, {6}).named("flat");
  g.fetch("y", (flat + 1).named("y"));
  const Resolved resolved(tinyPlan(finished(std::move(g)), smallMachine(0)));
  CHECK(resolved.command("x").kind == Kind::Nothing);
  CHECK(resolved.command("flat").kind == Kind::Nothing);
  CHECK(resolved.command("y").kind == Kind::Compute);
  CHECK(resolved.command("y").operands[0].base == Base::Feed);
  CHECK(resolved.command("y").operands[1].base == Base::Arena); // the constant 1
}

TEST_CASE("resolve: a fetched value that nobody reads is written straight to the caller") {
  Builder g("fetches");
  const Tensor x = g.input("x", f32({2}));
  const Tensor read = (x + x).named("read");
  g.fetch("read", read);
  g.fetch("end", (read * x).named("end"));
  g.fetch("far", (x * x).named("far").on("gpu0"));
  const Resolved resolved(tinyPlan(finished(std::move(g)), smallMachine(1)));
  CHECK(resolved.command("read").results[0].base == Base::Arena);
  CHECK(resolved.command("end").results[0] == Location{Base::Fetch, 1, nullptr, 0, 8});
  CHECK(resolved.command("far").results[0].base == Base::Arena);
  CHECK(resolved.command("far@cpu0").kind == Kind::Transfer);
  CHECK(resolved.command("far@cpu0").results[0] == Location{Base::Fetch, 2, nullptr, 0, 8});
  const std::vector<Command>& host = resolved.programs.programs[0].commands; // x, read, its copy, end
  REQUIRE(host.size() == 4);
  CHECK(host[2].kind == Kind::Copy);
  CHECK_FALSE(host[2].step.valid());
  CHECK(host[2].results[0] == Location{Base::Fetch, 0, nullptr, 0, 8});
  CHECK(host[2].publishes);
  CHECK(resolved.programs.fetches[0].ready.target(0) == 3); // the third command of its queue
}

TEST_CASE("resolve: an assign copies unless its value was made in place") {
  Builder g("state");
  const Tensor x = g.input("x", f32({2}));
  const Tensor w = g.parameter("w", f32({2}));
  g.assign(w, (w + x).named("next"));
  const auto plan = tinyPlan(finished(std::move(g)), smallMachine(0));
  CHECK(Resolved(plan).command("assign").kind == Kind::Copy);

  MemoryPlan memory = plan->memory();
  const Graph& graph = plan->graph();
  memory.slots[graph.findValue("next")] = memory.slots[graph.findValue("w")];
  const auto inPlace =
      Executable::seal(plan->placed(), plan->schedule(), memory, plan->machine(), "in place");
  INFO(render(inPlace.errors()));
  REQUIRE(inPlace.ok());
  CHECK(Resolved(std::make_shared<const Executable>(*inPlace)).command("assign").kind == Kind::Nothing);
}

TEST_CASE(
    "resolve: queues publish only what is waited for, and rounds wait only for ends that nobody follows") {
  Builder g("barrier");
  const Tensor x = g.input("x", f32({2}));
  const Tensor a = (x + 1).named("a").on("gpu0");
  const Tensor b = (a + 1).named("b").on("gpu0");
  g.fetch("c", (b + 1).named("c"));
  const Resolved resolved(tinyPlan(finished(std::move(g)), smallMachine(1)));
  // cpu0: x, c; gpu0 compute: a, b; copyIn: x@gpu0; copyOut: b@cpu0. Only the end of cpu0 is followed by
  // nobody.
  REQUIRE(resolved.programs.programs.size() == 4);
  CHECK_FALSE(resolved.command("a").publishes);
  CHECK(resolved.command("b").publishes);
  CHECK(resolved.command("x").waits.empty());
  for (const Program& program : resolved.programs.programs) {
    const auto& waits = program.commands.front().waits;
    const auto ends =
        std::count_if(waits.begin(), waits.end(), [](const WaitFor& wait) { return wait.offset == 0; });
    const bool host =
        resolved.plan->schedule().queues[program.queue].device == resolved.plan->machine().host();
    CHECK(ends == (host ? 0 : 1));
  }
}

TEST_CASE("resolve: a value that no step makes is copied to the caller by the first queue of its device") {
  Builder g("resident");
  const Tensor there = g.parameter("there", f32({2})).on("gpu0");
  g.parameter("nowhere", f32({2})).on("gpu1");
  g.fetch("there", there);
  const Resolved resolved(tinyPlan(finished(std::move(g)), smallMachine(2), true));
  const Machine& machine = resolved.plan->machine();
  REQUIRE(resolved.programs.programs.size() == 1);
  const Program& program = resolved.programs.programs[0];
  const Schedule& schedule = resolved.plan->schedule();
  CHECK(schedule.queues[program.queue].device == machine.findDevice("gpu0"));
  CHECK(schedule.queues[QueueId(program.queue.index() - 1)].device != machine.findDevice("gpu0")); // first
  REQUIRE(program.commands.size() == 1);
  CHECK(program.commands[0].kind == Kind::Copy);
  CHECK(program.commands[0].results[0].base == Base::Fetch);
}

TEST_CASE("buffer pool: a buffer serves again when its last owner is gone, and outlives the pool") {
  auto pool = BufferPool::make(100);
  auto first = pool->take();
  const auto second = pool->take();
  CHECK(first != second);
  const std::byte* address = first.get();
  CHECK(reinterpret_cast<uintptr_t>(address) % 64 == 0);
  auto copy = first;
  first.reset();
  const auto third = pool->take();
  CHECK(third.get() != address); // the copy still owns it
  copy.reset();
  const auto again = pool->take();
  CHECK(again.get() == address);
  pool.reset();
  again.get()[99] = std::byte{2};
  CHECK(again.get()[99] == std::byte{2});
}
