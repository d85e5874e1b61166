// Numbers as the shortest text that reads back the same bits.
#include "runtime/training/training_state.h"

#include "runtime/checkpoint.h"
#include "runtime/files/safetensors.h"

#include <fmt/format.h>

#include <zlib.h>

#include <charconv>

namespace dfc {
namespace {

constexpr const char* stepKey = "dfc.step";
constexpr const char* stepsPerEpochKey = "dfc.stepsPerEpoch";
constexpr const char* seedKey = "dfc.shuffleSeed";
constexpr const char* bestValueKey = "dfc.bestValue";
constexpr const char* bestStepKey = "dfc.bestStep";
constexpr const char* checksumKey = "dfc.crc32";

/// Of the parameters' names and bytes: a bit that a disk or a copy has turned would else be trained on.
std::string checksumOf(const NamedLiterals& parameters) {
  uLong sum = crc32_z(0, nullptr, 0);
  for (const auto& [name, value] : parameters) {
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(name.data()), name.size());
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(value.bytes().data()), value.bytes().size());
  }
  return fmt::format("{:08x}", sum);
}

/// Checkpoints of other programs, and those of before there was one, have no checksum.
Diagnostics checksumFaults(const SafetensorsFile& file, const std::string& path) {
  const auto stored = file.texts.find(checksumKey);
  if (stored == file.texts.end() || stored->second == checksumOf(file.tensors)) {
    return {};
  }
  return {
      {Severity::Error,
       {path},
       "its parameters are not those that were saved: their checksum differs",
       "the file is damaged: resume from another copy of it or from an earlier checkpoint; after a change "
       "that was meant, start from its parameters alone (--state, loadState)"}};
}

SafetensorsTexts textsOf(const TrainingState& state, const NamedLiterals& parameters) {
  SafetensorsTexts texts{{stepKey, fmt::format("{}", state.step)},
                         {stepsPerEpochKey, fmt::format("{}", state.stepsPerEpoch)},
                         {checksumKey, checksumOf(parameters)}};
  if (state.shuffleSeed) {
    texts.emplace(seedKey, fmt::format("{}", *state.shuffleSeed));
  }
  if (state.best) {
    texts.emplace(bestValueKey, fmt::format("{}", state.best->value));
    texts.emplace(bestStepKey, fmt::format("{}", state.best->step));
  }
  return texts;
}

/// Reads the numbers of a file's texts; complains of those that are none.
class Numbers {
 public:
  Numbers(const SafetensorsTexts& texts, std::string file) : texts_(texts), file_(std::move(file)) {}

  bool has(const char* key) const { return texts_.count(key) > 0; }

  template <class T>
  T at(const char* key, T least) {
    const auto found = texts_.find(key);
    const std::string text = found == texts_.end() ? "" : found->second;
    T number = {};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || end != text.data() + text.size() || !(number >= least)) {
      complain(fmt::format("its '{}' is '{}', which is no such number", key, text),
               "the file is damaged: resume from another");
    }
    return number;
  }

  void complain(std::string message, std::string hint) {
    errors_.push_back({Severity::Error, {file_}, std::move(message), std::move(hint)});
  }
  const Diagnostics& errors() const { return errors_; }

 private:
  const SafetensorsTexts& texts_;
  std::string file_;
  Diagnostics errors_;
};

TrainingState stateOf(Numbers& numbers) {
  TrainingState state;
  if (!numbers.has(stepKey)) {
    numbers.complain(
        "holds parameters, but not the step of a training",
        "start from its parameters (--state, loadState), or resume from what --checkpoint wrote");
    return state;
  }
  state.step = numbers.at<int64_t>(stepKey, 0);
  state.stepsPerEpoch = numbers.at<int64_t>(stepsPerEpochKey, 1);
  if (numbers.has(seedKey)) {
    state.shuffleSeed = numbers.at<uint64_t>(seedKey, 0);
  }
  if (numbers.has(bestValueKey)) {
    state.best = BestValue{numbers.at<double>(bestValueKey, -std::numeric_limits<double>::infinity()),
                           numbers.at<int64_t>(bestStepKey, 0)};
  }
  return state;
}

} // namespace

Status saveTraining(const NamedLiterals& parameters, const TrainingState& state, const std::string& path) {
  return writeSafetensors(path, parameters, textsOf(state, parameters));
}

Status saveTraining(Session& session, const TrainingState& state, const std::string& path) {
  return saveTraining(session.state(), state, path);
}

Result<TrainingState> loadTraining(Session& session, const std::string& path) {
  const auto file = readSafetensorsFile(path);
  if (!file) {
    return file.errors();
  }
  Numbers numbers(file->texts, path);
  const TrainingState state = stateOf(numbers);
  if (!numbers.errors().empty()) {
    return numbers.errors();
  }
  if (Diagnostics errors = checksumFaults(*file, path); !errors.empty()) {
    return errors;
  }
  if (const Status set = setWholeState(session, file->tensors, path); !set) {
    return set.errors();
  }
  return state;
}

} // namespace dfc
