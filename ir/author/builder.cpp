#include "ir/author/builder.h"

#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace dfc {
namespace {

// As the op of the graph.
ops::Parameter parameterOf(const Initialiser& start, const TensorType& type) {
  ops::Parameter parameter;
  parameter.type = type;
  parameter.initialiser = start.kind;
  parameter.a = start.a;
  parameter.b = start.b;
  parameter.seed = start.seed;
  parameter.file = start.file;
  return parameter;
}

// Whether callers know the value by its name: they feed it, or restore it.
bool isSource(const Graph& graph, ValueId value) {
  const OpKind kind = graph[graph[value].producer].kind();
  return kind == OpKind::Input || kind == OpKind::Parameter;
}

// While it lives, `name` is free: the value that has it stands aside, and gets a suffix where the name is
// then taken.
class NameFreed {
 public:
  NameFreed(GraphBuilder& graph, std::string_view name)
      : graph_(graph), name_(name), holder_(graph.soFar().findValue(name)) {
    if (holder_.valid()) {
      graph_.rename(holder_, name_ + " displaced");
    }
  }
  NameFreed(const NameFreed&) = delete;
  NameFreed& operator=(const NameFreed&) = delete;
  ~NameFreed() {
    if (holder_.valid()) {
      graph_.rename(holder_, name_);
    }
  }

 private:
  GraphBuilder& graph_;
  std::string name_;
  ValueId holder_;
};

} // namespace

Builder* Tensor::builder() const {
  if (builder_ != nullptr) {
    builder_->graph(); // throws once it has finished
  }
  return builder_;
}

// The type of poisoned tensors: as many axes as there can be, so that the first, the last and any fixed one
// exist, and of length 1, so that a division by one or a product of all is harmless.
const TensorType& Tensor::type() const {
  static const TensorType poisonedType = f32({1, 1, 1, 1, 1, 1, 1, 1});
  if (builder_ == nullptr) {
    throw std::logic_error("type or shape of an empty Tensor: give it a value before it is used");
  }
  return valid() ? builder()->graph().soFar().typeOf(value_) : poisonedType;
}

Tensor Tensor::named(std::string_view name, std::source_location where) const {
  if (!valid()) {
    return *this;
  }
  Builder& writer = *builder();
  const Graph& graph = writer.graph().soFar();
  if (isSource(graph, value_) && graph.nameOf(value_) != name) {
    writer.renameSource(value_, name, where);
  } else {
    writer.graph().rename(value_, name);
  }
  return *this;
}

Tensor Tensor::on(std::string_view device) const {
  if (valid()) {
    GraphBuilder& graph = builder()->graph();
    graph.repin(graph.soFar()[value_].producer, device);
  }
  return *this;
}

Initialiser zeros() { return {}; }
Initialiser constantInit(double value) { return {Initialiser::Kind::Constant, value}; }
Initialiser uniform(double low, double high, int64_t seed) {
  return {Initialiser::Kind::Uniform, low, high, seed};
}
Initialiser normal(double mean, double deviation, int64_t seed) {
  return {Initialiser::Kind::Normal, mean, deviation, seed};
}
Initialiser glorot(int64_t seed) { return {Initialiser::Kind::Glorot, 0, 0, seed}; }
Initialiser heNormal(int64_t seed) { return {Initialiser::Kind::HeNormal, 0, 0, seed}; }
Initialiser heUniform(int64_t seed) { return {Initialiser::Kind::HeUniform, 0, 0, seed}; }
Initialiser fromFile(std::string path) { return {Initialiser::Kind::File, 0, 0, 0, std::move(path)}; }

Builder::Builder(std::string name)
    : own_(std::make_unique<GraphBuilder>(std::move(name))), graph_(own_.get()) {}
Builder::Builder(GraphBuilder& graph) : graph_(&graph) {}
Builder::~Builder() = default;

GraphBuilder& Builder::graph() {
  if (graph_ == nullptr) {
    throw std::logic_error("a Builder or one of its tensors is used after finish(): write everything before, "
                           "or begin another Builder");
  }
  return *graph_;
}

Result<Graph> Builder::finish() && {
  graph();
  DFC_ASSERT(own_ != nullptr, "finish of a builder of another's graph");
  graph_ = nullptr;
  return std::move(*own_).finish();
}

Tensor Builder::input(std::string_view name, const TensorType& type, std::source_location where) {
  ops::Input attributes;
  attributes.type = type;
  return source(std::move(attributes), name, where);
}

Tensor Builder::parameter(std::string_view name, const TensorType& type, const Initialiser& start,
                          std::source_location where) {
  return source(parameterOf(start, type), name, where);
}

Tensor Builder::derivedParameter(std::string_view name, const TensorType& type, const Initialiser& start,
                                 std::source_location where) {
  ops::Parameter parameter = parameterOf(start, type);
  parameter.ofPlan = own_ == nullptr; // passes append to another's graph, authors to their own
  const ValueId holder = graph().soFar().findValue(name);
  std::optional<NameFreed> freed;
  if (holder.valid() && !isSource(graph().soFar(), holder)) {
    freed.emplace(graph(), name);
  }
  return {this, graph().result(graph().append(std::move(parameter), {}, provenance(name, where)))};
}

Tensor Builder::step(std::source_location where) {
  if (!step_.valid()) {
    const Guard outside = exactly("", "");
    const Tensor counter = derivedParameter("step", {ElementType::I64, {}}, zeros(), where);
    step_ = counter.value();
    const Tensor one = scalar(ElementType::I64, 1, where);
    assign(counter, op(ops::Add{}, {counter, one}, where), where);
  }
  return {this, step_};
}

Tensor Builder::source(OpAttributes attributes, std::string_view name, std::source_location where) {
  if (!nameIsFree(kindOf(attributes), name, where)) {
    return {this, {}};
  }
  const NameFreed freed(graph(), name);
  return {this, graph().result(graph().append(std::move(attributes), {}, provenance(name, where)))};
}

void Builder::renameSource(ValueId source, std::string_view name, std::source_location where) {
  const Graph& graph = this->graph().soFar();
  if (nameIsFree(graph[graph[source].producer].kind(), name, where)) {
    const NameFreed freed(this->graph(), name);
    this->graph().rename(source, name);
  }
}

// Whether an input or a parameter may have this name; says which one has it already.
bool Builder::nameIsFree(OpKind kind, std::string_view name, std::source_location where) {
  const Graph& graph = this->graph().soFar();
  const ValueId holder = graph.findValue(name);
  if (!holder.valid() || !isSource(graph, holder)) {
    return true;
  }
  const OpId first = graph[holder].producer;
  const SourceLocation place = graph.locationOf(first);
  report(
      where,
      fmt::format("{} '{}' has the name of an earlier {}", nameOf(kind), name, nameOf(graph[first].kind())),
      fmt::format("the first is written at {}:{}; give each its own name, by which it is fed or restored",
                  place.file, place.line));
  return false;
}

Tensor Builder::constant(const Literal& value, std::source_location where) {
  ops::Constant attributes;
  attributes.value = value;
  return op(std::move(attributes), {}, where);
}

Tensor Builder::scalar(ElementType type, double value, std::source_location where) {
  const Literal rounded = filledLiteral({type, {}}, value);
  if (std::isfinite(value) && !std::isfinite(rounded.at(0))) {
    graph().report(
        inScope({Severity::Warning, locate(where),
                 fmt::format("{} is too large for {}: it becomes {}", value, name(type), rounded.at(0)),
                 "cast to a wider type first; write infinity where it is meant"},
                scope_));
  }
  return constant(rounded, where);
}

Tensor Builder::assign(Tensor parameter, Tensor value, std::source_location where) {
  return op(ops::Assign{}, {parameter, value}, where);
}

void Builder::fetch(std::string_view name, Tensor value, std::source_location where) {
  if (name.empty()) {
    report(where, "a fetch without a name", "name what you fetch");
  } else if (usable(value, fmt::format("fetch '{}'", name), where)) {
    graph().fetch(name, value.value(), locate(where));
  }
}

Tensor Builder::op(OpAttributes attributes, const std::vector<Tensor>& operands, std::source_location where) {
  const auto results = multiOp(std::move(attributes), operands, where);
  return results.empty() ? Tensor(this, {}) : results.front();
}

std::vector<Tensor> Builder::multiOp(OpAttributes attributes, const std::vector<Tensor>& operands,
                                     std::source_location where) {
  llvm::SmallVector<ValueId, 3> values;
  for (const Tensor& operand : operands) {
    if (!usable(operand, nameOf(kindOf(attributes)), where)) {
      return {};
    }
    values.push_back(operand.value());
  }
  const OpId made = graph().append(std::move(attributes), values, provenance({}, where));
  std::vector<Tensor> results;
  if (made.valid()) {
    for (const ValueId value : graph().soFar()[made].results()) {
      results.push_back({this, value});
    }
  }
  return results;
}

// Whether a tensor belongs here: an empty one (never assigned) or one of another graph is a mistake, a
// poisoned one was reported before.
bool Builder::usable(Tensor operand, std::string_view what, std::source_location where) {
  if (operand.builder() == nullptr) {
    report(where, fmt::format("{} of an empty Tensor", what), "give it a value before it is used");
    return false;
  }
  if (&operand.builder()->graph() != &graph()) {
    report(where, fmt::format("{} mixes tensors of two graphs", what),
           "build both operands with the same Builder");
    return false;
  }
  return true;
}

void Builder::report(std::source_location where, std::string message, std::string hint) {
  graph().report(inScope({Severity::Error, locate(where), std::move(message), std::move(hint)}, scope_));
}

Builder::Guard::Guard(Builder& builder, std::string scope, std::string pin,
                      std::optional<SourceLocation> place)
    : builder_(builder), scopeBefore_(std::move(builder.scope_)), pinBefore_(std::move(builder.pin_)),
      placeBefore_(std::move(builder.place_)) {
  builder_.scope_ = std::move(scope);
  builder_.pin_ = std::move(pin);
  builder_.place_ = std::move(place);
}

Builder::Guard::~Guard() {
  builder_.scope_ = std::move(scopeBefore_);
  builder_.pin_ = std::move(pinBefore_);
  builder_.place_ = std::move(placeBefore_);
}

Builder::Guard Builder::scope(std::string_view name) { return scope(name, pin_); }

Builder::Guard Builder::on(std::string_view device) { return {*this, scope_, std::string(device), place_}; }

Builder::Guard Builder::scope(std::string_view name, std::string_view device) {
  return {*this, scope_.empty() ? std::string(name) : fmt::format("{}/{}", scope_, name), std::string(device),
          place_};
}

Builder::Guard Builder::exactly(std::string_view scopePath, std::string_view pin) {
  return {*this, std::string(scopePath), std::string(pin), place_};
}

Builder::Guard Builder::at(const SourceLocation& place) { return {*this, scope_, pin_, place}; }

SourceLocation Builder::locate(std::source_location where) const {
  return place_ ? *place_ : SourceLocation{where.file_name(), where.line(), where.column()};
}

Provenance Builder::provenance(std::string_view name, std::source_location where) const {
  return {name, scope_, pin_, locate(where)};
}

} // namespace dfc
