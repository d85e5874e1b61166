// Harness: shared by all benchmarks: the machine, the sizes of the work on it, and the way from a graph to
// numbers: compile, open, warm up, time.
#pragma once

#include "compiler/compile.h"
#include "runtime/session.h"
#include "tools/bench/names.h"
#include "tools/bench/own_times.h"
#include "tools/bench/report.h"

namespace dfc::bench {

struct BenchOptions {
  Machine machine;
  std::vector<Calibration> tables; ///< measured times of ops, for plans and backends
  bool calibrate = false;          ///< whether the ops of each plan that no table has are timed first
  SessionOptions session;          ///< backends; experiments set the options that they vary
  bool noMergedLaunches = false, noPeerReads = false;
  bool quick = false;
  std::vector<std::string> only; ///< patterns as `selects` takes them; empty selects all
  std::string traces;            ///< folder for trace files; "" for none
  std::string graphs;            ///< folder for the graphs of some rows; "" for none
  std::optional<uint32_t> samples, steps;
};

/// The backward pass of a dense layer: incoming gradient [rows, inner], result [rows, columns].
struct LayerSizes {
  int64_t rows = 8192, columns = 2048, inner = 512;
};

/// Sizes of the work: full on real GPUs, smaller on emulated ones and with --quick.
struct Sizes {
  int64_t product = 4000; ///< rows and columns of the matrices of products_on_gpu
  int products = 50;
  int adds = 1000;
  std::vector<int64_t> batches = {64, 1024, 8192};
  int64_t largestBatch = 8192, epochBatch = 1024;
  int epoch = 150;            ///< minibatches
  int64_t independent = 2048; ///< rows and columns in independent_products and gpu_cpu_pipeline
  std::vector<int> queues = {4, 8, 32};
  LayerSizes layer; ///< of dense_backward
  int dags = 20;
  int64_t dagSize = 2048; ///< rows and columns in random_dags: a product takes longer than a copy
};

/// A graph compiled and opened.
struct Prepared {
  std::shared_ptr<const Executable> plan;
  std::unique_ptr<Session> session;
  NamedLiterals feeds = {}; ///< of each step; most benchmarks hold their inputs in parameters instead
  void step() const;        ///< submits one; asserts that the plan takes the feeds
};

/// The options in which a plan differs from the default.
struct Variation {
  std::optional<Machine> machine = {};
  std::vector<std::string> skipPasses = {};
  std::vector<PinRule> pins = {};
  Precision precision = Precision::Ieee;
  bool trace = false;
  uint32_t maxInFlight = 2;
  bool mergeLaunches = true;
};

class Harness {
 public:
  Harness(BenchOptions options, Report& report);

  bool realGpus() const { return realGpus_; }
  bool quick() const { return options_.quick; }
  const Machine& machine() const { return options_.machine; }
  const Sizes& sizes() const { return sizes_; }
  const std::string& traces() const { return options_.traces; }
  const std::string& graphs() const { return options_.graphs; }
  Report& report() const { return report_; }
  /// "gpu0", … as many as the machine has.
  const std::vector<std::string>& gpus() const { return gpus_; }
  /// "f32" and "tf32"; with --quick on emulated GPUs, which compute both alike, only "f32".
  std::vector<std::string> precisions() const;
  /// `usual`, or `quick` with --quick; --samples and --steps take precedence over both.
  Sampling requested(const Sampling& usual, const Sampling& quick) const;
  /// For steps of many milliseconds: one a sample; and for short steps: fifty.
  Sampling longSteps() const;
  Sampling shortSteps() const;

  bool wants(const std::string& key) const;
  Result<Prepared> prepare(const Result<Graph>& graph, const Variation& variation = {});
  /// Adds a row that `measure` fills in; with the reason where it returns an error or the machine fails.
  void attempt(const std::string& key, const std::string& description,
               const std::function<Status(Row&)>& measure) const;
  /// Adds a row for which this machine lacks the devices, where the row, or one whose key begins with this
  /// one and a '/', is wanted.
  void lacking(const std::string& key, const std::string& description, const std::string& reason) const;
  /// `ratio` on real GPUs with the full sizes, the only place where times mean something.
  std::optional<double> required(double ratio) const;
  /// `atMost` with the full sizes, on any devices: for work of the host alone.
  std::optional<double> atFullSize(double atMost) const {
    return options_.quick ? std::nullopt : std::optional(atMost);
  }
  /// A property of a measured trace, required on real GPUs alone, since emulated ones share few cores.
  Check seen(std::string description, bool holds) const;
  /// Adds a check, on real GPUs with the full sizes: the row's time is within 10 % of the prediction.
  void checkPrediction(Row& row) const;
  /// Session::deviceReport, over all sessions.
  const std::vector<std::string>& deviceReport() const { return deviceReport_; }
  Gpus gpusUsed() const { return gpusUsed_; }

 private:
  void noteDevices(const Prepared& prepared);
  void useTimes();
  Result<Executable> plan(const Graph& graph, const Machine& machine, CompileOptions options);
  BenchOptions options_;
  OwnTimes times_;
  std::shared_ptr<const CostModel> cost_; ///< of all plans
  Report& report_;
  Sizes sizes_;
  std::vector<std::string> gpus_, deviceReport_;
  bool realGpus_ = false;
  Gpus gpusUsed_ = Gpus::None;
};

/// Times steps of an open session. Returns seconds of one step, a number a sample.
std::vector<double> sampleSteps(const Prepared& prepared, const Sampling& sampling);
Spread timeSteps(const Prepared& prepared, const Sampling& sampling);
/// Puts the time of the steps into the row, with the plan's prediction and lower bound.
void measureSteps(const Prepared& prepared, const Sampling& sampling, Row& row);
/// A check of the row's time against `seconds`.
Check against(const Row& row, std::string description, double seconds, std::optional<double> atMost = {});

} // namespace dfc::bench
