// Batches: a data set cut into batches of equal size, in the file's order or in one drawn anew for each
// epoch.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace DFC_PUBLIC dfc {

/// Columns of a data set by name (images f32[n, 784], labels i64[n], …): arrays whose first axes are equally
/// long. Row i of each belongs together. What is left over at the end of an epoch is left out.
///
/// Threads: used by one at a time.
class Batches {
 public:
  /// `batch`: rows in a batch. With a `seed` each epoch has an order of its own, which shuffledRows draws (as
  /// does `dfc run --shuffle`); without, that of the file. The columns are shared, not copied. Errors: no
  /// columns, a scalar among them, first axes of several lengths, a batch below 1 or above the rows.
  static Result<Batches> of(NamedLiterals columns, int64_t batch, std::optional<uint64_t> seed = {});
  /// Batches in an epoch.
  int64_t count() const { return rows_ / batch_; }
  /// Rows of the data set.
  int64_t rows() const { return rows_; }
  /// Rows in a batch.
  int64_t batch() const { return batch_; }
  /// The arrays that it was made of.
  const NamedLiterals& columns() const { return columns_; }
  /// Batch `index` of `epoch`, both from 0, by column: what Session::run is fed. Throws std::out_of_range.
  NamedLiterals at(int64_t epoch, int64_t index);
  /// The batch of a training's step, from 0: epoch after epoch.
  NamedLiterals atStep(int64_t step) { return at(step / count(), step % count()); }
  /// What the orders are drawn from; none: rows in their order.
  std::optional<uint64_t> seed() const { return seed_; }

 private:
  Batches(NamedLiterals columns, int64_t rows, int64_t batch, std::optional<uint64_t> seed)
      : columns_(std::move(columns)), rows_(rows), batch_(batch), seed_(seed) {}
  NamedLiterals columns_;
  int64_t rows_, batch_;
  std::optional<uint64_t> seed_;
  int64_t drawn_ = -1; // the epoch that order_ is of
  std::vector<int64_t> order_;
};

/// Rows [begin, begin + rows) of each column. Throws std::out_of_range where there are fewer.
NamedLiterals rowsOf(const NamedLiterals& columns, int64_t begin, int64_t rows);

/// The same of one array.
Literal rowsOf(const Literal& column, int64_t begin, int64_t rows);

} // namespace dfc
