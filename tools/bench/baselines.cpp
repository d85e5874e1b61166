#include "tools/bench/baselines.h"

#include "runtime/executable_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace dfc::bench {
namespace {

using Json = nlohmann::json;

std::vector<std::string> wordsOf(const BaselineProgram& program, const BaselineOptions& options,
                                 const std::vector<std::string>& keys, bool quick) {
  std::vector<std::string> words = {program.executable.empty() ? options.python : program.executable};
  if (program.processes > 1) {
    words.insert(words.end(), {"-m", "torch.distributed.run", "--standalone",
                               fmt::format("--nproc_per_node={}", program.processes)});
  }
  if (program.executable.empty()) {
    words.push_back((std::filesystem::path(options.scripts) / program.file).string());
  }
  words.insert(words.end(), {"--keys", fmt::format("{}", fmt::join(keys, ","))});
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  if (quick) {
    words.emplace_back("--quick");
  }
  return words;
}

std::string textAt(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> numberAt(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// A line of a program's output as a row; none where the line is no result.
std::optional<Row> rowOf(const std::string& line) {
  const Json result = Json::parse(line, nullptr, false);
  if (!result.is_object() || textAt(result, "key").empty() || textAt(result, "program").empty()) {
    return std::nullopt;
  }
  Row row;
  row.key = textAt(result, "key");
  row.program = textAt(result, "program");
  row.reason = textAt(result, "error");
  row.bytes = numberAt(result, "bytes");
  const auto median = numberAt(result, "seconds");
  if (median && *median > 0) {
    row.time = Spread{*median, numberAt(result, "least").value_or(*median),
                      numberAt(result, "most").value_or(*median),
                      static_cast<uint32_t>(numberAt(result, "samples").value_or(1))};
  }
  return row;
}

std::string lastLineOf(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    last = line.find_first_not_of(" \t") == std::string::npos ? last : line;
  }
  return last.substr(0, 300);
}

std::string reasonWithoutResult(const ProcessOutcome& outcome, const BaselineOptions& options) {
  if (outcome.timedOut) {
    return fmt::format("took more than {:.0f} s", options.limitSeconds);
  }
  const std::string last = lastLineOf(outcome.err);
  return fmt::format("ended with status {}{}{}", outcome.status, last.empty() ? "" : ": ", last);
}

/// Adds one row for all keys without a result: they share one reason.
void addMissing(const Harness& harness, const BaselineProgram& program, const std::vector<std::string>& keys,
                const std::vector<std::string>& measured, const std::string& reason) {
  std::vector<std::string> missing;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(missing), [&](const std::string& key) {
    return std::find(measured.begin(), measured.end(), key) == measured.end();
  });
  if (missing.empty()) {
    return;
  }
  Row row;
  row.key = missing.front();
  row.program = program.file;
  row.description = missing.size() == 1 ? "" : fmt::format("and {} more", missing.size() - 1);
  row.reason = reason;
  harness.report().add(std::move(row));
}

/// The key under which baselines do the work of the row `key` of dfc.
std::string baselineKey(const std::string& key) {
  constexpr std::string_view exchange = "mlp_training/2gpu-exchange/";
  if (key.starts_with(exchange)) {
    return "mlp_training/2gpu/" + key.substr(exchange.size());
  }
  return key.starts_with("independent_adds/") || key.starts_with("dependent_adds/") ? "dependent_adds" : key;
}

/// The limit of a training step of GPT-2 or a ResNet. One short window leaves a GPU waiting for launches.
double mostOfLesson(const std::string& key) {
  const bool narrowImages = key.starts_with("resnet_training/") && key.find("/bf16/") != std::string::npos;
  return narrowImages ? 1.0 : key.ends_with("/1x128") ? 0.9 : 0.95;
}

/// The largest ratio, time of dfc over that of its fastest baseline, that the row `key` may have; none where
/// the ratio is only shown.
std::optional<double> mostOfBaseline(const Harness& harness, const std::string& key) {
  if (key.starts_with("mlp_training/1gpu/")) {
    return 0.95;
  }
  if (key.starts_with("mlp_training/2gpu")) {
    return key.ends_with(fmt::format("/{}", harness.sizes().largestBatch)) ? std::optional(0.95)
                                                                           : std::nullopt;
  }
  if (key.starts_with("update_on_cpu/mlp/")) {
    return 0.5;
  }
  if (key.starts_with("gpt_decode/")) {
    return 0.9;
  }
  if (key.starts_with("gpt_training/") || key.starts_with("resnet_training/")) {
    return mostOfLesson(key);
  }
  if (key.starts_with("gpt_on_gpus/")) {
    return 0.95;
  }
  return key.starts_with("dependent_adds") || key.starts_with("dense_backward/") ? std::optional(1.0)
         : key.starts_with("independent_adds/")                                  ? std::optional(0.35)
                                                                                 : std::nullopt;
}

/// Whether `row` is the fastest of the rows that do its work in different ways and have its requirement.
bool isFastestOfItsKind(const Harness& harness, const Row& row) {
  return std::none_of(harness.report().rows().begin(), harness.report().rows().end(), [&](const Row& other) {
    return other.program == "dfc" && other.time && baselineKey(other.key) == baselineKey(row.key) &&
           mostOfBaseline(harness, other.key) == mostOfBaseline(harness, row.key) &&
           other.time->median < row.time->median;
  });
}

/// The requirement of the row; none where a faster row of dfc does the same work.
std::optional<double> requirementOf(const Harness& harness, const Row& row) {
  const auto most = isFastestOfItsKind(harness, row) ? mostOfBaseline(harness, row.key) : std::nullopt;
  return most ? harness.required(*most) : std::nullopt;
}

/// Adds a row for each result in the program's output, and one for the keys without a result.
void addResults(const Harness& harness, const BaselineProgram& program, const BaselineOptions& options,
                const Result<ProcessOutcome>& outcome) {
  if (!outcome) {
    return addMissing(harness, program, program.keys, {}, outcome.errors().front().message);
  }
  std::vector<std::string> measured;
  std::istringstream lines(outcome->out);
  for (std::string line; std::getline(lines, line);) {
    if (auto row = rowOf(line)) {
      measured.push_back(row->key);
      harness.report().add(*std::move(row));
    }
  }
  addMissing(harness, program, program.keys, measured, reasonWithoutResult(*outcome, options));
}

} // namespace

void runBaseline(const Harness& harness, const BaselineProgram& program, const BaselineOptions& options) {
  if (!program.keys.empty()) {
    addResults(harness, program, options,
               runProcess(wordsOf(program, options, program.keys, harness.quick()), options.limitSeconds));
  }
}

InterleavedBaseline::InterleavedBaseline(const Harness& harness, BaselineProgram program,
                                         const BaselineOptions& options)
    : harness_(harness), program_(std::move(program)), options_(options),
      process_(RunningProcess::start(wordsOf(program_, options, program_.keys, harness.quick()),
                                     options.limitSeconds)),
      alive_(process_.ok() && (*process_)->awaitLine("ready")) {}

void InterleavedBaseline::sample() {
  if (alive_) {
    (*process_)->say("sample");
    alive_ = (*process_)->awaitLine("sampled");
  }
}

void InterleavedBaseline::finish() {
  addResults(harness_, program_, options_,
             process_ ? Result<ProcessOutcome>((*process_)->finish()) : process_.errors());
}

void runInstalledBaseline(const Harness& harness, BaselineProgram program, const BaselineOptions& options,
                          const MissingExecutable& missing) {
  program.file = program.executable;
  program.executable = (executableFolder() / program.file).string();
  if (const uint32_t asked = harness.requested({0, 0, 0}, {0, 0, 0}).samples; asked > 0) {
    program.arguments.insert(program.arguments.end(), {"--samples", fmt::format("{}", asked)});
  }
  if (std::error_code ignored; std::filesystem::exists(program.executable, ignored)) {
    runBaseline(harness, program, options);
  } else if (!program.keys.empty()) {
    harness.attempt(missing.key, missing.description, [&](Row&) -> Status {
      return errorWithoutPlace(fmt::format("not installed: {} is not beside dfc", program.file));
    });
  }
}

std::vector<const Row*> baselinesAt(const Report& report, const std::string& key) {
  std::vector<const Row*> baselines;
  for (const Row& other : report.rows()) {
    if (other.program != "dfc" && other.time && other.key == key) {
      baselines.push_back(&other);
    }
  }
  std::sort(baselines.begin(), baselines.end(),
            [](const Row* a, const Row* b) { return a->time->median < b->time->median; });
  return baselines;
}

void holdAgainstBaselines(const Report& report, const std::string& key, std::optional<double> mostOfFastest,
                          Row& row) {
  for (const Row* baseline : baselinesAt(report, key)) {
    row.checks.push_back(against(row, baseline->program, baseline->time->median, mostOfFastest));
    mostOfFastest.reset();
  }
}

void holdAgainstBaselines(const Harness& harness) {
  for (Row& row : harness.report().rows()) {
    if (row.program == "dfc" && row.time) {
      holdAgainstBaselines(harness.report(), baselineKey(row.key), requirementOf(harness, row), row);
    }
  }
}

} // namespace dfc::bench
