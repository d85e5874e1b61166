// printGraph: see print.h. Runs of ops with one scope become one block; a pin stands on the block when all of
// its ops share it, else on each op.
#include "ir/author/text/print.h"
#include "ir/author/text/print_op.h"
#include "ir/author/text/quote.h"
#include "ir/graph/graph.h"

namespace dfc {
namespace {

class GraphPrinter {
 public:
  explicit GraphPrinter(const Graph& graph) : graph_(graph), ops_(graph) {}

  std::string print() && {
    out_ = "graph ";
    text::appendName(out_, graph_.name());
    out_ += " {\n";
    const auto count = static_cast<uint32_t>(graph_.opCount());
    for (uint32_t first = 0; first < count;) {
      const uint32_t last = endOfRun(first);
      printRun(first, last);
      first = last;
    }
    for (const Fetch& fetch : graph_.fetches()) {
      printFetch(fetch);
    }
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  uint32_t endOfRun(uint32_t first) const {
    uint32_t last = first + 1;
    while (last < graph_.opCount() && graph_[OpId(last)].scope == graph_[OpId(first)].scope) {
      ++last;
    }
    return last;
  }

  bool onePin(uint32_t first, uint32_t last) const {
    for (uint32_t op = first; op < last; ++op) {
      if (graph_[OpId(op)].pin != graph_[OpId(first)].pin) {
        return false;
      }
    }
    return true;
  }

  void printRun(uint32_t first, uint32_t last) {
    const std::string_view scope = graph_.scopeOf(OpId(first));
    const bool block = !scope.empty();
    const bool pinnedBlock = block && onePin(first, last);
    if (block) {
      text::appendName(out_ += "  scope ", scope);
      printPin(pinnedBlock ? graph_.pinOf(OpId(first)) : "");
      out_ += " {\n";
    }
    for (uint32_t op = first; op < last; ++op) {
      ops_.append(out_ += block ? "    " : "  ", OpId(op));
      printPin(pinnedBlock ? "" : graph_.pinOf(OpId(op)));
      out_ += '\n';
    }
    out_ += block ? "  }\n" : "";
  }

  void printPin(std::string_view pin) {
    if (!pin.empty()) {
      text::appendName(out_ += " on ", pin);
    }
  }

  void printFetch(const Fetch& fetch) {
    text::appendName(out_ += "  fetch ", graph_.text(fetch.name));
    if (graph_.text(fetch.name) != graph_.nameOf(fetch.value)) {
      text::appendName(out_ += " = ", graph_.nameOf(fetch.value));
    }
    out_ += '\n';
  }

  const Graph& graph_;
  text::OpPrinter ops_;
  std::string out_;
};

} // namespace

std::string printGraph(const Graph& graph) { return GraphPrinter(graph).print(); }

} // namespace dfc
