// First values, from the graph, from Philox or from files.
#include "runtime/resident.h"

#include "ir/graph/initialise.h"
#include "ir/graph/whole_state.h"
#include "runtime/data/convert_elements.h"
#include "runtime/weights/file_initialiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dfc {
namespace {

class ResidentMaker {
 public:
  ResidentMaker(const PlacedGraph& placed, const std::string& dataFolder,
                const llvm::DenseSet<ValueId>& elsewhere)
      : placed_(placed), elsewhere_(elsewhere), files_(dataFolder) {}

  Result<llvm::DenseMap<ValueId, Literal>> run() {
    const Graph& graph = placed_.graph;
    for (const OpId op : graph.ops()) {
      const ValueId value = graph[op].firstResult;
      if (const auto* constant = graph[op].getIf<ops::Constant>()) {
        values_.try_emplace(value, constant->value);
      } else if (graph[op].kind() == OpKind::Parameter && !placed_.replicas.count(op) &&
                 !elsewhere_.contains(value)) {
        addParameter(op);
      }
    }
    for (const auto& [replica, original] : placed_.replicas) {
      const auto found = values_.find(graph[original].firstResult);
      if (found != values_.end()) {
        const ElementType element = graph.typeOf(graph[replica].firstResult).element;
        if (auto error = beyondCopy(std::string(graph.nameOf(original)), found->second, element)) {
          error->where = graph.locationOf(original);
          errors_.push_back(*std::move(error));
        }
        Literal copy = roundedTo(found->second, element);
        values_.try_emplace(graph[replica].firstResult, std::move(copy));
      }
    }
    return errors_.empty() ? Result<llvm::DenseMap<ValueId, Literal>>(std::move(values_))
                           : std::move(errors_);
  }

 private:
  void checkStart(OpId op, double number) {
    const ElementType element = placed_.graph[op].as<ops::Parameter>().type.element;
    if (firstBeyond(element, filledLiteral({ElementType::F64, {}}, number))) {
      errors_.push_back(
          {Severity::Error, placed_.graph.locationOf(op),
           fmt::format("parameter '{}' starts with {}, which {} cannot hold", placed_.graph.nameOf(op),
                       number, name(element)),
           "give a smaller number, or the parameter a wider type; write infinity where it is meant"});
    }
  }

  void addParameter(OpId op) {
    const Graph& graph = placed_.graph;
    const auto& parameter = graph[op].as<ops::Parameter>();
    if (parameter.initialiser != ops::Parameter::Initialiser::File) {
      for (const double number : {parameter.a, parameter.b}) {
        checkStart(op, number);
      }
      values_.try_emplace(graph[op].firstResult, initialise(parameter));
      return;
    }
    Result<Literal> read = files_.read(parameter.file);
    if (!read.ok()) {
      for (Diagnostic error : read.errors()) {
        error.message = fmt::format("parameter '{}': {}", graph.nameOf(op), error.message);
        errors_.push_back(std::move(error));
      }
    } else if (const TensorType type{parameter.type.element, parameter.part.shapeOf(parameter.type.shape)};
               read->type() != type) {
      Diagnostic error =
          errorWithoutPlace(fmt::format("parameter '{}' is {}, but '{}' holds {}", graph.nameOf(op),
                                        toString(type), parameter.file, toString(read->type())),
                            "convert the file, or give the parameter the file's type");
      error.where = graph.locationOf(op);
      errors_.push_back(std::move(error));
    } else {
      values_.try_emplace(graph[op].firstResult, parameter.part.valueIn(*read, parameter.type.shape));
    }
  }

  const PlacedGraph& placed_;
  const llvm::DenseSet<ValueId>& elsewhere_;
  FileInitialiser files_;
  llvm::DenseMap<ValueId, Literal> values_;
  Diagnostics errors_;
};

template <class To>
Literal rounded(const Literal& wide) {
  Literal narrow(TensorType{ElementTypeOf<To>::value, wide.type().shape});
  const std::span<const float> from = wide.data<float>();
  std::transform(from.begin(), from.end(), narrow.mutableData<To>().begin(),
                 [](float value) { return To(value); });
  return narrow;
}

bool isDerivedByPasses(std::string_view name) {
  return name == ops::lossScaleName || name == ops::finiteStepsName;
}

constexpr size_t mostNamesShown = 5;

std::string firstNames(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), mostNamesShown));
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), end == names.end() ? "" : ", …");
}

std::string clause(const std::vector<std::string>& names, const char* one, const char* several) {
  return names.empty()
             ? ""
             : fmt::format("; {} {}: {}", names.size(), names.size() == 1 ? one : several, firstNames(names));
}

} // namespace

Literal roundedTo(const Literal& value, ElementType element) {
  if (value.type().element == element) {
    return value;
  }
  DFC_ASSERT(value.type().element == ElementType::F32 && isFloat(element) && byteWidth(element) == 2,
             "replicas of another type are of 16 bits, and of parameters of f32");
  return element == ElementType::F16 ? rounded<Half>(value) : rounded<BFloat16>(value);
}

std::optional<Diagnostic> beyondCopy(const std::string& name, const Literal& whole, ElementType copy) {
  const ElementType own = whole.type().element;
  const auto beyond = copy == own ? std::nullopt : firstBeyond(copy, whole);
  return !beyond ? std::nullopt
                 : std::optional(errorWithoutPlace(
                       fmt::format(
                           "parameter '{}': element {} is {}, which its copy for products in {} cannot hold",
                           name, *beyond, whole.at(*beyond), dfc::name(copy)),
                       "plan with the precision bf16, which has the range of f32, or scale the weights"));
}

Literal valueOf(const ParameterPart& part, const TensorType& own, const Literal& whole) {
  return roundedTo(part.place.isPart() ? part.place.valueIn(whole, own.shape) : whole, own.element);
}

Literal joined(const ParameterRow& row, llvm::function_ref<Literal(ValueId)> valueOfPart) {
  if (!row.parts.front().place.isPart()) {
    return valueOfPart(row.parts.front().value);
  }
  Literal whole(row.type);
  for (const ParameterPart& part : row.parts) {
    putPart(whole, part.place, valueOfPart(part.value));
  }
  return whole;
}

Result<llvm::DenseMap<ValueId, Literal>> residentValues(const PlacedGraph& placed,
                                                        const std::string& dataFolder,
                                                        const llvm::DenseSet<ValueId>& elsewhere) {
  return ResidentMaker(placed, dataFolder, elsewhere).run();
}

Diagnostics checkState(const std::vector<ParameterRow>& parameters, const NamedLiterals& given) {
  Diagnostics errors;
  for (const auto& [name, literal] : given) {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(),
                     [&, wanted = &name](const ParameterRow& row) { return row.name == *wanted; });
    if (found == parameters.end() && isDerivedByPasses(name)) {
      continue;
    }
    if (found == parameters.end()) {
      std::vector<std::string> names;
      for (const ParameterRow& row : parameters) {
        names.push_back(row.name);
      }
      const auto near = nearestName(name, names);
      errors.push_back(errorWithoutPlace(fmt::format("the plan has no parameter named '{}'", name),
                                         near ? fmt::format("did you mean '{}'?", *near)
                                              : fmt::format("its parameters: {}", fmt::join(names, ", "))));
    } else if (literal.type() != found->type) {
      errors.push_back(errorWithoutPlace(fmt::format("parameter '{}' is {}, but the value given is {}", name,
                                                     toString(found->type), toString(literal.type())),
                                         fmt::format("give a value of type {}", toString(found->type))));
    }
  }
  return errors;
}

// A file of another net differs in many parameters: one error says how many fit.
Diagnostics checkWholeState(const std::vector<ParameterRow>& parameters, const NamedLiterals& given) {
  std::vector<std::string> missing, unfit, extra;
  std::set<std::string> names;
  size_t fitting = 0;
  for (const ParameterRow& row : parameters) {
    names.insert(row.name);
    const auto value = given.find(row.name);
    if (value == given.end()) {
      if (!row.ofPlan) {
        missing.push_back(fmt::format("'{}'", row.name));
      }
    } else if (value->second.type() != row.type) {
      unfit.push_back(
          fmt::format("'{}' ({}, not {})", row.name, toString(value->second.type()), toString(row.type)));
    } else {
      ++fitting;
    }
  }
  for (const auto& entry : given) {
    if (names.count(entry.first) == 0 && !isDerivedByPasses(entry.first)) {
      extra.push_back(fmt::format("'{}'", entry.first));
    }
  }
  if (missing.empty() && unfit.empty() && extra.empty()) {
    return {};
  }
  return {errorWithoutPlace(
      fmt::format("has values for {} of the plan's {}{}{}{}", fitting,
                  parameters.size() == 1 ? "one parameter" : fmt::format("{} parameters", parameters.size()),
                  clause(missing, "is missing", "are missing"),
                  clause(unfit, "is of another type", "are of other types"),
                  clause(extra, "of its values is of no parameter", "of its values are of no parameter")),
      "use a file that was saved from this graph")};
}

} // namespace dfc
