// Each op is made operands first: one comes from the values there are (recent ones preferred, so that chains
// grow), the others fit it, taken from the graph where one fits and else made as an input, a parameter or a
// constant. What the op's own type rule refuses is left out.
#include "tests/support/random_graph.h"

#include <algorithm>
#include <numeric>

namespace dfc::test {
namespace {

struct Call {
  OpAttributes attributes;
  llvm::SmallVector<ValueId, 3> operands;
};

class Author {
 public:
  Author(uint64_t seed, const RandomGraphOptions& options)
      : options_(options), dice_(seed), kinds_(options.kinds.empty() ? computingKinds() : options.kinds) {}

  Graph write() {
    supply({dice_.oneOf(options_.elements), anyShape()});
    for (size_t tries = 0; graph().opCount() < options_.ops && tries < options_.ops * 20; ++tries) {
      dice_.chance(10) && !calls_.empty() ? repeat() : add(callOf(dice_.oneOf(kinds_)));
    }
    if (options_.request) {
      requestGradients();
    }
    assignParameters();
    fetchSome();
    Result<Graph> graph = std::move(builder_).finish();
    DFC_ASSERT(graph.ok(), "a random graph is ill-formed: " + render(graph.errors()));
    return *std::move(graph);
  }

 private:
  const Graph& graph() const { return builder_.soFar(); }
  const TensorType& typeOf(ValueId value) const { return graph().typeOf(value); }
  const Shape& shapeOf(ValueId value) const { return typeOf(value).shape; }

  // --- shapes
  // -----------------------------------------------------------------------------------------------
  int64_t anyDim() {
    static constexpr std::array<int64_t, 8> dims = {1, 2, 3, 3, 4, 5, 1, 2};
    return options_.zeroSized && dice_.chance(4) ? 0 : dice_.oneOf(dims);
  }
  Shape anyShape() {
    Dims dims;
    for (int64_t rank = dice_.below(4); rank > 0; --rank) {
      dims.push_back(anyDim());
    }
    return Shape(dims);
  }
  // A shape that broadcasts with `shape`, mostly to it.
  Shape partnerShape(const Shape& shape) {
    if (dice_.chance(40)) {
      return shape;
    }
    const llvm::ArrayRef<int64_t> all = shape.dims();
    Dims dims(all.begin() + dice_.below(static_cast<int64_t>(all.size()) + 1), all.end());
    for (int64_t& dim : dims) {
      dim = dice_.chance(30) ? 1 : dim == 1 && dice_.chance(30) ? anyDim() : dim;
    }
    return Shape(dims);
  }

  // --- operands
  // ---------------------------------------------------------------------------------------------
  OpSite site(std::string_view name = {}) {
    OpSite site;
    site.name = name;
    site.scope =
        options_.scopes.empty() || dice_.chance(40) ? "" : std::string_view(dice_.oneOf(options_.scopes));
    site.pin = options_.pins.empty() || dice_.chance(50) ? "" : std::string_view(dice_.oneOf(options_.pins));
    return site;
  }
  ValueId appended(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, std::string_view name = {}) {
    return builder_.result(builder_.append(std::move(attributes), operands, site(name)));
  }
  ValueId constant(Literal value) {
    ops::Constant attributes;
    attributes.value = std::move(value);
    return appended(std::move(attributes), {});
  }
  Literal constantValue(const TensorType& type) {
    static constexpr std::array<double, 4> fillings = {0, 1, 1, 2};
    return dice_.chance(50)
               ? filledLiteral(type, type.element == ElementType::Bool ? 1 : dice_.oneOf(fillings))
               : randomLiteral(type, dice_);
  }
  // A new source of this type.
  ValueId supply(const TensorType& type) {
    if (dice_.chance(40)) {
      return constant(constantValue(type));
    }
    if (options_.state && dice_.chance(30)) {
      ops::Parameter attributes;
      attributes.type = type;
      return appended(std::move(attributes), {}, "p");
    }
    ops::Input attributes;
    attributes.type = type;
    return appended(std::move(attributes), {}, "x");
  }
  ValueId anyValue() {
    const auto count = static_cast<int64_t>(graph().valueCount());
    const int64_t recent = std::min<int64_t>(count, 8);
    return ValueId(
        static_cast<uint32_t>(dice_.chance(70) ? count - 1 - dice_.below(recent) : dice_.below(count)));
  }
  // A value that satisfies `fits`: one of the graph if a few tries find one, else a source of `otherwise`.
  template <class Fits>
  ValueId find(const TensorType& otherwise, Fits fits) {
    for (int tries = 0; tries < 6; ++tries) {
      const ValueId value = anyValue();
      if (fits(typeOf(value))) {
        return value;
      }
    }
    return supply(otherwise);
  }
  ElementType someElement(bool (*wanted)(ElementType), ElementType fallback) {
    std::vector<ElementType> fitting;
    std::copy_if(options_.elements.begin(), options_.elements.end(), std::back_inserter(fitting), wanted);
    return fitting.empty() ? fallback : dice_.oneOf(fitting);
  }
  static bool isNumber(ElementType type) { return type != ElementType::Bool; }
  ValueId number() {
    return find({someElement(isNumber, ElementType::F32), anyShape()},
                [](const TensorType& type) { return isNumber(type.element); });
  }
  ValueId real(size_t leastRank = 0) {
    const Shape shape = leastRank == 0   ? anyShape()
                        : leastRank == 1 ? Shape{anyDim()}
                                         : Shape{anyDim(), anyDim()};
    return find({someElement(isFloat, ElementType::F32), shape}, [&](const TensorType& type) {
      return isFloat(type.element) && type.shape.rank() >= leastRank;
    });
  }
  ValueId partner(ElementType element, const Shape& shape) {
    return find({element, partnerShape(shape)}, [&](const TensorType& type) {
      return type.element == element && broadcastShapes(type.shape, shape).has_value();
    });
  }
  ValueId exactly(const TensorType& wanted) {
    return find(wanted, [&](const TensorType& type) { return type == wanted; });
  }

  // --- calls
  // ------------------------------------------------------------------------------------------------
  Call unary(OpAttributes attributes, ValueId operand) { return {std::move(attributes), {operand}}; }
  Call binary(OpKind kind) {
    const ValueId a = number();
    const ValueId b = partner(typeOf(a).element, shapeOf(a));
    return {defaultAttributes(kind),
            dice_.chance(50) ? llvm::SmallVector<ValueId, 3>{a, b} : llvm::SmallVector<ValueId, 3>{b, a}};
  }
  Call compare() {
    Call call = binary(OpKind::Compare);
    ops::Compare attributes;
    attributes.direction = static_cast<ops::Compare::Direction>(dice_.below(6));
    call.attributes = attributes;
    return call;
  }
  Call select() {
    const ValueId a = anyValue();
    const ValueId b = partner(typeOf(a).element, shapeOf(a));
    return {ops::Select{}, {partner(ElementType::Bool, shapeOf(a)), a, b}};
  }
  Call cast() {
    ops::Cast attributes;
    attributes.to = dice_.oneOf(options_.elements);
    return unary(attributes, anyValue());
  }
  Dims someAxes(size_t rank) {
    Dims axes;
    for (size_t axis = 0; axis < rank; ++axis) {
      if (dice_.chance(50)) {
        axes.push_back(static_cast<int64_t>(axis) - (dice_.chance(30) ? static_cast<int64_t>(rank) : 0));
      }
    }
    return axes;
  }
  template <class Op>
  Call reduction(ValueId operand) {
    Op attributes;
    attributes.axes = someAxes(shapeOf(operand).rank());
    attributes.keepDims = dice_.chance(40);
    return unary(attributes, operand);
  }
  template <class Op>
  Call alongAxis(ValueId operand) {
    Op attributes;
    const auto rank = static_cast<int64_t>(shapeOf(operand).rank());
    attributes.axis = rank == 0 ? -1 : dice_.below(2 * rank) - rank;
    return unary(attributes, operand);
  }
  Call matmul() {
    const ValueId a =
        find({someElement(isNumber, ElementType::F32), Shape{anyDim(), anyDim()}},
             [](const TensorType& type) { return isNumber(type.element) && type.shape.rank() >= 2; });
    ops::Matmul attributes;
    attributes.transposeA = dice_.chance(30);
    attributes.transposeB = dice_.chance(30);
    const llvm::ArrayRef<int64_t> dims = shapeOf(a).dims();
    const int64_t inner = dims[dims.size() - (attributes.transposeA ? 2 : 1)], columns = anyDim();
    const Shape batch = partnerShape(Shape(dims.drop_back(2)));
    Dims other(batch.dims().begin(), batch.dims().end());
    other.push_back(attributes.transposeB ? columns : inner);
    other.push_back(attributes.transposeB ? inner : columns);
    return {attributes, {a, exactly({typeOf(a).element, Shape(other)})}};
  }
  ValueId labels(const Shape& logits) {
    Literal value({dice_.chance(50) ? ElementType::I32 : ElementType::I64, {logits[0]}});
    for (int64_t row = 0; row < logits[0]; ++row) {
      value.set(row, static_cast<double>(dice_.below(std::max<int64_t>(logits[1], 1))));
    }
    return constant(std::move(value));
  }
  Call crossEntropy(bool gradient) {
    const ElementType element = someElement(isFloat, ElementType::F32);
    const ValueId logits = find({element, Shape{anyDim(), anyDim()}}, [](const TensorType& type) {
      return isFloat(type.element) && type.shape.rank() == 2;
    });
    const ValueId classes = labels(shapeOf(logits));
    if (!gradient) {
      return {ops::SoftmaxCrossEntropy{}, {logits, classes}};
    }
    return {ops::SoftmaxCrossEntropyGradient{}, {logits, classes, exactly({typeOf(logits).element, {}})}};
  }
  Call reshape() {
    const ValueId operand = anyValue();
    Dims dims(shapeOf(operand).dims().begin(), shapeOf(operand).dims().end());
    if (dice_.chance(30)) {
      dims.assign(1, shapeOf(operand).elements());
    }
    if (dice_.chance(60)) {
      dims.insert(dims.begin() + dice_.below(static_cast<int64_t>(dims.size()) + 1), 1);
    }
    std::rotate(dims.begin(),
                dims.begin() + (dims.empty() ? 0 : dice_.below(static_cast<int64_t>(dims.size()))),
                dims.end());
    ops::Reshape attributes;
    attributes.shape = dims;
    return unary(attributes, operand);
  }
  Call transpose() {
    const ValueId operand = anyValue();
    ops::Transpose attributes;
    attributes.permutation.resize(dice_.chance(20) ? 0 : shapeOf(operand).rank());
    std::iota(attributes.permutation.begin(), attributes.permutation.end(), 0);
    for (size_t i = attributes.permutation.size(); i > 1; --i) {
      std::swap(attributes.permutation[i - 1],
                attributes.permutation[static_cast<size_t>(dice_.below(static_cast<int64_t>(i)))]);
    }
    return unary(attributes, operand);
  }
  Call broadcast() {
    const ValueId operand = anyValue();
    ops::Broadcast attributes;
    for (int64_t extra = dice_.below(3); extra > 0; --extra) {
      attributes.shape.push_back(anyDim());
    }
    for (const int64_t dim : shapeOf(operand).dims()) {
      attributes.shape.push_back(dim == 1 ? anyDim() : dim);
    }
    return unary(attributes, operand);
  }
  Call concat() {
    const ValueId first = anyValue();
    ops::Concat attributes;
    Call call{attributes, {first}};
    const auto rank = static_cast<int64_t>(shapeOf(first).rank());
    if (rank == 0) {
      return call;
    }
    attributes.axis = dice_.below(rank);
    call.attributes = attributes;
    for (int64_t more = dice_.below(3); more > 0; --more) {
      Dims dims(shapeOf(first).dims().begin(), shapeOf(first).dims().end());
      dims[static_cast<size_t>(attributes.axis)] = anyDim();
      call.operands.push_back(dice_.chance(30) ? first : exactly({typeOf(first).element, Shape(dims)}));
    }
    return call;
  }
  Call slice() {
    const ValueId operand = anyValue();
    ops::Slice attributes;
    for (const int64_t dim : shapeOf(operand).dims()) {
      const int64_t start = dice_.chance(50) ? 0 : dice_.below(dim + 1);
      attributes.starts.push_back(start);
      attributes.ends.push_back(dice_.chance(50) ? dim : start + dice_.below(dim - start + 1));
      attributes.strides.push_back(dice_.chance(70) ? 1 : 1 + dice_.below(3));
    }
    if (dice_.chance(50)) {
      attributes.strides.clear();
    }
    return unary(attributes, operand);
  }
  Call pad() {
    const ValueId operand = anyValue();
    ops::Pad attributes;
    const auto width = [&] { return dice_.chance(60) ? 0 : dice_.below(3); };
    for (size_t axis = 0; axis < shapeOf(operand).rank(); ++axis) {
      attributes.low.push_back(width());
      attributes.high.push_back(width());
      attributes.interior.push_back(width());
    }
    if (dice_.chance(50)) {
      attributes.interior.clear();
    }
    attributes.value = dice_.chance(70) ? 0 : 1;
    return unary(attributes, operand);
  }

  Call callOf(OpKind kind) {
    switch (kind) {
    case OpKind::Matmul: return matmul();
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
    case OpKind::Maximum:
    case OpKind::Minimum: return binary(kind);
    case OpKind::Neg:
    case OpKind::Relu: return unary(defaultAttributes(kind), number());
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Sqrt:
    case OpKind::Tanh:
    case OpKind::Sigmoid: return unary(defaultAttributes(kind), real());
    case OpKind::Compare: return compare();
    case OpKind::Select: return select();
    case OpKind::Cast: return cast();
    case OpKind::ReduceSum: return reduction<ops::ReduceSum>(number());
    case OpKind::ReduceMean: return reduction<ops::ReduceMean>(real());
    case OpKind::ReduceMax: return reduction<ops::ReduceMax>(number());
    case OpKind::ArgMax: return alongAxis<ops::ArgMax>(number());
    case OpKind::Softmax: return alongAxis<ops::Softmax>(real(1));
    case OpKind::LogSoftmax: return alongAxis<ops::LogSoftmax>(real(1));
    case OpKind::SoftmaxCrossEntropy: return crossEntropy(false);
    case OpKind::SoftmaxCrossEntropyGradient: return crossEntropy(true);
    case OpKind::Reshape: return reshape();
    case OpKind::Transpose: return transpose();
    case OpKind::Broadcast: return broadcast();
    case OpKind::Concat: return concat();
    case OpKind::Slice: return slice();
    case OpKind::Pad: return pad();
    case OpKind::Input:
    case OpKind::Parameter:
    case OpKind::Constant:
    case OpKind::Assign:
    case OpKind::Transfer:
    case OpKind::Gradients:
    case OpKind::Fused: break;
    }
    DFC_UNREACHABLE("a random graph has no call of " + std::string(nameOf(kind)));
  }

  void add(Call call) {
    llvm::SmallVector<TensorType, 4> types;
    for (const ValueId operand : call.operands) {
      types.push_back(typeOf(operand));
    }
    const TypeResult result = resultTypes(call.attributes, types);
    if (result.ok() && result.types.front().shape.elements() <= options_.mostElements &&
        result.types.front().shape.rank() <= 5) {
      appended(call.attributes, call.operands);
      calls_.push_back(std::move(call));
    }
  }
  void repeat() { add(Call(dice_.oneOf(calls_))); }

  // Whether a gradient can pass the op: the gradient of cross entropy has no second derivative.
  bool isDifferentiable(ValueId value) const {
    return graph()[graph()[value].producer].kind() != OpKind::SoftmaxCrossEntropyGradient;
  }
  void requestGradients() {
    // Values without an op before them that has no gradient rule.
    SideTable<ValueId, bool> good(graph().valueCount(), true);
    for (const OpId op : graph().ops()) {
      bool all = isDifferentiable(graph()[op].firstResult);
      for (const ValueId operand : graph()[op].operands) {
        all = all && good[operand];
      }
      good[graph()[op].firstResult] = all;
    }
    std::vector<ValueId> losses, sources;
    for (const ValueId value : graph().values()) {
      const bool real = isFloat(typeOf(value).element) && good[value];
      if (real && classOf(graph()[graph()[value].producer].kind()) != OpClass::Source) {
        losses.push_back(value);
      } else if (real && graph()[graph()[value].producer].kind() != OpKind::Constant) {
        sources.push_back(value);
      }
    }
    if (losses.empty() || sources.empty()) {
      return;
    }
    llvm::SmallVector<ValueId, 3> operands{appended(ops::ReduceSum{}, {dice_.oneOf(losses)}, "loss")};
    for (int64_t count = 1 + dice_.below(4); count > 0; --count) {
      operands.push_back(dice_.oneOf(sources));
    }
    appended(ops::Gradients{}, operands, "slope");
  }

  void assignParameters() {
    for (const OpId op : graph().ops()) {
      if (graph()[op].kind() != OpKind::Parameter || dice_.chance(40)) {
        continue;
      }
      const ValueId parameter = graph()[op].firstResult;
      const ValueId next = exactly(typeOf(parameter));
      appended(ops::Assign{}, {parameter, next});
    }
  }
  void fetchSome() {
    SideTable<ValueId, bool> read(graph().valueCount());
    for (const OpId op : graph().ops()) {
      for (const ValueId operand : graph()[op].operands) {
        read[operand] = true;
      }
    }
    for (const ValueId value : graph().values()) {
      if (!read[value] || dice_.chance(15)) {
        builder_.fetch("out" + std::to_string(value.index()), value);
      }
    }
  }

  const RandomGraphOptions& options_;
  Dice dice_;
  std::vector<OpKind> kinds_;
  std::vector<Call> calls_;
  GraphBuilder builder_{"random"};
};

} // namespace

Graph randomGraph(uint64_t seed, const RandomGraphOptions& options) { return Author(seed, options).write(); }

std::vector<OpKind> computingKinds() {
  std::vector<OpKind> kinds;
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    const OpClass opClass = classOf(kind);
    const bool made = opClass == OpClass::Source || opClass == OpClass::State ||
                      opClass == OpClass::Transfer || opClass == OpClass::Request || kind == OpKind::Fused;
    if (!made) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

} // namespace dfc::test
