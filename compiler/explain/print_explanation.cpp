// See explanation.h.
#include "compiler/explain/explanation.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr double tooSmall = 0.005; ///< shares of the seconds that are not printed apart
constexpr size_t mostWays = 4;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string memoryText(const ExplainedDevice& device) {
  return fmt::format("{} of memory{}, {} of it between steps", humanBytes(device.memoryBytes),
                     device.capacityBytes > 0 ? " of " + humanBytes(device.capacityBytes) : "",
                     humanBytes(device.residentBytes));
}

std::string shareText(const ExplainedDevice& device) {
  return device.share > 0 ? percent(device.share) + " of the work" : "outside of the split";
}

std::string devicesText(const Explanation& said) {
  const auto parts = llvm::count_if(said.devices, [](const ExplainedDevice& row) { return row.share > 0; });
  const auto& [stages, groups, width] = said.grid;
  if (said.simulated > 0) {
    const std::string links = said.bandwidth > 0
                                  ? fmt::format("; links {} and {} before the first byte",
                                                humanRate(said.bandwidth), humanSeconds(said.latencySeconds))
                                  : "";
    return fmt::format("{} over {}, of which one a stage was simulated{}\n  each like {}: {}\n", said.policy,
                       counted(said.simulated, "device"), links, said.devices[0].name,
                       memoryText(said.devices[0]));
  }
  std::string text = stages > 1
                         ? fmt::format("pipeline of {} stages over {}", stages, counted(parts, "device"))
                     : said.isSplit ? fmt::format("split over {}", counted(parts, "device"))
                                    : fmt::format("no split: whole ops, {}", said.policy);
  if (width > 1) {
    text += fmt::format(", {} of {}{}", counted(groups, "group"), width, stages > 1 ? " a stage" : "");
  }
  if (said.isSplit && said.bandwidth > 0) {
    text += fmt::format("; links {} and {} before the first byte", humanRate(said.bandwidth),
                        humanSeconds(said.latencySeconds));
  }
  text += "\n";
  for (const ExplainedDevice& device : said.devices) {
    text += fmt::format("  {:<8} {}{}\n", device.name, said.isSplit ? shareText(device) + ", " : "",
                        memoryText(device));
  }
  return text;
}

/// The lower bound, and which costs it counts: products, convolutions, attention and copies. Launch overhead
/// and all other ops are not counted, so it is loose for graphs of small ops.
std::string boundText(double bound, double step) {
  const std::string share = step > 0 ? fmt::format(" ({} of this step)", percent(bound / step)) : "";
  return fmt::format("lower bound of all splits along one axis over alike devices: {}{}; of products, "
                     "convolutions, attention and copies alone, without launches\n",
                     humanSeconds(bound), share);
}

std::string stepText(const Explanation& said) {
  if (said.simulated > 0) {
    return fmt::format("step {}, simulated; no plan is made\n", humanSeconds(said.seconds));
  }
  std::string text =
      fmt::format("step {}, at least {} by the bound of this plan; by itself, feeds first, {}\n",
                  humanSeconds(said.seconds), humanSeconds(said.bound), humanSeconds(said.aloneSeconds));
  text += said.boundOfSplits ? boundText(*said.boundOfSplits, said.seconds) : "";
  if (said.oneDeviceSeconds) {
    text += fmt::format("one device alone {}{}", humanSeconds(*said.oneDeviceSeconds),
                        said.oneDeviceFits ? "" : " if it had the memory");
    if (const auto ideal = said.idealSeconds()) {
      text += fmt::format("; ideal {}, efficiency {}", humanSeconds(*ideal), percent(*said.efficiency()));
    }
    text += "\n";
  }
  return text;
}

std::string wayText(const ExplainedWay& way) {
  return fmt::format("    {:>7}  {}: {}, mostly {}\n", percent(way.share), way.how, counted(way.ops, "op"),
                     way.mostly);
}

std::string scopesText(std::string_view title, llvm::ArrayRef<ExplainedScope> scopes) {
  std::string text = scopes.empty() ? "" : fmt::format("\n{}\n", title);
  double rest = 0;
  for (const ExplainedScope& scope : scopes) {
    if (scope.share < tooSmall) {
      rest += scope.share;
      continue;
    }
    const std::string name = scope.scope.empty() ? "(no scope)" : scope.scope;
    text += fmt::format("  {:>7}  {}{}\n", percent(scope.share), name,
                        scope.count > 1 ? fmt::format(" ({} x)", scope.count) : "");
    for (size_t i = 0; i < std::min(mostWays, scope.ways.size()); ++i) {
      text += scope.ways[i].share >= tooSmall ? wayText(scope.ways[i]) : "";
    }
  }
  return text + (rest > 0 ? fmt::format("  {:>7}  other scopes\n", percent(rest)) : "");
}

std::string parametersText(const Explanation& said) {
  std::string text = said.parameters.empty() ? "" : "\nparameters, and their bytes on a device\n";
  for (const ExplainedParameters& row : said.parameters) {
    text += fmt::format("  {:>8}  {} x {} {}: {}\n", humanBytes(row.bytesPerDevice), row.count, row.type,
                        row.layout, row.names);
  }
  return text;
}

std::string linkText(const ExplainedTraffic& row) {
  std::string text = row.linkSeconds > 0
                         ? fmt::format("{} on '{}', {} of it hidden", humanSeconds(row.linkSeconds), row.link,
                                       percent(row.hidden))
                         : "no time on a link";
  if (row.prefetched > 0) {
    text += fmt::format("; with steps before it {} of it is prefetched", percent(row.prefetched));
  }
  if (row.peerReads == row.transfers) {
    return "read in the senders' memory by the kernels that need it";
  }
  return row.peerReads == 0 ? text
                            : fmt::format("{}; {} of them read in the senders' memory", text, row.peerReads);
}

std::string trafficText(const Explanation& said) {
  std::string text = said.traffic.empty() ? "" : "\ncopies of a step by itself, by kind\n";
  for (const ExplainedTraffic& row : said.traffic) {
    text += fmt::format("  {}: {}, {}; {} reach a device; {}\n", row.kind, row.collectives,
                        counted(row.transfers, "transfer"), humanBytes(row.bytesPerDevice), linkText(row));
  }
  return text;
}

std::string candidatesText(const Explanation& said) {
  std::string text = said.candidates.empty() ? "" : "\nconsidered, by predicted seconds\n";
  for (const ExplainedCandidate& row : said.candidates) {
    text += fmt::format("  {:>8}  {}: {}\n", humanSeconds(row.seconds), row.description, row.verdict);
  }
  const bool anySplit = std::any_of(said.candidates.begin(), said.candidates.end(),
                                    [](const ExplainedCandidate& row) { return row.isSplit; });
  return anySplit || said.candidates.empty()
             ? text
             : text + "  no split was tried: one device, pins in the graph, or nothing that can be cut\n";
}

std::string changesText(const Explanation& said) {
  std::string text = said.changes.empty() ? "" : "\nwith another machine\n";
  for (const ExplainedChange& row : said.changes) {
    text += row.seconds
                ? fmt::format("  {:>8}  {} ({:+.1f} %): {}\n", humanSeconds(*row.seconds), row.change,
                              said.seconds > 0 ? 100 * (*row.seconds / said.seconds - 1) : 0, row.policy)
                : fmt::format("   no plan  {}\n", row.change);
  }
  return text;
}

} // namespace

std::optional<double> Explanation::idealSeconds() const {
  return isSplit && oneDeviceSeconds ? std::optional(*oneDeviceSeconds * largestShare) : std::nullopt;
}

std::optional<double> Explanation::efficiency() const {
  const auto ideal = idealSeconds();
  return ideal && seconds > 0 ? std::optional(*ideal / seconds) : std::nullopt;
}

std::string printExplanation(const Explanation& said) {
  return fmt::format("{} for {}, policy {}\n", said.graph, said.machine, said.policy) + devicesText(said) +
         stepText(said) +
         scopesText(said.grid.width > 1 ? "ops over groups, by share of their seconds"
                                        : "ops, by share of their seconds",
                    said.scopes) +
         scopesText("ops within a group, by share of their seconds", said.scopesInGroups) +
         parametersText(said) + trafficText(said) + candidatesText(said) + changesText(said);
}

} // namespace dfc
