// Explanation: what a plan does on its devices and why it was chosen, as plain data, for reports. Seconds are
// predictions of a step among many unless they say otherwise; shares are parts of 1.
#pragma once

#include "compiler/split/split_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dfc {

/// A device that computes or holds values: of a split also the host, which has no share.
struct ExplainedDevice {
  std::string name;
  double share = 0; ///< of the work, in a split; else 0
  int64_t memoryBytes = 0, residentBytes = 0;
  int64_t capacityBytes = 0; ///< 0: no limit
};

/// Ops of a scope that run alike.
struct ExplainedWay {
  std::string how; ///< "parts along axis 0 of the result", "on all devices"
  size_t ops = 0;
  double share = 0;   ///< of the scope's seconds
  std::string mostly; ///< the kind of op that takes the most of them
};

/// A scope, or equal layers: "h.*", 12 of them.
struct ExplainedScope {
  std::string scope; ///< "" for ops outside of any
  size_t count = 1;
  double share = 0; ///< of the seconds of all ops
  std::vector<ExplainedWay> ways;
};

/// Parameters of one type and layout.
struct ExplainedParameters {
  std::string names; ///< "h.*.mlp.c_fc.weight and 2 other names"
  size_t count = 0;
  std::string type;
  std::string layout;         ///< "one device each, replicas on 8"
  int64_t bytesPerDevice = 0; ///< of the device that holds the most of them, replicas included
};

/// What devices send one another in collectives of one kind. Seconds and overlap are those of a step by
/// itself, its feeds first.
struct ExplainedTraffic {
  std::string kind; ///< "all-gather", "sum on all by doubling", "parameters to replicas", "feeds"
  size_t collectives = 0, transfers = 0;
  int64_t bytesPerDevice = 0; ///< that reach the device that receives the most
  std::string link;           ///< the busiest
  double linkSeconds = 0;     ///< in which it carries them
  double hidden = 0;          ///< share of these in which the receiving device computes
  double prefetched = 0; ///< share of these that a session spends during the step before (ir/plan/feeds.h)
  size_t peerReads = 0;  ///< transfers that are no copies: kernels read the sender's memory
};

/// A placement that was compared.
struct ExplainedCandidate {
  enum class Kind : uint8_t { OneDevice, WholeOps, Split, Grid };
  Kind kind = Kind::WholeOps; ///< Grid: a split along several axes
  std::string description;
  double seconds = 0; ///< as ConsideredPlacement has them
  bool fits = true;   ///< into memory
  bool chosen = false;
  std::string verdict; ///< "slower by 12.0 %; a device computes for 3 µs of it"
  /// How many times the seconds of copies were counted when the cuts of a split were chosen; 0: no split.
  double linkPrice = 0;
  bool notable = false; ///< the chosen one, the runner-up, or the best of its kind
  bool isSplit() const { return kind == Kind::Split || kind == Kind::Grid; }
};
/// The kind's name in the text and the JSON of an explanation: "one device", "whole ops", "split" or "grid".
std::string_view nameOf(ExplainedCandidate::Kind kind);

/// What another machine would give.
struct ExplainedChange {
  std::string change;            ///< "one more device like gpu7"
  std::optional<double> seconds; ///< none: there is no plan
  std::string placement;         ///< of its plan, or that the present one stays
};

struct Explanation {
  std::string graph, machine;
  std::string placement; ///< how the ops were placed: "heft, 6 devices offered", "split over gpu0 to gpu7"
  size_t machineDevices = 0; ///< of which `devices` are used
  bool isSplit = false;
  Grid grid = {}; ///< of the split
  /// For a quotient plan (compiler/quotient): the number of alike devices, which `devices` describes by one
  /// row. 0: the explanation is of a plan.
  size_t simulated = 0;
  std::vector<ExplainedDevice> devices;
  double bandwidth = 0, latencySeconds = 0;   ///< of the links of a split's mesh
  std::vector<ExplainedScope> scopes;         ///< of a split: the most seconds first
  std::vector<ExplainedScope> scopesInGroups; ///< of a split over groups: how the ops of a group are split
  std::vector<ExplainedParameters> parameters;
  std::vector<ExplainedTraffic> traffic;
  double seconds = 0, bound = 0, aloneSeconds = 0; ///< of a step, its lower bound, and of a step by itself
  /// Predicted seconds of a plan over the grid of `--grid`, beside the simulated `seconds`; none where no
  /// such plan was made.
  std::optional<double> plannedSeconds;
  /// What no split along one axis over alike devices stays below (compiler/split/bound); none: not known.
  std::optional<double> boundOfSplits;
  std::optional<double> oneDeviceSeconds; ///< none where ops are pinned: one device might not be alone
  bool oneDeviceFits = true;
  double largestShare = 1; ///< of one device: `oneDeviceSeconds` times it is what no split stays below
  std::vector<ExplainedCandidate> candidates; ///< the quickest first
  std::vector<ExplainedChange> changes;

  std::optional<double> idealSeconds() const;
  std::optional<double> efficiency() const; ///< ideal seconds / seconds
};

/// The explanation as plain text. `allCandidates`: lists every candidate, not the notable ones alone.
std::string printExplanation(const Explanation& explanation, bool allCandidates = false);

} // namespace dfc
