// Requirements of every backend besides its kernels: memory, the order of commands, the separation of steps.
#include "tests/conformance/contenders.h"

#include "compiler/passes/passes.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/happens_before.h"
#include "runtime/backend.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"

#include <cmath>
#include <cstring>

using namespace dfc;
using namespace dfc::test;

namespace {

std::unique_ptr<Session> opened(std::shared_ptr<const Executable> plan, const SessionOptions& options) {
  auto session = Session::open(std::move(plan), options);
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  return *std::move(session);
}

std::unique_ptr<DeviceGroup> openOne(const Contender& contender) {
  const Machine machine = contender.machine();
  const DeviceId device = machine.findDevice(contender.devices()[0]);
  return contender.backend->open({DeviceRequest{machine.devices[device], 0}}, {});
}

std::vector<std::byte> bytesFrom(Dice& dice, size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(dice.below(256));
  }
  return bytes;
}

} // namespace

TEST_CASE("every exclusion names a backend of this build and a reason") {
  for (const Exclusion& row : exclusions()) {
    CHECK(backendNamed(row.backend) != nullptr);
    CHECK_FALSE(row.reason.empty());
  }
}

TEST_CASE("every device kind has a backend on any host") {
  for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Gpu}) {
    const auto able = contenders(Aspect::Values);
    CHECK(std::any_of(able.begin(), able.end(), [&](const Contender& one) { return one.kind == kind; }));
  }
}

TEST_CASE("what is written to an arena is read back, at any offset") {
  for (const Contender& contender : contenders(Aspect::Memory)) {
    INFO(contender.name);
    const auto group = openOne(contender);
    constexpr int64_t size = 5000;
    const auto arena = group->allocate(0, size);
    CHECK(reinterpret_cast<uintptr_t>(arena->hostAddress()) % arenaAlignment == 0); // null where out of reach
    Dice dice(7);
    std::vector<std::byte> mirror = bytesFrom(dice, size);
    arena->write(0, mirror);
    for (int i = 0; i < 200; ++i) {
      const int64_t offset = dice.below(size + 1);
      const auto piece = bytesFrom(dice, static_cast<size_t>(dice.below(size - offset + 1)));
      arena->write(offset, piece);
      std::copy(piece.begin(), piece.end(), mirror.begin() + offset);
      std::vector<std::byte> seen(static_cast<size_t>(dice.below(size - offset + 1)));
      arena->read(offset, seen);
      REQUIRE(std::equal(seen.begin(), seen.end(), mirror.begin() + offset));
    }
  }
}

TEST_CASE("two arenas of one device keep apart") {
  for (const Contender& contender : contenders(Aspect::Memory)) {
    INFO(contender.name);
    const auto group = openOne(contender);
    const auto first = group->allocate(0, 256);
    const auto second = group->allocate(0, 256);
    const std::vector<std::byte> ones(256, std::byte{1}), twos(256, std::byte{2});
    first->write(0, ones);
    second->write(0, twos);
    std::vector<std::byte> seen(256);
    first->read(0, seen);
    CHECK(seen == ones);
  }
}

TEST_CASE("new memory of a device of its own is NaN in every float type") {
  for (const Contender& contender : contenders(Aspect::FreshMemory)) {
    INFO(contender.name);
    const auto group = openOne(contender);
    const auto arena = group->allocate(0, 4096);
    for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
      Literal seen(TensorType{type, Shape{4096 / byteWidth(type)}});
      arena->read(0, seen.mutableBytes());
      for (int64_t i = 0; i < seen.type().shape.elements(); ++i) {
        REQUIRE(std::isnan(seen.at(i)));
      }
    }
  }
}

namespace {

/// Each GPU has a clock of its own; they are compared through the host's. Seconds.
double clockError(const Schedule& schedule, StepId a, StepId b, const Contender& contender) {
  const auto deviceOf = [&](StepId step) { return schedule.queues[schedule.steps[step].queue].device; };
  return contender.backend->name() == "cuda" && deviceOf(a) != deviceOf(b) ? 5e-6 : 0;
}

/// A queue's steps do not overlap, and follow one another in its order; where launches are merged, a step may
/// run ahead of independent ones.
void checkOneAfterAnother(const QueueRow& queue, const SideTable<StepId, Span>& spans, bool merged) {
  std::vector<StepId> steps(queue.steps.begin(), queue.steps.end());
  if (merged) {
    std::stable_sort(steps.begin(), steps.end(), [&](StepId a, StepId b) {
      return std::pair(spans[a].begin, spans[a].end) < std::pair(spans[b].begin, spans[b].end);
    });
  }
  for (size_t i = 1; i < steps.size(); ++i) {
    REQUIRE(spans[steps[i - 1]].end <= spans[steps[i]].begin);
  }
}

} // namespace

TEST_CASE("steps keep the order of their queues and their waits, and executions follow one another") {
  for (const Contender& contender : contenders(Aspect::Order)) {
    INFO(contender.name);
    for (uint64_t seed = 0; seed < 12; ++seed) {
      INFO("seed " << seed);
      RandomGraphOptions shape;
      shape.elements = {ElementType::F32};
      shape.pins = contender.devices();
      const Graph graph = *decompose(randomGraph(seed, shape));
      const auto plan = tinyPlan(graph, contender.machine(2));
      SessionOptions options = contender.options();
      options.trace = true;
      options.maxInFlight = 3;
      const auto session = opened(plan, options);
      constexpr uint32_t executions = 4;
      for (uint32_t number = 0; number < executions; ++number) {
        REQUIRE(session->submit(randomFeeds(graph, seed)).ok());
      }
      const Trace trace = session->takeTrace();
      const Schedule& schedule = plan->schedule();
      REQUIRE(trace.spans.size() == executions * schedule.steps.size());
      std::vector<SideTable<StepId, Span>> spans(executions, SideTable<StepId, Span>(schedule.steps.size()));
      double lastEnd[executions] = {};
      for (const Span& span : trace.spans) {
        spans[span.stepNumber][span.step] = span;
        lastEnd[span.stepNumber] = std::max(lastEnd[span.stepNumber], span.end);
      }
      for (const StepId step : schedule.steps.ids()) {
        const StepRow& row = schedule.steps[step];
        for (uint32_t number = 0; number < executions; ++number) {
          const double begin = spans[number][step].begin;
          REQUIRE((number == 0 || lastEnd[number - 1] <= begin));
          for (const StepId wait : row.waits) {
            REQUIRE(spans[number][wait].end <= begin + clockError(schedule, wait, step, contender));
          }
        }
      }
      for (uint32_t number = 0; number < executions; ++number) {
        for (const QueueRow& queue : schedule.queues) {
          checkOneAfterAnother(queue, spans[number], contender.backend->name() == "cuda");
        }
      }
    }
  }
}
