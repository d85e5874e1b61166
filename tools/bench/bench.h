// The three suites of `dfc-bench`, and the file that keeps results.
#pragma once

#include "tools/bench/baselines.h"

namespace dfc::bench {

/// Runs the experiments that `options.only` selects and adds their rows. A machine failure inside an
/// experiment becomes its row; others are thrown.
Setting runExperiments(BenchOptions options, Report& report);

/// Runs the experiments that have baselines, each after its baselines, and holds the rows of dfc against
/// them.
Setting runWithBaselines(BenchOptions options, const BaselineOptions& baselines, Report& report);

/// The cost table (cost/costs.def): the cost of dfc itself, beside its baselines.
Setting runCosts(BenchOptions options, const BaselineOptions& baselines, Report& report);

/// Whether `mergeResult` could write to that file: to be checked before a long run.
Status checkResults(const std::string& path);

/// Appends the JSON object `result` of a run to the array in the file `path`, which is made where there is
/// none, and removes from earlier runs of the same host every row that it measured anew (same key and
/// program; a row without a measurement: same key). Runs without rows are removed. So the file holds the
/// newest measurement of every row, in an object with the version (`git`) and date of its run. Same host:
/// equal `cpu`, `threads`, `gpus`, `quick` and models of the GPUs used. Written atomically. Error: a file
/// that holds no JSON array.
Status mergeResult(const std::string& path, const std::string& result);

} // namespace dfc::bench
