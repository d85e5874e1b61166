// Integers that a graph answers with NaN: the losses that are formulas do so where a label names no class.
#pragma once

#include "ir/graph/graph.h"

#include <map>
#include <optional>
#include <vector>

namespace dfc {

/// What becomes of the elements of an input's integers, as far as elementwise ops alone tell.
class NanAnswers {
 public:
  /// `rows`: a number for each value that holds elements of the input as they are, equal where they are the
  /// same ones in the same order; 0 for others. `row`: the number of the elements that are asked about.
  NanAnswers(const Graph& graph, const SideTable<ValueId, uint32_t>& rows, uint32_t row)
      : graph_(graph), rows_(rows), row_(row) {}
  /// Whether a step in which each element is `element` adds up or fetches a NaN that a select chose.
  bool isNan(double element) const;
  /// What `value` holds in such a step; none where that is not known.
  std::optional<double> at(ValueId value, double element) const;
  /// The numbers that elements are told apart from by eq and ne.
  std::vector<double> comparedWith() const;

 private:
  const Graph& graph_;
  const SideTable<ValueId, uint32_t>& rows_;
  uint32_t row_;
  mutable std::map<double, bool> found_;
};

} // namespace dfc
