// The candidates that choosePlacement compared, each with the reason why it was not chosen.
#include "compiler/explain/explain_parts.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <array>
#include <numeric>
#include <tuple>

namespace dfc {
namespace {

using Kind = ExplainedCandidate::Kind;
using Outcome = ConsideredPlacement::Outcome;

Kind kindOf(const ConsideredPlacement& candidate) {
  return candidate.split == nullptr        ? candidate.devices.size() > 1 ? Kind::WholeOps : Kind::OneDevice
         : candidate.split->grid.isPlain() ? Kind::Split
                                           : Kind::Grid;
}

std::string devicesText(llvm::ArrayRef<DeviceId> devices, const Machine& machine) {
  constexpr size_t mostNamed = 4;
  std::string text;
  for (const DeviceId device : devices.take_front(mostNamed)) {
    text += (text.empty() ? "" : ", ") + machine.devices[device].name;
  }
  return devices.size() > mostNamed ? fmt::format("{} and {} more", text, devices.size() - mostNamed) : text;
}

std::string descriptionOf(const ConsideredPlacement& candidate, const Machine& machine) {
  switch (kindOf(candidate)) {
  case Kind::OneDevice: return fmt::format("one device: {}", candidate.description);
  case Kind::WholeOps:
    return fmt::format("whole ops on {}, by {}", devicesText(candidate.devices, machine),
                       candidate.description);
  case Kind::Split:
  case Kind::Grid: return candidate.description;
  }
  DFC_UNREACHABLE("a candidate of another kind");
}

/// Text on the computing and the waiting of one device in a split's predicted step. Empty for pipelines,
/// whose stages compute at different times, and where the estimates of ops before fusion exceed the predicted
/// step.
std::string splitText(const ConsideredPlacement& candidate) {
  if (candidate.split == nullptr || candidate.split->grid.stages > 1) {
    return "";
  }
  const auto& each = candidate.split->plan.opSeconds;
  const auto ids = each.ids();
  const double computing =
      std::accumulate(ids.begin(), ids.end(), 0.0, [&](double sum, OpId op) { return sum + each[op]; });
  return computing < candidate.seconds
             ? fmt::format("; a device computes for {} of it, copies and waits are the rest",
                           humanSeconds(computing))
             : "";
}

std::string verdictOf(const ConsideredPlacement& candidate, double best) {
  const std::string by = slowerText(candidate.seconds, best);
  switch (candidate.outcome) {
  case Outcome::DoesNotFit: return "does not fit into memory";
  case Outcome::Bounded: return by + " at least, not scheduled";
  case Outcome::Scheduled: return by + " as scheduled, memory not planned" + splitText(candidate);
  case Outcome::Planned:
    return candidate.seconds < best ? by + ", too little for more devices" : by + splitText(candidate);
  }
  DFC_UNREACHABLE("an outcome of another kind");
}

} // namespace

std::string_view nameOf(Kind kind) {
  switch (kind) {
  case Kind::OneDevice: return "one device";
  case Kind::WholeOps: return "whole ops";
  case Kind::Split: return "split";
  case Kind::Grid: return "grid";
  }
  DFC_UNREACHABLE("a candidate of another kind");
}

std::string slowerText(double seconds, double best) {
  const double percent = best > 0 ? 100 * (seconds / best - 1) : 0;
  return percent >= 0 ? fmt::format("slower by {:.1f} %", percent)
                      : fmt::format("shorter by {:.1f} %", -percent);
}

std::vector<ExplainedCandidate> explainCandidates(const ConsideredPlacements& placements,
                                                  const Machine& machine) {
  std::vector<ExplainedCandidate> rows;
  if (!placements.chosen) {
    return rows;
  }
  const double best = placements.candidates[*placements.chosen].seconds;
  for (size_t i = 0; i < placements.candidates.size(); ++i) {
    const ConsideredPlacement& one = placements.candidates[i];
    const bool chosen = i == *placements.chosen;
    rows.push_back({kindOf(one), descriptionOf(one, machine), one.seconds, one.outcome != Outcome::DoesNotFit,
                    chosen, chosen ? "chosen" : verdictOf(one, best),
                    one.split != nullptr ? one.split->plan.price : 0});
  }
  llvm::stable_sort(rows, [](const auto& a, const auto& b) {
    return std::tuple(!a.chosen, !a.fits, a.seconds) < std::tuple(!b.chosen, !b.fits, b.seconds);
  });
  std::array<bool, 4> seen = {};
  for (size_t i = 0; i < rows.size(); ++i) {
    bool& ofKind = seen[static_cast<size_t>(rows[i].kind)];
    rows[i].notable = i < 2 || !ofKind;
    ofKind = true;
  }
  return rows;
}

} // namespace dfc
