// The names of the benchmarks: one table of experiments/experiments.def and cost/costs.def.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <string>
#include <string_view>

namespace dfc::bench {

struct BenchmarkName {
  std::string_view name;  ///< the beginning of its rows' keys: "mlp_training"
  std::string_view book;  ///< the book's number, "B3"; "" where the book has no such experiment
  std::string_view title; ///< for people
  bool cost = false;      ///< a row of the cost table, not an experiment
};
/// The experiments, then the cost table.
llvm::ArrayRef<BenchmarkName> benchmarkNames();

/// The book's number of the benchmark that has the row `key`; "" without one.
std::string_view bookNumberOf(std::string_view key);

/// Whether `pattern`, as --only takes them, selects the row `key`: the glob matches the key, its beginning up
/// to a '/', or the book's number.
bool selects(const std::string& pattern, const std::string& key);
/// Whether it selects some row whose key begins with `key` and a '/'.
bool selectsInside(const std::string& pattern, const std::string& key);

/// The table for people: a line a benchmark, with name, book's number and title.
std::string listOfBenchmarks();

} // namespace dfc::bench
