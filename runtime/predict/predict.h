// predict: inference on a data set. One pass over the rows, in their order, in batches of the plan's size;
// the results of all batches are concatenated along the first axis:
//
//   const NamedLiterals found = predict(*session, {{"images", images}}).orThrow(); // images f32[10000, 784]
//   found.at("probs")                                                              // f32[10000, 10]
//
// A last batch that is not full is filled up with copies of the last row, and what comes of them is cut off:
// so the result of a row must not depend on the batch's other rows.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace DFC_PUBLIC dfc {

class Session;

/// A pass over a data set, as `predict` runs it.
struct DataPass {
  /// What step 0, 1, … is fed; the rows of the last one that are beyond the data set count for nothing.
  std::function<NamedLiterals(int64_t step)> feeds = {};
  /// Rows of the data set. 0: the data feed a single step, and its results are returned unchanged.
  int64_t rows = 0;
  /// Rows that a step takes: the first axis of the fetches. 0: a step takes one entry, without an axis that
  /// counts it, and the results are stacked along a new first axis.
  int64_t batch = 0;
  /// Called after each step, with the number of steps that have ended; false ends the pass, which then gives
  /// the rows so far.
  std::function<bool(int64_t step)> afterStep = {};

  /// Steps of the pass.
  int64_t steps() const;
};

/// Fetches of a plan by name and type, in its order.
using NamedTypes = std::vector<std::pair<std::string, TensorType>>;

/// The fetches that a pass can join: all where `wanted` is empty and they have the batch axis. Errors, all at
/// once: names of no fetch, fetches whose first axis is not the batch's, and none that could be joined.
Result<std::vector<std::string>> joinableFetches(const NamedTypes& fetches, const DataPass& pass,
                                                 const std::vector<std::string>& wanted);

/// Runs the pass and joins the fetches of `joinableFetches`. Errors: its own, a plan whose steps change
/// parameters of floats (it would train on the data), and feeds that do not fit. Throws as Session does.
Result<NamedLiterals> predict(Session& session, const DataPass& pass,
                              const std::vector<std::string>& fetches = {});

/// The same for arrays by the inputs' names. Each has the rows of the data set where its input has those of
/// a batch, or one more axis in front where the plan takes one entry a step, or exactly the input's shape:
/// then it is fed at every step. An array of exactly the input's shape whose first axis is as long as a batch
/// has that many rows, and is refused where the others have more, unless `everyStep` names its input. Element
/// types are converted where nothing is lost but floats' last digits. Errors: labels and indices out of range
/// in any row, before the first step (SessionOptions::checkIndices). `afterStep` is that of DataPass.
Result<NamedLiterals> predict(Session& session, const NamedLiterals& data,
                              const std::vector<std::string>& fetches = {},
                              std::function<bool(int64_t step)> afterStep = {},
                              const std::vector<std::string>& everyStep = {});

} // namespace dfc
