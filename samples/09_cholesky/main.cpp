// Lesson 9: tasks of your own under dfc's schedules. The tiled Cholesky factorisation a = L·Lᵀ (Buttari,
// Langou, Kurzak and Dongarra 2009) is a graph of four kinds of task on tiles, each a function of the host
// that a custom op calls. dfc knows their types and their seconds on each kind of device; it places them over
// a CPU and two GPUs, copies tiles, and orders everything. The GPUs are emulated, so that they call the same
// functions.
#include "ir/author/custom.h"
#include "ir/author/dsl.h"
#include "samples/09_cholesky/tasks.h"
#include "samples/data/arguments.h"
#include "samples/data/lesson.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

using namespace dfc;

namespace {

/// Rates at which a task runs, in f64 operations a second on one core and on a GPU: small factorisations are
/// slow on GPUs, products are fast.
struct TaskRow {
  const char* name;
  double flopsOfTile; ///< times the cube of the tile's rows
  double cpuRate, gpuRate;
};
constexpr TaskRow potrf{"potrf", 1.0 / 3, 8e9, 1e9}, trsm{"trsm", 1, 8e9, 60e9}, syrk{"syrk", 2, 10e9, 200e9},
    gemm{"gemm", 2, 10e9, 200e9};

/// Lower tiles of a matrix of tiles x tiles: row i has tiles 0 to i.
using Tiles = std::vector<std::vector<Tensor>>;

Tensor run(const TaskRow& row, const std::vector<Tensor>& operands, const std::string& name) {
  const TensorType& tile = operands[0].type();
  const double flops = row.flopsOfTile * std::pow(static_cast<double>(tile.shape[0]), 3);
  CustomTask task;
  task.function = row.name;
  task.results = {tile};
  task.cpuSeconds = flops / row.cpuRate;
  task.gpuSeconds = flops / row.gpuRate;
  task.pure = true;
  return custom(operands, task)[0].named(name);
}

std::string at(size_t i, size_t j) { return std::to_string(i) + "." + std::to_string(j); }

Result<Graph> choleskyGraph(size_t count, int64_t rows) {
  Builder g("cholesky");
  Tiles a(count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      a[i].push_back(g.input("a" + at(i, j), f64({rows, rows})));
    }
  }
  for (size_t k = 0; k < count; ++k) {
    const std::string step = "." + std::to_string(k);
    a[k][k] = run(potrf, {a[k][k]}, "potrf" + step);
    for (size_t i = k + 1; i < count; ++i) {
      a[i][k] = run(trsm, {a[i][k], a[k][k]}, "trsm" + at(i, k));
    }
    for (size_t i = k + 1; i < count; ++i) {
      a[i][i] = run(syrk, {a[i][i], a[i][k]}, "syrk" + at(i, i) + step);
      for (size_t j = k + 1; j < i; ++j) {
        a[i][j] = run(gemm, {a[i][j], a[i][k], a[j][k]}, "gemm" + at(i, j) + step);
      }
    }
  }
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      g.fetch("l" + at(i, j), a[i][j]);
    }
  }
  return std::move(g).finish();
}

/// Symmetric, and positive definite since its diagonal dominates.
std::vector<double> someMatrix(size_t size) {
  std::vector<double> a(size * size);
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const double value = static_cast<double>((i * 7919 + j * 104729) % 1000) / 1000;
      a[i * size + j] = a[j * size + i] = i == j ? static_cast<double>(size) + value : value;
    }
  }
  return a;
}

NamedLiterals tilesOf(const std::vector<double>& matrix, size_t count, size_t rows) {
  NamedLiterals tiles;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      Literal tile(f64({static_cast<int64_t>(rows), static_cast<int64_t>(rows)}));
      const auto values = tile.mutableData<double>();
      for (size_t row = 0; row < rows; ++row) {
        std::copy_n(matrix.begin() + static_cast<std::ptrdiff_t>((i * rows + row) * count * rows + j * rows),
                    rows, values.begin() + static_cast<std::ptrdiff_t>(row * rows));
      }
      tiles.emplace("a" + at(i, j), std::move(tile));
    }
  }
  return tiles;
}

/// The largest difference between the factor's tiles and a plain factorisation.
double differenceOf(const NamedLiterals& factor, const std::vector<double>& plain, size_t count,
                    size_t rows) {
  const NamedLiterals expected = tilesOf(plain, count, rows);
  double largest = 0;
  for (const auto& [name, tile] : expected) {
    const Literal& actual = factor.at("l" + name.substr(1));
    for (int64_t e = 0; e < tile.type().shape.elements(); ++e) {
      largest = std::max(largest, std::abs(tile.at(e) - actual.at(e)));
    }
  }
  return largest;
}

/// A line for each queue: the letter of the task that is under way, or of a copy, in each part of the step.
void printTimeline(const Executable& plan) {
  constexpr size_t columns = 96;
  const Schedule& schedule = plan.schedule();
  const Graph& graph = plan.graph();
  for (const QueueId queue : schedule.queues.ids()) {
    std::string line(columns, ' ');
    for (const StepId step : schedule.queues[queue].steps) {
      const StepRow& row = schedule.steps[step];
      const auto column = [&](double time) {
        return std::min(columns - 1, static_cast<size_t>(time / plan.predictedSeconds() * columns));
      };
      const auto* task = graph[row.op].getIf<ops::Custom>();
      for (size_t i = column(row.start); row.end > row.start && i <= column(row.end); ++i) {
        line[i] = task != nullptr ? task->function[0] : '-';
      }
    }
    if (line.find_first_not_of(' ') != std::string::npos) {
      std::printf("%-18s|%s|\n", schedule.nameOf(queue, plan.machine()).c_str(), line.c_str());
    }
  }
  std::printf("p, t, s, g: potrf, trsm, syrk, gemm; -: a copy\n");
}

std::map<std::string, int> tasksByDevice(const Executable& plan) {
  std::map<std::string, int> tasks;
  for (const OpId op : plan.graph().opsOf(OpKind::Custom)) {
    ++tasks[plan.machine().devices[plan.placed().device[op]].name];
  }
  return tasks;
}

} // namespace

int main(int count, char** words) {
  int64_t tiles = 8, rows = 96;
  std::string machineWord = "cpu-2gpu";
  lesson::Arguments("Lesson 9: tasks of your own, a tiled Cholesky factorisation, over a CPU and two GPUs")
      .number("--tiles", tiles, 1, 32, "rows of tiles of the matrix")
      .number("--rows", rows, 1, 1024, "rows of a tile")
      .text("--machine", machineWord, lesson::machineWords, "what the plan is made for")
      .parse(count, words);
  const Machine machine = lesson::machineNamed(machineWord);
  const auto width = static_cast<size_t>(tiles), height = static_cast<size_t>(rows);
  const auto plan = lesson::compileAndPrint(choleskyGraph(width, rows), machine);
  printTimeline(*plan);
  for (const auto& [device, tasks] : tasksByDevice(*plan)) {
    std::printf("%s: %d tasks\n", device.c_str(), tasks);
  }

  SessionOptions options;
  options.gpuBackend = "emulated"; // the tasks bring no CUDA kernels
  options.customFunctions = lesson::tileFunctions();
  const auto session = lesson::open(plan, options);
  const std::vector<double> matrix = someMatrix(width * height);
  const NamedLiterals feeds = tilesOf(matrix, width, height);
  const NamedLiterals factor = lesson::orGiveUp(session->run(feeds));
  const double difference =
      differenceOf(factor, lesson::plainCholesky(matrix, width * height), width, height);
  std::printf("largest difference from a plain factorisation: %g\n", difference);
  lesson::check(difference < 1e-9, "the factor is that of a plain factorisation");
  lesson::check(lesson::orGiveUp(session->run(feeds)) == factor, "every step gives the same bits");
  lesson::check(plan->predictedSeconds() >= plan->lowerBoundSeconds() * (1 - 1e-9),
                "the schedule is no shorter than its lower bound");

  CompileOptions single;
  single.policy = "single";
  const auto alone = lesson::compileFor(lesson::orGiveUp(choleskyGraph(width, rows)), machine, single);
  std::printf("predicted %.0f us over all devices, %.0f us on one\n", plan->predictedSeconds() * 1e6,
              alone->predictedSeconds() * 1e6);
  lesson::check(plan->predictedSeconds() <= alone->predictedSeconds(), "no device alone is faster");
  return lesson::verdict();
}
