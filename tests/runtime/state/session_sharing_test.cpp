// Sessions that share state: one set of bytes under two plans, in the order of their steps, on every host
// backend; and what does not fit.
#include "tests/runtime/session_support.h"

#include <thread>

using namespace dfc;
using namespace dfc::test;

namespace {

std::unique_ptr<Session> openedWith(const Session& state, std::shared_ptr<const Executable> plan,
                                    const SessionOptions& options = {}) {
  auto session = Session::open(std::move(plan), options, state);
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  return *std::move(session);
}

Strings errorsWith(const Session& state, std::shared_ptr<const Executable> plan,
                   const SessionOptions& options = {}) {
  auto session = Session::open(std::move(plan), options, state);
  REQUIRE(!session.ok());
  return messagesOf(session.errors());
}

std::string device(int gpus) { return gpus == 0 ? "cpu0" : "gpu0"; }

/// w <- w + x, and parameters of its own before and behind it.
Graph adding(int gpus) {
  Builder g("adding");
  const Tensor x = g.input("x", f32({2}));
  const auto guard = g.on(device(gpus));
  const Tensor before = g.parameter("before", f32({100}), constantInit(3));
  const Tensor w = g.parameter("w", f32({2}), constantInit(1));
  const Tensor steps = g.parameter("steps", f32({}), constantInit(0));
  g.fetch("own", reduceSum(before) + steps);
  g.assign(w, w + x);
  g.assign(steps, steps + 1);
  return finished(std::move(g));
}

/// Reads w, and a constant and a parameter of its own.
Graph reading(int gpus) {
  Builder g("reading");
  const Tensor y = g.input("y", f32({2}));
  const auto guard = g.on(device(gpus));
  const Tensor scale = g.parameter("scale", f32({2}), constantInit(10));
  const Tensor w = g.parameter("w", f32({2}), constantInit(77));
  g.fetch("seen", w * scale + y * g.constant(floats({2}, {1, 2})));
  return finished(std::move(g));
}

} // namespace

TEST_CASE("shared state: a plan reads what another's steps have written, in the same bytes") {
  for (const int gpus : {0, 1}) {
    INFO(gpus << " GPUs");
    const auto writer = opened(tinyPlan(adding(gpus), smallMachine(gpus)));
    const auto reader = openedWith(*writer, tinyPlan(reading(gpus), smallMachine(gpus)));
    const NamedLiterals feeds{{"x", floats({2}, {1, 2})}}, zeros{{"y", floats({2}, {0, 1})}};
    CHECK(valuesOf(reader->run(zeros)->at("seen")) == Floats{10, 12}); // 1 * 10 + 0 * 1, 1 * 10 + 1 * 2
    CHECK(writer->run(feeds)->at("own").at(0) == 300);
    CHECK(writer->run(feeds)->at("own").at(0) == 301);
    CHECK(valuesOf(reader->run(zeros)->at("seen")) == Floats{30, 52}); // w is 1 + 2 * 1, 1 + 2 * 2
    REQUIRE(reader->setState({{"w", floats({2}, {-1, -2})}}).ok());
    CHECK(valuesOf(writer->state().at("w")) == Floats{-1, -2});
    CHECK(valuesOf(reader->state().at("scale")) == Floats{10, 10});
    CHECK(writer->state().at("before").at(99) == 3);
  }
}

TEST_CASE("shared state: a session that is closed leaves its memory to those that share it") {
  auto writer = opened(tinyPlan(adding(0), smallMachine(0)));
  auto first = openedWith(*writer, tinyPlan(reading(0), smallMachine(0)));
  const auto second =
      openedWith(*first, tinyPlan(adding(0), smallMachine(0))); // of "w" alone: first has no other
  REQUIRE(writer->run({{"x", floats({2}, {1, 1})}}).ok());
  writer.reset();
  CHECK(second->run({{"x", floats({2}, {1, 1})}})->at("own").at(0) == 300); // steps of its own, from 0
  CHECK(valuesOf(first->run({{"y", floats({2}, {0, 0})}})->at("seen")) == Floats{30, 30});
  first.reset();
  CHECK(valuesOf(second->state().at("w")) == Floats{3, 3});
}

TEST_CASE("shared state: what a kernel keeps of a weight is made anew when another session assigns it") {
  constexpr int64_t n = 64;
  Builder t("training"), e("evaluation");
  const Tensor w = t.parameter("w", f32({n, n}), constantInit(1));
  t.assign(w, w + 1);
  t.fetch("old", reduceSum(w));
  e.fetch("y", matmul(e.input("x", f32({n, n})), e.parameter("w", f32({n, n}))));
  const auto training = opened(tinyPlan(finished(std::move(t)), smallMachine(0)));
  const auto evaluation = openedWith(*training, tinyPlan(finished(std::move(e)), smallMachine(0)));
  const NamedLiterals ones{{"x", filledLiteral(f32({n, n}), 1)}};
  for (int64_t step = 1; step < 4; ++step) {
    CHECK(evaluation->run(ones)->at("y").at(n) == static_cast<double>(step * n));
    CHECK(evaluation->run(ones)->at("y").at(0) == static_cast<double>(step * n));
    REQUIRE(training->run({}).ok());
  }
}

TEST_CASE("shared state: steps of two sessions never overlap, whichever threads launch them") {
  constexpr int steps = 200;
  const auto up = opened(tinyPlan(adding(1), smallMachine(1)));
  const auto down = openedWith(*up, tinyPlan(adding(1), smallMachine(1)));
  const auto drive = [](Session& session, float by) {
    for (int step = 0; step < steps; ++step) {
      const auto pending = session.submit({{"x", floats({2}, {by, by})}});
      DFC_ASSERT(pending.ok(), "the feeds are right");
    }
    session.waitAll();
  };
  std::thread other([&] { drive(*down, -1); });
  drive(*up, 3);
  other.join();
  CHECK(valuesOf(up->state().at("w")) == Floats{1 + 2 * steps, 1 + 2 * steps});
}

TEST_CASE("shared state: it takes plans and backends that fit, and says what does not") {
  const auto writer = opened(tinyPlan(adding(1), smallMachine(1)));
  Builder other("other");
  other.fetch("w", other.parameter("w", f32({3})) * 2);
  CHECK(
      errorsWith(*writer, tinyPlan(finished(std::move(other)), smallMachine(1))) ==
      Strings{"parameter 'w' is f32[3], but f32[2] in the session whose state it is to share | give both the "
              "same type and shape, or other names"});
  CHECK(errorsWith(*writer, tinyPlan(reading(0), smallMachine(0))) ==
        Strings{
            "parameter 'w' lies as f32[2] on cpu0, but as f32[2] on gpu0 in the session whose state it is to "
            "share | compile both plans for the same machine, with the same precision, pins and cuts; places "
            "that costs choose may differ all the same: then open it with a state of its own, and copy the "
            "values by copyState (copy_state_from of Python)"});
  const Strings several = errorsWith(*writer, tinyPlan(adding(0), smallMachine(0)));
  REQUIRE(several.size() == 1); // one error of all three
  CHECK(several[0].find("parameter 'before' lies as f32[100] on cpu0, but as f32[100] on gpu0 in the session "
                        "whose state it is to share; 2 more lie elsewhere, too | ") == 0);
  CHECK(errorsWith(*writer, tinyPlan(smallestGraph(), smallMachine(0))) ==
        Strings{"the plan and the session whose state it is to share have no parameter in common | give "
                "parameters that are to be one the same name, or open the session with a state of its own"});
  SessionOptions null;
  null.cpuBackend = null.gpuBackend = "null";
  CHECK(
      errorsWith(*writer, tinyPlan(reading(1), smallMachine(1)), null) ==
      Strings{
          "backend 'null' is to play gpu0, which 'emulated' plays in the session whose state it is to share "
          "| open both with the same backends"});
  const auto nothing = opened(tinyPlan(adding(1), smallMachine(1)), null);
  CHECK(openedWith(*nothing, tinyPlan(reading(1), smallMachine(1)), null)
            ->run({{"y", floats({2}, {0, 0})}})
            .ok());
}
