// The order behind a step that something is due after: the step ends, is logged, evaluated, the best is kept,
// and the checkpoint comes last. Whatever moment the process dies at, the files on disk are then those of the
// checkpoint's step or later, and what is later is done again, with the same result.
#include "runtime/training/trainer.h"

#include "runtime/training/training_faults.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>

namespace dfc {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

bool isPowerOfTwo(int64_t number) { return number > 0 && (number & (number - 1)) == 0; }

} // namespace

void feedFrom(Batches& batches, TrainingOptions& options) {
  options.feeds = [&batches](int64_t step) { return batches.atStep(step); };
  options.data = &batches;
  options.stepsPerEpoch = batches.count();
  options.shuffleSeed = batches.seed();
}

struct Trainer::Impl {
  Session& session;
  TrainingOptions options;
  TrainingState state; ///< `step`: steps that have ended
  int64_t begun = 0, submitted = 0;
  std::optional<int64_t> evaluatedAt, savedAt; ///< steps
  std::deque<Session::Pending> underWay;
  std::optional<TrainingLog> log;
  Clock::time_point nextFlush = Clock::now();
  NamedLiterals last;
  EvaluatedMeans means;
  double pausedSeconds = 0;
  bool trains = false;        ///< see changesFloats
  int64_t stepsNotFinite = 0; ///< steps with a scalar that is not finite
  bool suspectsNan = false;   ///< whether the parameters are to be looked at behind the next step that ends
  bool diverged = false;

  Impl(Session& trained, TrainingOptions wished) : session(trained), options(std::move(wished)) {
    state.stepsPerEpoch = options.stepsPerEpoch;
    state.shuffleSeed = options.shuffleSeed;
    trains = changesFloats(session);
  }

  bool isDue(int64_t every) const { return every > 0 && submitted % every == 0; }

  void drain(size_t keep) {
    while (underWay.size() > keep) {
      last = underWay.front().wait();
      underWay.pop_front();
      ++state.step;
      watch();
      if (log) {
        log->add(state.step, (state.step + state.stepsPerEpoch - 1) / state.stepsPerEpoch, last);
      }
      if (options.afterStep) {
        options.afterStep(state.step, last);
      }
    }
  }

  /// The parameters are copied to look at them, so that a training whose loss alone is infinite is looked at
  /// after 1, 2, 4, 8, … such steps.
  void watch() {
    if (trains && scalarFault(last, state.step)) {
      suspectsNan = suspectsNan || isPowerOfTwo(++stepsNotFinite);
    }
  }

  /// Ends a training that cannot recover.
  Status checkParameters() {
    drain(0);
    suspectsNan = false;
    const Status flushed = flushLog();
    return flushed ? refuseNan(session.state()) : flushed;
  }

  Status refuseNan(const NamedLiterals& parameters) {
    Diagnostics errors = nanFaults(parameters, options.checkpoint, state.step);
    diverged = diverged || !errors.empty();
    return errors.empty() ? success() : Status(errors);
  }

  /// A training whose last loss is no number has not succeeded, whatever its parameters hold.
  Status checkLast() {
    auto fault = trains ? scalarFault(last, state.step) : std::nullopt;
    diverged = diverged || fault.has_value();
    return fault ? Status(*std::move(fault)) : success();
  }

  Status evaluate() {
    if (options.evaluation.session == nullptr || evaluatedAt == state.step) {
      return success();
    }
    evaluatedAt = state.step;
    Session& evaluation = *options.evaluation.session;
    if (const Status set = evaluation.setState(parametersFor(evaluation)); !set) {
      return set.errors();
    }
    means.clear();
    for (int64_t batch = 0; batch < options.evaluation.batches; ++batch) {
      const auto results =
          evaluation.run(options.evaluation.feeds ? options.evaluation.feeds(batch) : NamedLiterals());
      if (!results) {
        return results.errors();
      }
      addResults(*results);
    }
    for (auto& [name, mean] : means) {
      mean /= static_cast<double>(options.evaluation.batches);
    }
    return afterEvaluation();
  }

  NamedLiterals parametersFor(const Session& evaluation) {
    NamedLiterals all = session.state(), wanted;
    for (const Session::Parameter& parameter : evaluation.parameters()) {
      wanted.insert_or_assign(parameter.name, all.at(parameter.name));
    }
    return wanted;
  }

  void addResults(const NamedLiterals& results) {
    for (const auto& [name, value] : results) {
      if (value.type().shape.elements() == 1) {
        means[name] += value.at(0);
      }
    }
  }

  Status afterEvaluation() {
    if (log) {
      log->addEvaluation(means);
    }
    const auto watched = means.find(options.bestBy);
    const bool better = !options.best.empty() && watched != means.end() && isBetter(watched->second);
    if (better) {
      state.best = BestValue{watched->second, state.step};
    }
    if (options.afterEvaluation) {
      options.afterEvaluation(state.step, means);
    }
    return better ? saveTraining(session, state, options.best) : success();
  }

  bool isBetter(double value) const {
    return std::isfinite(value) &&
           (!state.best || (options.largestIsBest ? value > state.best->value : value < state.best->value));
  }

  Status flushLog() { return log ? log->flush() : success(); }

  Status save() {
    if (const Status flushed = flushLog(); !flushed) {
      return flushed;
    }
    if (options.checkpoint.empty() || savedAt == state.step) {
      return success();
    }
    savedAt = state.step;
    const NamedLiterals parameters = session.state();
    if (const Status refused = refuseNan(parameters); !refused) {
      return refused;
    }
    return saveTraining(parameters, state, options.checkpoint);
  }

  /// What comes behind a step: `evaluates` and `saves` say what is due.
  Status pause(bool evaluates, bool saves) {
    drain(0);
    const auto begin = Clock::now();
    Status status = suspectsNan ? checkParameters() : success();
    if (status && evaluates) {
      status = evaluate();
    }
    if (status && saves) {
      status = save();
    }
    pausedSeconds += since(begin);
    return status;
  }

  /// Now and then, so that another program can follow the log.
  Status flushNow() {
    if (!log || Clock::now() < nextFlush) {
      return success();
    }
    nextFlush = Clock::now() + std::chrono::seconds(1);
    return log->flush();
  }

  Status resume() {
    std::error_code ignored;
    const bool first =
        options.resume == options.checkpoint && !std::filesystem::exists(options.resume, ignored);
    if (options.resume.empty() || first) {
      return success();
    }
    auto saved = loadTraining(session, options.resume);
    if (!saved) {
      return saved.errors();
    }
    if (Diagnostics errors = orderFaults(*saved, options); !errors.empty()) {
      return errors;
    }
    state = *saved;
    begun = submitted = state.step;
    return success();
  }

  Status openLog() {
    if (options.log.empty()) {
      return success();
    }
    TrainingLog::Columns columns{scalarFetches(session), {}};
    if (options.evaluation.session != nullptr) {
      columns.evaluated = scalarFetches(*options.evaluation.session);
    }
    auto opened = TrainingLog::open(options.log, std::move(columns), begun);
    if (!opened) {
      return opened.errors();
    }
    log = *std::move(opened);
    return success();
  }
};

Trainer::Trainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

Result<Trainer> Trainer::start(Session& session, TrainingOptions options) {
  if (Diagnostics errors = optionFaults(session, options); !errors.empty()) {
    return errors;
  }
  auto impl = std::make_unique<Impl>(session, std::move(options));
  if (const Status resumed = impl->resume(); !resumed) {
    return resumed.errors();
  }
  if (const Status opened = impl->openLog(); !opened) {
    return opened.errors();
  }
  return Trainer(std::move(impl));
}

int64_t Trainer::begun() const { return impl_->begun; }
int64_t Trainer::submitted() const { return impl_->submitted; }
int64_t Trainer::steps() const { return impl_->options.steps; }
const NamedLiterals& Trainer::last() const { return impl_->last; }
const EvaluatedMeans& Trainer::evaluated() const { return impl_->means; }
const TrainingState& Trainer::state() const { return impl_->state; }
double Trainer::pausedSeconds() const { return impl_->pausedSeconds; }
bool Trainer::diverged() const { return impl_->diverged; }
void Trainer::drain() { impl_->drain(0); }

Status Trainer::advance() {
  const TrainingOptions& options = impl_->options;
  auto pending = impl_->session.submit(options.feeds ? options.feeds(impl_->submitted) : NamedLiterals());
  if (!pending) {
    return pending.errors();
  }
  impl_->underWay.push_back(*std::move(pending));
  ++impl_->submitted;
  const bool evaluates = impl_->isDue(options.evaluation.every) && options.evaluation.session != nullptr;
  const bool saves = impl_->isDue(options.checkpointEvery);
  if ((evaluates || saves) && !done()) { // behind the last step, `finish` does both
    return impl_->pause(evaluates, saves);
  }
  impl_->drain(1);
  return impl_->suspectsNan ? impl_->checkParameters() : impl_->flushNow();
}

Status Trainer::finish() {
  const Status status = impl_->pause(/*evaluates=*/done(), /*saves=*/true);
  return status ? impl_->checkLast() : status;
}

} // namespace dfc
