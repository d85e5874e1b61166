#include "ir/author/onnx/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dfc::onnx {

void Inputs::define(OnnxScope& scope, const OnnxPort& port) {
  if (std::find(names_.begin(), names_.end(), port.name) != names_.end()) {
    throw BadFile(fmt::format("a second input named '{}'", port.name));
  }
  names_.push_back(port.name);
  if (scope.defines(port.name)) {
    return;
  }
  if (const auto sample = settings_.samples.find(port.name); sample != settings_.samples.end()) {
    const Tensor input = scope.builder().input(port.name, sample->second.type());
    scope.state().known.give(input, [value = sample->second] { return value; });
    defineAs(scope, port, input);
  } else if (const auto value = settings_.values.find(port.name); value != settings_.values.end()) {
    defineAs(scope, port, scope.builder().constant(value->second));
  } else if (const std::optional<TensorType> type = typeOf(port)) {
    defineAs(scope, port, scope.builder().input(port.name, *type));
  } else {
    scope.poison(port.name);
  }
}

void Inputs::finish() {
  sayFreeDimensions();
  sayUnknownDimensions();
  sayUnknownInputs();
}

void Inputs::sayFreeDimensions() {
  if (!free_.empty()) {
    std::string list, hint;
    for (const auto& [name, users] : free_) {
      list += fmt::format("{}{} (of {})", list.empty() ? "" : ", ", name, fmt::join(users, ", "));
      hint += fmt::format(" --dim {}=8", name);
    }
    problems_.push_back(
        {Problem::Kind::Mistake, fmt::format("free dimensions: {}", list),
         fmt::format("a plan is made for one length of each; bind them:{}; in programs: dims", hint)});
  }
}

void Inputs::sayUnknownDimensions() {
  for (const auto& [name, length] : settings_.dims) {
    if (asked_.count(name) == 0) {
      const auto near = nearestName(name, {known_.begin(), known_.end()});
      problems_.push_back({Problem::Kind::Mistake, fmt::format("there is no free dimension '{}'", name),
                           near             ? fmt::format("did you mean '{}'?", *near)
                           : known_.empty() ? "all dimensions of its inputs are given"
                                            : fmt::format("it has: {}", fmt::join(known_, ", "))});
    } else if (length < 0) {
      problems_.push_back({Problem::Kind::Mistake, fmt::format("dimension '{}' cannot be {}", name, length)});
    }
  }
}

void Inputs::sayUnknownInputs() {
  for (const auto& [name, value] : settings_.values) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
      const auto near = nearestName(name, names_);
      problems_.push_back({Problem::Kind::Mistake, fmt::format("there is no input '{}'", name),
                           near ? fmt::format("did you mean '{}'?", *near) : ""});
    }
  }
}

void Inputs::defineAs(OnnxScope& scope, const OnnxPort& port, Tensor tensor) {
  if (isWidened(port.element) && tensor.valid()) {
    scope.state().widened[tensor.value()] = port.element;
  }
  scope.define(port.name, tensor);
}

int64_t Inputs::lengthOf(const OnnxPort& port, size_t axis) {
  const OnnxDim& dim = (*port.dims)[axis];
  const std::string place = fmt::format("{}.{}", port.name, axis);
  if (dim.length >= 0 && dim.name.empty()) {
    return dim.length;
  }
  const std::string& name = dim.name.empty() ? place : dim.name;
  known_.insert(name);
  for (const std::string& key : {place, name}) { // the place goes before the name that several have
    if (const auto bound = settings_.dims.find(key); bound != settings_.dims.end()) {
      asked_.insert(key);
      return std::max<int64_t>(bound->second, 0);
    }
  }
  free_[name].push_back(fmt::format("{} axis {}", port.name, axis));
  return -1;
}

std::optional<TensorType> Inputs::typeOf(const OnnxPort& port) {
  const auto unsupported = [&](const std::string& what) {
    problems_.push_back({Problem::Kind::Unsupported, what});
    return std::nullopt;
  };
  if (!port.other.empty()) {
    return unsupported(fmt::format("input '{}' is {}", port.name, port.other));
  }
  if (!port.dims) {
    return unsupported(fmt::format("input '{}' does not say how many dimensions it has", port.name));
  }
  std::vector<int64_t> dims;
  for (size_t axis = 0; axis < port.dims->size() && axis <= Shape::maxRank; ++axis) {
    dims.push_back(lengthOf(port, axis));
  }
  if (std::find(dims.begin(), dims.end(), -1) != dims.end()) {
    return std::nullopt;
  }
  if (dims.size() > Shape::maxRank || !Shape::valid(dims)) {
    return unsupported(fmt::format("input '{}' of shape [{}]", port.name, fmt::join(dims, ", ")));
  }
  try {
    return TensorType{elementOfOnnx(port.element), Shape(std::span<const int64_t>(dims))};
  } catch (const Unsupported& reason) {
    return unsupported(fmt::format("input '{}': {}", port.name, reason.what()));
  }
}

} // namespace dfc::onnx
