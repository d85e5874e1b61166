// The cost of compiling: time and memory per node of large graphs, stage by stage, and of parsing their text.
// Nothing is run.
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "runtime/steady_seconds.h"
#include "tools/bench/cost/costs.h"
#include "tools/bench/graphs/large.h"

#include <fmt/format.h>

#include <map>

namespace dfc::bench {
namespace {

constexpr double mostMicrosecondsPerNode = 20, mostSpread = 1.5, mostSecondsToParse = 0.5;

/// The seconds of each stage.
class StageClock final : public CompileObserver {
 public:
  void start() { last_ = steadySeconds(); }
  void graph(const Graph& /*graph*/, std::string_view pass) override { tick(std::string(pass)); }
  void placed(const PlacedGraph& /*placed*/) override { tick("place, transfers"); }
  void memory(const MemoryPlan& /*memory*/, const Schedule& /*schedule*/,
              const PlacedGraph& /*placed*/) override {
    tick("schedule, memory, launches"); // the schedule is shown once its launches are counted
  }
  void seal() { tick("seal"); }
  /// "gradients 0.1, …": microseconds of each stage over `nodes`.
  std::string perNode(size_t nodes) const {
    std::string text;
    for (const auto& [stage, seconds] : stages_) {
      text += fmt::format("{}{} {:.2f}", text.empty() ? "" : ", ", stage,
                          seconds * 1e6 / static_cast<double>(nodes));
    }
    return text;
  }

 private:
  void tick(const std::string& stage) {
    const double now = steadySeconds();
    stages_.emplace_back(stage, now - last_);
    last_ = now;
  }
  double last_ = 0;
  std::vector<std::pair<std::string, double>> stages_;
};

struct Compiled {
  double seconds = 0;
  std::string stages;
};

Result<Compiled> compileOnce(const Harness& harness, const Graph& graph) {
  StageClock clock;
  CompileOptions options;
  options.observer = &clock;
  const double begin = steadySeconds();
  clock.start();
  const auto plan = compile(graph, harness.machine(), RooflineCostModel(), options);
  clock.seal();
  if (!plan) {
    return plan.errors();
  }
  return Compiled{steadySeconds() - begin, clock.perNode(graph.opCount())};
}

uint32_t samplesFor(const Harness& harness, size_t nodes) {
  const uint32_t usual = nodes >= 100000 ? 3 : 7;
  return harness.requested({usual, 1, 0}, {1, 1, 0}).samples;
}

Status timeCompile(const Harness& harness, size_t nodes, Row& row, std::map<size_t, double>& perNode) {
  const auto graph = largeModel(nodes);
  if (!graph) {
    return graph.errors();
  }
  const auto ops = static_cast<double>(graph->opCount());
  // Cold run: its memory is fresh from the kernel, and page faults dominate on a virtual machine. It warms
  // the heap up and gives the peak.
  const int64_t before = forgetPeak();
  if (auto cold = compileOnce(harness, *graph); !cold) {
    return cold.errors();
  }
  const int64_t peak = peakBytes() - before;
  std::vector<double> seconds;
  Compiled last;
  for (uint32_t i = 0; i < samplesFor(harness, nodes); ++i) {
    auto compiled = compileOnce(harness, *graph);
    if (!compiled) {
      return compiled.errors();
    }
    last = *std::move(compiled);
    seconds.push_back(last.seconds);
  }
  row.time = spreadOf(std::move(seconds));
  perNode[nodes] = row.time->median * 1e6 / ops;
  row.checks.push_back(
      {"µs per node", perNode[nodes], harness.atFullSize(mostMicrosecondsPerNode), std::nullopt});
  row.notes.push_back(fmt::format("{:.2f} KiB per node at the peak", static_cast<double>(peak) / ops / 1024));
  row.notes.push_back("µs per node: " + last.stages);
  return success();
}

void timeParse(const Harness& harness, size_t nodes) {
  const std::string key = fmt::format("compile/parse/{}", nodes);
  if (!harness.wants(key)) {
    return;
  }
  harness.attempt(key, fmt::format("read the text of {} ops", nodes), [&](Row& row) -> Status {
    const auto graph = largeModel(nodes);
    const std::string text = graph ? printGraph(*graph) : "";
    std::vector<double> seconds;
    for (uint32_t i = 0; i < samplesFor(harness, nodes) && graph; ++i) {
      const double begin = steadySeconds();
      const auto parsed = parseGraph(text, "large.dfg");
      seconds.push_back(steadySeconds() - begin);
      if (!parsed) {
        return parsed.errors();
      }
    }
    if (!graph) {
      return graph.errors();
    }
    row.time = spreadOf(std::move(seconds));
    row.checks.push_back({"seconds", row.time->median, harness.atFullSize(mostSecondsToParse), std::nullopt});
    row.notes.push_back(fmt::format("{:.1f} MB of text", static_cast<double>(text.size()) / 1e6));
    return success();
  });
}

/// Adds the ratio of the slowest size to the fastest, per node, to the row `key`.
void checkFlatness(const Harness& harness, const std::string& key, const std::map<size_t, double>& perNode) {
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(perNode.begin(), perNode.end(), less);
  for (Row& row : harness.report().rows()) {
    if (row.key == key && perNode.size() > 1) {
      row.checks.push_back({fmt::format("{} nodes, slowest / {} nodes, fastest", most->first, least->first),
                            most->second / least->second, harness.atFullSize(mostSpread), std::nullopt});
    }
  }
}

} // namespace

void compileTimes(Harness& harness, const BaselineOptions& /*baselines*/) {
  std::vector<size_t> sizes = {1000, 10000, 100000, 1000000};
  if (harness.quick()) {
    sizes = {1000, 4000};
  }
  std::map<size_t, double> perNode;
  std::string key;
  for (const size_t nodes : sizes) {
    if (harness.wants(fmt::format("compile/{}", nodes))) {
      key = fmt::format("compile/{}", nodes);
      harness.attempt(key, fmt::format("compile {} ops for '{}'", nodes, harness.machine().name),
                      [&](Row& row) { return timeCompile(harness, nodes, row, perNode); });
    }
  }
  checkFlatness(harness, key, perNode);
  timeParse(harness, harness.quick() ? 2000 : 100000);
}

} // namespace dfc::bench
