// Results written over operands, wherever a verified plan may ask for it: the same bits as in memory of their
// own, of every op and fused form that allows it, on every backend and by the generated CUDA kernels, over
// several tiles and threads with odd ends.
#include "tests/conformance/contenders.h"
#include "tests/conformance/emulated_kernels.h"
#include "tests/conformance/require_plan.h"

#include "ir/graph/rules/op_rules.h"
#include "ir/verify/overwrite.h"
#include "tests/support/calls_in_step.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"
#include "tests/support/relowered.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

using namespace dfc;
using namespace dfc::test;

namespace {

/// Calls side by side on one device. Each has copies of its operands to itself, which it may destroy, and a
/// reader, so that its result lies in the arena too.
class CallsApart {
 public:
  Graph run(llvm::ArrayRef<OpSample> samples, const std::string& device) {
    {
      const auto guard = g_.on(device);
      for (const OpSample& sample : samples) {
        addCall(sample, false);
        const auto alike = [&](const TensorType& type) { return type == sample.operands[0]; };
        if (sample.operands.size() > 1 && llvm::all_of(sample.operands, alike)) {
          addCall(sample, true);
        }
      }
    }
    return requireGraph(std::move(g_));
  }

 private:
  Tensor fed(const TensorType& type, size_t index) {
    const std::string name = fmt::format("{} {}", toString(type), index);
    const auto known = inputs_.find(name);
    return known != inputs_.end() ? known->second : inputs_.emplace(name, g_.input(name, type)).first->second;
  }

  Tensor copyOf(const Tensor& tensor) {
    ops::Broadcast copy;
    copy.shape = dimRange(tensor.type().shape).vec();
    return g_.op(copy, {tensor}, std::source_location::current());
  }

  Tensor operand(const OpSample& sample, size_t i) { return copyOf(fed(sample.operands[i], i)); }

  /// `asOne`: one value is all operands.
  void addCall(const OpSample& sample, bool asOne) {
    std::vector<Tensor> operands;
    for (size_t i = 0; i < sample.operands.size(); ++i) {
      operands.push_back(asOne && i > 0 ? operands[0] : operand(sample, i));
    }
    const Tensor made = g_.op(sample.attributes, operands, std::source_location::current());
    g_.fetch(fmt::format("call {}: {}", calls_++, describeCall(kindOf(sample.attributes), sample.operands)),
             copyOf(made));
  }

  Builder g_{"calls"};
  std::map<std::string, Tensor> inputs_;
  int calls_ = 0;
};

bool isCall(OpKind kind) {
  switch (kind) {
  case OpKind::Fused:
  case OpKind::FusedMatmul:
  case OpKind::FusedConv2d:
  case OpKind::Softmax:
  case OpKind::LogSoftmax:
  case OpKind::SoftmaxCrossEntropyGradient:
  case OpKind::ScatterAdd:
  case OpKind::DynamicUpdateSlice: return true;
  default: return classOf(kind) == OpClass::Elementwise;
  }
}

/// The operands, as distinct values, that the call may overwrite at all their places.
std::vector<ValueId> overwritable(const Graph& graph, OpId op) {
  std::vector<ValueId> values;
  const OpRow& row = graph[op];
  for (const ValueId value : row.operands) {
    bool may = !llvm::is_contained(values, value);
    for (size_t i = 0; i < row.operands.size(); ++i) {
      may = may && (row.operands[i] != value || mayOverwrite(graph, op, i));
    }
    if (may) {
      values.push_back(value);
    }
  }
  return values;
}

/// The plan made by hand, with every call's result in the place of its operand number `turn` that it may
/// overwrite; null where no call has so many.
std::shared_ptr<const Executable> planInPlace(const Graph& graph, const Machine& machine, size_t turn) {
  PlacedGraph placed = placeByPins(graph, machine);
  Schedule schedule = plainSchedule(placed, machine);
  MemoryPlan memory = plainMemory(placed, machine);
  bool any = false;
  for (const OpId op : placed.graph.ops()) {
    const std::vector<ValueId> operands =
        isCall(placed.graph[op].kind()) ? overwritable(placed.graph, op) : std::vector<ValueId>();
    if (turn < operands.size()) {
      memory.slots[placed.graph[op].firstResult] = memory.slots[operands[turn]];
      any = true;
    }
  }
  auto sealed = Executable::seal(std::move(placed), std::move(schedule), std::move(memory), machine, "hand");
  INFO(render(sealed.errors()));
  REQUIRE(sealed.ok());
  return any ? relowered(*sealed, {}) : nullptr;
}

NamedLiterals runOnce(std::shared_ptr<const Executable> plan, const SessionOptions& options,
                      const NamedLiterals& feeds) {
  auto session = Session::open(std::move(plan), options);
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  auto results = (*session)->run(feeds);
  INFO(render(results.errors()));
  REQUIRE(results.ok());
  return *std::move(results);
}

void checkInPlace(const Contender& contender, llvm::ArrayRef<OpSample> samples, Mood mood) {
  const Graph graph = CallsApart().run(samples, contender.devices().back());
  const NamedLiterals feeds = randomFeeds(graph, 1, mood);
  const NamedLiterals expected = runOnce(tinyPlan(graph, contender.machine()), contender.options(), feeds);
  for (size_t turn = 0; const auto plan = planInPlace(graph, contender.machine(), turn); ++turn) {
    const NamedLiterals actual = runOnce(plan, contender.options(), feeds);
    for (const auto& [name, value] : expected) {
      INFO(contender.name << ", " << name << ", overwritten operand number " << turn);
      CHECK(bitDifference(value, actual.at(name)) == "");
    }
  }
}

/// A few at a time, as all together would fill an arena.
void checkInParts(std::vector<OpSample> samples, Mood mood) {
  constexpr size_t atOnce = 40;
  for (const Contender& contender : contenders(Aspect::Values)) {
    for (size_t first = 0; first < samples.size(); first += atOnce) {
      checkInPlace(contender, llvm::ArrayRef(samples).slice(first, std::min(atOnce, samples.size() - first)),
                   mood);
    }
  }
}

/// Only calls that may overwrite anything.
std::vector<OpSample> thatMayOverwrite(std::vector<OpSample> samples) {
  std::erase_if(samples, [](const OpSample& sample) {
    const Graph graph = CallsApart().run(sample, "");
    return llvm::none_of(
        graph.ops(), [&](OpId op) { return isCall(graph[op].kind()) && !overwritable(graph, op).empty(); });
  });
  return samples;
}

/// More than one tile of each row, more tiles than threads, and odd ends of both.
const Shape severalTiles{9, 2501};

} // namespace

TEST_CASE("in place: elementwise and fused ops give the bits that they give apart") {
  for (const ElementType element : allElementTypes) {
    checkInParts(thatMayOverwrite(elementwiseCalls(element, severalTiles)), Mood::Wild);
  }
}

TEST_CASE("in place: fused products give the bits that they give apart") {
  for (const ElementType element : allElementTypes) {
    for (const auto& [rows, depth, columns] :
         {std::array<int64_t, 3>{5, 3, 7}, {70, 33, 130}, {129, 1, 257}, {261, 64, 515}}) {
      checkInParts(fusedProducts(element, rows, depth, columns), Mood::Tame);
    }
  }
}

namespace {

/// Ops that read rows whole before they write them, or an operand once: short rows and rows that a block
/// cannot hold, along the last axis and along another; labels and indices of a few values, which repeat.
std::vector<OpSample> callsByRow(ElementType element, int64_t longRow) {
  const auto of = [&](std::initializer_list<int64_t> shape) { return TensorType{element, Shape(shape)}; };
  const TensorType labels{ElementType::I32, {5}};
  std::vector<OpSample> calls;
  for (const int64_t length : {int64_t{7}, int64_t{1000}, longRow}) {
    calls.push_back({ops::SoftmaxCrossEntropyGradient{}, {of({5, length}), labels, of({})}});
    for (const int64_t axis : {0, 1}) {
      const TensorType rows = axis == 1 ? of({3, length}) : of({length, 3});
      ops::Softmax softmax;
      softmax.axis = axis;
      calls.push_back({softmax, {rows}});
      ops::LogSoftmax logSoftmax;
      logSoftmax.axis = axis;
      calls.push_back({logSoftmax, {rows}});
    }
  }
  ops::DynamicUpdateSlice update;
  update.axes = {1};
  calls.push_back({update, {of({3, 40, 16}), of({3, 1, 16}), {ElementType::I64, {}}}});
  calls.push_back({update, {of({3, 700}), of({3, 301}), {ElementType::I32, {1}}}});
  for (const int64_t width : {1, 96, 5000}) {
    calls.push_back({ops::ScatterAdd{}, {of({9, width}), labels, of({5, width})}});
  }
  return calls;
}

/// The generated kernels of the calls, each over every operand that it may overwrite.
void checkGenerated(const std::vector<OpSample>& samples, bool backwards, Mood mood) {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  EmulatedKernels kernels;
  for (const OpSample& sample : samples) {
    auto work =
        cuda::generateKernels(sample.attributes, sample.operands,
                              resultTypes(sample.attributes, sample.operands).types, GpuShape::assumed());
    REQUIRE(work);
    kernels.add(*std::move(work));
  }
  REQUIRE(kernels.build() == "");
  if (backwards) {
    kernels.startBackwards();
  }
  Dice dice(1);
  for (size_t number = 0; number < samples.size(); ++number) {
    const OpSample& sample = samples[number];
    INFO(describeCall(kindOf(sample.attributes), sample.operands));
    const auto types = resultTypes(sample.attributes, sample.operands).types;
    std::vector<Literal> operands;
    for (const TensorType& type : sample.operands) {
      operands.push_back(randomLiteral(type, dice, mood));
    }
    std::string problem;
    const Literal apart = kernels.run(number, operands, types, problem)[0];
    const Graph graph = CallsApart().run(sample, "");
    const auto op = llvm::find_if(graph.ops(), [&](OpId id) { return isCall(graph[id].kind()); });
    for (size_t i = 0; i < operands.size(); ++i) {
      if (mayOverwrite(graph, *op, i)) {
        INFO("over operand " << i);
        CHECK(bitDifference(apart, kernels.runOver(i, number, operands, types, problem)[0]) == "");
      }
    }
    CHECK(problem == "");
  }
}

} // namespace

TEST_CASE("in place: ops over rows give the bits that they give apart") {
  for (const ElementType element :
       {ElementType::F32, ElementType::F64, ElementType::BF16, ElementType::F16}) {
    checkInParts(callsByRow(element, 50305), Mood::Tame);
  }
}

TEST_CASE("in place: generated kernels over rows give the bits that they give apart") {
  for (const ElementType element : {ElementType::F32, ElementType::BF16}) {
    checkGenerated(callsByRow(element, 20001), false, Mood::Tame);
  }
}

TEST_CASE("in place: generated kernels give the bits that they give apart") {
  for (const ElementType element : {ElementType::F32, ElementType::F16, ElementType::U8}) {
    checkGenerated(thatMayOverwrite(elementwiseCalls(element, {3, 1367})), element == ElementType::F16,
                   Mood::Wild);
  }
}
