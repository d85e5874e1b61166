// The graph of a plan, op by op. Stops at the first op that is wrong, since ids after it would mean others.
#include "ir/plan/file/executable_graph.h"

#include "ir/plan/file/executable_attributes.h"

#include <fmt/format.h>

namespace dfc {
namespace {

class GraphReader {
 public:
  GraphReader(const file::Plan& plan, std::span<const std::byte> constants)
      : plan_(plan), constants_(constants), builder_(plan.name()->str()) {}

  Result<Graph> read() {
    readOps();
    if (errors_.empty()) {
      readFetches();
    }
    return errors_.empty() ? std::move(builder_).finish() : Result<Graph>(std::move(errors_));
  }

 private:
  void fail(std::string message) { errors_.push_back(errorWithoutPlace(std::move(message))); }
  bool exists(uint32_t value) const { return value < builder_.soFar().valueCount(); }

  std::string_view text(uint32_t index) {
    const auto found = textAt(*plan_.strings(), index);
    if (!found) {
      fail(fmt::format("string {} of {}", index, plan_.strings()->size()));
    }
    return found.value_or("");
  }

  void readOps() {
    uint64_t results = 0;
    for (uint32_t i = 0; i < plan_.ops()->size() && errors_.empty(); ++i) {
      const file::Op& op = *plan_.ops()->Get(i);
      results += op.results();
      if (results > plan_.values()->size()) {
        fail(fmt::format("op {} has results beyond the {} values", i, plan_.values()->size()));
      } else {
        readOp(i, op);
      }
    }
    if (errors_.empty() && results != plan_.values()->size()) {
      fail(fmt::format("{} values, of which {} belong to an op", plan_.values()->size(), results));
    }
    if (errors_.empty() && !constants_.empty()) {
      fail(fmt::format("{} bytes of constants belong to no op", constants_.size()));
    }
  }

  void readOp(uint32_t index, const file::Op& op) {
    const std::string_view kindName = text(op.kind());
    const auto kind = opKindNamed(kindName);
    if (!kind) {
      fail(fmt::format("op {}: this dfc knows no op '{}'", index, kindName));
      return;
    }
    OpAttributes attributes = defaultAttributes(*kind);
    const std::string wrong = readAttributes(attributes, op.attributes(), *plan_.strings(), constants_);
    if (!wrong.empty()) {
      fail(fmt::format("op {} ({}): {}", index, kindName, wrong));
      return;
    }
    append(index, op, std::move(attributes));
  }

  void append(uint32_t index, const file::Op& op, OpAttributes attributes) {
    llvm::SmallVector<ValueId, 3> operands;
    const uint32_t count = op.operands() == nullptr ? 0 : op.operands()->size();
    for (uint32_t i = 0; i < count && errors_.empty(); ++i) {
      operands.emplace_back(op.operands()->Get(i));
      if (!exists(operands.back().index())) {
        fail(fmt::format("op {} reads value {}, which does not exist before it", index,
                         operands.back().index()));
      }
    }
    const auto firstResult = static_cast<uint32_t>(builder_.soFar().valueCount());
    const std::string_view name = op.results() == 0 ? "" : text(plan_.values()->Get(firstResult)->name());
    const Provenance provenance{
        name, text(op.scope()), text(op.pin()), {std::string(text(op.file())), op.line(), op.column()}};
    if (!errors_.empty()) {
      return;
    }
    const OpId made = builder_.append(std::move(attributes), operands, provenance);
    if (!made.valid()) {
      fail(fmt::format("op {} ('{}'): {}", index, name, builder_.errors().back().message));
    } else {
      compareResults(index, op, made);
    }
  }

  void compareResults(uint32_t index, const file::Op& op, OpId made) {
    const OpRow& row = builder_.soFar()[made];
    if (row.resultCount != op.results()) {
      fail(fmt::format("op {} has {} results, not {}", index, row.resultCount, op.results()));
      return;
    }
    for (const ValueId value : row.results()) {
      const file::Value& stored = *plan_.values()->Get(value.index());
      const std::string_view name = text(stored.name());
      if (value != row.firstResult) {
        builder_.rename(value, name);
      }
      if (builder_.soFar().nameOf(value) != name) {
        fail(fmt::format("value {} is named '{}', which is empty or taken", value.index(), name));
      }
      const TensorType& type = builder_.soFar().typeOf(value);
      if (typeFrom(textAt(*plan_.strings(), stored.element()), stored.dims()) != type) {
        fail(fmt::format("value '{}' is not of the type {} that its op gives", name, toString(type)));
      }
    }
  }

  void readFetches() {
    for (const file::Fetch* fetch : *plan_.fetches()) {
      const std::string_view name = text(fetch->name());
      if (exists(fetch->value())) {
        builder_.fetch(name, ValueId(fetch->value()));
      } else {
        fail(fmt::format("fetch '{}' of value {}, which does not exist", name, fetch->value()));
      }
    }
  }

  const file::Plan& plan_;
  std::span<const std::byte> constants_;
  GraphBuilder builder_;
  Diagnostics errors_;
};

} // namespace

Result<Graph> readPlanGraph(const file::Plan& plan, std::span<const std::byte> constants) {
  return GraphReader(plan, constants).read();
}

} // namespace dfc
