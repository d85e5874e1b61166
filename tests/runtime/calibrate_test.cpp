// Backends that time ops: every kernel of the host, and those that time nothing.
#include "compiler/lower/lower_op.h"
#include "runtime/backend.h"
#include "runtime/cpu/calibrate_host.h"
#include "runtime/cpu/shared_values.h"
#include "tests/support/catch.h"
#include "tests/support/op_samples.h"

using namespace dfc;

namespace {

struct Ops {
  Graph graph;
  std::vector<OpId> timed;
};

/// One op of each kind that is measured.
Ops oneOfEach() {
  GraphBuilder builder;
  std::vector<OpId> timed;
  for (size_t i = 0; i < opKindCount; ++i) {
    if (!isMeasured(static_cast<OpKind>(i))) {
      continue;
    }
    const test::OpSample sample = test::sampleOf(static_cast<OpKind>(i));
    std::vector<ValueId> operands;
    for (const TensorType& type : sample.operands) {
      ops::Input input;
      input.type = type;
      operands.push_back(builder.result(builder.append(input, {}, {})));
    }
    timed.push_back(builder.append(sample.attributes, operands, {}));
  }
  return {*std::move(builder).finish(), std::move(timed)};
}

DeviceRequest deviceOf(DeviceKind kind) {
  DeviceRequest device;
  device.row.kind = kind;
  device.row.threads = 2;
  return device;
}

} // namespace

TEST_CASE("calibrate: an emulated gpu times copies of every size, a null device none") {
  const CopyRequest down{std::nullopt, DeviceRequest{}};
  const std::vector<double> seconds = backendNamed("emulated")->timeCopies(down, {4, 1 << 20, 64 << 20});
  REQUIRE(seconds.size() == 3);
  CHECK(seconds[0] > 0);
  CHECK(seconds[2] > seconds[0]);
  CHECK(backendNamed("null")->timeCopies(down, {4}).empty());
}

TEST_CASE("calibrate: the host times every op that has a kernel, each under its signature") {
  const Ops ops = oneOfEach();
  for (const std::string name : {"cpu", "emulated"}) {
    Backend* backend = backendNamed(name);
    REQUIRE(backend != nullptr);
    const auto measured = backend->calibrate(
        ops.graph, ops.timed, {}, deviceOf(name == "cpu" ? DeviceKind::Cpu : DeviceKind::Gpu), opLowering());
    REQUIRE(measured.size() == ops.timed.size());
    for (size_t i = 0; i < measured.size(); ++i) {
      CHECK(measured[i].signature == signatureOf(ops.graph, ops.timed[i]));
      CHECK(measured[i].seconds > 0);
      CHECK(measured[i].choice.empty());
    }
  }
}

TEST_CASE("calibrate: operands that a transfer brings, results that one takes away") {
  GraphBuilder builder;
  ops::Input input;
  input.type = f32({64, 33});
  const auto value = [&](OpAttributes attributes, llvm::ArrayRef<ValueId> operands) {
    return builder.result(builder.append(std::move(attributes), operands, {}));
  };
  const ValueId here = value(input, {}), came = value(ops::Transfer{}, value(input, {}));
  ops::Matmul matmul;
  matmul.transposeB = true;
  const ValueId sum = value(ops::Add{}, {here, came}), product = value(matmul, {came, here});
  (void)value(ops::Transfer{}, sum);
  const Graph graph = *std::move(builder).finish();
  const std::vector<OpId> timed = {graph[sum].producer, graph[product].producer};
  const auto measured =
      backendNamed("cpu")->calibrate(graph, timed, {}, deviceOf(DeviceKind::Cpu), opLowering());
  REQUIRE(measured.size() == 2);
  for (size_t i = 0; i < measured.size(); ++i) {
    CHECK(measured[i].signature == signatureOf(graph, timed[i]));
    CHECK(measured[i].seconds > 0);
  }
}

TEST_CASE("calibrate: a kernel is told of the operands that no step changes, as by a session") {
  class Told final : public CpuKernel {
   public:
    explicit Told(std::vector<Held>& told) : told_(told) {}
    void run(llvm::ArrayRef<const std::byte*>, llvm::ArrayRef<std::byte*>) override {}
    bool hold(llvm::ArrayRef<Held> operands) override {
      told_.assign(operands.begin(), operands.end());
      return true;
    }

   private:
    std::vector<Held>& told_;
  };
  GraphBuilder builder;
  const auto value = [&](OpAttributes attributes, llvm::ArrayRef<ValueId> operands) {
    return builder.result(builder.append(std::move(attributes), operands, {}));
  };
  ops::Input input;
  ops::Parameter parameter;
  input.type = parameter.type = f32({8, 8});
  const ValueId x = value(input, {}), read = value(parameter, {}), trained = value(parameter, {});
  const ValueId first = value(ops::Matmul{}, {x, read}), second = value(ops::Matmul{}, {x, trained});
  (void)value(ops::Assign{}, {trained, second});
  const Graph graph = *std::move(builder).finish();
  const SharedValues shared(graph);
  std::vector<Held> told;
  const OpId product = graph[first].producer, other = graph[second].producer;
  (void)calibrateKernel(graph, product, shared.of(product), std::make_unique<Told>(told));
  CHECK(told == std::vector<Held>{Held::No, Held::Yes});
  told.clear();
  (void)calibrateKernel(graph, other, shared.of(other), std::make_unique<Told>(told));
  CHECK(told.empty());
}

TEST_CASE("calibrate: a backend that computes nothing times nothing") {
  const Ops ops = oneOfEach();
  CHECK(backendNamed("null")
            ->calibrate(ops.graph, ops.timed, {}, deviceOf(DeviceKind::Cpu), opLowering())
            .empty());
}
