// Stage: what every experiment stands on: the machine, how large its work is there, and the way from a graph
// to numbers: compile, open, warm up, time.
#pragma once

#include "compiler/compile.h"
#include "runtime/session.h"
#include "tools/bench/own_times.h"
#include "tools/bench/report.h"

namespace dfc::bench {

struct BenchOptions {
  Machine machine;
  std::vector<Calibration> tables; ///< measured times of ops, for plans and for the backends
  bool calibrate = false;          ///< whether each plan's ops that no table has are timed first
  SessionOptions session;          ///< backends; what an experiment is about it sets itself
  bool quick = false;
  std::vector<std::string> only; ///< globs of row keys, or of their beginnings up to a '/'; empty means all
  std::string traces;            ///< folder for trace files; "" for none
  std::optional<uint32_t> samples, steps;
};

/// Of a dense layer's backward pass: the gradient [rows, inner] by which it comes, its result [rows,
/// columns].
struct LayerSizes {
  int64_t rows = 8192, columns = 2048, inner = 512;
};

/// How large the work is: the book's and issue 3's numbers on real GPUs, less on emulated ones and with
/// --quick.
struct Sizes {
  int64_t product = 4000; ///< rows and columns of A1's matrices
  int products = 50;
  int adds = 1000;
  std::vector<int64_t> batches = {64, 1024, 8192};
  int64_t largestBatch = 8192, epochBatch = 1024;
  int epoch = 150;            ///< minibatches
  int64_t independent = 2048; ///< rows and columns of A5's and A7's matrices
  std::vector<int> queues = {4, 8, 32};
  LayerSizes layer; ///< K2's
  int dags = 20;
  int64_t dagSize = 2048; ///< rows and columns of A9's matrices: a product takes longer than a copy
};

/// A graph compiled and opened.
struct Prepared {
  std::shared_ptr<const Executable> plan;
  std::unique_ptr<Session> session;
  void step() const; ///< submits one; asserts that the plan has no inputs
};

/// In what one plan differs from the others.
struct Variation {
  std::optional<Machine> machine = {};
  std::vector<std::string> skipPasses = {};
  bool tf32 = false;
  bool trace = false;
  uint32_t maxInFlight = 2;
  bool mergeLaunches = true;
};

/// Whether `pattern`, as --only takes them, asks for the row of this key: it matches the key, or its
/// beginning up to a '/'.
bool asksFor(const std::string& pattern, const std::string& key);
/// Whether it asks for a row whose key begins with this one and a '/'.
bool asksForInside(const std::string& pattern, const std::string& key);

class Stage {
 public:
  Stage(BenchOptions options, Report& report);

  bool realGpus() const { return realGpus_; }
  bool quick() const { return options_.quick; }
  const Machine& machine() const { return options_.machine; }
  const Sizes& sizes() const { return sizes_; }
  const std::string& traces() const { return options_.traces; }
  Report& report() const { return report_; }
  /// "gpu0", … as many as the machine has.
  const std::vector<std::string>& gpus() const { return gpus_; }
  /// "f32" and "tf32"; emulated GPUs compute both alike, so with --quick only the first.
  std::vector<std::string> precisions() const;
  /// `usual`, or with --quick the other; but what --samples and --steps say goes before both.
  Sampling asAsked(const Sampling& usual, const Sampling& quick) const;
  /// A step that is a second's fraction by itself: one a sample. A short one: fifty.
  Sampling longSteps() const;
  Sampling shortSteps() const;

  bool wants(const std::string& key) const;
  Result<Prepared> prepare(const Result<Graph>& graph, const Variation& variation = {});
  /// Adds a row, with whatever `measure` puts into it, what it could not do, or how the machine failed.
  void attempt(const std::string& key, const std::string& what,
               const std::function<Status(Row&)>& measure) const;
  /// Where it is wanted, or one whose key begins with this one and a '/', a row that this machine has not got
  /// the devices for.
  void lacking(const std::string& key, const std::string& what, const std::string& why) const;
  /// `atMost`, where times mean something: on real GPUs with the full sizes.
  std::optional<double> required(double ratio) const;
  /// `atMost` with the full sizes, on any devices: for what the host alone does.
  std::optional<double> atFullSize(double atMost) const {
    return options_.quick ? std::nullopt : std::optional(atMost);
  }
  /// A property of a measured trace: required where `required` is, since emulated GPUs share few cores.
  Check seen(std::string what, bool holds) const;
  /// Where times mean something: whether the row's time is within 10 % of the plan's makespan.
  void checkPrediction(Row& row) const;
  /// As the sessions said it.
  const std::vector<std::string>& deviceReport() const { return deviceReport_; }
  Gpus gpusPlayed() const { return gpusPlayed_; }

 private:
  void note(const Prepared& act);
  void useTimes();
  Result<Executable> plan(const Graph& graph, const Machine& machine, const CompileOptions& options);
  BenchOptions options_;
  OwnTimes times_;
  std::shared_ptr<const CostModel> cost_; ///< what plans are made with
  Report& report_;
  Sizes sizes_;
  std::vector<std::string> gpus_, deviceReport_;
  bool realGpus_ = false;
  Gpus gpusPlayed_ = Gpus::None;
};

/// Times steps of an open session: seconds of one step, a number a sample.
std::vector<double> sampleSteps(const Prepared& act, const Sampling& sampling);
Spread timeSteps(const Prepared& act, const Sampling& sampling);
/// Times the steps, and puts the plan's own numbers beside them.
void measureSteps(const Prepared& act, const Sampling& sampling, Row& row);
/// Holds the row's time against `seconds`.
Check against(const Row& row, std::string what, double seconds, std::optional<double> atMost = {});

} // namespace dfc::bench
