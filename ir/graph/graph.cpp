#include "ir/graph/graph.h"

#include "ir/graph/whole_state.h"

#include <fmt/format.h>

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/StringRef.h>

#include <algorithm>

namespace dfc {

namespace {

std::vector<NamedType> namedTypes(const Graph& graph, OpKind kind) {
  std::vector<NamedType> named;
  llvm::DenseSet<llvm::StringRef> known; // of a split graph: parts of one tensor
  for (const OpId op : graph.opsOf(kind)) {
    const std::string_view name = authorNameOf(graph, op);
    if (known.insert({name.data(), name.size()}).second) {
      named.push_back({std::string(name), authorTypeOf(graph, op)});
    }
  }
  return named;
}

} // namespace

Graph::Graph() : tables_(std::make_shared<GraphTables>()) {}

std::shared_ptr<GraphTables> Graph::shared() const {
  return tables_ == nullptr || tables_->finished ? tables_ : std::make_shared<GraphTables>(*tables_);
}

const std::string& Graph::name() const { return tables_->name; }
size_t Graph::opCount() const { return tables_->ops.size(); }
size_t Graph::valueCount() const { return tables_->values.size(); }
std::vector<NamedType> Graph::inputs() const { return namedTypes(*this, OpKind::Input); }
std::vector<NamedType> Graph::parameters() const { return namedTypes(*this, OpKind::Parameter); }
std::vector<NamedType> Graph::results() const {
  std::vector<NamedType> named;
  for (const Fetch& fetch : fetches()) {
    named.push_back({std::string(text(fetch.name)), typeOf(fetch.value)});
  }
  return named;
}

std::string_view Graph::nameOf(ValueId value) const { return text((*this)[value].name); }
std::string_view Graph::nameOf(OpId op) const { return nameOf((*this)[op].firstResult); }
std::string_view Graph::scopeOf(OpId op) const { return text((*this)[op].scope); }
std::string_view Graph::pinOf(OpId op) const { return text((*this)[op].pin); }

Graph& Graph::operator=(const Graph& other) {
  tables_ = other.shared();
  return *this;
}

SourceLocation Graph::locationOf(OpId op) const {
  const OpRow& row = (*this)[op];
  return {std::string(text(row.file)), row.line, row.column};
}

InternedProvenance Graph::provenanceOf(OpId op) const {
  const OpRow& row = (*this)[op];
  return {(*this)[row.firstResult].name, row.scope, row.pin, row.file, row.line, row.column};
}

llvm::SmallVector<TensorType, 4> operandTypesIn(const GraphTables& tables, OpId op) {
  llvm::SmallVector<TensorType, 4> types;
  for (const ValueId operand : tables.ops[op].operands) {
    types.push_back(tables.values[operand].type);
  }
  return types;
}

llvm::SmallVector<TensorType, 4> resultTypesIn(const GraphTables& tables, OpId op) {
  llvm::SmallVector<TensorType, 4> types;
  for (const ValueId result : tables.ops[op].results()) {
    types.push_back(tables.values[result].type);
  }
  return types;
}

ValueId Graph::findValue(std::string_view name) const {
  const StringId id = tables_->strings.find(name);
  return id.valid() && id.index() < tables_->byName.size() ? tables_->byName[id] : ValueId();
}

GraphBuilder::GraphBuilder(std::string name) { tables().name = std::move(name); }

GraphBuilder::GraphBuilder(const Graph& old) {
  tables().name = old.name();
  tables().strings = old.tables_->strings;
}

OpId GraphBuilder::append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands,
                          const Provenance& provenance) {
  const std::string_view name = provenance.name.empty() ? nameOf(kindOf(attributes)) : provenance.name;
  return appendInterned(std::move(attributes), operands,
                        InternedProvenance{intern(name), intern(provenance.scope), intern(provenance.pin),
                                           intern(provenance.where.file), provenance.where.line,
                                           provenance.where.column});
}

OpId GraphBuilder::appendInterned(OpAttributes attributes, llvm::ArrayRef<ValueId> operands,
                                  const InternedProvenance& provenance) {
  const auto where = [&] { // only where it is needed: it copies the path
    return SourceLocation{std::string(graph_.text(provenance.file)), provenance.line, provenance.column};
  };
  OpRow row{std::move(attributes),
            {operands.begin(), operands.end()},
            {},
            0,
            provenance.scope,
            provenance.pin,
            provenance.file,
            provenance.line,
            provenance.column};
  llvm::SmallVector<TensorType, 4> operandTypes;
  for (const ValueId operand : operands) {
    if (!operand.valid()) {
      return {}; // said where it went wrong
    }
    operandTypes.push_back(graph_.typeOf(operand));
  }
  TypeResult types = resultTypes(row.attributes, operandTypes);
  if (!types.ok()) {
    report(inScope({Severity::Error, where(), std::move(types.error), std::move(types.hint)},
                   graph_.text(provenance.scope)));
    return {};
  }
  if (row.kind() == OpKind::Assign && !checkAssign(row, where())) {
    return {};
  }
  addResults(row, types.types, provenance.name);
  std::vector<OpId>& alike = tables().opsOfKind[static_cast<size_t>(row.kind())];
  return alike.emplace_back(tables().ops.add(std::move(row)));
}

void GraphBuilder::addResults(OpRow& row, llvm::ArrayRef<TensorType> types, StringId name) {
  const OpId producer(static_cast<uint32_t>(tables().ops.size()));
  row.firstResult = ValueId(static_cast<uint32_t>(tables().values.size()));
  row.resultCount = static_cast<uint32_t>(types.size());
  for (const TensorType& type : types) {
    const StringId unique = uniqueName(name);
    const ValueId value = tables().values.add({type, producer, unique});
    giveName(value, unique);
    assigned_.resize(tables().values.size());
  }
}

void GraphBuilder::giveName(ValueId value, StringId name) {
  if (name.index() >= tables().byName.size()) {
    tables().byName.resize(std::max(tables().strings.size(), 2 * tables().byName.size()));
  }
  tables().byName[name] = value;
}

StringId GraphBuilder::uniqueName(StringId wanted) {
  const auto taken = [&](StringId name) {
    return name.index() < tables().byName.size() && tables().byName[name].valid();
  };
  if (!taken(wanted)) {
    return wanted;
  }
  uint32_t& next = nextSuffix_.try_emplace(wanted, 2).first->second;
  StringId numbered;
  do {
    numbered = intern(fmt::format("{}.{}", graph_.text(wanted), next++));
  } while (taken(numbered));
  return numbered;
}

bool GraphBuilder::checkAssign(const OpRow& row, const SourceLocation& where) {
  const ValueId target = row.operands[0];
  const OpRow& producer = graph_[graph_[target].producer];
  if (producer.kind() != OpKind::Parameter) {
    report(inScope({Severity::Error, where,
                    fmt::format("assign to '{}', which is no parameter but the result of {}",
                                graph_.nameOf(target), nameOf(producer.kind())),
                    "assign takes the parameter first, then its next value"},
                   graph_.text(row.scope)));
    return false;
  }
  if (assigned_[target]) {
    report(inScope({Severity::Error, where,
                    fmt::format("parameter '{}' is assigned twice", graph_.nameOf(target)),
                    "a step gives a parameter one next value; combine the two updates"},
                   graph_.text(row.scope)));
    return false;
  }
  assigned_[target] = true;
  return true;
}

ValueId GraphBuilder::result(OpId op, uint32_t index) const {
  if (!op.valid()) {
    return {};
  }
  const OpRow& row = graph_[op];
  DFC_ASSERT(index < row.resultCount, "result index");
  return ValueId(row.firstResult.index() + index);
}

void GraphBuilder::fetch(std::string_view name, ValueId value, const SourceLocation& where) {
  if (!value.valid()) {
    return;
  }
  const StringId id = tables().strings.intern(name);
  if (!fetched_.insert(id).second) {
    report({Severity::Error, where, fmt::format("two fetches are named '{}'", name),
            "give each fetch its own name"});
    return;
  }
  tables().fetches.push_back({id, value});
}

void GraphBuilder::rename(ValueId value, std::string_view name) {
  if (!value.valid()) {
    return;
  }
  rename(value, intern(name.empty() ? nameOf(graph_[graph_[value].producer].kind()) : name));
}

void GraphBuilder::rename(ValueId value, StringId name) {
  ValueRow& row = tables().values[value];
  tables().byName[row.name] = ValueId();
  row.name = uniqueName(name);
  giveName(value, row.name);
}

void GraphBuilder::repin(OpId op, std::string_view pin) {
  if (op.valid()) {
    tables().ops[op].pin = tables().strings.intern(pin);
  }
}

void GraphBuilder::report(Diagnostic diagnostic) {
  (diagnostic.severity == Severity::Warning ? warnings_ : errors_).push_back(std::move(diagnostic));
}

Result<Graph> GraphBuilder::finish() && {
  if (!errors_.empty()) {
    return std::move(errors_);
  }
  tables().strings.settle();
  tables().finished = true;
  return Result<Graph>(std::move(graph_)).withWarnings(warnings_);
}

int64_t viewOffset(const Graph& graph, const OpRow& view) {
  const auto* part = view.getIf<ops::Subview>();
  return part != nullptr ? part->start * byteWidth(graph.typeOf(view.firstResult).element) : 0;
}

} // namespace dfc
