// Steps of a session, what it fetches, its trace and what it says of itself; session_opening.cpp opens it,
// state/session_state.cpp has its parameters, in_flight_steps.h the execution of steps.
#include "runtime/session.h"

#include "runtime/feeds.h"
#include "runtime/session_impl.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

NamedLiterals resultsOf(const InFlightStep& step) {
  NamedLiterals results;
  for (size_t i = 0; i < step.fetches.size(); ++i) {
    const FetchRow& row = (*step.fetchRows)[i];
    results.insert_or_assign(row.name, Literal(row.type, step.fetches[i]));
  }
  return results;
}

// Of a closed session: the step has ended, and this thread may have yet to see it.
void throwErrorOf(const InFlightStep& step) {
  step.ended.wait(false, std::memory_order_acquire);
  if (step.error) {
    std::rethrow_exception(step.error);
  }
}

template <class Action>
std::exception_ptr failureOf(const Action& action) {
  try {
    action();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

} // namespace

Session::Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() {
  impl_->steps->close();
  impl_->turns->leave(*impl_->steps);
}

Diagnostics Session::Impl::refused(const NamedLiterals& feeds) const {
  Diagnostics errors = checkFeeds(plan->graph(), steps->feeds(), feeds);
  return errors.empty() ? checkIndices(plan->graph(), indices, feeds) : errors;
}

Diagnostics Session::refusedRows(const NamedLiterals& columns, int64_t batch, bool anyOrder) const {
  Diagnostics errors;
  for (const FedIndices& one : impl_->indices) {
    const auto column = columns.find(one.input);
    if (column == columns.end() || column->second.type().shape.rank() == 0) {
      continue; // fed otherwise, or refused by the step
    }
    const RowsOfStep taken{column->second.type().shape[0], batch, anyOrder};
    for (Diagnostic& error : checkIndices(impl_->plan->graph(), {one}, columns, taken)) {
      errors.push_back(std::move(error));
    }
  }
  return errors;
}

Result<NamedLiterals> Session::run(const NamedLiterals& feeds) {
  NamedLiterals results;
  const Status ran = run(feeds, [&](NamedLiterals unwritten) { results = std::move(unwritten); });
  return ran ? Result<NamedLiterals>(std::move(results)) : ran.errors();
}

Status Session::run(const NamedLiterals& feeds, const Meanwhile& meanwhile) {
  if (Diagnostics errors = impl_->refused(feeds); !errors.empty()) {
    return errors;
  }
  const std::shared_ptr<InFlightStep> step = impl_->launch(feeds, InFlightSteps::Awaited::AtOnce);
  const std::exception_ptr failure = failureOf([&] { meanwhile(resultsOf(*step)); });
  impl_->steps->wait(step);
  if (failure) {
    std::rethrow_exception(failure);
  }
  return success();
}

Result<Session::Pending> Session::submit(const NamedLiterals& feeds) {
  if (Diagnostics errors = impl_->refused(feeds); !errors.empty()) {
    return errors;
  }
  Pending pending;
  pending.step_ = impl_->launch(feeds, InFlightSteps::Awaited::Later);
  pending.steps_ = std::shared_ptr<InFlightSteps>(impl_, impl_->steps.get());
  return pending;
}

NamedLiterals Session::Pending::wait() const {
  if (const auto steps = steps_.lock()) {
    steps->wait(step_);
  } else {
    throwErrorOf(*step_);
  }
  return resultsOf(*step_);
}

Result<Literal> Session::Pending::wait(std::string_view fetch) const {
  const std::vector<FetchRow>& rows = *step_->fetchRows;
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const FetchRow& other) { return other.name == fetch; });
  if (row == rows.end()) {
    std::vector<std::string> names;
    names.reserve(rows.size());
    for (const FetchRow& other : rows) {
      names.push_back(other.name);
    }
    const auto near = nearestName(std::string(fetch), names);
    return errorWithoutPlace(fmt::format("the plan fetches nothing named '{}'", fetch),
                             near ? fmt::format("did you mean '{}'?", *near)
                                  : fmt::format("its fetches: {}", fmt::join(names, ", ")));
  }
  const auto index = static_cast<size_t>(row - rows.begin());
  if (const auto steps = steps_.lock()) {
    steps->wait(step_, index);
  } else {
    throwErrorOf(*step_);
  }
  return Literal(row->type, step_->fetches[index]);
}

bool Session::Pending::done() const {
  const auto steps = steps_.lock();
  return step_->ended || steps == nullptr || steps->ended(*step_);
}

void Session::waitAll() { impl_->steps->waitAll(); }

Trace Session::takeTrace() {
  Trace trace;
  trace.origin = Trace::Origin::Measured;
  trace.spans = impl_->steps->takeSpans();
  for (const OpenedDevice& device : impl_->opened.devices) {
    trace.backends.emplace_back(device.backend != nullptr ? device.backend->name() : std::string_view());
  }
  std::stable_sort(trace.spans.begin(), trace.spans.end(),
                   [](const Span& a, const Span& b) { return a.begin < b.begin; });
  if (!trace.spans.empty()) {
    const Span first = trace.spans.front();
    for (Span& span : trace.spans) {
      span.begin -= first.begin;
      span.end -= first.begin;
      span.stepNumber -= first.stepNumber;
    }
  }
  return trace;
}

std::vector<std::string> Session::deviceReport() const {
  std::vector<std::string> report;
  const Machine& machine = impl_->plan->machine();
  for (const DeviceId device : machine.devices.ids()) {
    const OpenedDevice& opened = impl_->opened.devices[device.index()];
    const std::string about = opened.group != nullptr ? opened.group->description(opened.index) : "";
    report.push_back(
        fmt::format("{}: {}{}{}", machine.devices[device].name,
                    opened.backend != nullptr ? opened.backend->name() : std::string_view("not used"),
                    about.empty() ? "" : ", ", about));
  }
  return report;
}

std::vector<std::pair<std::string, TensorType>> Session::inputs() const {
  std::vector<std::pair<std::string, TensorType>> rows;
  for (const NamedType& input : impl_->plan->graph().inputs()) {
    rows.emplace_back(input.name, input.type);
  }
  return rows;
}

std::vector<std::pair<std::string, TensorType>> Session::fetches() const {
  std::vector<std::pair<std::string, TensorType>> rows;
  for (const FetchRow& row : impl_->steps->fetches()) {
    rows.emplace_back(row.name, row.type);
  }
  return rows;
}

} // namespace dfc
