// Indices out of range in fed data: labels that name no class, ids that name no row of a table. The ops that
// take them give NaN or zeros, which say neither where nor why.
#pragma once

#include "ir/graph/graph.h"
#include "ir/graph/literal.h"

#include <llvm/ADT/ArrayRef.h>

#include <optional>
#include <string>
#include <vector>

namespace dfc {

struct WrongIndex {
  OpId op;             ///< that takes it
  std::string message; ///< "row 7 is 12, but op 'loss' has 10 classes, 0 to 9"
  std::string effect;  ///< "labels are counted from 0, and any other gives NaN"
  bool refused = true; ///< false: the op says what becomes of it, and it may be meant
};

/// How a step takes rows from fed data.
struct RowsOfStep {
  int64_t rows = 0;      ///< of the data; 0: all of it is fed at each step
  int64_t perStep = 0;   ///< the batch, whose rows follow one another
  bool shuffled = false; ///< whether any row may be any row of a batch
};

/// The first element of `data`, fed to `input`, that an op takes for an index and that is out of its range;
/// none where all is well or the input feeds no indices. The input is followed through transfers, casts
/// between integers, views, transposes and slices: what none of the ops takes is not looked at, nor are rows
/// of an incomplete last batch.
std::optional<WrongIndex> wrongIndex(const Graph& graph, std::string_view input, const Literal& data,
                                     const RowsOfStep& taken);

/// An input of which an op takes elements for indices, and the range that all such ops have in common.
struct FedIndices {
  std::string input;
  int64_t least = 0, end = 0;       ///< `least` and up, below `end`
  std::vector<int64_t> others = {}; ///< beside these: labels that do not count
};

/// The inputs whose elements are refused out of range. Looks at the ops alone, once.
std::vector<FedIndices> fedIndicesOf(const Graph& graph);

/// What a step would be refused of `given`, located where the op is written. One pass over the elements of
/// each of these inputs where all is well.
Diagnostics checkIndices(const Graph& graph, llvm::ArrayRef<FedIndices> inputs, const NamedLiterals& given,
                         const RowsOfStep& taken = {});

} // namespace dfc
