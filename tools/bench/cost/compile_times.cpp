// What compiling costs: time and memory per node of large graphs, stage by stage, and parsing their text.
// Nothing is run. The limits are those of issue 4.
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

/// Seconds between one stage and the next, by stage.
class StageClock final : public CompileObserver {
 public:
  void start() { last_ = steadySeconds(); }
  void graph(const Graph& /*graph*/, std::string_view pass) override { tick(std::string(pass)); }
  void placed(const PlacedGraph& /*placed*/) override { tick("place, transfers"); }
  void memory(const MemoryPlan& /*memory*/, const Schedule& /*schedule*/,
              const PlacedGraph& /*placed*/) override {
    tick("schedule, memory"); // the schedule is shown when its memory has been found too
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

Result<Compiled> compileOnce(const Stage& stage, const Graph& graph) {
  StageClock clock;
  CompileOptions options;
  options.observer = &clock;
  const double begin = steadySeconds();
  clock.start();
  const auto plan = compile(graph, stage.machine(), RooflineCostModel(), options);
  clock.seal();
  if (!plan) {
    return plan.errors();
  }
  return Compiled{steadySeconds() - begin, clock.perNode(graph.opCount())};
}

uint32_t samplesFor(const Stage& stage, size_t nodes) {
  const uint32_t usual = nodes >= 100000 ? 3 : 7;
  return stage.asAsked({usual, 1, 0}, {1, 1, 0}).samples;
}

Status timeCompile(const Stage& stage, size_t nodes, Row& row, std::map<size_t, double>& perNode) {
  const auto graph = largeModel(nodes);
  if (!graph) {
    return graph.errors();
  }
  const auto ops = static_cast<double>(graph->opCount());
  // The first compiles in memory that is fresh from the kernel, whose pages cost a virtual machine more than
  // their use: it warms the heap up and tells the peak.
  const int64_t before = forgetPeak();
  if (auto cold = compileOnce(stage, *graph); !cold) {
    return cold.errors();
  }
  const int64_t peak = peakBytes() - before;
  std::vector<double> seconds;
  Compiled last;
  for (uint32_t i = 0; i < samplesFor(stage, nodes); ++i) {
    auto compiled = compileOnce(stage, *graph);
    if (!compiled) {
      return compiled.errors();
    }
    last = *std::move(compiled);
    seconds.push_back(last.seconds);
  }
  row.time = spreadOf(std::move(seconds));
  perNode[nodes] = row.time->median * 1e6 / ops;
  row.checks.push_back(
      {"µs per node", perNode[nodes], stage.atFullSize(mostMicrosecondsPerNode), std::nullopt});
  row.notes.push_back(fmt::format("{:.2f} KiB per node at the peak", static_cast<double>(peak) / ops / 1024));
  row.notes.push_back("µs per node: " + last.stages);
  return success();
}

void timeParse(const Stage& stage, size_t nodes) {
  const std::string key = fmt::format("compile/parse/{}", nodes);
  if (!stage.wants(key)) {
    return;
  }
  stage.attempt(key, fmt::format("read the text of {} ops", nodes), [&](Row& row) -> Status {
    const auto graph = largeModel(nodes);
    const std::string text = graph ? printGraph(*graph) : "";
    std::vector<double> seconds;
    for (uint32_t i = 0; i < samplesFor(stage, nodes) && graph; ++i) {
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
    row.checks.push_back({"seconds", row.time->median, stage.atFullSize(mostSecondsToParse), std::nullopt});
    row.notes.push_back(fmt::format("{:.1f} MB of text", static_cast<double>(text.size()) / 1e6));
    return success();
  });
}

/// The dearest size over the cheapest, told at the last row.
void checkFlatness(const Stage& stage, const std::string& key, const std::map<size_t, double>& perNode) {
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(perNode.begin(), perNode.end(), less);
  for (Row& row : stage.report().rows()) {
    if (row.key == key && perNode.size() > 1) {
      row.checks.push_back({fmt::format("{} nodes, dearest / {} nodes, cheapest", most->first, least->first),
                            most->second / least->second, stage.atFullSize(mostSpread), std::nullopt});
    }
  }
}

} // namespace

void compileTimes(Stage& stage, const PeerOptions& /*peers*/) {
  std::vector<size_t> sizes = {1000, 10000, 100000, 1000000};
  if (stage.quick()) {
    sizes = {1000, 4000};
  }
  std::map<size_t, double> perNode;
  std::string key;
  for (const size_t nodes : sizes) {
    if (stage.wants(fmt::format("compile/{}", nodes))) {
      key = fmt::format("compile/{}", nodes);
      stage.attempt(key, fmt::format("compile {} ops for '{}'", nodes, stage.machine().name),
                    [&](Row& row) { return timeCompile(stage, nodes, row, perNode); });
    }
  }
  checkFlatness(stage, key, perNode);
  timeParse(stage, stage.quick() ? 2000 : 100000);
}

} // namespace dfc::bench
