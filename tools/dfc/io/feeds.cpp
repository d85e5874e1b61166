#include "tools/dfc/io/feeds.h"

#include "runtime/data/array_source.h"
#include "runtime/data/byte_rows.h"
#include "runtime/data/convert_elements.h"
#include "runtime/data/shuffle.h"
#include "runtime/indices/fed_indices.h"
#include "tools/dfc/all_errors.h"
#include "tools/dfc/console.h"
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/planning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace dfc::tool {
namespace {

std::map<std::string, TensorType> inputsOf(const Graph& graph) {
  std::map<std::string, TensorType> inputs;
  for (const NamedType& input : graph.inputs()) {
    inputs.emplace(input.name, input.type);
  }
  return inputs;
}

Diagnostic wrongFeed(const std::string& place, std::string message, std::string hint) {
  return {Severity::Error, {place}, std::move(message), std::move(hint)};
}

std::string batchesText(int64_t count) { return fmt::format("{} batch{}", count, count == 1 ? "" : "es"); }

std::string fewRowsHint(int64_t rows, int64_t batch) {
  const std::string smaller =
      rows > 0 ? fmt::format(", or declare the input with a batch of at most {}", rows) : "";
  return fmt::format("give it {} rows or more{}", batch, smaller);
}

/// The element type and the shape at once: who mends one should not meet the other after it.
Diagnostic wrongType(const std::string& name, const TensorType& input, const TensorType& data, bool shapeFits,
                     const std::string& place) {
  const bool few = tooFewRows(data.shape, input.shape);
  const int64_t rows = few ? data.shape[0] : 0;
  std::string message = fmt::format("holds {}, but input '{}' is {}", toString(data), name, toString(input));
  message +=
      few ? fmt::format(": it has {}, too few for one batch of {}", counted(rows, "row"), input.shape[0])
          : "";
  std::string hint;
  if (!convertsTo(input.element, data.element)) {
    hint = conversionHint(input.element, data.element);
  }
  if (!shapeFits) {
    hint += hint.empty() ? "" : "; and ";
    hint +=
        few ? fewRowsHint(rows, input.shape[0])
            : "give it the input's shape, or more rows of that shape: a batch of them is fed at each step";
  }
  return wrongFeed(place, std::move(message), std::move(hint));
}

TensorType withFirst(const TensorType& type, int64_t first) {
  Dims dims(type.shape.dims().begin(), type.shape.dims().end());
  dims[0] = first;
  return {type.element, Shape(dims)};
}

} // namespace

Result<Feeds> Feeds::load(const std::vector<std::string>& arguments, const Graph& graph,
                          std::optional<uint64_t> seed, const std::string& option, LastBatch last,
                          OutOfRange indices) {
  Feeds feeds;
  feeds.indices_ = indices;
  feeds.last_ = last;
  feeds.option_ = option;
  feeds.seed_ = seed;
  Diagnostics errors;
  for (const std::string& argument : arguments) {
    feeds.fit(argument, graph, errors);
  }
  tellSwapped(feeds.misfits_, option, errors);
  std::set<std::string> given;
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!given.insert(name).second) {
      errors.push_back(errorWithoutPlace(fmt::format("input '{}' is fed twice", name),
                                         fmt::format("leave one {} out", option)));
    }
  }
  for (const auto& [name, type] : inputsOf(graph)) {
    if (given.count(name) == 0) {
      errors.push_back(errorWithoutPlace(
          fmt::format("input '{}' ({}) is not fed", name, toString(type)),
          fmt::format("add {} {}={}", option, name, type.shape.rank() == 0 ? "NUMBER" : "FILE.npy")));
    }
  }
  feeds.checkBatches(errors);
  feeds.checkSingleBatches(errors);
  if (!feeds.rounded_.empty()) {
    feeds.notes_.push_back(fmt::format("{}: numbers are rounded to the element type of the input",
                                       fmt::join(feeds.rounded_, ", ")));
  }
  if (!errors.empty()) {
    return errors;
  }
  return feeds;
}

void Feeds::fit(const std::string& argument, const Graph& graph, Diagnostics& errors) {
  const auto pair = splitPair(argument, option_, "NAME=FILE, for example x=x.npy");
  if (!pair) {
    add(errors, pair.errors());
    return;
  }
  const auto inputs = inputsOf(graph);
  const auto input = inputs.find(pair->first);
  if (input == inputs.end()) {
    std::vector<std::string> names;
    names.reserve(inputs.size());
    for (const auto& [name, type] : inputs) {
      names.push_back(name);
    }
    errors.push_back(unknownName("input", pair->first, names));
    return;
  }
  if (const auto number = numberOfSource(pair->second)) {
    const size_t before = errors.size();
    fitNumber({pair->first, input->second, {}}, *number, argument, errors);
    if (errors.size() == before) {
      checkIndices(graph, fmt::format("{} {}", option_, argument), errors);
    }
    return;
  }
  auto data = readArray(pair->second, pair->first);
  if (data && holdsTextNumbers(pair->second)) {
    data = numbersAs(input->second.element, *data, pair->second);
  }
  if (!data) {
    add(errors, data.errors());
    return;
  }
  Source source{pair->first, input->second, *std::move(data)};
  Misfit file{pair->first,
              input->second,
              pair->second,
              source.data.type(),
              holdsByteRows(pair->second),
              holdsTextNumbers(pair->second),
              {}};
  auto misfit =
      file.bytes ? fitBytes(std::move(source), pair->second) : fitShape(std::move(source), pair->second);
  if (misfit) {
    file.error = errors.size();
    errors.push_back(*std::move(misfit));
    misfits_.push_back(std::move(file));
  } else { // indices of the wrong shape are no indices
    checkIndices(graph, pair->second, errors);
  }
}

void Feeds::fitNumber(Source source, double number, const std::string& argument, Diagnostics& errors) {
  const TensorType& input = source.input;
  if (input.shape.rank() > 0) {
    errors.push_back(errorWithoutPlace(fmt::format("{} {}: a number feeds a scalar, but input '{}' is {}",
                                                   option_, argument, source.name, toString(input)),
                                       fmt::format("give a file: {} {}=FILE.npy", option_, source.name)));
    return;
  }
  source.data = filledLiteral(input, number);
  if (!isFloat(input.element) && source.data.at(0) != number) {
    errors.push_back(errorWithoutPlace(fmt::format("{} {}: input '{}' is {}, which cannot hold it", option_,
                                                   argument, source.name, toString(input)),
                                       fmt::format("give a number that {} can hold", name(input.element))));
    return;
  }
  sources_.push_back(std::move(source));
}

void Feeds::checkIndices(const Graph& graph, const std::string& place, Diagnostics& errors) {
  if (indices_ == OutOfRange::Passes) {
    return;
  }
  const Source& source = sources_.back();
  const bool any = seed_.has_value() || last_ == LastBatch::Padded; // rows of the last batch, too
  const auto wrong = wrongIndex(graph, source.name, source.data, {source.rows, source.perStep, any});
  if (wrong && wrong->refused) {
    errors.push_back(wrongFeed(place, wrong->message, wrong->effect));
  } else if (wrong) {
    notes_.push_back(fmt::format("{}: {}; {}", place, wrong->message, wrong->effect));
  }
}

std::optional<Diagnostic> Feeds::fitBytes(Source source, const std::string& place) {
  const TensorType& data = source.data.type();
  const Shape& wanted = source.input.shape;
  const bool few = last_ == LastBatch::Padded && data.shape.rank() > 0 && data.shape.elements() > 0 &&
                   wanted.rank() > 0 && data.shape[0] < wanted[0];
  const auto rows = byteRowsPerStep(few ? withFirst(data, wanted[0]) : data, source.input);
  if (!rows) {
    return bytesDoNotFit(place, data, source.name, source.input);
  }
  source.bytes = true;
  source.entries = *rows == 1 && (wanted.rank() == 0 || wanted[0] != 1);
  source.rows = data.shape[0];
  source.perStep = *rows;
  noteLeftOut(source, place);
  sources_.push_back(std::move(source));
  return std::nullopt;
}

void Feeds::noteLeftOut(const Source& source, const std::string& place) {
  const int64_t left = source.rows % source.perStep;
  if (left != 0 && last_ == LastBatch::LeftOut) {
    notes_.push_back(fmt::format("{}: {} make {} of {}; {} left out of each epoch", place,
                                 counted(source.rows, "row"), batchesText(source.rows / source.perStep),
                                 source.perStep, left == 1 ? "1 row is" : counted(left, "row") + " are"));
  }
}

std::optional<Diagnostic> Feeds::fitShape(Source source, const std::string& place) {
  const TensorType& data = source.data.type();
  const TensorType& input = source.input;
  const bool fits = data.shape == input.shape, longer = longerRows(data.shape, input.shape);
  const bool entries = hasEntries(data.shape, input.shape);
  const bool few = last_ == LastBatch::Padded && tooFewRows(data.shape, input.shape) && data.shape[0] > 0;
  const bool shapeFits = fits || longer || entries || few;
  if (!convertsTo(input.element, data.element) || !shapeFits) {
    return wrongType(source.name, input, data, shapeFits, place);
  }
  const int64_t rows = data.shape.rank() > 0 ? data.shape[0] : 0;
  if (auto misfit = convert(source, place)) {
    return misfit;
  }
  if (longer || few) {
    source.rows = rows;
    source.perStep = input.shape[0];
    noteLeftOut(source, place);
  } else if (entries) {
    source.rows = rows;
    source.perStep = 1;
    source.entries = true;
  }
  sources_.push_back(std::move(source));
  return std::nullopt;
}

std::optional<Diagnostic> Feeds::convert(Source& source, const std::string& place) {
  auto converted = convertedTo(source.input.element, source.data, place);
  if (!converted) {
    return converted.errors().front();
  }
  if (converted->rounded) {
    rounded_.push_back(place);
  }
  source.data = std::move(converted->values);
  return std::nullopt;
}

int64_t Feeds::batchesOf(const Source& source) const {
  const int64_t begun = last_ == LastBatch::Padded ? source.perStep - 1 : 0;
  return (source.rows + begun) / source.perStep;
}

// Rows of one number belong together in every file: as many of each, or at least data for as many steps where
// a step takes other numbers of rows from them. Only the former can be shuffled.
std::optional<Diagnostic> Feeds::mismatch(const Source& first, const Source& second) const {
  const int64_t firstSteps = batchesOf(first), secondSteps = batchesOf(second);
  if (first.perStep == second.perStep && first.rows != second.rows) {
    return errorWithoutPlace(fmt::format("input '{}' has {}, but '{}' has {}", first.name,
                                         counted(first.rows, "row"), second.name, second.rows),
                             "feed as many rows to both: a row of one belongs to the same row of the other");
  }
  if (firstSteps != secondSteps) {
    return errorWithoutPlace(fmt::format("input '{}' has data for {}, but '{}' for {}", first.name,
                                         counted(firstSteps, "step"), second.name, secondSteps),
                             "feed data for as many steps to both");
  }
  if (seed_ && first.perStep != second.perStep) {
    return errorWithoutPlace(fmt::format("--shuffle cannot pair the rows of input '{}' with those of '{}': a "
                                         "step takes {} of one and {} of the other",
                                         first.name, second.name, first.perStep, second.perStep),
                             "leave --shuffle out, or shuffle the files before");
  }
  return std::nullopt;
}

void Feeds::checkBatches(Diagnostics& errors) {
  std::vector<const Source*> batched;
  for (const Source& source : sources_) {
    if (source.rows == 0) {
      continue;
    }
    batches_ = batchesOf(source);
    for (const Source* earlier : batched) {
      if (auto error = mismatch(*earlier, source)) {
        errors.push_back(*std::move(error));
        break; // one error a file
      }
    }
    batched.push_back(&source);
  }
}

void Feeds::checkSingleBatches(Diagnostics& errors) {
  for (const Source& source : sources_) {
    const Shape& shape = source.input.shape;
    const auto longer = std::find_if(sources_.begin(), sources_.end(), [&](const Source& other) {
      return other.rows > 0 && !other.entries && shape.rank() > 0 && other.perStep == shape[0] &&
             other.rows != shape[0];
    });
    if (source.rows > 0 || longer == sources_.end()) {
      continue;
    }
    const std::string message = fmt::format("input '{}' has {}, one batch, but '{}' has {}", source.name,
                                            counted(shape[0], "row"), longer->name, longer->rows);
    if (last_ == LastBatch::Padded) {
      errors.push_back(errorWithoutPlace(
          message, "feed as many rows to both; what every step needs and is no row is a parameter"));
    } else {
      notes_.push_back(message + "; the same rows are fed at every step");
    }
  }
}

NamedLiterals Feeds::at(int64_t step) {
  NamedLiterals feeds;
  for (const Source& source : sources_) {
    feeds.emplace(source.name, source.rows == 0 ? source.data : slice(source, step));
  }
  return feeds;
}

Result<DataPass> Feeds::pass() {
  DataPass pass;
  const Source* first = nullptr;
  for (const Source& source : sources_) {
    if (source.rows == 0) {
      continue;
    }
    if (first != nullptr && source.perStep != first->perStep) {
      return errorWithoutPlace(
          fmt::format("a step takes {} of input '{}', but {} of '{}': their rows cannot be paired",
                      counted(first->perStep, "row"), first->name, source.perStep, source.name),
          "--predict needs inputs of which a step takes equally many rows");
    }
    first = &source;
    pass.rows = source.rows;
    pass.batch = std::max(pass.batch, source.entries ? 0 : source.perStep); // an entry: a batch of one
  }
  pass.feeds = [this](int64_t step) { return at(step); };
  return pass;
}

Literal Feeds::slice(const Source& source, int64_t step) {
  const int64_t epoch = step / batches_;
  const int64_t begin = step % batches_ * source.perStep;
  std::vector<int64_t>* order = nullptr;
  if (seed_) {
    order = &orders_[{source.rows, epoch}];
    if (order->empty()) {
      *order = shuffledRows(source.rows, *seed_, epoch);
      orders_.erase({source.rows, epoch - 1});
    }
  }
  Literal batch(source.input);
  const auto rowAt = [&](int64_t row) {
    const int64_t at = std::min(begin + row, source.rows - 1); // beyond it only in a padded batch
    return order != nullptr ? (*order)[static_cast<size_t>(at)] : at;
  };
  for (int64_t row = 0; source.bytes && row < source.perStep; ++row) {
    copyByteRow(source.data, rowAt(row), batch, row);
  }
  if (source.bytes) {
    return batch;
  }
  const auto out = batch.mutableBytes();
  const auto from = source.data.bytes();
  const auto rowBytes = static_cast<size_t>(source.input.bytes() / source.perStep);
  for (int64_t row = 0; row < source.perStep; ++row) {
    const int64_t at = rowAt(row);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(at) * rowBytes), rowBytes,
                out.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(row) * rowBytes));
  }
  return batch;
}

std::optional<double> numberOfSource(const std::string& source) {
  double number = 0;
  const char* end = source.data() + source.size();
  const auto [stop, failure] = std::from_chars(source.data(), end, number);
  return failure == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::string fileOfSource(const std::string& source) {
  return numberOfSource(source) ? "" : fileOfArray(source);
}

} // namespace dfc::tool
