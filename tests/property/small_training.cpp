#include "tests/property/small_training.h"

#include "ir/author/text/parse.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

namespace dfc::test {
namespace {

struct Matrix {
  std::string name;
  int64_t rows = 0, columns = 0; ///< columns 0: a vector of `rows`
  bool read = false;
};

class Writer {
 public:
  explicit Writer(uint64_t seed) : dice_(seed) {}

  std::string write(int64_t ops) {
    addInput();
    while (ops_ < ops) {
      addOp(ops - ops_);
    }
    std::string text = "graph small {\n" + sources_ + body_;
    for (const Matrix& one : values_) {
      const bool sums = one.columns > 0 && dice_.chance(75);
      if (!one.read && sums) {
        text += fmt::format("  {0}sum = reduceMean({0})\n", one.name);
      }
      text += one.read ? "" : fmt::format("  fetch {}{}\n", one.name, sums ? "sum" : "");
    }
    return text + "}\n";
  }

 private:
  int64_t width() { return int64_t{128} << dice_.below(4); }

  void addInput() {
    values_.push_back({fmt::format("x{}", values_.size()), int64_t{128} << dice_.below(4), width()});
    sources_ += fmt::format("  input {} : f32[{}, {}]\n", values_.back().name, values_.back().rows,
                            values_.back().columns);
  }

  std::string parameter(const std::string& shape, const char* start) {
    const std::string name = fmt::format("w{}", parameters_++);
    sources_ += fmt::format("  parameter {} : f32[{}] = {}\n", name, shape, start);
    return name;
  }

  Matrix& drawn() {
    // The newest more often than others: chains with branches.
    return dice_.chance(60) ? values_.back()
                            : values_[static_cast<size_t>(dice_.below(static_cast<int64_t>(values_.size())))];
  }

  std::optional<size_t> otherOf(const Matrix& like) {
    for (size_t i = values_.size(); i-- > 0;) {
      if (&values_[i] != &like && values_[i].rows == like.rows && values_[i].columns == like.columns) {
        return i;
      }
    }
    return std::nullopt;
  }

  std::string add(int64_t rows, int64_t columns, const std::string& call, int64_t ops = 1) {
    const std::string name = fmt::format("v{}", made_++);
    body_ += fmt::format("  {} = {}\n", name, call);
    values_.push_back({name, rows, columns});
    ops_ += ops;
    return name;
  }

  void addOp(int64_t left) {
    Matrix& matrix = drawn();
    const Matrix x = matrix; // adding moves the list
    const int64_t which = dice_.below(12);
    if (x.columns == 0 && which > 2) {
      return; // vectors have elementwise readers only
    }
    matrix.read = true;
    if (which == 0) {
      add(x.rows, x.columns, fmt::format("{}({})", dice_.chance(50) ? "relu" : "gelu", x.name));
    } else if (which <= 2) {
      combine(x);
    } else if (which == 3) {
      add(x.rows, x.columns, fmt::format("softmax({})", x.name));
    } else if (which == 4) {
      norm(x);
    } else if (which == 5) {
      reduce(x);
    } else if (which >= 10 && left >= 4) {
      train(x);
    } else {
      const int64_t columns = width();
      add(x.rows, columns,
          fmt::format("matmul({}, {})", x.name,
                      parameter(fmt::format("{}, {}", x.columns, columns), "glorot(seed=1)")));
    }
  }

  void combine(const Matrix& x) {
    const auto other = otherOf(x);
    const char* op = dice_.chance(50) ? "add" : "mul";
    if (other) {
      values_[*other].read = true;
    }
    const std::string last = other
                                 ? values_[*other].name
                                 : parameter(std::to_string(x.columns == 0 ? x.rows : x.columns), "zeros()");
    add(x.rows, x.columns, fmt::format("{}({}, {})", op, x.name, last));
  }

  void norm(const Matrix& x) {
    const std::string width = std::to_string(x.columns);
    const std::string scale = parameter(width, "constant(1)");
    add(x.rows, x.columns,
        dice_.chance(50) ? fmt::format("rmsNorm({}, {})", x.name, scale)
                         : fmt::format("layerNorm({}, {}, {})", x.name, scale, parameter(width, "zeros()")));
  }

  void reduce(const Matrix& x) {
    const int64_t axis = dice_.below(2);
    add(axis == 0 ? x.columns : x.rows, 0,
        fmt::format("{}({}, axes=[{}])", dice_.chance(50) ? "reduceSum" : "reduceMax", x.name, axis));
  }

  // A product, the gradient of its weights for a result's gradient that is the result, and the update.
  void train(const Matrix& x) {
    const int64_t columns = width();
    const std::string weights = parameter(fmt::format("{}, {}", x.columns, columns), "glorot(seed=1)");
    const std::string y = add(x.rows, columns, fmt::format("matmul({}, {})", x.name, weights));
    const std::string name = fmt::format("next{}", made_++);
    body_ += fmt::format("  {0}g = matmul({1}, {2}, transposeA=true)\n  {0} = assign({3}, sub({3}, mul({0}g, "
                         "0.01)))\n",
                         name, x.name, y, weights);
    values_.back().read = dice_.chance(50);
    ops_ += 3;
  }

  Dice dice_;
  std::vector<Matrix> values_;
  std::string sources_, body_;
  int64_t ops_ = 0;
  int parameters_ = 0, made_ = 0;
};

} // namespace

Graph smallTraining(uint64_t seed, int64_t ops) {
  const std::string text = Writer(seed).write(ops);
  auto graph = parseGraph(text, "small.dfg");
  INFO(text << render(graph.errors()));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

Machine smallCluster(uint64_t seed) {
  struct Kind {
    double host;                ///< rate of the CPU, where inputs arrive; GPUs have 1
    std::vector<double> others; ///< of the GPUs
  };
  const std::vector<Kind> kinds = {
      {0.25, {1}}, {0.01, {1, 1}}, {0.25, {1, 1}}, {0.01, {1, 0.5}}, {0.01, {1, 1, 1}}};
  constexpr double latencies[] = {1e-6, 5e-6, 20e-6}, bandwidths[] = {2e9, 1e10, 5e10};
  Dice dice(seed);
  const Kind& kind = dice.oneOf(kinds);
  Machine machine;
  machine.name = "small";
  const auto add = [&](std::string name, DeviceKind device, double rate, double bandwidth) {
    DeviceRow row;
    row.name = std::move(name);
    row.kind = device;
    row.peakFlops.fill(rate * 2e12);
    row.memoryBandwidth = bandwidth * 2e11;
    row.launchSeconds = 2e-6;
    machine.devices.add(row);
  };
  add("cpu0", DeviceKind::Cpu, kind.host, 0.25);
  for (size_t i = 0; i < kind.others.size(); ++i) {
    add(fmt::format("gpu{}", i), DeviceKind::Gpu, kind.others[i], kind.others[i]);
  }
  connectAll(machine, latencies[dice.below(3)], bandwidths[dice.below(3)]);
  return machine;
}

} // namespace dfc::test
