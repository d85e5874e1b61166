// Walks every row of ops.def, so that an op with a part forgotten or wrong is found without a test of its
// own.
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/op_samples.h"

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <type_traits>
#include <variant>

using namespace dfc;
using dfc::test::OpSample;
using dfc::test::sampleOf;

namespace {

std::vector<OpKind> allKinds() {
  std::vector<OpKind> kinds;
  for (size_t i = 0; i < opKindCount; ++i) {
    kinds.push_back(static_cast<OpKind>(i));
  }
  return kinds;
}

// Hands every field, whatever its type, to one function; what the visitors below are made from.
template <class Derived>
class EveryField : public AttributeVisitor {
 public:
  void field(std::string_view name, bool& value, Presence) override { self().see(name, value); }
  void field(std::string_view name, int64_t& value, Presence) override { self().see(name, value); }
  void field(std::string_view name, double& value, Presence) override { self().see(name, value); }
  void field(std::string_view name, std::string& value, Presence) override { self().see(name, value); }
  void field(std::string_view name, Dims& value, Presence) override { self().see(name, value); }
  void field(std::string_view name, ElementType& value, Presence) override { self().see(name, value); }
  void field(std::string_view name, TensorType& value, Presence) override { self().see(name, value); }
  void field(std::string_view name, Literal& value, Presence) override { self().see(name, value); }
  void field(std::string_view name, TextCoded& value, Presence) override {
    std::string text = value.encode();
    self().see(name, text);
    REQUIRE(value.decode(text));
  }
  void choice(std::string_view name, uint8_t& value, llvm::ArrayRef<std::string_view> names,
              Presence) override {
    CHECK(value < names.size());
    self().see(name, value);
  }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
};

using Kept =
    std::variant<bool, int64_t, double, std::string, Dims, ElementType, TensorType, Literal, uint8_t>;

struct Recorder : EveryField<Recorder> {
  std::map<std::string, Kept, std::less<>> kept;
  template <class T>
  void see(std::string_view name, T& value) {
    CHECK(kept.emplace(name, value).second); // no two fields share a name
  }
};

struct Replayer : EveryField<Replayer> {
  const std::map<std::string, Kept, std::less<>>& kept;
  explicit Replayer(const std::map<std::string, Kept, std::less<>>& from) : kept(from) {}
  template <class T>
  void see(std::string_view name, T& value) {
    value = std::get<T>(kept.find(name)->second);
  }
};

// Any value that a file could hold.
struct Scrambler : EveryField<Scrambler> {
  std::mt19937 random;
  explicit Scrambler(uint32_t seed) : random(seed) {}
  int64_t number() {
    constexpr std::array<int64_t, 9> numbers = {0, 1, 2, 3, -1, -2, 7, INT64_MAX, INT64_MIN};
    return numbers[random() % numbers.size()];
  }
  template <class T>
  void see(std::string_view, T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(number());
    } else if constexpr (std::is_same_v<T, Dims>) {
      value.resize(random() % 11);
      for (int64_t& dim : value) {
        dim = number();
      }
    }
  }
};

TensorType anyType(std::mt19937& random) {
  constexpr std::array<int64_t, 6> lengths = {0, 1, 1, 2, 3, 5};
  Dims dims(random() % 5);
  for (int64_t& dim : dims) {
    dim = lengths[random() % lengths.size()];
  }
  return {allElementTypes[random() % allElementTypes.size()], Shape(dims)};
}

void checkCost(const OpAttributes& attributes, OperandTypes operands, const TypeResult& types) {
  const OpCost cost = costOf(attributes, operands, types.types);
  CHECK((std::isfinite(cost.flops) && cost.flops >= 0));
  CHECK((std::isfinite(cost.bytes) && cost.bytes >= 0));
  const ProductShape& product = cost.product;
  for (const double extent : {product.rows, product.columns, product.inner, product.count}) {
    CHECK((std::isfinite(extent) && extent >= 0));
  }
}

size_t resultsOf(OpKind kind) {
  switch (kind) {
  case OpKind::Gradients:
  case OpKind::Custom:
  case OpKind::Attention:
  case OpKind::RmsNormGradient:
  case OpKind::TopK: return 2;
  case OpKind::Split:
  case OpKind::BatchNormTraining:
  case OpKind::LayerNormGradient:
  case OpKind::BatchNormGradient:
  case OpKind::AttentionGradient: return 3;
  default: return 1;
  }
}

} // namespace

TEST_CASE("ops: names are unique and go both ways") {
  std::set<std::string_view> names;
  for (const OpKind kind : allKinds()) {
    CHECK(names.insert(nameOf(kind)).second);
    CHECK(opKindNamed(nameOf(kind)) == kind);
    CHECK(kindOf(defaultAttributes(kind)) == kind);
  }
  CHECK_FALSE(opKindNamed("addition"));
  CHECK_FALSE(opKindNamed(""));
}

TEST_CASE("ops: every row has a legal call, in each float type") {
  for (const OpKind kind : allKinds()) {
    for (const ElementType element :
         {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
      INFO(nameOf(kind));
      const OpSample sample = sampleOf(kind, element);
      CHECK(kindOf(sample.attributes) == kind);
      const TypeResult types = resultTypes(sample.attributes, sample.operands);
      INFO(types.error);
      REQUIRE(types.ok());
      CHECK(types.types.size() == resultsOf(kind));
      checkCost(sample.attributes, sample.operands, types);
    }
  }
}

TEST_CASE("ops: the operand count is checked before the rule looks at operands") {
  for (const OpKind kind : allKinds()) {
    INFO(nameOf(kind));
    const OpSample sample = sampleOf(kind);
    const Arity arity = arityOf(kind);
    CHECK(arity.least <= arity.most);
    if (arity.least > 0) {
      const TypeResult few =
          resultTypes(sample.attributes, OperandTypes(sample.operands).take_front(arity.least - 1));
      CHECK_FALSE(few.ok());
      CHECK_FALSE(few.hint.empty());
      const bool hasNames = arity.least > 1 && arity.most != anyNumber;
      CHECK((few.error.find('(') != std::string::npos) == hasNames); // operand_names.def has a row
    }
    if (arity.most != anyNumber) {
      const std::vector<TensorType> many(arity.most + 1, f32({2, 3}));
      CHECK_FALSE(resultTypes(sample.attributes, many).ok());
    }
  }
  CHECK(resultTypes(ops::Add{}, {f32({})}).error == "add takes 2 operands (a, b), not 1");
  CHECK(resultTypes(ops::Neg{}, {}).error == "neg takes 1 operand, not 0");
  CHECK(resultTypes(ops::Concat{}, {}).error == "concat takes at least 1 operands, not 0");
}

TEST_CASE("ops: the fields hold everything that an op is") {
  for (const OpKind kind : allKinds()) {
    INFO(nameOf(kind));
    const OpSample sample = sampleOf(kind);
    Recorder recorder;
    visitFields(sample.attributes, recorder);
    OpAttributes copy = defaultAttributes(kind);
    Replayer replayer(recorder.kept);
    if (kind != OpKind::Fused && kind != OpKind::FusedConv2d &&
        kind !=
            OpKind::FusedMatmul) { // a text-coded field is replayed by its own round trip, in fused_test.cpp
      visitFields(copy, replayer);
      CHECK(sameAttributes(copy, sample.attributes));
      CHECK(hashAttributes(copy) == hashAttributes(sample.attributes));
      CHECK(resultTypes(copy, sample.operands).types ==
            resultTypes(sample.attributes, sample.operands).types);
    }
    CHECK(sameAttributes(sample.attributes, sample.attributes));
    CHECK_FALSE(sameAttributes(sample.attributes,
                               sampleOf(kind == OpKind::Add ? OpKind::Sub : OpKind::Add).attributes));
  }
}

TEST_CASE("ops: attributes that differ in a bit are not the same") {
  ops::Constant positive, negative;
  positive.value = filledLiteral(f32({}), 0.0);
  negative.value = filledLiteral(f32({}), -0.0);
  CHECK_FALSE(sameAttributes(positive, negative));
  ops::Slice a, b; // the same numbers, split differently between the fields
  a.starts = {1};
  a.ends = {2, 3};
  b.starts = {1, 2};
  b.ends = {3};
  CHECK_FALSE(sameAttributes(a, b));
}

TEST_CASE("ops: a rule answers whatever it is asked") {
  std::mt19937 random(7);
  size_t accepted = 0;
  for (const OpKind kind : allKinds()) {
    for (uint32_t round = 0; round < 2000; ++round) {
      OpSample sample = sampleOf(kind);
      if (round % 2 == 0) {
        Scrambler scrambler(random());
        visitFields(sample.attributes, scrambler);
      }
      if (round % 4 != 0) {
        const size_t index = sample.operands.empty() ? 0 : random() % sample.operands.size();
        if (!sample.operands.empty()) {
          sample.operands[index] = anyType(random);
        }
      }
      const TypeResult types = resultTypes(sample.attributes, sample.operands);
      INFO(nameOf(kind) << ": " << types.error);
      CHECK(types.ok() == !types.types.empty());
      CHECK(types.ok() == types.hint.empty());
      if (types.ok()) {
        ++accepted;
        checkCost(sample.attributes, sample.operands, types);
      }
    }
  }
  CHECK(accepted > 5000); // the walk reaches the rules' good ends too
}
