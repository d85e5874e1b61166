// Names and types of feeds against those of inputs.
#include "runtime/feeds.h"

#include "ir/graph/whole_state.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallPtrSet.h>

#include <algorithm>

namespace dfc {
namespace {

std::vector<std::string> missingNames(llvm::ArrayRef<FeedRow> inputs, const NamedLiterals& given) {
  std::vector<std::string> names;
  for (const FeedRow& input : inputs) {
    if (given.find(input.name) == given.end()) {
      names.push_back(input.name);
    }
  }
  return names;
}

// Rows of one name are parts of one input.
std::vector<FeedRow> onceEach(llvm::ArrayRef<FeedRow> rows) {
  std::vector<FeedRow> inputs;
  for (const FeedRow& row : rows) {
    if (std::none_of(inputs.begin(), inputs.end(),
                     [&](const FeedRow& other) { return other.name == row.name; })) {
      inputs.push_back(row);
    }
  }
  return inputs;
}

std::string listOf(llvm::ArrayRef<FeedRow> inputs) {
  std::vector<std::string> entries;
  for (const FeedRow& input : inputs) {
    entries.push_back(fmt::format("'{}' {}", input.name, toString(input.type)));
  }
  return entries.empty() ? "the plan has no inputs"
                         : fmt::format("the inputs are {}", fmt::join(entries, ", "));
}

/// An error at the line that declares the input.
Diagnostic errorAt(const Graph& graph, const FeedRow& input, std::string message, std::string hint) {
  SourceLocation where;
  for (const OpId op : graph.opsOf(OpKind::Input)) {
    if (authorNameOf(graph, op) == input.name) {
      where = graph.locationOf(op);
      break;
    }
  }
  return {Severity::Error, where, std::move(message), std::move(hint)};
}

Diagnostic wrongType(const Graph& graph, const FeedRow& input, const TensorType& given) {
  std::string wayOut;
  if (input.type.element != given.element) {
    wayOut = fmt::format("convert the value to {}", name(input.type.element));
  }
  if (input.type.shape != given.shape) {
    wayOut += fmt::format("{}feed a value of shape {}, or compile the graph for {}",
                          wayOut.empty() ? "" : "; and ", toString(input.type.shape), toString(given.shape));
  }
  return errorAt(graph, input,
                 fmt::format("input '{}' is {}, but the value fed is {}", input.name, toString(input.type),
                             toString(given)),
                 std::move(wayOut));
}

/// Two values each of which has the type of the other's input: the names are likelier wrong than the values.
std::optional<Diagnostic> swappedFeeds(llvm::ArrayRef<FeedRow> inputs, const NamedLiterals& given) {
  const auto fedTo = [&](const FeedRow& row) {
    const auto entry = given.find(row.name);
    return entry == given.end() ? std::optional<TensorType>() : entry->second.type();
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (inputs[i].type != inputs[j].type && fedTo(inputs[i]) == inputs[j].type &&
          fedTo(inputs[j]) == inputs[i].type) {
        return errorWithoutPlace(fmt::format("the values of inputs '{}' and '{}' are swapped: each fits the "
                                             "other, {} and {}",
                                             inputs[j].name, inputs[i].name, toString(inputs[j].type),
                                             toString(inputs[i].type)),
                                 "feed each to the other's name");
      }
    }
  }
  return std::nullopt;
}

// Each row is fed, of its type, and nothing else is: what a step without a mistake pays.
bool allFit(llvm::ArrayRef<FeedRow> rows, const NamedLiterals& given) {
  llvm::SmallPtrSet<const Literal*, 16> fed;
  for (const FeedRow& row : rows) {
    const auto entry = given.find(row.name);
    if (entry == given.end() || entry->second.type() != row.type) {
      return false;
    }
    fed.insert(&entry->second);
  }
  return fed.size() == given.size();
}

} // namespace

Diagnostics checkFeeds(const Graph& graph, llvm::ArrayRef<FeedRow> rows, const NamedLiterals& given) {
  if (allFit(rows, given)) {
    return {};
  }
  Diagnostics errors;
  const std::vector<FeedRow> inputs = onceEach(rows);
  if (auto swapped = swappedFeeds(inputs, given)) {
    return {*std::move(swapped)};
  }
  const std::vector<std::string> missing = missingNames(inputs, given);
  for (const auto& entry : given) {
    const std::string& fed = entry.first;
    const auto input =
        std::find_if(inputs.begin(), inputs.end(), [&](const FeedRow& row) { return row.name == fed; });
    if (input == inputs.end()) {
      const auto near = nearestName(fed, missing);
      errors.push_back(errorWithoutPlace(fmt::format("the plan has no input named '{}'", fed),
                                         near ? fmt::format("did you mean '{}'?", *near) : listOf(inputs)));
    } else if (input->type != entry.second.type()) {
      errors.push_back(wrongType(graph, *input, entry.second.type()));
    }
  }
  for (const FeedRow& input : inputs) {
    if (given.find(input.name) == given.end()) {
      errors.push_back(errorAt(graph, input, fmt::format("input '{}' is not fed", input.name),
                               fmt::format("feed a value of type {}", toString(input.type))));
    }
  }
  return errors;
}

} // namespace dfc
