// Report: the rows of experiments and baselines, looked up by key, printed as a table for people and as JSON
// for programs. Times in seconds.
#pragma once

#include "tools/bench/host_facts.h"
#include "tools/bench/spread.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dfc::bench {

/// A comparison of a row. Its requirement is a limit on the ratio, or a property that the experiment shows; a
/// check without requirement only shows the ratio.
struct Check {
  std::string against; ///< "slower GPU alone", "PyTorch CUDA graph", "bit-equal to one queue"
  double ratio = 0;    ///< dfc over its reference, or 0 and 1 for no and yes
  std::optional<double> atMost, atLeast;
  /// Whether a missed requirement means wrong results, not only a slow run.
  bool correctness = false;
  bool property = false; ///< the ratio is only yes or no
  /// Nothing without a requirement.
  std::optional<bool> holds() const;
};

/// A property that holds or does not.
Check fact(std::string description, bool holds, bool correctness = false);

struct Row {
  std::string key;             ///< "mlp_training/1gpu/f32/1024": the same for all programs that do this work
  std::string program = "dfc"; ///< or the baseline that was run
  std::string description;     ///< for people: "one GPU, f32, batch 1024"
  std::optional<Spread> time;  ///< none where it could not be measured, for `reason`
  std::string reason = {};
  bool failed = false;                              ///< the machine failed, rather than lacking something
  std::optional<double> predicted = {}, bound = {}; ///< of the plan: its makespan, and its lower bound
  std::optional<double> bytes = {}; ///< device memory: the plan's arena, or what a baseline held at most
  std::vector<Check> checks = {};
  std::vector<std::string> notes = {};
};

class Report {
 public:
  /// `onRow` is called with each row as it is added.
  explicit Report(std::function<void(const Row&)> onRow = {}) : onRow_(std::move(onRow)) {}
  void add(Row row);
  const std::vector<Row>& rows() const { return rows_; }
  std::vector<Row>& rows() { return rows_; }
  /// Whether dfc has a row `key`, measured or not.
  bool has(const std::string& key) const;
  /// The time of the row `key` of dfc, where it was measured.
  std::optional<double> seconds(const std::string& key) const;
  /// Whether the machine failed in some row.
  bool anyFailed() const;
  /// Whether some result was wrong.
  bool anyWrong() const;

 private:
  std::vector<Row> rows_;
  std::function<void(const Row&)> onRow_;
};

/// Adds to the rows of these keys, which do the work of the row `alone` on more devices in different ways,
/// their speedup over it. The fastest of them has the requirement `atLeast`. Rows without a time, and an
/// unmeasured `alone`, get no check.
void holdScaling(Report& report, const std::vector<std::string>& keys, const std::string& alone,
                 std::optional<double> atLeast);

/// The devices that ran as GPUs in the sessions: none where no GPU was used, or its results not computed.
enum class Gpus : uint8_t { None, Emulated, Real };

/// Where the numbers were measured.
struct Setting {
  std::string machine;              ///< name of the machine that the plans are for
  std::vector<std::string> devices; ///< Session::deviceReport of it
  Gpus gpus = Gpus::None;
  bool quick = false;
  HostFacts host;
};

/// The table, with the setting above it and the meaning of the columns below.
std::string printReport(const Report& report, const Setting& setting);
/// The same as one JSON object: {"date", "git", "cpu", "machine", "devices", …, "rows": […]}.
std::string reportJson(const Report& report, const Setting& setting);
/// One line about a row, for progress.
std::string rowLine(const Row& row);

} // namespace dfc::bench
