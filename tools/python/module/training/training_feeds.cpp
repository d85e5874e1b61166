#include "tools/python/module/training/training_feeds.h"

#include "runtime/data/convert_elements.h"
#include "tools/python/module/custom.h"
#include "tools/python/module/errors.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

/// The data set with its columns in the element types of the inputs that they feed.
std::shared_ptr<Batches> convertedFor(const OpenSession& session, const Batches& batches) {
  NamedLiterals columns = batches.columns();
  for (auto& [name, column] : columns) {
    const auto input = session.inputTypes().find(name);
    const ElementType given = column.type().element;
    if (input != session.inputTypes().end() && input->second != given && convertsTo(input->second, given)) {
      column = orRaise(convertedTo(input->second, column, "input '" + name + "'")).values;
    }
  }
  return std::make_shared<Batches>(orRaise(Batches::of(std::move(columns), batches.batch(), batches.seed())));
}

NumberedFeeds feedsOfCallable(const nb::object& callable, const nb::object& session) {
  return {[callable = sharedCallable(callable), session = sharedCallable(session)](int64_t number) {
    const nb::gil_scoped_acquire lock;
    const nb::object fed = (*callable)(number);
    return nb::cast<const OpenSession&>(*session).feeds(fed);
  }};
}

/// A data set that nobody has cut into batches is a likelier mistake than a wrong shape.
void refuseDataSet(const NamedLiterals& feeds, const OpenSession& session, const char* argument) {
  for (const auto& [name, type] : session.session()->inputs()) {
    const auto given = feeds.find(name);
    if (given == feeds.end() || given->second.type().shape == type.shape) {
      continue;
    }
    throw nb::value_error(
        fmt::format(
            "{}: a dictionary is fed at every step, but '{}' is {}, and the input {}; of a data set make "
            "batches: dfc.Batches({{...}}, {}, seed=0)",
            argument, name, toString(given->second.type()), toString(type),
            type.shape.rank() > 0 ? fmt::format("{}", type.shape[0]) : "batch")
            .c_str());
  }
}

NumberedFeeds feedsOfDictionary(const nb::object& feeds, const OpenSession& session, const char* argument) {
  NamedLiterals same = session.feeds(feeds);
  refuseDataSet(same, session, argument);
  return {[same = std::move(same)](int64_t) { return same; }};
}

NumberedFeeds feedsOfList(const nb::object& list, const OpenSession& session, const char* argument) {
  std::vector<NamedLiterals> all;
  for (const nb::handle feeds : list) {
    all.push_back(session.feeds(feeds));
  }
  if (all.empty()) {
    throw nb::value_error(fmt::format("{}: an empty list", argument).c_str());
  }
  const auto count = static_cast<int64_t>(all.size());
  return {[all = std::move(all), count](int64_t number) { return all[static_cast<size_t>(number % count)]; },
          nullptr, count};
}

[[noreturn]] void refuse(const nb::object& feeds, const char* argument) {
  const bool once = nb::hasattr(feeds, "__iter__");
  throw nb::type_error(
      fmt::format(
          "{}: {}: give dfc.Batches, a function of the step's number, a list of feeds, or a dictionary "
          "that is fed at every step{}",
          argument, textOf(nb::repr(feeds.type())),
          once ? "; what can be gone through once cannot be resumed, so make a list of it" : "")
          .c_str());
}

} // namespace

NumberedFeeds numberedFeeds(const nb::object& feeds, const nb::object& session, const char* argument) {
  const auto& open = nb::cast<const OpenSession&>(session);
  if (feeds.is_none()) {
    return {};
  }
  if (nb::isinstance<Batches>(feeds)) {
    std::shared_ptr<Batches> data = convertedFor(open, nb::cast<const Batches&>(feeds));
    return {[data](int64_t number) { return data->atStep(number); }, data, data->count(), data->seed()};
  }
  if (nb::hasattr(feeds, "keys")) {
    return feedsOfDictionary(feeds, open, argument);
  }
  if (nb::isinstance<nb::list>(feeds) || nb::isinstance<nb::tuple>(feeds)) {
    return feedsOfList(feeds, open, argument);
  }
  if (PyCallable_Check(feeds.ptr()) == 0) {
    refuse(feeds, argument);
  }
  return feedsOfCallable(feeds, session);
}

} // namespace dfc::python
