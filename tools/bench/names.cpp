#include "tools/bench/names.h"

#include "ir/base/glob.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

constexpr BenchmarkName names[] = {
#define DFC_EXPERIMENT(function, name, book, title) {name, book, title, false},
#include "tools/bench/experiments/experiments.def"
#undef DFC_EXPERIMENT
#define DFC_COST(function, name, title) {name, "", title, true},
#include "tools/bench/cost/costs.def"
#undef DFC_COST
};

bool isOf(const BenchmarkName& benchmark, std::string_view key) {
  return key.starts_with(benchmark.name) &&
         (key.size() == benchmark.name.size() || key[benchmark.name.size()] == '/');
}

} // namespace

llvm::ArrayRef<BenchmarkName> benchmarkNames() { return names; }

std::string_view bookNumberOf(std::string_view key) {
  for (const BenchmarkName& benchmark : names) {
    if (isOf(benchmark, key)) {
      return benchmark.book;
    }
  }
  return "";
}

bool selects(const std::string& pattern, const std::string& key) {
  const std::string book(bookNumberOf(key));
  return globMatches(pattern, key) || globMatches(pattern + "/*", key) ||
         (!book.empty() && globMatches(pattern, book));
}

bool selectsInside(const std::string& pattern, const std::string& key) {
  return pattern.starts_with(key + "/");
}

std::string listOfBenchmarks() {
  std::string text = fmt::format("{:<24}{:<6}{}\n", "benchmark", "book", "title");
  for (const bool cost : {true, false}) {
    text += cost ? "dfc-bench cost\n" : "dfc-bench experiments\n";
    for (const BenchmarkName& benchmark : names) {
      if (benchmark.cost == cost) {
        text += fmt::format("  {:<22}{:<6}{}\n", benchmark.name, benchmark.book, benchmark.title);
      }
    }
  }
  return text;
}

} // namespace dfc::bench
