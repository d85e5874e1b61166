// See same_graph.h.
#include "ir/graph/same_graph.h"

#include <algorithm>

namespace dfc {
namespace {

bool sameOp(const Graph& a, const Graph& b, OpId op) {
  const OpRow& left = a[op];
  const OpRow& right = b[op];
  return left.operands == right.operands && left.firstResult == right.firstResult &&
         left.resultCount == right.resultCount && a.scopeOf(op) == b.scopeOf(op) &&
         a.pinOf(op) == b.pinOf(op) && sameAttributes(left.attributes, right.attributes);
}

bool sameValue(const Graph& a, const Graph& b, ValueId value) {
  return a[value].type == b[value].type && a[value].producer == b[value].producer &&
         a.nameOf(value) == b.nameOf(value);
}

} // namespace

bool sameGraph(const Graph& a, const Graph& b) {
  const auto ops = a.ops();
  const auto values = a.values();
  return a.name() == b.name() && a.opCount() == b.opCount() && a.valueCount() == b.valueCount() &&
         std::all_of(ops.begin(), ops.end(), [&](OpId op) { return sameOp(a, b, op); }) &&
         std::all_of(values.begin(), values.end(), [&](ValueId value) { return sameValue(a, b, value); }) &&
         std::equal(a.fetches().begin(), a.fetches().end(), b.fetches().begin(), b.fetches().end(),
                    [&](const Fetch& left, const Fetch& right) {
                      return a.text(left.name) == b.text(right.name) && left.value == right.value;
                    });
}

} // namespace dfc
