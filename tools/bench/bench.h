// The benchmarks as `dfc-bench` runs them.
#pragma once

#include "tools/bench/peers.h"

namespace dfc::bench {

/// Runs the experiments that `options.only` asks for and adds their rows. Machine failures of one experiment
/// become its row; those outside of experiments are thrown.
Setting runExperiments(BenchOptions options, Report& report);

/// The experiments that have peers, each right after its peers' scripts, and every row of ours held against
/// theirs.
Setting runWithPeers(BenchOptions options, const PeerOptions& peers, Report& report);

/// What dfc itself costs, beside its peers (cost/costs.def).
Setting runCosts(BenchOptions options, const PeerOptions& peers, Report& report);

/// Whether `keepResult` could add to that file: to be asked before a long run.
Status checkResults(const std::string& path);

/// Adds the JSON object `result` to the array in the file `path`, which is made where there is none. Written
/// atomically. Error: a file that holds no JSON array.
Status keepResult(const std::string& path, const std::string& result);

} // namespace dfc::bench
