// Custom ops in sessions: functions of the host on cpu and emulated devices, what is refused before the first
// step, and functions that fail.
#include "ir/author/custom.h"
#include "tests/runtime/session_support.h"

#include <llvm/ADT/STLExtras.h>

#include <atomic>
#include <stdexcept>
#include <thread>

using namespace dfc;
using namespace dfc::test;

namespace {

CustomTask taskOf(std::string function, std::vector<TensorType> results) {
  CustomTask task;
  task.function = std::move(function);
  task.results = std::move(results);
  task.cpuSeconds = task.gpuSeconds = 1e-5;
  return task;
}

/// sum, parts = split(x, y) on `device`: element by element x + y, and [total of x, total of y]; then z = 2 *
/// sum on cpu0.
Graph sums(const std::string& device) {
  Builder g("sums");
  const Tensor x = g.input("x", f32({3})), y = g.input("y", f32({3}));
  const auto results = custom({x, y}, taskOf("sums", {f32({3}), f32({2})}));
  const Tensor sum = results[0].named("sum").on(device);
  g.fetch("z", custom({sum}, taskOf("twice", {f32({3})}))[0].named("z").on("cpu0"));
  g.fetch("parts", results[1].named("parts"));
  return finished(std::move(g));
}

void addUp(const CustomCall& call) {
  const auto x = call.operand<float>(0), y = call.operand<float>(1);
  const auto sum = call.result<float>(0), parts = call.result<float>(1);
  parts[0] = parts[1] = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum[i] = x[i] + y[i];
    parts[0] += x[i];
    parts[1] += y[i];
  }
}

void twice(const CustomCall& call) {
  llvm::transform(call.operand<float>(0), call.result<float>(0).begin(),
                  [](float value) { return 2 * value; });
}

const NamedLiterals feeds{{"x", floats({3}, {1, 2, 3})}, {"y", floats({3}, {10, 20, 30})}};

Strings refusals(const std::shared_ptr<const Executable>& plan, const SessionOptions& options) {
  const auto session = Session::open(plan, options);
  CHECK_FALSE(session.ok());
  for (const Diagnostic& error : session.errors()) {
    CHECK(error.where.file == __FILE__);
    CHECK(error.where.line > 0);
  }
  return messagesOf(session.errors());
}

} // namespace

TEST_CASE("custom ops: functions of the host on cpu and emulated devices, with several results") {
  for (const std::string device : {"cpu0", "gpu0"}) {
    INFO(device);
    const SessionOptions options{.gpuBackend = "emulated",
                                 .customFunctions = {{"sums", addUp}, {"twice", twice}}};
    const auto session = opened(tinyPlan(sums(device), smallMachine(1)), options);
    for (int step = 0; step < 3; ++step) {
      const auto results = session->run(feeds);
      REQUIRE(results.ok());
      CHECK(valuesOf(results->at("z")) == Floats{22, 44, 66}); // 2 (1 + 10), 2 (2 + 20), 2 (3 + 30)
      CHECK(valuesOf(results->at("parts")) == Floats{6, 60});  // 1 + 2 + 3, 10 + 20 + 30
    }
  }
}

TEST_CASE("custom ops: a plan whose functions are missing is refused, all of them at once") {
  const auto plan = tinyPlan(sums("cpu0"), smallMachine(1));
  const auto none = refusals(plan, {});
  REQUIRE(none.size() == 2);
  CHECK(none[0] ==
        "custom op 'sum' calls 'sums', and there is no such function | give it in "
        "SessionOptions::customFunctions, or with --custom LIBRARY.so to dfc run; functions that are there: "
        "none");
  CHECK(none[1].starts_with("custom op 'z' calls 'twice', and there is no such function | "));
  const auto near = refusals(plan, {.customFunctions = {{"sum", addUp}, {"twice", twice}}});
  REQUIRE(near.size() == 1);
  CHECK(near[0] ==
        "custom op 'sum' calls 'sums', and there is no such function | did you mean 'sum'? give it in "
        "SessionOptions::customFunctions, or with --custom LIBRARY.so to dfc run; functions that are there: "
        "sum, twice");
  CHECK(refusals(plan, {.customFunctions = {{"sums", CustomFunction()}, {"twice", twice}}}).size() == 1);
}

TEST_CASE("custom ops: a function refuses types before the first step") {
  CustomFunction picky(addUp);
  picky.check = [](const CustomTypes& types) -> std::string {
    return types.operands[0].shape[0] % 2 == 0 ? "" : "it takes an even number of elements";
  };
  CustomFunction broken(twice);
  broken.check = [](const CustomTypes&) -> std::string { throw std::runtime_error("the check failed"); };
  const auto messages =
      refusals(tinyPlan(sums("gpu0"), smallMachine(1)),
               {.gpuBackend = "emulated", .customFunctions = {{"sums", picky}, {"twice", broken}}});
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].starts_with("custom op 'sum': its function 'sums' refuses the types of the call: it "
                                "takes an even number of elements | "));
  CHECK(messages[1].starts_with(
      "custom op 'z': its function 'twice' refuses the types of the call: the check failed | "));
}

TEST_CASE("custom ops: a function that fails ends the step, named and located, and the next step runs") {
  int calls = 0;
  const auto fails = [&](const CustomCall& call) {
    if (++calls == 1) {
      throw std::runtime_error("the disk is full");
    }
    if (calls == 2) {
      throw 7; // NOLINT: anything may be thrown
    }
    if (calls == 3) {
      (void)call.operand<double>(0);
    }
    addUp(call);
  };
  const auto session = opened(tinyPlan(sums("cpu0"), smallMachine(1)),
                              {.customFunctions = {{"sums", fails}, {"twice", twice}}});
  const auto failure = [&]() -> std::string {
    try {
      (void)session->run(feeds);
    } catch (const CustomError& error) {
      REQUIRE(error.diagnostics().size() == 1);
      CHECK(error.diagnostics()[0].where.file == __FILE__);
      return error.diagnostics()[0].message;
    }
    return "";
  };
  CHECK(failure() == "custom op 'sum': its function 'sums' failed: the disk is full");
  CHECK(failure() ==
        "custom op 'sum': its function 'sums' failed: it threw something that is no std::exception");
  CHECK(failure() ==
        "custom op 'sum': its function 'sums' failed: operand 0 is f32[3], and the function takes f64");
  CHECK(failure().empty());
}

TEST_CASE("custom ops: null devices call nothing") {
  const auto session =
      opened(tinyPlan(sums("gpu0"), smallMachine(1)), {.cpuBackend = "null", .gpuBackend = "null"});
  const auto results = session->run(feeds);
  REQUIRE(results.ok());
  CHECK(valuesOf(results->at("z")) == Floats{0, 0, 0});
}

TEST_CASE(
    "custom ops: operands and results lie where they lie, row-major, with nothing copied for the call") {
  Builder g("views");
  const Tensor x = g.input("x", f32({2, 3}));
  g.fetch("y", custom({x}, taskOf("look", {f32({2, 3})}))[0].named("y"));
  const std::byte *seen = nullptr, *written = nullptr;
  const auto look = [&](const CustomCall& call) {
    CHECK(call.op() == "y");
    CHECK(call.types().operands[0] == f32({2, 3}));
    seen = call.operandBytes(0).data();
    written = call.resultBytes(0).data();
    llvm::copy(call.operand<float>(0), call.result<float>(0).begin());
  };
  const auto session =
      opened(tinyPlan(finished(std::move(g)), smallMachine(0)), {.customFunctions = {{"look", look}}});
  const Literal fed = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto results = session->run({{"x", fed}});
  REQUIRE(results.ok());
  CHECK(results->at("y") == fed);
  CHECK(seen == fed.bytes().data()); // the caller's own buffer
  CHECK(written == results->at("y").bytes().data());
}
