#include "runtime/data/batches.h"

#include "runtime/data/shuffle.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

namespace dfc {
namespace {

// The type of `rows` rows of a column.
TensorType cut(const TensorType& column, int64_t rows) {
  Dims dims(column.shape.dims().begin(), column.shape.dims().end());
  dims[0] = rows;
  return {column.element, Shape(dims)};
}

Literal gathered(const Literal& column, const int64_t* rows, int64_t count) {
  Literal batch(cut(column.type(), count));
  const int64_t all = column.type().shape[0];
  const auto width = all == 0 ? 0 : column.bytes().size() / static_cast<size_t>(all);
  std::byte* to = batch.mutableBytes().data();
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + static_cast<size_t>(i) * width,
                column.bytes().data() + static_cast<size_t>(rows[i]) * width, width);
  }
  return batch;
}

} // namespace

Result<Batches> Batches::of(NamedLiterals columns, int64_t batch, std::optional<uint64_t> seed) {
  if (columns.empty()) {
    return errorWithoutPlace("a data set without columns", "name at least one array");
  }
  Diagnostics errors;
  const auto& [firstName, first] = *columns.begin();
  for (const auto& [name, column] : columns) {
    const Shape& shape = column.type().shape;
    if (shape.rank() == 0) {
      errors.push_back(errorWithoutPlace(fmt::format("column '{}' is a scalar", name),
                                         "its first axis counts the rows of the data set"));
    } else if (first.type().shape.rank() > 0 && shape[0] != first.type().shape[0]) {
      errors.push_back(errorWithoutPlace(fmt::format("column '{}' has {} rows, column '{}' {}", name,
                                                     shape[0], firstName, first.type().shape[0]),
                                         "all columns of a data set have equally many rows"));
    }
  }
  if (!errors.empty()) {
    return errors;
  }
  const int64_t rows = first.type().shape[0];
  if (batch < 1 || batch > rows) {
    return errorWithoutPlace(
        batch > rows ? fmt::format("the data set has {} rows, too few for one batch of {}", rows, batch)
                     : fmt::format("batches of {} rows", batch),
        batch > rows && rows > 0 ? fmt::format("give it more rows, or take batches of at most {}", rows)
                                 : "a batch has at least one row, and a data set the rows of one batch");
  }
  return Batches(std::move(columns), rows, batch, seed);
}

NamedLiterals Batches::at(int64_t epoch, int64_t index) {
  if (epoch < 0 || index < 0 || index >= count()) {
    throw std::out_of_range(
        fmt::format("batch {} of epoch {}, where an epoch has {}", index, epoch, count()));
  }
  if (!seed_) {
    return rowsOf(columns_, index * batch_, batch_);
  }
  if (drawn_ != epoch) {
    order_ = shuffledRows(rows_, *seed_, epoch);
    drawn_ = epoch;
  }
  NamedLiterals batch;
  for (const auto& [name, column] : columns_) {
    batch.emplace(name, gathered(column, order_.data() + index * batch_, batch_));
  }
  return batch;
}

Literal rowsOf(const Literal& column, int64_t begin, int64_t rows) {
  const Shape& shape = column.type().shape;
  if (shape.rank() == 0 || begin < 0 || rows < 0 || begin > shape[0] - rows) {
    throw std::out_of_range(
        fmt::format("rows {} to {} of an array {}", begin, begin + rows, toString(column.type())));
  }
  Literal part(cut(column.type(), rows));
  const auto width = shape[0] == 0 ? 0 : column.bytes().size() / static_cast<size_t>(shape[0]);
  if (!part.bytes().empty()) {
    std::memcpy(part.mutableBytes().data(), column.bytes().data() + static_cast<size_t>(begin) * width,
                part.bytes().size());
  }
  return part;
}

NamedLiterals rowsOf(const NamedLiterals& columns, int64_t begin, int64_t rows) {
  NamedLiterals part;
  for (const auto& [name, column] : columns) {
    part.emplace(name, rowsOf(column, begin, rows));
  }
  return part;
}

} // namespace dfc
