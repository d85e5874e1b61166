#include "runtime/predict/predict.h"

#include "runtime/data/batches.h"
#include "runtime/predict/predicted_data.h"
#include "runtime/session.h"
#include "runtime/training/training_faults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cstring>
#include <deque>

namespace dfc {
namespace {

Shape withRows(const Shape& shape, int64_t rows, size_t dropped) {
  Dims dims = {rows};
  dims.insert(dims.end(), shape.dims().begin() + static_cast<std::ptrdiff_t>(dropped), shape.dims().end());
  return Shape(dims);
}

bool isJoinable(const TensorType& fetch, const DataPass& pass) {
  if (pass.rows > 0 && pass.batch == 0) {
    return fetch.shape.rank() < Shape::maxRank;
  }
  return fetch.shape.rank() > 0 && (pass.rows == 0 || fetch.shape[0] == pass.batch);
}

/// Room for the results of all rows, and how many are there.
class Joined {
 public:
  Joined(const TensorType& fetch, const DataPass& pass)
      : pass_(pass), values_({fetch.element, withRows(fetch.shape, pass.rows, pass.batch > 0 ? 1 : 0)}) {}
  void add(const Literal& result) {
    const int64_t rows = std::min(std::max<int64_t>(pass_.batch, 1), pass_.rows - rows_);
    const size_t rowBytes = values_.bytes().size() / static_cast<size_t>(pass_.rows);
    if (rowBytes > 0) {
      std::memcpy(values_.mutableBytes().data() + static_cast<size_t>(rows_) * rowBytes,
                  result.bytes().data(), static_cast<size_t>(rows) * rowBytes);
    }
    rows_ += rows;
  }
  Literal taken() && { return rows_ == pass_.rows ? std::move(values_) : rowsOf(values_, 0, rows_); }

 private:
  const DataPass& pass_;
  Literal values_;
  int64_t rows_ = 0;
};

class Pass {
 public:
  Pass(Session& session, const DataPass& pass, const std::vector<std::string>& names)
      : session_(session), pass_(pass) {
    for (const auto& [name, type] : session.fetches()) {
      if (pass.rows > 0 && llvm::is_contained(names, name)) {
        joined_.emplace(name, Joined(type, pass));
      }
    }
  }
  /// Two steps at a time, so that the rows of one are made while the other runs.
  Status run() {
    for (int64_t step = 0; step < pass_.steps() && goesOn_; ++step) {
      auto pending = session_.submit(pass_.feeds ? pass_.feeds(step) : NamedLiterals());
      if (!pending) {
        drain(0);
        return pending.errors();
      }
      underWay_.push_back(*std::move(pending));
      drain(1);
    }
    drain(0);
    return success();
  }
  NamedLiterals taken(const std::vector<std::string>& names) && {
    NamedLiterals results;
    for (const std::string& name : names) {
      if (pass_.rows == 0) {
        results.emplace(name, last_.at(name));
      } else {
        results.emplace(name, std::move(joined_.at(name)).taken());
      }
    }
    return results;
  }

 private:
  void drain(size_t keep) {
    while (underWay_.size() > keep) {
      last_ = underWay_.front().wait();
      underWay_.pop_front();
      for (auto& [name, joined] : joined_) {
        joined.add(last_.at(name));
      }
      ++ended_;
      goesOn_ = goesOn_ && (!pass_.afterStep || pass_.afterStep(ended_));
    }
  }

  Session& session_;
  const DataPass& pass_;
  std::map<std::string, Joined> joined_;
  std::deque<Session::Pending> underWay_;
  NamedLiterals last_;
  int64_t ended_ = 0;
  bool goesOn_ = true;
};

std::string joinableNames(const NamedTypes& fetches, const DataPass& pass) {
  std::vector<std::string> names;
  for (const auto& [name, type] : fetches) {
    if (isJoinable(type, pass)) {
      names.push_back(name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Diagnostic notJoinable(const std::string& name, const TensorType& type, const NamedTypes& fetches,
                       const DataPass& pass) {
  const std::string others = joinableNames(fetches, pass);
  const std::string batch = pass.batch > 0 ? fmt::format(", {} rows", pass.batch) : "";
  return errorWithoutPlace(
      fmt::format(
          "fetch '{}' is {}: its first axis is not the batch{}, so there is no row of it for each row "
          "of the data",
          name, toString(type), batch),
      others.empty() ? "fetch a value that has the batch as its first axis"
                     : "fetches with a row for each row of the data: " + others);
}

} // namespace

int64_t DataPass::steps() const {
  const int64_t taken = std::max<int64_t>(batch, 1);
  return rows == 0 ? 1 : (rows + taken - 1) / taken;
}

Result<std::vector<std::string>> joinableFetches(const NamedTypes& fetches, const DataPass& pass,
                                                 const std::vector<std::string>& wanted) {
  std::vector<std::string> names, known;
  for (const auto& [name, type] : fetches) {
    known.push_back(name);
    if (wanted.empty() && isJoinable(type, pass)) {
      names.push_back(name);
    }
  }
  Diagnostics errors;
  for (const std::string& name : wanted) {
    const auto at = std::find(known.begin(), known.end(), name);
    if (at == known.end()) {
      const auto near = nearestName(name, known);
      errors.push_back(errorWithoutPlace(
          fmt::format("there is no fetch '{}'", name),
          near ? fmt::format("did you mean '{}'? There are: {}", *near, fmt::join(known, ", "))
               : fmt::format("there are: {}", fmt::join(known, ", "))));
    } else if (const auto& type = fetches[static_cast<size_t>(at - known.begin())].second;
               !isJoinable(type, pass)) {
      errors.push_back(notJoinable(name, type, fetches, pass));
    } else if (!llvm::is_contained(names, name)) {
      names.push_back(name);
    }
  }
  if (wanted.empty() && names.empty()) {
    errors.push_back(errorWithoutPlace("no fetch has the batch as its first axis",
                                       "fetch a value that has a row for each row of the data"));
  }
  if (!errors.empty()) {
    return errors;
  }
  return names;
}

Result<NamedLiterals> predict(Session& session, const DataPass& pass,
                              const std::vector<std::string>& fetches) {
  Diagnostics errors;
  if (changesFloats(session)) {
    errors.push_back(errorWithoutPlace("a step of this graph changes parameters: predictions would train it",
                                       "predict by a graph without updates, which has the same parameters"));
  }
  const auto names = joinableFetches(session.fetches(), pass, fetches);
  if (!names) {
    errors.insert(errors.end(), names.errors().begin(), names.errors().end());
  }
  if (!errors.empty()) {
    return errors;
  }
  Pass running(session, pass, *names);
  if (const Status ran = running.run(); !ran) {
    return ran.errors();
  }
  return std::move(running).taken(*names);
}

Result<NamedLiterals> predict(Session& session, const NamedLiterals& data,
                              const std::vector<std::string>& fetches,
                              std::function<bool(int64_t step)> afterStep,
                              const std::vector<std::string>& everyStep) {
  auto predicted = passOver(session.inputs(), data, everyStep);
  if (!predicted) {
    return predicted.errors();
  }
  DataPass& pass = predicted->pass;
  if (Diagnostics errors = session.refusedRows(predicted->columns, pass.batch, /*anyOrder=*/true);
      !errors.empty()) {
    return errors;
  }
  pass.afterStep = std::move(afterStep);
  return predict(session, pass, fetches);
}

} // namespace dfc
