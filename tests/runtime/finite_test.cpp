// SessionOptions::checkFinite: the first op whose result is not finite, by name, place and operands' ranges.
#include "ir/author/composites.h"
#include "runtime/finite/finite.h"
#include "tests/runtime/scripted_backend.h"
#include "tests/runtime/session_support.h"
#include "tests/support/matchers.h"

#include <limits>

using namespace dfc;
using namespace dfc::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();

template <class T>
ElementRange rangeOf(std::initializer_list<T> values) {
  const Literal literal = Literal::of<T>({static_cast<int64_t>(values.size())}, values);
  return dfc::rangeOf(literal.type(), literal.bytes());
}

template <class T>
bool isFinite(std::initializer_list<T> values) {
  const Literal literal = Literal::of<T>({static_cast<int64_t>(values.size())}, values);
  return dfc::isFinite(literal.type(), literal.bytes());
}

/// low = x - 3; y = log(low) in a scope, on `device`: NaN where x < 3. Behind it z = y + 1, which is NaN too.
Graph logarithm(const std::string& device, uint32_t& line) {
  Builder g("logarithm");
  const Tensor x = g.input("x", f32({4}));
  Tensor y;
  {
    const auto scope = g.scope("net/layer", device);
    const Tensor low = matmul(reshape(x, {4, 1}), g.constant(floats({1, 1}, {1}))).named("low");
    y = log(reshape(low, {4}) - 3).named("y");
    line = std::source_location::current().line() - 1;
  }
  g.fetch("sum", reduceSum(y, {0}).named("sum"));
  return finished(std::move(g));
}

SessionOptions checking() {
  SessionOptions options;
  options.checkFinite = true;
  options.gpuBackend = "emulated"; // a GPU of this host looks at no values between its ops
  return options;
}

Diagnostic mistakeOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const NotFiniteError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    return error.diagnostics().front();
  }
  FAIL("all is finite");
  return {};
}

} // namespace

TEST_CASE("finite: every float type by its own exponent, wherever the element lies") {
  CHECK(
      isFinite<float>({0, -1, std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}));
  CHECK_FALSE(isFinite<float>({0, notANumber}));
  CHECK_FALSE(isFinite<float>({-infinity, 1}));
  CHECK(isFinite<double>({1e308, -5e-324}));
  CHECK_FALSE(isFinite<double>({1, std::numeric_limits<double>::quiet_NaN()}));
  CHECK(isFinite<Half>({Half(65504.0F)}));
  CHECK_FALSE(isFinite<Half>({Half(1.0F), Half(infinity)}));
  CHECK(isFinite<BFloat16>({BFloat16(1e38F)}));
  CHECK_FALSE(isFinite<BFloat16>({BFloat16(notANumber)}));
  CHECK(isFinite<int32_t>({-1, 0x7f800000}));
  CHECK(isFinite<int64_t>({0x7ff0000000000000}));
  CHECK(isFinite<uint8_t>({255}));
  for (const int64_t at : {0, 4095, 4096, 9999}) { // blocks have 4096 elements
    Literal many(f32({10000}));
    CHECK(dfc::isFinite(many.type(), many.bytes()));
    many.set(at, notANumber);
    CHECK_FALSE(dfc::isFinite(many.type(), many.bytes()));
  }
}

TEST_CASE("finite: ranges leave out what is not finite, and count it") {
  CHECK(textOf(rangeOf<float>({2, -1, 0.5F})) == "from -1 to 2");
  CHECK(textOf(rangeOf<float>({2, notANumber, 3, notANumber})) == "from 2 to 3, 2 of 4 elements nan");
  CHECK(textOf(rangeOf<double>({1, -infinity})) == "from 1 to 1, 1 of 2 elements infinite");
  CHECK(textOf(rangeOf<float>({notANumber, infinity})) == "1 of 2 elements nan, 1 infinite");
  CHECK(textOf(rangeOf<Half>({Half(notANumber)})) == "1 of 1 elements nan");
  CHECK(textOf(rangeOf<int64_t>({-7, 9})) == "from -7 to 9");
  CHECK(textOf(rangeOf<float>({})) == "no elements");
}

TEST_CASE("checkFinite: the first op that gives NaN is named with its place, scope and operands' ranges") {
  for (const std::string device : {"cpu0", "gpu0"}) {
    INFO(device);
    uint32_t line = 0;
    const auto session = opened(tinyPlan(logarithm(device, line), smallMachine(1)), checking());
    const NamedLiterals good{{"x", floats({4}, {4, 4, 5, 6})}}, bad{{"x", floats({4}, {4, 1, 2, 6})}};
    REQUIRE(session->run(good).ok());
    const Diagnostic mistake = mistakeOf([&] { (void)session->run(bad); });
    CHECK_THAT(mistake.message, startingWith("op 'y'"));
    // x - 3 is 1, -2, -1, 3: the logarithms of two of them are no numbers, the others' are 0 and 1.0986.
    CHECK_THAT(mistake.message,
               containing("gives a value that is not finite in step 2, counted from 1: from 0 "
                          "to 1.09861, 2 of 4 elements nan"));
    CHECK(mistake.note == "in scope 'net/layer'");
    CHECK_THAT(mistake.where.file, containing("finite_test.cpp"));
    CHECK(mistake.where.line == line);
    CHECK_THAT(mistake.hint, startingWith("its operands: "));
    CHECK_THAT(mistake.hint, containing("f32[4] from -2 to 3")); // of the range before log overwrote it
    CHECK(session->run(good).ok());                              // the next step starts afresh
  }
}

TEST_CASE("checkFinite: a pending throws it too, and without the option all goes on") {
  uint32_t line = 0;
  const NamedLiterals bad{{"x", floats({4}, {4, 3, 5, 6})}}; // log(3 - 3) is -infinity
  const auto plan = tinyPlan(logarithm("cpu0", line), smallMachine(1));
  const auto session = opened(plan, checking());
  const auto pending = session->submit(bad).orThrow();
  CHECK_THAT(mistakeOf([&] { (void)pending.wait(); }).message, containing("1 of 4 elements infinite"));
  const auto silent = opened(plan);
  CHECK(silent->run(bad).orThrow().at("sum").at(0) == -infinity);
}

TEST_CASE("checkFinite: a feed or a parameter that is not finite is to blame, not the op that reads it") {
  for (const std::string device : {"cpu0", "gpu0"}) {
    INFO(device);
    Builder g("fed");
    const Tensor x = g.input("x", f32({2})), w = g.parameter("w", f32({2}), constantInit(1));
    const uint32_t line = __LINE__ - 1;
    {
      const auto pin = g.on(device);
      g.fetch("y", (reshape(x, {1, 2}) * w).named("y"));
    }
    const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(1)), checking());
    const NamedLiterals good{{"x", floats({2}, {2, 1})}}, bad{{"x", floats({2}, {notANumber, 1})}};
    const Diagnostic fed = mistakeOf([&] { (void)session->run(bad); });
    CHECK(fed.message ==
          "input 'x' is fed values that are not finite in step 1, counted from 1: from 1 to 1, "
          "1 of 2 elements nan");
    CHECK_THAT(fed.hint, startingWith("op 'y'"));
    CHECK_THAT(fed.hint, containing("gives a value from 1 to 1, 1 of 2 elements nan; its operands: "));
    CHECK(fed.where.line == line);
    REQUIRE(session->run(good).ok());
    REQUIRE(session->setState({{"w", floats({2}, {infinity, 1})}}).ok());
    CHECK_THAT(mistakeOf([&] { (void)session->run(good); }).message,
               startingWith("parameter 'w' holds values that are not finite in step 3"));
  }
}

TEST_CASE("checkFinite: infinities that the graph asks for are no mistake, NaN is") {
  Builder g("masked");
  const Tensor scores = g.input("scores", f32({2, 2})), mask = g.input("mask", {ElementType::Bool, {2, 2}});
  const Tensor seen = select(mask, scores, -infinity).named("seen");
  g.fetch("weights", softmax(seen).named("weights"));
  g.fetch("y", attention(scores, scores, scores, {.mask = mask}).named("y"));
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(1)), checking());
  const Literal numbers = floats({2, 2}, {1, 2, 3, 4});
  const auto masked = [](std::initializer_list<int> bits) {
    Literal made({ElementType::Bool, {2, 2}});
    int64_t i = 0;
    for (const int bit : bits) {
      made.set(i++, bit);
    }
    return made;
  };
  REQUIRE(session->run({{"scores", numbers}, {"mask", masked({1, 0, 1, 1})}}).ok());
  // A row without a key: -infinity for attention's logSumExp, but NaN for the softmax, which is reported.
  const Diagnostic nan = mistakeOf([&] {
    (void)session->run({{"scores", numbers}, {"mask", masked({1, 0, 0, 0})}});
  });
  CHECK_THAT(nan.message, startingWith("op 'weights' (softmax) gives a value that is not finite"));
  // NaN is reported beside a constant that holds infinities, too.
  const Diagnostic fed = mistakeOf([&] {
    (void)session->run({{"scores", floats({2, 2}, {notANumber, 2, 3, 4})}, {"mask", masked({1, 1, 1, 1})}});
  });
  CHECK_THAT(fed.message, startingWith("input 'scores' is fed values that are not finite"));
}

TEST_CASE("checkFinite: integers, truth values and devices that compute nothing are passed over") {
  Builder g("integers");
  const Tensor x = g.input("x", TensorType{ElementType::I32, Shape{2}});
  g.fetch("y", (x + x).named("y"));
  const auto plan = tinyPlan(finished(std::move(g)), smallMachine(0));
  CHECK(opened(plan, checking())->run({{"x", Literal::of<int32_t>({2}, {1, 0x7f800000 / 2})}}).ok());
  SessionOptions null = checking();
  null.cpuBackend = "null";
  CHECK(opened(plan, null)->run({{"x", Literal::of<int32_t>({2}, {1, 2})}}).ok());
}
