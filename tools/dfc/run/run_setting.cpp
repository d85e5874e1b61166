// In the order of what costs least: words, places of output files, the plan, the feeds, the devices.
#include "tools/dfc/run/run_setting.h"

#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/weights/load_weights.h"
#include "tools/dfc/all_errors.h"
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/io/output_files.h"
#include "tools/dfc/io/parameter_files.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/run/custom_libraries.h"
#include "tools/dfc/run/predict_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace dfc::tool {
namespace {

Result<SessionOptions> sessionOptionsOf(const RunArguments& arguments) {
  SessionOptions options;
  Diagnostics errors;
  applyBackends(arguments.backends, options, errors);
  options.customFunctions = customFunctionsOf(arguments.customLibraries, errors);
  options.trace = !arguments.trace.empty();
  options.timeoutSeconds = arguments.timeout;
  options.checkFinite = arguments.checkFinite;
  options.checkIndices = !arguments.anyIndices;
  const std::string folder = std::filesystem::path(arguments.source).parent_path().string();
  options.dataFolder = !arguments.dataFolder.empty() ? arguments.dataFolder : folder.empty() ? "." : folder;
  if (!errors.empty()) {
    return errors;
  }
  return options;
}

void addOutputs(const RunArguments& arguments, OutputFiles& files) {
  FetchFiles::addOutputs("--fetch", arguments.fetches, files);
  FetchFiles::addOutputs("--predict", arguments.predictions, files);
  files.writes("--save-state", arguments.saveState, {".safetensors"});
  files.writes("--trace", arguments.trace, {".json"});
  files.writes("--checkpoint", arguments.checkpoint, {".safetensors"});
  if (!arguments.bestBy.empty()) {
    files.writes("--keep-best", bestFileOf(arguments.checkpoint));
  }
  files.writes("--log", arguments.log, {".csv"});
  files.writes("--curve", arguments.curve, {".svg"});
}

/// Before the graph is compiled and the feeds are read, which may take long.
Diagnostics outputFaults(const RunArguments& arguments) {
  OutputFiles files;
  addInputs(arguments.source, arguments.plan, files);
  files.reads(arguments.state, "--save-state");
  for (const std::string& library : arguments.customLibraries) {
    files.reads(library);
  }
  for (const std::string& feed : arguments.feeds) {
    files.reads(fileOfSource(feed.substr(feed.find('=') + 1)));
  }
  for (const std::string& feed : arguments.evalFeeds) {
    files.reads(fileOfSource(feed.substr(feed.find('=') + 1)));
  }
  files.reads(arguments.evalGraph);
  files.reads(arguments.rename);
  files.reads(arguments.resume, "--checkpoint");
  addOutputs(arguments, files);
  return files.check();
}

/// Files that parameters start from, which no output may replace: the next run starts from them again.
Diagnostics initialiserFaults(const RunArguments& arguments, const Graph& graph, const std::string& folder) {
  OutputFiles files;
  for (const ParameterFile& file : parameterFiles(graph, folder)) {
    files.reads(file.path);
  }
  addOutputs(arguments, files);
  return files.check();
}

/// Kernels read no other GPU's memory where GPUs have no access to one another; a sealed plan is refused when
/// it is opened.
Result<std::shared_ptr<const Executable>> planToRun(const RunArguments& arguments) {
  const auto isPlan = isPlanFile(arguments.source);
  PlanOptions options = arguments.plan;
  options.noPeerReads = options.noPeerReads || (arguments.backends.noPeerAccess && isPlan && !*isPlan);
  return planOf(arguments.source, options);
}

/// Whatever the words say of a training that only makes sense together.
Diagnostics trainingFaults(const RunArguments& arguments) {
  Diagnostics errors;
  const auto needs = [&](bool given, const char* option, bool there, const char* other, const char* why) {
    if (given && !there) {
      errors.push_back(errorWithoutPlace(fmt::format("{} {}", option, why), fmt::format("add {}", other)));
    }
  };
  const bool evaluates = !arguments.evalGraph.empty(), saves = !arguments.checkpoint.empty();
  needs(arguments.evalEvery > 0, "--eval-every", evaluates, "--eval GRAPH", "without a graph to evaluate");
  needs(!arguments.evalFeeds.empty(), "--eval-feed", evaluates, "--eval GRAPH",
        "without a graph to evaluate");
  needs(arguments.every > 0, "--every", saves, "--checkpoint FILE.safetensors",
        "without a checkpoint to write");
  needs(!arguments.bestBy.empty(), "--keep-best", saves, "--checkpoint FILE.safetensors",
        "without a checkpoint to keep");
  needs(!arguments.bestBy.empty(), "--keep-best", evaluates, "--eval GRAPH",
        "without an evaluation: the loss of a single batch says little");
  needs(arguments.partial, "--partial", !arguments.state.empty(), "--state FILE.safetensors",
        "without a state to take parts of");
  needs(!arguments.rename.empty(), "--rename", !arguments.state.empty(), "--state FILE.safetensors",
        "without a state whose names it changes");
  if (!arguments.resume.empty() && !arguments.state.empty()) {
    errors.push_back(errorWithoutPlace("--resume and --state both say what to start from",
                                       "leave one of them out: --resume goes on with a training, --state "
                                       "begins one with these parameters"));
  }
  return errors;
}

/// Numbers that are fed to the training reach inputs of the same name in the evaluation, too.
std::vector<std::string> evaluationFeeds(const RunArguments& arguments, const Graph& graph) {
  std::vector<std::string> feeds = arguments.evalFeeds;
  const auto nameOf = [](const std::string& feed) { return feed.substr(0, feed.find('=')); };
  for (const NamedType& input : graph.inputs()) {
    const auto feedsIt = [&](const std::string& feed) { return nameOf(feed) == input.name; };
    const auto shared = std::find_if(arguments.feeds.begin(), arguments.feeds.end(), feedsIt);
    if (std::none_of(feeds.begin(), feeds.end(), feedsIt) && shared != arguments.feeds.end() &&
        numberOfSource(shared->substr(shared->find('=') + 1))) {
      feeds.push_back(*shared);
    }
  }
  return feeds;
}

OutOfRange outOfRange(const RunArguments& arguments) {
  return arguments.anyIndices ? OutOfRange::Passes : OutOfRange::Refused;
}

Result<EvaluationSetting> prepareEvaluation(const RunArguments& arguments, const SessionOptions& options) {
  EvaluationSetting evaluation;
  auto plan = planOf(arguments.evalGraph, arguments.plan);
  if (!plan) {
    return plan.errors();
  }
  auto feeds = Feeds::load(evaluationFeeds(arguments, (*plan)->graph()), (*plan)->graph(), {}, "--eval-feed",
                           LastBatch::LeftOut, outOfRange(arguments));
  if (!feeds) {
    return feeds.errors();
  }
  evaluation.feeds = *std::move(feeds);
  SessionOptions quiet = options;
  quiet.trace = false;
  auto session = Session::open(*plan, quiet);
  if (!session) {
    return session.errors();
  }
  evaluation.session = *std::move(session);
  return Result<EvaluationSetting>(std::move(evaluation)).withWarnings(plan.warnings());
}

Result<int64_t> stepsOf(const RunArguments& arguments, int64_t batchesPerEpoch) {
  if (arguments.epochs > largestCount / batchesPerEpoch) {
    return errorWithoutPlace(fmt::format("--epochs {} of {} are more than {} steps", arguments.epochs,
                                         counted(batchesPerEpoch, "step"), largestCount),
                             fmt::format("at most --epochs {} here", largestCount / batchesPerEpoch));
  }
  return arguments.epochs > 0 ? arguments.epochs * batchesPerEpoch : std::max<int64_t>(arguments.steps, 1);
}

/// The parameters that --state names.
Status loadStateOf(const RunArguments& arguments, Setting& setting) {
  if (arguments.state.empty()) {
    return success();
  }
  WeightOptions options;
  options.partial = arguments.partial;
  if (!arguments.rename.empty()) {
    auto rules = RenameRules::read(arguments.rename);
    if (!rules) {
      return rules.errors();
    }
    options.rules = *std::move(rules);
  }
  const auto loaded = loadWeights(*setting.session, arguments.state, options);
  if (!loaded) {
    return loaded.errors();
  }
  if (arguments.partial) {
    setting.stateNote =
        fmt::format("{}: gives {} of {} parameters their values; {} of no parameter", arguments.state,
                    loaded->set, loaded->parameters, counted(static_cast<int64_t>(loaded->unused), "tensor"));
  }
  return success();
}

/// The names of a graph file's fetches; none of a plan, which needs no planning, nor of a file with mistakes.
std::optional<std::vector<std::string>> writtenFetches(const std::string& source,
                                                       const PlanOptions& options) {
  const auto isPlan = isPlanFile(source);
  if (source.empty() || !isPlan || *isPlan) {
    return std::nullopt;
  }
  const auto graph = graphOfFile(source, options);
  return graph ? std::optional(fetchNames(*graph)) : std::nullopt;
}

void checkFetch(const std::string& name, const std::optional<std::vector<std::string>>& known,
                Diagnostics& errors) {
  if (known && std::find(known->begin(), known->end(), name) == known->end()) {
    errors.push_back(unknownName("fetch", name, *known));
  }
}

/// Slips in names of fetches, before graphs are planned, which may take long.
Diagnostics fetchFaults(const RunArguments& arguments) {
  Diagnostics errors;
  std::vector<std::string> wished = arguments.fetches;
  wished.insert(wished.end(), arguments.predictions.begin(), arguments.predictions.end());
  if (!wished.empty()) {
    const auto known = writtenFetches(arguments.source, arguments.plan);
    for (const std::string& wish : wished) {
      checkFetch(wish.substr(0, wish.find('=')), known, errors);
    }
  }
  if (!arguments.bestBy.empty()) {
    checkFetch(arguments.bestBy, writtenFetches(arguments.evalGraph, arguments.plan), errors);
  }
  return errors;
}

/// Of a graph that is not going to be planned.
Diagnostics feedFaults(const RunArguments& arguments) {
  const auto graph = graphOfFile(arguments.source, arguments.plan);
  return graph ? Feeds::load(arguments.feeds, *graph, arguments.seed, "--feed", LastBatch::LeftOut,
                             outOfRange(arguments))
                     .errors()
               : Diagnostics();
}

} // namespace

std::string bestFileOf(const std::string& checkpoint) {
  return std::filesystem::path(checkpoint).replace_extension(".best.safetensors").string();
}

Result<Setting> prepare(const RunArguments& arguments) {
  Diagnostics wordFaults = trainingFaults(arguments);
  if (!arguments.predictions.empty()) {
    add(wordFaults, predictionFaults(arguments));
  }
  if (!wordFaults.empty()) {
    return wordFaults;
  }
  if (Diagnostics errors = outputFaults(arguments); !errors.empty()) {
    return errors;
  }
  if (Diagnostics slips = fetchFaults(arguments); !slips.empty()) {
    Diagnostics errors = feedFaults(arguments);
    add(errors, slips);
    return errors;
  }
  Setting setting;
  setting.rates = ratesOf(arguments.source, arguments.plan);
  auto plan = planToRun(arguments);
  auto options = sessionOptionsOf(arguments);
  Diagnostics errors = plan.errors(), warnings = plan.warnings();
  add(errors, options.errors());
  if (!plan) {
    return errors;
  }
  setting.plan = *plan;
  if (options) {
    add(errors, initialiserFaults(arguments, setting.plan->graph(), options->dataFolder));
  }
  const bool predicts = !arguments.predictions.empty();
  auto feeds = Feeds::load(arguments.feeds, setting.plan->graph(), arguments.seed, "--feed",
                           predicts ? LastBatch::Padded : LastBatch::LeftOut, outOfRange(arguments));
  auto fetches =
      FetchFiles::parse(predicts ? arguments.predictions : arguments.fetches, setting.plan->graph());
  add(errors, feeds.errors());
  add(errors, fetches.errors());
  if (!errors.empty()) {
    return errors;
  }
  setting.feeds = *std::move(feeds);
  setting.fetches = *std::move(fetches);
  setting.options = *options;
  const auto steps = stepsOf(arguments, setting.feeds->batchesPerEpoch());
  if (!steps) {
    return steps.errors();
  }
  setting.steps = *steps;
  if (!arguments.evalGraph.empty()) {
    auto evaluation = prepareEvaluation(arguments, setting.options);
    if (!evaluation) {
      return evaluation.errors();
    }
    add(warnings, evaluation.warnings());
    setting.evaluation = *std::move(evaluation);
  }
  auto session = Session::open(setting.plan, setting.options);
  if (!session) {
    return session.errors();
  }
  setting.session = *std::move(session);
  if (const Status loaded = loadStateOf(arguments, setting); !loaded) {
    return loaded.errors();
  }
  return Result<Setting>(std::move(setting)).withWarnings(warnings);
}

} // namespace dfc::tool
