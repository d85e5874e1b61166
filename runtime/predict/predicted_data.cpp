#include "runtime/predict/predicted_data.h"

#include "ir/graph/op_parts.h"
#include "runtime/data/convert_elements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace dfc {
namespace {

/// How one array gives a step what its input takes.
struct Column {
  Literal data;
  TensorType input;
  int64_t rows = 0;  ///< 0: all of it at every step
  int64_t batch = 0; ///< 0: an entry a step

  Literal at(int64_t step) const {
    if (rows == 0) {
      return data;
    }
    const int64_t taken = std::max<int64_t>(batch, 1), begin = step * taken;
    const int64_t there = std::min(taken, rows - begin);
    Literal fed(input);
    const size_t rowBytes = fed.bytes().size() / static_cast<size_t>(taken);
    const std::byte* from = data.bytes().data();
    for (int64_t row = 0; row < taken && rowBytes > 0; ++row) {
      const int64_t of = begin + std::min(row, there - 1);
      std::memcpy(fed.mutableBytes().data() + static_cast<size_t>(row) * rowBytes,
                  from + static_cast<size_t>(of) * rowBytes, rowBytes);
    }
    return fed;
  }
};

Diagnostic wrongShape(const std::string& name, const TensorType& input, const TensorType& data) {
  return errorWithoutPlace(
      fmt::format("input '{}' is {}, but its data are {}", name, toString(input), toString(data)),
      "give it rows of the input's shape, as many as you like, or exactly the input's shape to feed it at "
      "every step");
}

Result<Column> columnOf(const std::string& name, const TensorType& input, const Literal& data) {
  const Shape &given = data.type().shape, &wanted = input.shape;
  if (!convertsTo(input.element, data.type().element)) {
    return errorWithoutPlace(
        fmt::format("input '{}' is {}, but its data are {}", name, toString(input), toString(data.type())),
        conversionHint(input.element, data.type().element));
  }
  if (given != wanted && given.rank() > 0 && given[0] == 0) {
    return errorWithoutPlace(
        fmt::format("the data of input '{}' have no rows: they are {}", name, toString(data.type())),
        "give at least one row");
  }
  const bool ofRows = wanted.rank() > 0 && given.rank() == wanted.rank() && wanted[0] > 0 && given[0] > 0 &&
                      dimRange(given).drop_front() == dimRange(wanted).drop_front();
  const bool ofEntries =
      given.rank() == wanted.rank() + 1 && given[0] > 0 && dimRange(given).drop_front() == dimRange(wanted);
  if (given != wanted && !ofRows && !ofEntries) {
    return wrongShape(name, input, data.type());
  }
  auto converted = convertedTo(input.element, data, "input '" + name + "'");
  if (!converted) {
    return converted.errors();
  }
  Column column{std::move(converted->values), input};
  if (given != wanted) {
    column.rows = given[0];
    column.batch = ofRows ? wanted[0] : 0;
  }
  return column;
}

using Columns = std::map<std::string, Column>;

void addColumns(const NamedTypes& inputs, const NamedLiterals& data, Columns& columns, Diagnostics& errors) {
  std::vector<std::string> names;
  for (const auto& [name, type] : inputs) {
    names.push_back(name);
    const auto given = data.find(name);
    if (given == data.end()) {
      errors.push_back(errorWithoutPlace(fmt::format("input '{}' ({}) has no data", name, toString(type)),
                                         "give an array of its rows"));
      continue;
    }
    auto column = columnOf(name, type, given->second);
    if (column) {
      columns.emplace(name, *std::move(column));
    } else {
      errors.insert(errors.end(), column.errors().begin(), column.errors().end());
    }
  }
  for (const auto& [name, array] : data) {
    if (!llvm::is_contained(names, name)) {
      const auto near = nearestName(name, names);
      errors.push_back(errorWithoutPlace(fmt::format("there is no input '{}'", name),
                                         near ? fmt::format("did you mean '{}'?", *near)
                                              : fmt::format("there are: {}", fmt::join(names, ", "))));
    }
  }
}

/// The rows of all columns belong together, and a step takes as many of each.
DataPass passOfColumns(const Columns& columns, Diagnostics& errors) {
  DataPass pass;
  const std::pair<const std::string, Column>* first = nullptr;
  for (const auto& row : columns) {
    if (row.second.rows == 0) {
      continue;
    }
    if (first == nullptr) {
      first = &row;
      pass.rows = row.second.rows;
      pass.batch = row.second.batch;
    } else if (row.second.rows != pass.rows) {
      errors.push_back(errorWithoutPlace(fmt::format("input '{}' has {} rows, input '{}' {}", first->first,
                                                     pass.rows, row.first, row.second.rows),
                                         "a row of one belongs to the same row of the other"));
    } else if (std::max<int64_t>(row.second.batch, 1) == std::max<int64_t>(pass.batch, 1)) {
      pass.batch = std::max(pass.batch, row.second.batch); // an entry is a row of a batch of one
    } else {
      errors.push_back(errorWithoutPlace(fmt::format("a step takes {} of input '{}' and {} of input '{}'",
                                                     std::max<int64_t>(pass.batch, 1), first->first,
                                                     std::max<int64_t>(row.second.batch, 1), row.first),
                                         "predictions need inputs of which a step takes equally many rows"));
    }
  }
  pass.feeds = [columns](int64_t step) {
    NamedLiterals feeds;
    for (const auto& [name, column] : columns) {
      feeds.emplace(name, column.at(step));
    }
    return feeds;
  };
  return pass;
}

/// Names of inputs that are to be fed at every step, and are not.
void checkEveryStep(const NamedTypes& inputs, const Columns& columns,
                    const std::vector<std::string>& everyStep, Diagnostics& errors) {
  for (const std::string& name : everyStep) {
    const auto column = columns.find(name);
    const bool known = llvm::any_of(inputs, [&](const auto& input) { return input.first == name; });
    if (!known) {
      errors.push_back(errorWithoutPlace(fmt::format("there is no input '{}' to be fed at every step", name),
                                         "name inputs of the plan"));
    } else if (column != columns.end() && column->second.rows > 0) {
      errors.push_back(errorWithoutPlace(
          fmt::format("input '{}' is to be fed at every step, but its data are {}, not {}", name,
                      toString(column->second.data.type()), toString(column->second.input)),
          "give it exactly the input's shape"));
    }
  }
}

/// A single batch of one input beside more rows of another would be fed with each of them.
void checkSingleBatches(const Columns& columns, const DataPass& pass,
                        const std::vector<std::string>& everyStep, Diagnostics& errors) {
  for (const auto& [name, column] : columns) {
    const Shape& shape = column.input.shape;
    const bool isBatch = column.rows == 0 && shape.rank() > 0 && shape[0] == pass.batch;
    if (isBatch && pass.batch > 0 && pass.rows != pass.batch && !llvm::is_contained(everyStep, name)) {
      errors.push_back(errorWithoutPlace(
          fmt::format("input '{}' has {} row{}, the others have {}", name, shape[0], shape[0] == 1 ? "" : "s",
                      pass.rows),
          "give it as many rows; if it is no batch of rows, name it among the inputs fed at every step "
          "(everyStep, every_step= in Python)"));
    }
  }
}

} // namespace

Result<PredictedData> passOver(const NamedTypes& inputs, const NamedLiterals& data,
                               const std::vector<std::string>& everyStep) {
  Columns columns;
  Diagnostics errors;
  addColumns(inputs, data, columns, errors);
  PredictedData predicted;
  for (const auto& [name, column] : columns) {
    predicted.columns.emplace(name, column.data);
  }
  checkEveryStep(inputs, columns, everyStep, errors);
  predicted.pass = passOfColumns(columns, errors);
  checkSingleBatches(columns, predicted.pass, everyStep, errors);
  if (!errors.empty()) {
    return errors;
  }
  return predicted;
}

} // namespace dfc
