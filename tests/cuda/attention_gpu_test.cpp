// Attention kernels on a GPU against attention in f64, over random problems of every type; the same bits
// every time; and, hidden, their times: tests_cuda "[.timing]", and those of every tile that may be chosen:
// "[.tiles]".
#include "compiler/lower/kernels/attention/attention.h"
#include "compiler/lower/kernels/attention/attention_tile.h"
#include "tests/cuda/gpu_kernels.h"
#include "tests/support/attention/attention_reference.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace dfc;
using namespace dfc::test;
using cuda::AttentionPass;
using cuda::AttentionProblem;
using cuda::AttentionTile;

namespace {

constexpr AttentionPass passes[] = {AttentionPass::Forward, AttentionPass::QueryGradient,
                                    AttentionPass::KeyGradient};

struct Added {
  AttentionProblem problem;
  std::string title;
  size_t forward, gradient;
};

/// Runs and checks what was added; `worst` becomes the largest part of a bound that is used up.
class Checks {
 public:
  void add(const AttentionProblem& problem, const GpuShape& gpu) {
    added_.push_back({problem, describe(problem), kernels_.add(attentionKernels(problem, gpu)),
                      kernels_.add(attentionGradientKernels(problem, gpu))});
  }
  /// With a tile for each pass.
  void add(const AttentionProblem& problem, const AttentionTile (&tiles)[3], const std::string& title) {
    cuda::GeneratedKernels forward, gradient;
    forward.launches.push_back(attentionLaunch(problem, passes[0], tiles[0]));
    gradient.launches.push_back(attentionLaunch(problem, passes[1], tiles[1]));
    gradient.launches.push_back(attentionLaunch(problem, passes[2], tiles[2]));
    added_.push_back({problem, title, kernels_.add(std::move(forward)), kernels_.add(std::move(gradient))});
  }
  void run() {
    kernels_.build();
    double worst[5] = {};
    for (size_t i = 0; i < added_.size(); ++i) {
      CAPTURE(added_[i].title);
      check(added_[i], AttentionExample(added_[i].problem, i), worst);
    }
    fmt::print("{} problems; of their bounds used: o {:.2f} logSumExp {:.2f} dq {:.2f} dk {:.2f} dv {:.2f}\n",
               added_.size(), worst[0], worst[1], worst[2], worst[3], worst[4]);
  }

 private:
  void check(const Added& added, const AttentionExample& example, double (&worst)[5]) {
    std::string problem;
    const auto made = kernels_.run(added.forward, example.operands(), example.results(), problem);
    CHECK(problem == "");
    const auto operands = example.gradientOperands();
    const auto gradients = kernels_.run(added.gradient, operands, example.gradientResults(), problem);
    CHECK(problem == "");
    const std::tuple<const char*, const ExpectedNumbers&, const Literal&> results[] = {
        {"o", example.o, made[0]},
        {"logSumExp", example.ofLogSumExp, made[1]},
        {"dq", example.dq, gradients[0]},
        {"dk", example.dk, gradients[1]},
        {"dv", example.dv, gradients[2]}};
    for (size_t i = 0; i < 5; ++i) {
      double used = 0;
      INFO(std::get<0>(results[i]));
      CHECK(beyondBounds(std::get<1>(results[i]), std::get<2>(results[i]), used) == "");
      worst[i] = std::max(worst[i], used);
    }
    const auto again = kernels_.run(added.gradient, operands, example.gradientResults(), problem);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(bitDifference(gradients[i], again[i]) == "");
    }
  }

  GpuKernels kernels_;
  std::vector<Added> added_;
};

void checkRandom(ElementType element, bool tf32, int64_t count) {
  if (!GpuKernels::unavailable().empty()) {
    DFC_SKIP(GpuKernels::unavailable());
  }
  Checks checks;
  Dice dice(7);
  GpuShape gpu = GpuKernels::shape();
  for (int64_t i = 0; i < count; ++i) {
    const AttentionProblem problem = randomAttention(dice, element, tf32, i % 2 == 0 ? 300 : 70, 256);
    gpu.multiprocessors = dice.chance(50) ? 1 : gpu.multiprocessors; // large tiles, too
    checks.add(problem, gpu);
    gpu = GpuKernels::shape();
  }
  checks.run();
}

AttentionProblem problemOf(ElementType element, bool tf32, int64_t batch, int64_t heads, int64_t length,
                           int64_t width) {
  AttentionProblem p;
  p.element = element;
  p.tf32 = tf32;
  p.batch = batch;
  p.heads = p.keyHeads = heads;
  p.queries = p.keys = length;
  p.width = p.valueWidth = width;
  p.causal = true;
  p.scale = 1 / std::sqrt(static_cast<double>(width));
  return p;
}

const std::pair<ElementType, bool> elements[] = {{ElementType::BF16, false},
                                                 {ElementType::F16, false},
                                                 {ElementType::F32, true},
                                                 {ElementType::F32, false}};

/// Finite numbers of magnitude 1/4 to 1/2.
Literal anyNumbers(const TensorType& type) {
  Literal literal(type);
  std::span<std::byte> bytes = literal.mutableBytes();
  uint32_t state = 12345;
  for (size_t at = 0; at < bytes.size(); at += 2) {
    state = state * 1664525 + 1013904223;
    const uint16_t bits = static_cast<uint16_t>(state >> 16), sign = bits & 0x8000;
    const auto number = static_cast<uint16_t>(
        type.element == ElementType::BF16  ? sign | (0x3e80 + (bits & 0x7f))
        : type.element == ElementType::F16 ? sign | (0x3400 + (bits & 0x3ff))
                                           : (at % 4 == 0 ? bits : sign | (0x3e80 + (bits & 0x7f))));
    std::memcpy(bytes.data() + at, &number, 2);
  }
  return literal;
}

struct TimedOperands {
  explicit TimedOperands(const AttentionProblem& p)
      : q(p.element, {p.batch, p.heads, p.queries, p.width}),
        k(p.element, {p.batch, p.keyHeads, p.keys, p.width}),
        v(p.element, {p.batch, p.keyHeads, p.keys, p.valueWidth}),
        o(p.element, {p.batch, p.heads, p.queries, p.valueWidth}),
        row(ElementType::F32, {p.batch, p.heads, p.queries}) {
    operands = {anyNumbers(q), anyNumbers(k), anyNumbers(v)};
    gradientOperands = operands;
    gradientOperands.push_back(anyNumbers(o));
    Literal logSumExp(row), delta(row);
    for (float& number : logSumExp.mutableData<float>()) {
      number = 7;
    }
    gradientOperands.push_back(logSumExp);
    gradientOperands.push_back(delta);
  }
  TensorType q, k, v, o, row;
  std::vector<Literal> operands, gradientOperands;
};

/// Of the pass; the products that it cannot do without (the gradient in all has 5, the forward pass 2).
double teraflops(const AttentionProblem& p, double products, double microseconds) {
  const double pairs = static_cast<double>(p.batch * p.heads) * static_cast<double>(p.queries) *
                       static_cast<double>(p.keys) * (p.causal ? 0.5 : 1);
  return products * 2 * pairs * static_cast<double>(p.width) / microseconds * 1e-6;
}

double timeOf(GpuKernels& kernels, size_t number, AttentionPass pass, const TimedOperands& operands) {
  const bool forward = pass == AttentionPass::Forward;
  return kernels.microseconds(number, forward ? operands.operands : operands.gradientOperands,
                              forward ? std::vector<TensorType>{operands.o, operands.row}
                                      : std::vector<TensorType>{operands.q, operands.k, operands.v});
}

std::string describe(const AttentionTile& t) {
  return fmt::format("{} warps x {} rowTiles, {} columns in {}s, {} stages, {} kept, {} parts, {} blocks",
                     t.warps, t.rowTiles, t.columns, t.chunk, t.stages, t.kept, t.parts, t.minBlocks);
}

const char* name(AttentionPass pass) {
  return pass == AttentionPass::Forward ? "forward" : pass == AttentionPass::QueryGradient ? "dq" : "dk dv";
}

cuda::GeneratedKernels alone(cuda::GeneratedLaunch launch) {
  cuda::GeneratedKernels work;
  work.launches.push_back(std::move(launch));
  return work;
}

/// Numbers that a thread keeps in registers.
int64_t numbersOf(const AttentionProblem& p, AttentionPass pass, const AttentionTile& tile) {
  const bool forward = pass == AttentionPass::Forward;
  const int64_t sums = forward                                ? p.valueWidth
                       : pass == AttentionPass::QueryGradient ? p.width
                                                              : p.width + p.valueWidth;
  const int64_t kept = tile.kept * p.width * byteWidth(p.element) / 4;
  return tile.rowTiles * (tile.chunk * (forward ? 1 : 2) + sums + kept) / 2;
}

/// Every tile near those of the tables that the GPU takes.
std::vector<AttentionTile> tilesToTry(const AttentionProblem& problem, AttentionPass pass) {
  std::vector<AttentionTile> all;
  const bool forward = pass == AttentionPass::Forward;
  for (const int64_t warps : {2, 4, 8}) {
    for (const int64_t rowTiles : {1, 2}) {
      for (const int64_t columns : {16, 32, 64, 128}) {
        for (const int64_t chunk : {16, 32, 64, 128}) {
          for (const int64_t stages : {1, 2}) {
            for (const int64_t kept : {0, 1, 2}) {
              AttentionTile tile{warps, rowTiles, columns, chunk, stages, kept};
              const int64_t numbers = numbersOf(problem, pass, tile);
              if (chunk > columns || columns < 32 || kept > (forward ? 1 : 2) ||
                  (forward && chunk != columns) || numbers > 224 ||
                  tile.sharedBytes(problem, pass) > GpuKernels::shape().sharedBytesPerBlock) {
                continue;
              }
              all.push_back(tile);
              for (tile.minBlocks = 2; 65536 / (warps * 32 * tile.minBlocks) >= numbers + 40;
                   ++tile.minBlocks) {
                if (65536 / (warps * 32 * tile.minBlocks) < 255) {
                  all.push_back(tile);
                }
              }
            }
          }
        }
      }
    }
  }
  return all;
}

} // namespace

TEST_CASE("cuda attention: bf16 agrees with f64") { checkRandom(ElementType::BF16, false, 60); }
TEST_CASE("cuda attention: f16 agrees with f64") { checkRandom(ElementType::F16, false, 40); }
TEST_CASE("cuda attention: tf32 agrees with f64") { checkRandom(ElementType::F32, true, 40); }
TEST_CASE("cuda attention: f32 agrees with f64") { checkRandom(ElementType::F32, false, 40); }

TEST_CASE("cuda attention: every tile of the tables agrees with f64") {
  if (!GpuKernels::unavailable().empty()) {
    DFC_SKIP(GpuKernels::unavailable());
  }
  Checks checks;
  for (const auto& [element, tf32] : elements) {
    for (const int64_t width : {64, 128, 256}) {
      AttentionProblem problem = problemOf(element, tf32, 1, 2, 200, width);
      std::vector<AttentionTile> tiles[3];
      size_t most = 0;
      for (size_t pass = 0; pass < 3; ++pass) {
        for (const AttentionTile& tile : attentionTiles(problem, passes[pass])) {
          if (tile.sharedBytes(problem, passes[pass]) <= GpuKernels::shape().sharedBytesPerBlock) {
            tiles[pass].push_back(tile);
          }
        }
        most = std::max(most, tiles[pass].size());
      }
      for (size_t i = 0; i < most; ++i) {
        const AttentionTile chosen[3] = {tiles[0][std::min(i, tiles[0].size() - 1)],
                                         tiles[1][std::min(i, tiles[1].size() - 1)],
                                         tiles[2][std::min(i, tiles[2].size() - 1)]};
        checks.add(problem, chosen,
                   fmt::format("{}; {}; {}; {}", test::describe(problem), describe(chosen[0]),
                               describe(chosen[1]), describe(chosen[2])));
      }
    }
  }
  checks.run();
}

TEST_CASE("cuda attention: times", "[.timing]") {
  if (!GpuKernels::unavailable().empty()) {
    DFC_SKIP(GpuKernels::unavailable());
  }
  fmt::print("{}\n", GpuKernels::model());
  std::vector<AttentionProblem> problems;
  for (const auto& [element, tf32] : elements) {
    problems.push_back(problemOf(element, tf32, 8, 12, 1024, 64));
    problems.push_back(problemOf(element, tf32, 4, 16, 2048, 128));
    problems.push_back(problemOf(element, tf32, 1, 12, 128, 64));
  }
  GpuKernels kernels;
  for (const AttentionProblem& problem : problems) {
    for (const AttentionPass pass : passes) {
      kernels.add(alone(attentionLaunch(problem, pass, attentionTile(problem, pass, GpuKernels::shape()))));
    }
  }
  kernels.build();
  size_t number = 0;
  for (const AttentionProblem& problem : problems) {
    const TimedOperands operands(problem);
    fmt::print("{}\n", test::describe(problem));
    double gradient = 0;
    for (const AttentionPass pass : passes) {
      const double time = timeOf(kernels, number++, pass, operands);
      gradient += pass == AttentionPass::Forward ? 0 : time;
      fmt::print("  {:8} {:9.1f} us  {}\n", name(pass), time,
                 describe(attentionTile(problem, pass, GpuKernels::shape())));
      if (pass == AttentionPass::Forward) {
        fmt::print("  forward  {:6.1f} TFLOP/s\n", teraflops(problem, 2, time));
      }
    }
    fmt::print("  gradient {:9.1f} us {:6.1f} TFLOP/s\n", gradient, teraflops(problem, 5, gradient));
  }
}

TEST_CASE("cuda attention: times of tiles", "[.tiles]") {
  if (!GpuKernels::unavailable().empty()) {
    DFC_SKIP(GpuKernels::unavailable());
  }
  fmt::print("{}\n", GpuKernels::model());
  for (const AttentionProblem& problem : {problemOf(ElementType::BF16, false, 8, 12, 1024, 64),
                                          problemOf(ElementType::BF16, false, 4, 16, 2048, 128),
                                          problemOf(ElementType::F32, true, 8, 12, 1024, 64)}) {
    const TimedOperands operands(problem);
    fmt::print("{}\n", test::describe(problem));
    for (const AttentionPass pass : passes) {
      GpuKernels kernels;
      const std::vector<AttentionTile> tiles = tilesToTry(problem, pass);
      for (const AttentionTile& tile : tiles) {
        kernels.add(alone(attentionLaunch(problem, pass, tile)));
      }
      kernels.build();
      std::vector<std::pair<double, size_t>> times;
      for (size_t i = 0; i < tiles.size(); ++i) {
        times.emplace_back(timeOf(kernels, i, pass, operands), i);
      }
      std::sort(times.begin(), times.end());
      for (size_t i = 0; i < std::min<size_t>(times.size(), 12); ++i) {
        fmt::print("  {:8} {:9.1f} us  {}\n", name(pass), times[i].first, describe(tiles[times[i].second]));
      }
    }
  }
}
