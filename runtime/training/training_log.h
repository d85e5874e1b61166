// The log of a training: a CSV file with a row for each step, "step,epoch,loss,…,eval.loss,…". Scalars of the
// step, and behind them the means of an evaluation where the step was followed by one. Equal trainings write
// equal bytes, interrupted or not: there are no times in it.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/draw/learning_curve.h"
#include "ir/graph/literal.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace DFC_PUBLIC dfc {

/// Means of an evaluation, by fetch.
using EvaluatedMeans = std::map<std::string, double>;

/// See the top of this file.
class TrainingLog {
 public:
  /// The columns behind "step" and "epoch".
  struct Columns {
    std::vector<std::string> fetches;   ///< scalars of a step
    std::vector<std::string> evaluated; ///< scalars of an evaluation; their columns begin with "eval."
  };
  /// Begins the file anew where `step` is 0. Else its rows up to that step stay, later ones are taken away
  /// (they were written after the checkpoint), and what is added goes behind them; a file that is not there
  /// begins with the next row. Errors: a file with other columns, one that cannot be written.
  static Result<TrainingLog> open(const std::string& path, Columns columns, int64_t step);

  /// A row for `step` (steps run, so from 1) in `epoch` (from 1).
  void add(int64_t step, int64_t epoch, const NamedLiterals& results);
  /// Completes the row that was added last.
  void addEvaluation(const EvaluatedMeans& means);
  /// Hands all rows to the system.
  Status flush();

 private:
  TrainingLog(std::string path, Columns columns) : path_(std::move(path)), columns_(std::move(columns)) {}
  void endRow(const EvaluatedMeans& means);
  std::string path_;
  Columns columns_;
  std::ofstream file_;
  bool rowIsOpen_ = false; // its evaluation may follow
};

/// The curves of a log, or of any CSV file of numbers: over its column "step", or else over the rows'
/// numbers; "epoch" is left out, and so are empty cells.
Result<LearningCurve> readLearningCurve(const std::string& path);

} // namespace dfc
