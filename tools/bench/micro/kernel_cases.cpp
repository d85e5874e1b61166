// CPU kernels on one thread, each beside a memcpy that reads and writes as many bytes; the matrix product
// beside plain loops.
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "runtime/cpu/kernels/kernel.h"
#include "tools/bench/micro/cases.h"
#include "tools/bench/micro/made.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>

namespace dfc::bench {
namespace {

/// Floats from 0.5 to 1.5, where no function has a special case; indices over all of `indexed` rows.
Literal operandOf(const TensorType& type, int64_t indexed) {
  constexpr int64_t step = 4093; // a prime, so that rows differ
  Literal literal(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    const int64_t drawn = i * step % 65537;
    literal.set(i, isFloat(type.element) ? 0.5 + static_cast<double>(drawn) / 65537
                                         : static_cast<double>(drawn % indexed));
  }
  return literal;
}

/// The last op of a graph with its kernel and buffers.
class KernelRun {
 public:
  explicit KernelRun(const Graph& graph) : pool_(1) {
    const OpId op(static_cast<uint32_t>(graph.opCount() - 1));
    const auto types = graph.operandTypesOf(op), results = graph.resultTypesOf(op);
    kernel_ = makeCpuKernel(graph[op].attributes, types, results, pool_);
    bytes_ = costOf(graph[op].attributes, types, results).bytes;
    for (const TensorType& type : types) {
      literals_.push_back(operandOf(type, types[0].shape.dims().front()));
      operands_.push_back(literals_.back().bytes().data());
    }
    for (const TensorType& type : results) {
      literals_.emplace_back(type);
      results_.push_back(literals_.back().mutableBytes().data());
    }
  }

  void run() { kernel_->run(operands_, results_); }
  double bytes() const { return bytes_; }
  const Literal& operand(size_t index) const { return literals_[index]; }

 private:
  ThreadPool pool_;
  std::unique_ptr<CpuKernel> kernel_;
  double bytes_ = 0;
  std::vector<Literal> literals_;
  std::vector<const std::byte*> operands_;
  std::vector<std::byte*> results_;
};

/// Writes a graph that ends in the op.
using Call = std::function<Tensor(Builder&)>;

std::shared_ptr<KernelRun> kernelRun(const Call& call) {
  Builder g("one op");
  g.fetch("y", call(g));
  return std::make_shared<KernelRun>(made(std::move(g).finish()));
}

Works besideMemcpy(const Call& call) {
  const auto run = kernelRun(call);
  const auto half = static_cast<size_t>(run->bytes() / 2); // as much is read as is written
  const auto from = std::make_shared<std::vector<char>>(half, 'a');
  const auto to = std::make_shared<std::vector<char>>(half, 'b');
  return {[run] { run->run(); }, [from, to] { std::memcpy(to->data(), from->data(), from->size()); },
          run->bytes()};
}

void multiplyPlainly(std::span<const float> a, std::span<const float> b, std::vector<float>& c, size_t n) {
  std::fill(c.begin(), c.end(), 0.0F);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < n; ++k) {
      for (size_t j = 0; j < n; ++j) {
        c[i * n + j] += a[i * n + k] * b[k * n + j];
      }
    }
  }
}

MicroCase product(int64_t side) {
  const auto prepare = [side] {
    const auto run = kernelRun([side](Builder& g) {
      return matmul(g.input("a", f32({side, side})), g.input("b", f32({side, side})));
    });
    const auto n = static_cast<size_t>(side);
    const auto result = std::make_shared<std::vector<float>>(n * n);
    return Works{[run] { run->run(); },
                 [run, result, n] {
                   multiplyPlainly(run->operand(0).data<float>(), run->operand(1).data<float>(), *result, n);
                 }};
  };
  const std::string size = std::to_string(side);
  return {"micro/kernel/matmul", "product of f32 matrices of " + size + " rows and columns", "plain loops",
          prepare};
}

ops::Fused scaledAndShifted() {
  ops::Fused fused;
  fused.body.instructions.push_back({OpKind::Mul, 0, ElementType::F32, {0, 1}});
  fused.body.instructions.push_back({OpKind::Add, 0, ElementType::F32, {3, 2}});
  fused.body.instructions.push_back({OpKind::Relu, 0, ElementType::F32, {4}});
  return fused;
}

struct NamedCall {
  const char *name, *description;
  Call call;
};

std::vector<NamedCall> calls(int64_t side) {
  const auto x = [side](Builder& g) { return g.input("x", f32({side, side})); };
  const auto row = [side](Builder& g, const char* name) { return g.input(name, f32({side})); };
  return {
      {"add", "a sum of two",
       [=](Builder& g) {
         return x(g) + g.input("y", f32({side, side}));
       }},
      {"fused", "relu(x * scale + shift) in one op",
       [=](Builder& g) {
         return g.op(scaledAndShifted(), {x(g), row(g, "scale"), row(g, "shift")},
                     std::source_location::current());
       }},
      {"exp", "exp", [=](Builder& g) { return exp(x(g)); }},
      {"gelu", "gelu of tanh form", [=](Builder& g) { return gelu(x(g), Approximation::Tanh); }},
      {"cast", "f32 to bf16", [=](Builder& g) { return cast(x(g), ElementType::BF16); }},
      {"sum/rows", "sums of rows", [=](Builder& g) { return reduceSum(x(g), {1}); }},
      {"sum/columns", "sums of columns", [=](Builder& g) { return reduceSum(x(g), {0}); }},
      {"softmax", "softmax of rows", [=](Builder& g) { return softmax(x(g)); }},
      {"softmax/columns", "softmax of columns", [=](Builder& g) { return softmax(x(g), 0); }},
      {"layerNorm", "layerNorm of rows",
       [=](Builder& g) { return layerNorm(x(g), row(g, "scale"), row(g, "bias")); }},
      {"transpose", "transposed",
       [=](Builder& g) {
         return transpose(x(g), {1, 0});
       }},
      {"gather", "rows in another order",
       [=](Builder& g) {
         return gather(x(g), g.input("rows", {ElementType::I32, {side}}));
       }},
  };
}

/// Of 8 images of 32 planes of `side` by `side`.
std::vector<NamedCall> imageCalls(int64_t side) {
  const auto images = [side](Builder& g) { return g.input("images", f32({8, 32, side, side})); };
  const auto channel = [](Builder& g, const char* name) { return g.input(name, f32({32})); };
  const Window around{{}, {1, 1}, {1, 1}, {}};
  return {
      {"transpose/images", "channels put behind pixels",
       [=](Builder& g) {
         return transpose(images(g), {0, 2, 3, 1});
       }},
      {"batchNorm", "batch normalisation as in training",
       [=](Builder& g) {
         return batchNormTraining(images(g), channel(g, "scale"), channel(g, "bias")).result;
       }},
      {"maxPool", "largest of 3x3",
       [=](Builder& g) {
         return maxPool(images(g), {3, 3}, around);
       }},
      {"maxPool/gradient", "gradient of the largest of 3x3",
       [=](Builder& g) {
         ops::MaxPoolGradient op;
         op.window = {3, 3};
         op.low = op.high = {1, 1};
         return g.op(op, {images(g), g.input("cotangent", f32({8, 32, side, side}))},
                     std::source_location::current());
       }},
      {"averagePool/gradient", "gradient of the means of 3x3",
       [=](Builder& g) {
         ops::AveragePoolGradient op;
         op.window = {3, 3};
         op.low = op.high = {1, 1};
         op.shape = {8, 32, side, side};
         return g.op(op, {images(g)}, std::source_location::current());
       }},
      {"averagePool", "means of 3x3",
       [=](Builder& g) {
         return averagePool(images(g), {3, 3}, around);
       }},
  };
}

} // namespace

std::vector<MicroCase> kernelCases(bool quick) {
  std::vector<MicroCase> cases;
  const auto add = [&cases](std::vector<NamedCall> calls, const std::string& shape) {
    for (NamedCall& named : calls) {
      cases.push_back({std::string("micro/kernel/") + named.name, named.description + (", " + shape + " f32"),
                       "memcpy of as many bytes",
                       [call = std::move(named.call)] { return besideMemcpy(call); }});
    }
  };
  const int64_t side = quick ? 64 : 1024, imageSide = quick ? 8 : 64;
  add(calls(side), fmt::format("{0}x{0}", side));
  add(imageCalls(imageSide), fmt::format("8x32x{0}x{0}", imageSide));
  cases.push_back(product(quick ? 32 : 256));
  return cases;
}

} // namespace dfc::bench
