// Report: the rows that experiments and peers give, looked up by key, printed as one table for people and as
// JSON for programs. Times in seconds.
#pragma once

#include "tools/bench/host_facts.h"
#include "tools/bench/spread.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dfc::bench {

/// What a row's number is held against. A requirement is one of issue 3's ("What must show"), a limit of
/// issue 4's cost table, or a property that the book's experiment is about; without one the ratio is only
/// told.
struct Check {
  std::string against; ///< "slower GPU alone", "PyTorch CUDA graph", "bit-equal to one queue"
  double ratio = 0;    ///< ours over theirs, or 0 and 1 for no and yes
  std::optional<double> atMost, atLeast;
  /// Whether missing it is a fault of dfc (wrong results), not only of its speed.
  bool correctness = false;
  bool property = false; ///< the ratio is only yes or no
  /// Nothing when there is no requirement.
  std::optional<bool> holds() const;
};

/// A property that holds or does not.
Check fact(std::string what, bool holds, bool correctness = false);

struct Row {
  std::string key;            ///< "B3/1gpu/f32/1024": the same for all who do the same work
  std::string who = "dfc";    ///< or the peer
  std::string what;           ///< for people: "one GPU, f32, batch 1024"
  std::optional<Spread> time; ///< none where it could not be measured: `why` says the reason
  std::string why = {};
  bool failed = false;                              ///< the machine failed, rather than lacking something
  std::optional<double> predicted = {}, bound = {}; ///< of the plan: its makespan, and its lower bound
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
  /// The time of our own row `key`, where it was measured.
  std::optional<double> seconds(const std::string& key) const;
  /// Some row lost to the machine; some result was wrong.
  bool anyFailed() const;
  bool anyWrong() const;

 private:
  std::vector<Row> rows_;
  std::function<void(const Row&)> onRow_;
};

/// How many times as quick as our row `alone` ours of these keys are, which do its work on more devices, each
/// in a way of its own: the quickest of them has to reach `atLeast`. Nothing where one was not measured.
void holdScaling(Report& report, const std::vector<std::string>& keys, const std::string& alone,
                 std::optional<double> atLeast);

/// Who played the GPUs of the sessions: nobody where none was used, or where their results are not computed.
enum class Gpus : uint8_t { None, Emulated, Real };

/// What the numbers were measured on.
struct Setting {
  std::string machine;              ///< name of the machine that the plans are for
  std::vector<std::string> devices; ///< Session::deviceReport of it
  Gpus gpus = Gpus::None;
  bool quick = false;
  HostFacts host;
};

/// The table, with the setting above it and what the columns mean below.
std::string printReport(const Report& report, const Setting& setting);
/// The same as one JSON object: {"date", "git", "host", "machine", "devices", …, "rows": […]}.
std::string reportJson(const Report& report, const Setting& setting);
/// One line for a row as soon as it is there.
std::string rowLine(const Row& row);

} // namespace dfc::bench
