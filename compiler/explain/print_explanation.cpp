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

/// A machine of one device leaves nothing to choose.
bool hasChoice(const Explanation& said) { return said.machineDevices != 1; }

std::string devicesText(const Explanation& said) {
  if (!hasChoice(said)) {
    return said.devices.empty() ? "the machine has one device, and nothing is computed\n"
                                : fmt::format("all ops on {}, the machine's one device: {}\n",
                                              said.devices[0].name, memoryText(said.devices[0]));
  }
  const auto parts = llvm::count_if(said.devices, [](const ExplainedDevice& row) { return row.share > 0; });
  const auto& [stages, groups, width] = said.grid;
  if (said.simulated > 0) {
    const std::string links = said.bandwidth > 0
                                  ? fmt::format("; links {} and {} before the first byte",
                                                humanRate(said.bandwidth), humanSeconds(said.latencySeconds))
                                  : "";
    return fmt::format("{} over {}, of which one a stage was simulated{}\n  each like {}: {}\n",
                       said.placement, counted(said.simulated, "device"), links, said.devices[0].name,
                       memoryText(said.devices[0]));
  }
  std::string text = stages > 1
                         ? fmt::format("pipeline of {} stages over {}", stages, counted(parts, "device"))
                     : said.isSplit ? fmt::format("split over {}", counted(parts, "device"))
                                    : fmt::format("no split: whole ops, placement: {}", said.placement);
  if (width > 1) {
    text += fmt::format(", {} of {}{}", counted(groups, "group"), width, stages > 1 ? " a stage" : "");
  }
  if (said.isSplit && said.bandwidth > 0) {
    text += fmt::format("; links {} and {} before the first byte", humanRate(said.bandwidth),
                        humanSeconds(said.latencySeconds));
  }
  text += fmt::format("\nuses {} of the {}:\n", said.devices.size(), counted(said.machineDevices, "device"));
  for (const ExplainedDevice& device : said.devices) {
    text += fmt::format("  {:<8} {}{}\n", device.name, said.isSplit ? shareText(device) + ", " : "",
                        memoryText(device));
  }
  return text;
}

/// Which plans each bound holds for, and which costs it counts. That of splits counts products, convolutions,
/// attention and copies, but neither launches nor other ops, so it is loose for graphs of small ops.
std::string boundsText(const Explanation& said) {
  std::string text = fmt::format("lower bounds\n  {:>8}  of this placement, in any order of its ops\n",
                                 humanSeconds(said.bound));
  if (said.boundOfSplits) {
    const std::string share =
        said.seconds > 0 ? fmt::format(" ({} of this step)", percent(*said.boundOfSplits / said.seconds))
                         : "";
    text += fmt::format("  {:>8}  of every split along one axis over alike devices{}, by its products, "
                        "convolutions, attention and copies alone, without launches{}\n",
                        humanSeconds(*said.boundOfSplits), share,
                        said.isSplit ? "" : "; it does not hold for whole ops, as here");
  }
  return text;
}

/// Simulated seconds are compared with those of the other grids; plans are predicted by more stages.
std::string simulatedText(const Explanation& said) {
  return fmt::format("step {}, simulated as the grids below: one device of each stage stands for the others "
                     "and never waits for "
                     "the last of them, launches are not merged, feeds not prefetched; {}\n",
                     humanSeconds(said.seconds),
                     said.plannedSeconds ? fmt::format("a plan over this grid takes {} among many steps",
                                                       humanSeconds(*said.plannedSeconds))
                                         : "no plan is made");
}

std::string stepText(const Explanation& said) {
  if (said.simulated > 0) {
    return simulatedText(said);
  }
  std::string text = fmt::format("step {}", humanSeconds(said.seconds));
  if (!hasChoice(said)) {
    return text + (said.bound < said.seconds
                       ? fmt::format(", lower bound {}, in any order of its ops\n", humanSeconds(said.bound))
                       : ", whatever the order of its ops\n");
  }
  text += fmt::format("; by itself, feeds first, {}\n", humanSeconds(said.aloneSeconds));
  if (said.oneDeviceSeconds) {
    text += fmt::format("one device alone {}{}", humanSeconds(*said.oneDeviceSeconds),
                        said.oneDeviceFits ? "" : " if it had the memory");
    if (const auto ideal = said.idealSeconds()) {
      text += fmt::format("; ideal {}, efficiency {}", humanSeconds(*ideal), percent(*said.efficiency()));
    }
    text += "\n";
  }
  return text + boundsText(said);
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
  std::string text = said.parameters.empty() ? ""
                     : hasChoice(said)       ? "\nparameters, and their bytes on a device\n"
                                             : "\nparameters\n";
  for (const ExplainedParameters& row : said.parameters) {
    text += fmt::format("  {:>8}  {} x {}{}: {}\n", humanBytes(row.bytesPerDevice), row.count, row.type,
                        hasChoice(said) ? " " + row.layout : "", row.names);
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

/// Of a split: how copies were counted when its cuts were chosen.
std::string priceText(const ExplainedCandidate& row) {
  return row.linkPrice > 0 ? fmt::format("; cut with copies counted {:g}-fold", row.linkPrice) : "";
}

constexpr const char* pricesText =
    "  The cuts of a split are chosen for the least computation and copies together. As copies may hide "
    "behind "
    "computation, or hold one\n  another up, that is done several times, and their seconds are counted a "
    "different number of times; each choice is then scheduled.\n";

std::string candidatesText(const Explanation& said, bool all) {
  if (said.candidates.empty() || !hasChoice(said)) {
    return "";
  }
  std::string text = "\nconsidered, by predicted seconds\n";
  size_t left = 0;
  for (const ExplainedCandidate& row : said.candidates) {
    if (!all && !row.notable) {
      ++left;
      continue;
    }
    text += fmt::format("  {:>8}  {}: {}{}\n", humanSeconds(row.seconds), row.description, row.verdict,
                        all ? priceText(row) : "");
  }
  text += left > 0
              ? fmt::format("  and {} more, no better than these of their kind: --all-candidates\n", left)
              : "";
  if (llvm::none_of(said.candidates, [](const ExplainedCandidate& row) { return row.isSplit(); })) {
    return text + "  no split was tried: one device, pins in the graph, or nothing that can be cut\n";
  }
  return text + (all ? pricesText : "");
}

/// A machine of one device has one changed machine, that with more memory; no text where its step takes the
/// same time.
bool isTold(const ExplainedChange& row, const Explanation& said) {
  return hasChoice(said) || row.seconds != said.seconds;
}

std::string changesText(const Explanation& said) {
  std::string text;
  for (const ExplainedChange& row : said.changes) {
    if (!isTold(row, said)) {
      continue;
    }
    text += text.empty() ? "\nwith another machine\n" : "";
    text += row.seconds
                ? fmt::format("  {:>8}  {} ({:+.1f} %): {}\n", humanSeconds(*row.seconds), row.change,
                              said.seconds > 0 ? 100 * (*row.seconds / said.seconds - 1) : 0, row.placement)
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

std::string printExplanation(const Explanation& said, bool allCandidates) {
  return fmt::format("{} for {}\n", said.graph, said.machine) + devicesText(said) + stepText(said) +
         scopesText(said.grid.width > 1 ? "ops of the graph over groups, by share of their seconds"
                                        : "ops of the graph, by share of their seconds",
                    said.scopes) +
         scopesText("ops of the graph within a group, by share of their seconds", said.scopesInGroups) +
         parametersText(said) + trafficText(said) + candidatesText(said, allCandidates) + changesText(said);
}

} // namespace dfc
