// Parameters are told by the names that the author gave them.
#include "ir/author/optimizer_parts.h"

#include "ir/base/glob.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

// Whether a gradient has its parameter's type; broadcasting it silently would train something else.
bool matches(Builder& builder, std::string_view rule, Tensor parameter, Tensor gradient,
             std::source_location where) {
  if (!parameter.valid() || !gradient.valid() || parameter.type() == gradient.type()) {
    return parameter.valid() && gradient.valid();
  }
  builder.report(where,
                 fmt::format("{} of '{}', which is {}, with a gradient of {}", rule,
                             builder.graph().soFar().nameOf(parameter.value()), toString(parameter.type()),
                             toString(gradient.type())),
                 "give the gradients in the order of the parameters");
  return false;
}

bool sameCount(Builder& builder, std::string_view rule, size_t parameters, size_t gradients,
               std::source_location where) {
  if (parameters == gradients) {
    return true;
  }
  builder.report(where, fmt::format("{} of {} parameters with {} gradients", rule, parameters, gradients),
                 "give one gradient for each parameter");
  return false;
}

} // namespace

Builder* builderOf(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.builder() != nullptr) {
      return tensor.builder();
    }
  }
  return nullptr;
}

std::string nameOfParameter(Tensor parameter) {
  return std::string(parameter.builder()->graph().soFar().nameOf(parameter.value()));
}

Tensor keptUnless(Tensor onlyIf, Tensor next, Tensor before) {
  return onlyIf.valid() ? select(onlyIf, next, before) : next;
}

std::vector<Tensor> updateAll(std::string_view rule, const std::vector<Tensor>& parameters,
                              const std::vector<Tensor>& gradients, std::source_location where, Tensor onlyIf,
                              const NextValue& nextValue) {
  Builder* builder = builderOf(parameters);
  std::vector<Tensor> results(parameters.size(), Tensor(builder, {}));
  if (builder == nullptr || !sameCount(*builder, rule, parameters.size(), gradients.size(), where)) {
    return results;
  }
  const auto place = builder->at(builder->locate(where));
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (matches(*builder, rule, parameters[i], gradients[i], where)) {
      const std::string name = nameOfParameter(parameters[i]);
      const Tensor next = keptUnless(onlyIf, nextValue(parameters[i], gradients[i]), parameters[i]);
      results[i] = builder->assign(parameters[i], next, where).named(name + ".next");
    }
  }
  return results;
}

Tensor stateBeside(Tensor parameter, std::string_view what, const TensorType& type) {
  return parameter.builder()->derivedParameter(fmt::format("{}.{}", nameOfParameter(parameter), what), type);
}

Tensor assignedState(Tensor state, Tensor next, Tensor onlyIf) {
  state.builder()->assign(state, keptUnless(onlyIf, next, state));
  return next;
}

Tensor castTo(Tensor tensor, ElementType element) {
  return tensor.type().element == element ? tensor : cast(tensor, element);
}

ElementType stateElement(ElementType element) {
  return element == ElementType::F64 ? element : ElementType::F32;
}

Operand scalarIn(const Operand& value, ElementType element) {
  return value.tensor() == nullptr ? value : Operand(castTo(*value.tensor(), element), value.where());
}

bool isRate(Builder* builder, std::string_view rule, const Operand& value, std::source_location where) {
  const Tensor* tensor = value.tensor();
  if (builder == nullptr) {
    return true;
  }
  if (tensor == nullptr) {
    const bool isNumber = std::isfinite(*value.number());
    if (!isNumber) {
      builder->report(where, fmt::format("{} with a rate of {}", rule, *value.number()),
                      "give a finite rate");
    }
    return isNumber;
  }
  if (tensor->builder() == nullptr) {
    builder->report(where, fmt::format("{} with an empty Tensor for a rate", rule),
                    "give a number, or a float scalar: f32[]");
    return false;
  }
  if (!tensor->valid()) { // reported before
    return false;
  }
  if (tensor->shape().rank() == 0 && isFloat(tensor->type().element)) {
    return true;
  }
  builder->report(where, fmt::format("{} with a rate of {}", rule, toString(tensor->type())),
                  "give a number, or a float scalar: f32[]");
  return false;
}

double decayOf(Tensor parameter, double weightDecay, const std::vector<std::string>& noDecay) {
  const std::string name = nameOfParameter(parameter);
  const bool spared = std::any_of(noDecay.begin(), noDecay.end(),
                                  [&](const std::string& pattern) { return globMatches(pattern, name); });
  return spared ? 0 : weightDecay;
}

} // namespace dfc
