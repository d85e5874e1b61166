// What comes out of `dfc run`: scalars watched over the steps, arrays saved as NumPy files, small ones shown.
#pragma once

#include "ir/plan/executable_parts.h"
#include "tools/dfc/io/feeds.h"
#include "tools/dfc/io/output_files.h"

namespace dfc::tool {

/// The fetches of a graph by name.
std::vector<std::string> fetchNames(const Graph& graph);

/// What became of files that were to be written.
struct WrittenFiles {
  std::vector<std::string> paths, lost;
  Diagnostics refused; ///< no such file can hold the value: the author's mistake
  Diagnostics failed;  ///< the file system's errors, in places that were writable before the run
  void add(const std::string& path, const Status& written);
};

/// The fetches that the user asked for by --fetch, checked before the steps begin.
class FetchFiles {
 public:
  /// `arguments`: "NAME=FILE.npy", "NAME=FILE.npz" (several names may share one), or "NAME" to print.
  static Result<FetchFiles> parse(const std::vector<std::string>& arguments, const Graph& graph);
  /// The files that the arguments of `option` name, to be checked before the graph is even read.
  static void addOutputs(const std::string& option, const std::vector<std::string>& arguments,
                         OutputFiles& files);
  /// The fetches that are named, each once.
  std::vector<std::string> names() const;
  /// Writes every file, also after one that failed.
  WrittenFiles write(const NamedLiterals& results) const;
  bool prints(const std::string& name) const;
  bool names(const std::string& name) const; ///< to print or to save

 private:
  struct Wish {
    std::string name, path; ///< no path: print
  };
  std::vector<Wish> wishes_;
};

/// Scalars from step to step.
class ScalarWatch {
 public:
  /// `begun` steps were run before.
  explicit ScalarWatch(int64_t stepsPerEpoch, int64_t begun = 0)
      : stepsPerEpoch_(stepsPerEpoch), steps_(begun) {}
  void add(const NamedLiterals& results);
  /// Mean over the steps of the current (or, right after its last step, of the ended) epoch.
  struct Row {
    double last = 0, sum = 0;
    int64_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
  };
  const std::map<std::string, Row>& rows() const { return rows_; }
  bool atEndOfEpoch() const { return steps_ % stepsPerEpoch_ == 0; }
  int64_t epoch() const { return (steps_ + stepsPerEpoch_ - 1) / stepsPerEpoch_; }
  /// "loss 0.532, accuracy 0.81": last values, or means.
  std::string text(bool means) const;

 private:
  int64_t stepsPerEpoch_;
  int64_t steps_;
  std::map<std::string, Row> rows_;
};

/// "f32[2, 3] = 1 2 3 4 5 6", the middle of a long one left out.
std::string shortText(const Literal& value);

/// A number as JSON; "nan", "inf" and "-inf" stand for what JSON has no word for.
std::string realJson(double value);

/// {"type", "shape", and of small ones "values"} as a JSON object.
std::string literalJson(const Literal& value);

} // namespace dfc::tool
