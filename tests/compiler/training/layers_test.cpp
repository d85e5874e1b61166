// Layers: what parameters they make, and what they compute, against loops written beside them.
#include "ir/author/layers.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/author/gradients.h"
#include "ir/author/optimizers.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"

#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

/// Some numbers, none alike, between -1 and 1.
Literal filled(const TensorType& type, double phase) {
  Literal literal(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    literal.set(i, std::sin(1.7 * double(i) + phase));
  }
  return literal;
}

struct Made {
  Graph graph;
  NamedLiterals state; ///< floats filled, whole numbers 0
};

Made made(Builder&& g) {
  Result<Graph> graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  Made result{*std::move(graph), {}};
  double phase = 0;
  for (const OpId op : result.graph.opsOf(OpKind::Parameter)) {
    const TensorType& type = result.graph.typeOf(result.graph[op].firstResult);
    result.state.emplace(std::string(result.graph.nameOf(op)),
                         isFloat(type.element) ? filled(type, phase += 1) : Literal(type));
  }
  return result;
}

Evaluation step(const Made& made, const NamedLiterals& feeds) {
  auto result = evaluate(made.graph, feeds, made.state);
  INFO(render(result.errors()));
  REQUIRE(result.ok());
  return *std::move(result);
}

double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// Row `row` of weight [n, k] times the k values at `x`.
double product(const Literal& weight, int64_t row, const std::vector<double>& x) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += weight.at(row * int64_t(x.size()) + int64_t(i)) * x[i];
  }
  return sum;
}

constexpr int64_t batch = 2, length = 3, in = 2, width = 2;
const TensorType sequence = f32({batch, length, in});

} // namespace

TEST_CASE("layers: names and shapes of parameters, in the order of the calls") {
  Builder g;
  Layers net(g);
  const Tensor image = g.input("image", f32({2, 4, 6, 6}));
  const Tensor h =
      net.batchNorm("norm", net.convolution("conv", image, 8, 3, {.stride = 2, .groups = 2, .bias = true}));
  CHECK(h.shape() == Shape{2, 8, 3, 3});
  CHECK(net.linear("fc", reduceMean(h, {2, 3}), 5, {.outFirst = true}).shape() == Shape{2, 5});
  const Tensor words = net.embedding("words", g.input("ids", i64({2, 7})), 100, 12);
  CHECK(net.attention("attn", net.rmsNorm("rms", net.layerNorm("ln", words)), 4,
                      {.causal = true, .keyHeads = 2})
            .shape() == Shape{2, 7, 12});
  CHECK(net.lstm("lstm", words, 5).all.shape() == Shape{2, 7, 5});
  CHECK(net.gru("gru", words, 5).last.shape() == Shape{2, 5});
  std::string names;
  for (const Tensor& parameter : net.trained()) {
    const TensorType type = parameter.type();
    names += (names.empty() ? "" : " ") + toString(type);
  }
  CHECK(names == "f32[8, 2, 3, 3] f32[8] f32[8] f32[8] f32[5, 8] f32[5] f32[100, 12] f32[12] f32[12] f32[12] "
                 "f32[12, 12] f32[12] f32[12, 6] f32[6] f32[12, 6] f32[6] f32[12, 12] f32[12] "
                 "f32[20, 12] f32[20, 5] f32[20] f32[20] f32[15, 12] f32[15, 5] f32[15] f32[15]");
  const Graph graph = std::move(g).finish().orThrow();
  for (const char* name : {"conv.weight", "conv.bias", "norm.running_mean", "fc.weight", "attn.k.bias",
                           "attn.out.weight", "lstm.weight_hh", "gru.bias_ih"}) {
    CHECK(graph.findValue(name).valid());
  }
}

TEST_CASE("layers: all parameters have the element type that was asked for") {
  Builder g;
  Layers net(g, Phase::Training, 0, ElementType::BF16);
  const Tensor image = g.input("image", {ElementType::BF16, {2, 4, 6, 6}});
  const Tensor h = net.batchNorm("norm", net.convolution("conv", image, 8, 3, {.bias = true}));
  const Tensor words = net.embedding("words", g.input("ids", i64({2, 7})), 100, 12);
  const Tensor seen = net.layerNorm("ln", net.rmsNorm("rms", net.attention("attn", words, 4)));
  g.fetch("h", net.linear("fc", reduceMean(h, {2, 3}), 5));
  g.fetch("last", net.gru("gru", net.lstm("lstm", seen, 5).all, 5).last);
  const Graph graph = std::move(g).finish().orThrow();
  for (const NamedType& parameter : graph.parameters()) {
    INFO(parameter.name);
    CHECK(parameter.type.element == ElementType::BF16);
  }
  CHECK(graph.parameters().size() == 28);
  for (const NamedType& result : graph.results()) {
    CHECK(result.type.element == ElementType::BF16);
  }
}

TEST_CASE("layers: seeds of the first weights differ from one another") {
  Builder g;
  Layers net(g, Phase::Training, 3);
  const Tensor x = g.input("x", f32({2, 4}));
  net.linear("b", net.linear("a", x, 4), 4);
  const Graph graph = std::move(g).finish().orThrow();
  std::vector<int64_t> seeds;
  for (const OpId op : graph.opsOf(OpKind::Parameter)) {
    seeds.push_back(graph[op].getIf<ops::Parameter>()->seed);
  }
  CHECK(seeds == std::vector<int64_t>{3000, 0, 3002, 0});
}

TEST_CASE("layers: an LSTM is its formulas, position by position") {
  Builder g;
  Layers net(g);
  const Recurrent recurrent = net.lstm("r", g.input("x", sequence), width);
  g.fetch("all", recurrent.all);
  g.fetch("last", recurrent.last);
  const Made lstm = made(std::move(g));
  const Literal x = filled(sequence, 0.3);
  const Evaluation result = step(lstm, {{"x", x}});
  const auto part = [&](const char* name) { return lstm.state.at(std::string("r.") + name); };
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<double> h(width, 0), c(width, 0);
    for (int64_t t = 0; t < length; ++t) {
      const std::vector<double> now = {x.at((b * length + t) * in), x.at((b * length + t) * in + 1)};
      const auto gate = [&](int64_t kind, int64_t i) {
        const int64_t row = kind * width + i;
        return product(part("weight_ih"), row, now) + part("bias_ih").at(row) +
               product(part("weight_hh"), row, h) + part("bias_hh").at(row);
      };
      std::vector<double> next(width);
      for (int64_t i = 0; i < width; ++i) {
        auto& cell = c[size_t(i)];
        cell = sigmoid(gate(1, i)) * cell + sigmoid(gate(0, i)) * std::tanh(gate(2, i));
        next[size_t(i)] = sigmoid(gate(3, i)) * std::tanh(cell);
        // The cell of one unit does not enter another's gates, so it may change within the loop.
      }
      h = next;
      for (int64_t i = 0; i < width; ++i) {
        // Both biases of the first position are there: the hidden state begins at 0, the bias does not.
        CHECK(result.fetches.at("all").at((b * length + t) * width + i) == Approx(h[size_t(i)]).margin(1e-5));
      }
    }
    CHECK(result.fetches.at("last").at(b * width) == Approx(h[0]).margin(1e-5));
  }
}

TEST_CASE("layers: a GRU is its formulas, position by position") {
  Builder g;
  Layers net(g);
  g.fetch("all", net.gru("r", g.input("x", sequence), width).all);
  const Made gru = made(std::move(g));
  const Literal x = filled(sequence, 0.3);
  const Evaluation result = step(gru, {{"x", x}});
  const auto part = [&](const char* name) { return gru.state.at(std::string("r.") + name); };
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<double> h(width, 0);
    for (int64_t t = 0; t < length; ++t) {
      const std::vector<double> now = {x.at((b * length + t) * in), x.at((b * length + t) * in + 1)};
      std::vector<double> next(width);
      for (int64_t i = 0; i < width; ++i) {
        const auto given = [&](int64_t kind) {
          return product(part("weight_ih"), kind * width + i, now) + part("bias_ih").at(kind * width + i);
        };
        const auto held = [&](int64_t kind) {
          return product(part("weight_hh"), kind * width + i, h) + part("bias_hh").at(kind * width + i);
        };
        const double reset = sigmoid(given(0) + held(0)), update = sigmoid(given(1) + held(1));
        next[size_t(i)] = (1 - update) * std::tanh(given(2) + reset * held(2)) + update * h[size_t(i)];
      }
      h = next;
      for (int64_t i = 0; i < width; ++i) {
        CHECK(result.fetches.at("all").at((b * length + t) * width + i) == Approx(h[size_t(i)]).margin(1e-5));
      }
    }
  }
}

TEST_CASE("layers: batch norm follows the statistics of the batch, and evaluation takes them") {
  const auto normOf = [](Phase phase) {
    Builder g;
    Layers net(g, phase);
    g.fetch("y", net.batchNorm("n", g.input("x", f32({4, 1})), 0.75, 0));
    return made(std::move(g));
  };
  const Literal x = Literal::of<float>({4, 1}, {1, 2, 3, 6}); // mean 3, variance 14 / 4, unbiased 14 / 3
  Made training = normOf(Phase::Training);
  training.state.at("n.running_mean").set(0, 1);
  training.state.at("n.running_var").set(0, 1);
  const Evaluation after = step(training, {{"x", x}});
  CHECK(after.parameters.at("n.running_mean").at(0) == Approx(1.5)); // 0.75 * 1 + 0.25 * 3
  CHECK(after.parameters.at("n.running_var").at(0) == Approx(0.75 + 0.25 * 14 / 3));
  Made evaluation = normOf(Phase::Evaluation);
  evaluation.state = after.parameters;
  const double scale = evaluation.state.at("n.weight").at(0), bias = evaluation.state.at("n.bias").at(0);
  CHECK(step(evaluation, {{"x", x}}).fetches.at("y").at(3) ==
        Approx(scale * (6 - 1.5) / std::sqrt(0.75 + 0.25 * 14 / 3) + bias));
}

TEST_CASE("layers: dropout draws anew at every call and every step, and evaluation passes all") {
  const auto graphOf = [](Phase phase) {
    Builder g;
    Layers net(g, phase);
    const Tensor x = g.input("x", f32({256}));
    g.fetch("a", net.dropout(x));
    g.fetch("b", net.dropout(x));
    return made(std::move(g));
  };
  const NamedLiterals ones{{"x", filledLiteral(f32({256}), 1)}};
  Made training = graphOf(Phase::Training);
  const Evaluation first = step(training, ones);
  training.state = first.parameters;
  const Evaluation second = step(training, ones);
  CHECK(!(first.fetches.at("a") == first.fetches.at("b")));
  CHECK(!(first.fetches.at("a") == second.fetches.at("a")));
  CHECK(second.parameters.at("step") == Literal::scalar<int64_t>(2));
  CHECK(step(graphOf(Phase::Evaluation), ones).fetches.at("b") == ones.at("x"));
}

TEST_CASE("layers: all of them are differentiated") {
  Builder g;
  Layers net(g);
  const Tensor words = net.embedding("words", g.input("ids", i64({2, 3})), 5, 4);
  const Tensor h = net.attention("attn", net.layerNorm("ln", words), 2, {.causal = true});
  const Tensor r = net.gru("gru", net.lstm("lstm", net.rmsNorm("rms", h), 4).all, 4).last;
  const Tensor loss =
      softmaxCrossEntropy(net.linear("fc", net.dropout(r, 0.1), 3), g.input("labels", i64({2})));
  adam(net.trained(), gradients(loss, net.trained()));
  g.fetch("loss", loss);
  Made training = made(std::move(g));
  for (auto& [name, value] : training.state) {
    if (name.find("adam") != std::string::npos) {
      value = filledLiteral(value.type(), name.find("Power") != std::string::npos ? 1 : 0);
    }
  }
  const NamedLiterals feeds{{"ids", Literal::of<int64_t>({2, 3}, {0, 1, 2, 3, 4, 0})},
                            {"labels", Literal::of<int64_t>({2}, {0, 2})}};
  const double before = step(training, feeds).fetches.at("loss").at(0);
  for (int i = 0; i < 30; ++i) {
    training.state = step(training, feeds).parameters;
  }
  CHECK(step(training, feeds).fetches.at("loss").at(0) < before);
}

TEST_CASE("layers: a group norm has a weight and a bias for each channel, and normalises each group") {
  Builder g;
  Layers net(g);
  const Tensor x = g.input("x", f32({2, 4, 3}));
  g.fetch("y", net.groupNorm("norm", x, 2));
  CHECK(net.trained().size() == 2);
  Made net4 = made(std::move(g));
  const Literal a = filled(f32({2, 4, 3}), 0.5), &weight = net4.state.at("norm.weight"),
                &bias = net4.state.at("norm.bias");
  REQUIRE(weight.type() == f32({4}));
  const Literal y = step(net4, {{"x", a}}).fetches.at("y");
  for (int64_t group = 0; group < 4; ++group) { // two of each of two rows, of 2 * 3 elements
    double mean = 0, square = 0;
    for (int64_t i = 6 * group; i < 6 * group + 6; ++i) {
      mean += a.at(i) / 6;
    }
    for (int64_t i = 6 * group; i < 6 * group + 6; ++i) {
      square += (a.at(i) - mean) * (a.at(i) - mean) / 6;
    }
    for (int64_t i = 6 * group; i < 6 * group + 6; ++i) {
      const int64_t channel = i / 3 % 4;
      CHECK(y.at(i) ==
            Approx((a.at(i) - mean) / std::sqrt(square + 1e-5) * weight.at(channel) + bias.at(channel))
                .margin(1e-5));
    }
  }
}

TEST_CASE("layers: mistakes name the layer, at the call") {
  Builder g;
  Layers net(g);
  const Tensor x = g.input("x", f32({2, 6})), ids = g.input("ids", i64({2, 6}));
  net.convolution("conv", x, 3, 3);
  net.linear("fc", ids, 3);
  net.attention("attn", reshape(x, {1, 2, 6}), 4);
  net.lstm("r", x, 3);
  const auto graph = std::move(g).finish();
  REQUIRE(!graph.ok());
  const std::string text = render(graph.errors());
  for (const char* message :
       {"convolution 'conv' of f32[2, 6]", "linear layer 'fc' of i64[2, 6]",
        "attention 'attn' of width 6 with 4 heads, 4 of keys", "LSTM 'r' of f32[2, 6]"}) {
    CHECK_THAT(text, containing(message));
  }
  CHECK(graph.errors().size() == 4);
}
