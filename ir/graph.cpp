#include "ir/graph.h"

#include <fmt/format.h>

namespace dfc {

SourceLocation Graph::locationOf(OpId op) const {
  const OpRow& row = ops_[op];
  return {std::string(text(row.file)), row.line, row.column};
}

llvm::SmallVector<TensorType, 4> Graph::operandTypesOf(OpId op) const {
  llvm::SmallVector<TensorType, 4> types;
  for (const ValueId operand : ops_[op].operands) {
    types.push_back(values_[operand].type);
  }
  return types;
}

llvm::SmallVector<TensorType, 4> Graph::resultTypesOf(OpId op) const {
  llvm::SmallVector<TensorType, 4> types;
  for (const ValueId result : ops_[op].results()) {
    types.push_back(values_[result].type);
  }
  return types;
}

ValueId Graph::findValue(std::string_view name) const {
  const StringId id = strings_.find(name);
  if (!id.valid()) {
    return {};
  }
  const auto found = byName_.find(id);
  return found == byName_.end() ? ValueId() : found->second;
}

GraphBuilder::GraphBuilder(std::string name) { graph_.name_ = std::move(name); }

OpId GraphBuilder::append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, const OpSite& site) {
  OpRow row{std::move(attributes), {operands.begin(), operands.end()}, {}, 0, {}, {}, {}, site.where.line,
            site.where.column};
  llvm::SmallVector<TensorType, 4> operandTypes;
  for (const ValueId operand : operands) {
    if (!operand.valid()) {
      return {}; // said where it went wrong
    }
    operandTypes.push_back(graph_.typeOf(operand));
  }
  TypeResult types = resultTypes(row.attributes, operandTypes);
  if (!types.ok()) {
    report({Severity::Error, site.where, std::move(types.error), std::move(types.hint)});
    return {};
  }
  if (row.kind() == OpKind::Assign && !checkAssign(row, site)) {
    return {};
  }
  row.scope = graph_.strings_.intern(site.scope);
  row.pin = graph_.strings_.intern(site.pin);
  row.file = graph_.strings_.intern(site.where.file);
  addResults(row, types.types, site.name.empty() ? nameOf(row.kind()) : site.name);
  return graph_.ops_.add(std::move(row));
}

void GraphBuilder::addResults(OpRow& row, llvm::ArrayRef<TensorType> types, std::string_view name) {
  const OpId producer(static_cast<uint32_t>(graph_.ops_.size()));
  row.firstResult = ValueId(static_cast<uint32_t>(graph_.values_.size()));
  row.resultCount = static_cast<uint32_t>(types.size());
  for (const TensorType& type : types) {
    const StringId unique = uniqueName(name);
    const ValueId value = graph_.values_.add({type, producer, unique});
    graph_.byName_[unique] = value;
    assigned_.resize(graph_.values_.size());
  }
}

StringId GraphBuilder::uniqueName(std::string_view wanted) {
  StringId id = graph_.strings_.intern(wanted);
  if (!graph_.byName_.count(id)) {
    return id;
  }
  uint32_t& next = nextSuffix_.try_emplace(id, 2).first->second;
  StringId numbered;
  do {
    numbered = graph_.strings_.intern(fmt::format("{}.{}", wanted, next++));
  } while (graph_.byName_.count(numbered));
  return numbered;
}

bool GraphBuilder::checkAssign(const OpRow& row, const OpSite& site) {
  const ValueId target = row.operands[0];
  const OpRow& producer = graph_[graph_[target].producer];
  if (producer.kind() != OpKind::Parameter) {
    report({Severity::Error, site.where,
            fmt::format("assign to '{}', which is no parameter but the result of {}", graph_.nameOf(target),
                        nameOf(producer.kind())),
            "assign takes the parameter first, then its next value"});
    return false;
  }
  if (assigned_[target]) {
    report({Severity::Error, site.where,
            fmt::format("parameter '{}' is assigned twice", graph_.nameOf(target)),
            "a step gives a parameter one next value; combine the two updates"});
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
  const StringId id = graph_.strings_.intern(name);
  if (!fetched_.insert(id).second) {
    report({Severity::Error, where, fmt::format("two fetches are named '{}'", name),
            "give each fetch its own name"});
    return;
  }
  graph_.fetches_.push_back({id, value});
}

void GraphBuilder::rename(ValueId value, std::string_view name) {
  if (!value.valid()) {
    return;
  }
  ValueRow& row = graph_.values_[value];
  graph_.byName_.erase(row.name);
  row.name = uniqueName(name.empty() ? nameOf(graph_[row.producer].kind()) : name);
  graph_.byName_[row.name] = value;
}

void GraphBuilder::repin(OpId op, std::string_view pin) {
  if (op.valid()) {
    graph_.ops_[op].pin = graph_.strings_.intern(pin);
  }
}

Result<Graph> GraphBuilder::finish() && {
  if (!errors_.empty()) {
    return std::move(errors_);
  }
  return std::move(graph_);
}

} // namespace dfc
