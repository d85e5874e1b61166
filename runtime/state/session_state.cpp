// The state of a session: its parameters, read and written between steps.
#include "runtime/session_impl.h"

#include <fmt/format.h>

namespace dfc {

NamedLiterals Session::state() {
  const auto turn = impl_->turns->take(*impl_->steps);
  const auto idle = impl_->steps->pause();
  NamedLiterals state;
  for (const ParameterRow& row : impl_->parameters) {
    state.insert_or_assign(row.name, impl_->read(row));
  }
  return state;
}

Result<Literal> Session::view(std::string_view parameter) const {
  const auto& rows = impl_->parameters;
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.name == parameter; });
  if (row == rows.end()) {
    std::vector<std::string> names;
    for (const ParameterRow& one : rows) {
      names.push_back(one.name);
    }
    const auto near = nearestName(std::string(parameter), names);
    return errorWithoutPlace(fmt::format("the plan has no parameter '{}'", parameter),
                             near ? fmt::format("did you mean '{}'?", *near) : "see Session::parameters");
  }
  const ValueId value = row->parts.front().value;
  const ArenaMap::Place place = impl_->placeOf(value);
  std::byte* base = place.arena != nullptr ? place.arena->hostAddress() : nullptr;
  if (row->parts.front().place.isPart() || (base == nullptr && row->type.bytes() > 0)) {
    return errorWithoutPlace(
        fmt::format("parameter '{}' does not lie whole in memory of the host", parameter),
        "copy it with Session::state");
  }
  return Literal(row->type, std::shared_ptr<std::byte>(impl_, base + place.offset));
}

Diagnostics Session::checkWholeState(const NamedLiterals& values) const {
  return dfc::checkWholeState(impl_->parameters, values);
}

Status Session::setState(const NamedLiterals& values) {
  const auto turn = impl_->turns->take(*impl_->steps);
  const auto idle = impl_->steps->pause();
  Diagnostics errors = checkState(impl_->parameters, values);
  if (errors.empty()) {
    errors = impl_->beyondCopies(values);
  }
  if (!errors.empty()) {
    return errors;
  }
  for (const ParameterRow& row : impl_->parameters) {
    const auto given = values.find(row.name);
    for (const ParameterPart& copy : row.copies) {
      if (given != values.end()) {
        impl_->write(copy, given->second);
        impl_->turns->changed(impl_->placeOf(copy.value));
      }
    }
  }
  return success();
}

Diagnostics Session::Impl::beyondCopies(const NamedLiterals& values) const {
  Diagnostics errors;
  for (const ParameterRow& row : parameters) {
    const auto given = values.find(row.name);
    std::optional<Diagnostic> error;
    for (const ParameterPart& copy : row.copies) {
      if (given != values.end() && !error) {
        error = beyondCopy(row.name, given->second, plan->graph().typeOf(copy.value).element);
      }
    }
    if (error) {
      errors.push_back(*std::move(error));
    }
  }
  return errors;
}

std::vector<Session::Parameter> Session::parameters() const {
  const Graph& graph = impl_->plan->graph();
  llvm::DenseSet<ValueId> assigned;
  for (const OpId op : graph.opsOf(OpKind::Assign)) {
    assigned.insert(graph[op].operands[0]);
  }
  std::vector<Parameter> rows;
  for (const ParameterRow& row : impl_->parameters) {
    rows.push_back({row.name, row.type, assigned.contains(row.parts.front().value)});
  }
  return rows;
}

} // namespace dfc
