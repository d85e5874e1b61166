// Lesson 5: computation on a GPU, computation on the CPU and a copy between them, all at the same moment.
//
// gpu0 multiplies; each product is copied to the CPU, which multiplies it again while gpu0 computes the next
// product and the copy engine moves the one between. Streams, events and copies follow from the graph.
#include "ir/author/dsl.h"
#include "ir/plan/trace.h"
#include "samples/data/arguments.h"
#include "samples/data/lesson.h"

#include <algorithm>
#include <cstdio>

using namespace dfc;

namespace {

constexpr int64_t size = 768;
constexpr int stages = 8;
constexpr int leastRuns = 10, mostRuns = 1000;

Graph pipeline() {
  Builder g("all at once");
  Tensor x = g.input("x", f32({size, size}));
  Tensor factor = (x * (2.0 / size)).on("gpu0"); // keeps the numbers in range: the mean of x is a half
  Tensor product = factor;
  for (int i = 0; i < stages; ++i) {
    product = matmul(product, factor).on("gpu0");
    Tensor onCpu = matmul(product, product).on("cpu0");
    g.fetch("sum " + std::to_string(i), reduceSum(onCpu).on("cpu0"));
  }
  return lesson::orGiveUp(std::move(g).finish());
}

/// Seconds during which a gpu computes, the cpu computes and a transfer runs, all three.
double tripleOverlap(const Trace& trace, const Executable& plan) {
  struct Event {
    double time;
    int kind, change;
  };
  std::vector<Event> events;
  for (const Span& span : trace.spans) {
    const QueueRow& queue = plan.schedule().queues[plan.schedule().steps[span.step].queue];
    const bool gpu = plan.machine().devices[queue.device].kind == DeviceKind::Gpu;
    const int kind = queue.kind != QueueKind::Compute ? 2 : gpu ? 1 : 0;
    events.push_back({span.begin, kind, 1});
    events.push_back({span.end, kind, -1});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  int busy[3] = {0, 0, 0};
  double since = 0, total = 0;
  for (const Event& event : events) {
    total += busy[0] > 0 && busy[1] > 0 && busy[2] > 0 ? event.time - since : 0;
    busy[event.kind] += event.change;
    since = event.time;
  }
  return total;
}

} // namespace

int main(int count, char** words) {
  lesson::Arguments("Lesson 5: a GPU, the CPU and a copy between them busy at one moment")
      .parse(count, words);
  const Machine machine = lesson::orGiveUp(readMachine(lesson::machineFile("cpu-2gpu")));
  const auto plan = lesson::compileFor(pipeline(), machine);
  SessionOptions options;
  options.trace = true;
  const auto session = lesson::open(plan, options);

  Literal x(f32({size, size}));
  const auto values = x.mutableData<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((i * 2654435761U) % 1000U) / 1000.0F;
  }
  // Ten runs are enough, and many more on a busy host, which emulates all devices with the cores that are
  // free.
  const NamedLiterals first = lesson::orGiveUp(session->run({{"x", x}}));
  bool same = true;
  int runs = 1;
  double measured = 0;
  for (; runs < leastRuns || (measured == 0 && runs < mostRuns); ++runs) {
    same = lesson::orGiveUp(session->run({{"x", x}})) == first && same;
    measured += tripleOverlap(session->takeTrace(), *plan);
  }
  lesson::check(same, "all runs give the same bits");

  const double predicted = tripleOverlap(predictedTrace(*plan), *plan);
  std::printf("GPU, CPU and copy engine busy at once: predicted %.1f us a run, measured %.1f us in %d runs\n",
              predicted * 1e6, measured * 1e6, runs);
  lesson::check(predicted > 0, "the schedule has all three at once");
  lesson::check(measured > 0, "so has the measured trace");
  return lesson::verdict();
}
