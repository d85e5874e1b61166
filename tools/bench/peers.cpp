#include "tools/bench/peers.h"

#include "runtime/executable_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace dfc::bench {
namespace {

using Json = nlohmann::json;

std::vector<std::string> wordsOf(const PeerScript& script, const PeerOptions& options,
                                 const std::vector<std::string>& keys, bool quick) {
  std::vector<std::string> words = {script.program.empty() ? options.python : script.program};
  if (script.processPerGpu) {
    words.insert(words.end(), {"-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"});
  }
  if (script.program.empty()) {
    words.push_back((std::filesystem::path(options.scripts) / script.file).string());
  }
  words.insert(words.end(), {"--keys", fmt::format("{}", fmt::join(keys, ","))});
  words.insert(words.end(), script.arguments.begin(), script.arguments.end());
  if (quick) {
    words.emplace_back("--quick");
  }
  return words;
}

std::string textAt(const Json& answer, const char* name) {
  const auto found = answer.find(name);
  return found != answer.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> numberAt(const Json& answer, const char* name) {
  const auto found = answer.find(name);
  return found != answer.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// A line of a script's output as a row; none where it is no answer.
std::optional<Row> rowOf(const std::string& line) {
  const Json answer = Json::parse(line, nullptr, false);
  if (!answer.is_object() || textAt(answer, "key").empty() || textAt(answer, "who").empty()) {
    return std::nullopt;
  }
  Row row;
  row.key = textAt(answer, "key");
  row.who = textAt(answer, "who");
  row.why = textAt(answer, "error");
  const auto median = numberAt(answer, "seconds");
  if (median && *median > 0) {
    row.time = Spread{*median, numberAt(answer, "least").value_or(*median),
                      numberAt(answer, "most").value_or(*median),
                      static_cast<uint32_t>(numberAt(answer, "samples").value_or(1))};
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

std::string whyNoAnswer(const ProcessOutcome& outcome, const PeerOptions& options) {
  if (outcome.timedOut) {
    return fmt::format("took more than {:.0f} s", options.limitSeconds);
  }
  const std::string last = lastLineOf(outcome.err);
  return fmt::format("ended with status {}{}{}", outcome.status, last.empty() ? "" : ": ", last);
}

/// One row for all the keys without an answer: they have one reason.
void addMissing(const Stage& stage, const PeerScript& script, const std::vector<std::string>& keys,
                const std::vector<std::string>& answered, const std::string& why) {
  std::vector<std::string> missing;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(missing), [&](const std::string& key) {
    return std::find(answered.begin(), answered.end(), key) == answered.end();
  });
  if (missing.empty()) {
    return;
  }
  Row row;
  row.key = missing.front();
  row.who = script.file;
  row.what = missing.size() == 1 ? "" : fmt::format("and {} more", missing.size() - 1);
  row.why = why;
  stage.report().add(std::move(row));
}

/// The key under which peers do the work of our row `key`.
std::string peerKey(const std::string& key) {
  constexpr std::string_view exchange = "B3/2gpu-exchange/";
  if (key.starts_with(exchange)) {
    return "B3/2gpu/" + key.substr(exchange.size());
  }
  return key.starts_with("B2/independent/") || key.starts_with("B2/dependent/") ? "B2/dependent" : key;
}

/// Issue 3, "What must show": 3, 4, 5 and 6; and that no product is better ended by cuBLASLt.
std::optional<double> mostOfPeer(const Stage& stage, const std::string& key) {
  if (key.starts_with("B3/1gpu/")) {
    return 0.95;
  }
  if (key.starts_with("B3/2gpu")) {
    return key.ends_with(fmt::format("/{}", stage.sizes().largestBatch)) ? std::optional(0.95) : std::nullopt;
  }
  if (key.starts_with("A4/net/")) {
    return 0.5;
  }
  return key.starts_with("B2/dependent") || key.starts_with("K2/") ? std::optional(1.0)
         : key.starts_with("B2/independent/")                      ? std::optional(0.35)
                                                                   : std::nullopt;
}

/// Rows that do one work in different ways have the same peers and the same requirement.
bool isFastestOfItsKind(const Stage& stage, const Row& row) {
  return std::none_of(stage.report().rows().begin(), stage.report().rows().end(), [&](const Row& other) {
    return other.who == "dfc" && other.time && peerKey(other.key) == peerKey(row.key) &&
           mostOfPeer(stage, other.key) == mostOfPeer(stage, row.key) &&
           other.time->median < row.time->median;
  });
}

/// What the row must be of its fastest peer; nothing where another of ours answers for the same work.
std::optional<double> requirementOf(const Stage& stage, const Row& row) {
  const auto most = isFastestOfItsKind(stage, row) ? mostOfPeer(stage, row.key) : std::nullopt;
  return most ? stage.required(*most) : std::nullopt;
}

/// Adds the rows that a script's answers are, and one for the keys without.
void addAnswers(const Stage& stage, const PeerScript& script, const PeerOptions& options,
                const Result<ProcessOutcome>& outcome) {
  if (!outcome) {
    return addMissing(stage, script, script.keys, {}, outcome.errors().front().message);
  }
  std::vector<std::string> answered;
  std::istringstream lines(outcome->out);
  for (std::string line; std::getline(lines, line);) {
    if (auto row = rowOf(line)) {
      answered.push_back(row->key);
      stage.report().add(*std::move(row));
    }
  }
  addMissing(stage, script, script.keys, answered, whyNoAnswer(*outcome, options));
}

} // namespace

void runPeer(const Stage& stage, const PeerScript& script, const PeerOptions& options) {
  if (!script.keys.empty()) {
    addAnswers(stage, script, options,
               runProcess(wordsOf(script, options, script.keys, stage.quick()), options.limitSeconds));
  }
}

PeerInTurn::PeerInTurn(const Stage& stage, PeerScript script, const PeerOptions& options)
    : stage_(stage), script_(std::move(script)), options_(options),
      process_(RunningProcess::start(wordsOf(script_, options, script_.keys, stage.quick()),
                                     options.limitSeconds)),
      answers_(process_.ok() && (*process_)->awaitLine("ready")) {}

void PeerInTurn::sample() {
  if (answers_) {
    (*process_)->say("sample");
    answers_ = (*process_)->awaitLine("sampled");
  }
}

void PeerInTurn::finish() {
  addAnswers(stage_, script_, options_,
             process_ ? Result<ProcessOutcome>((*process_)->finish()) : process_.errors());
}

void runProgramBeside(const Stage& stage, PeerScript script, const PeerOptions& options,
                      const WithoutProgram& without) {
  script.file = script.program;
  script.program = (executableFolder() / script.file).string();
  if (const uint32_t asked = stage.asAsked({0, 0, 0}, {0, 0, 0}).samples; asked > 0) {
    script.arguments.insert(script.arguments.end(), {"--samples", fmt::format("{}", asked)});
  }
  if (std::error_code ignored; std::filesystem::exists(script.program, ignored)) {
    runPeer(stage, script, options);
  } else if (!script.keys.empty()) {
    stage.attempt(without.key, without.what, [&](Row&) -> Status {
      return errorWithoutPlace(fmt::format("not installed: {} is not beside dfc", script.file));
    });
  }
}

std::vector<const Row*> peersAt(const Report& report, const std::string& key) {
  std::vector<const Row*> peers;
  for (const Row& other : report.rows()) {
    if (other.who != "dfc" && other.time && other.key == key) {
      peers.push_back(&other);
    }
  }
  std::sort(peers.begin(), peers.end(),
            [](const Row* a, const Row* b) { return a->time->median < b->time->median; });
  return peers;
}

void holdAgainstPeers(const Report& report, const std::string& key, std::optional<double> mostOfFastest,
                      Row& row) {
  for (const Row* peer : peersAt(report, key)) {
    row.checks.push_back(against(row, peer->who, peer->time->median, mostOfFastest));
    mostOfFastest.reset();
  }
}

void holdAgainstPeers(const Stage& stage) {
  for (Row& row : stage.report().rows()) {
    if (row.who == "dfc" && row.time) {
      holdAgainstPeers(stage.report(), peerKey(row.key), requirementOf(stage, row), row);
    }
  }
}

} // namespace dfc::bench
