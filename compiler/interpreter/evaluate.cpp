// The walk over the graph, and the one list that says how each op of the table is evaluated.
#include "compiler/interpreter/evaluate.h"

#include "compiler/interpreter/evaluate_parts.h"
#include "ir/graph/custom_calls.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/whole_state.h"

#include <fmt/format.h>

namespace dfc {
namespace {

using namespace evaluation;

llvm::SmallVector<TensorType, 1> resultTypesOf(const OpAttributes& attributes, Operands operands) {
  llvm::SmallVector<TensorType, 4> types;
  for (const Literal& operand : operands) {
    types.push_back(operand.type());
  }
  const TypeResult result = resultTypes(attributes, types);
  DFC_ASSERT(result.ok(), result.error);
  return result.types;
}

/// The results of an op, of which most have one.
struct Values : Literals {
  Values(Literal only) { push_back(std::move(only)); }       // NOLINT(google-explicit-constructor)
  Values(Literals several) : Literals(std::move(several)) {} // NOLINT(google-explicit-constructor)
};

Values valuesOf(const OpAttributes& attributes, Operands operands);

Literal permuted(const Literal& literal, const std::array<int64_t, 4>& axes) {
  if (literal.type().shape.rank() != 4) {
    return literal;
  }
  ops::Transpose op;
  op.permutation.assign(axes.begin(), axes.end());
  return valuesOf(op, literal).front();
}

// By the form of the op with its channels first.
Values withChannelsLast(const OpAttributes& attributes, const OpAttributes& channelsFirst,
                        Operands operands) {
  llvm::SmallVector<Literal, 4> first;
  for (size_t i = 0; i < operands.size(); ++i) {
    first.push_back(isOperandLast(attributes, i) ? permuted(operands[i], toChannelsFirst) : operands[i]);
  }
  Values values = valuesOf(channelsFirst, first);
  for (Literal& value : values) {
    value = isResultLast(attributes) ? permuted(value, toChannelsLast) : value;
  }
  return values;
}

// The convolution, rounded, and then the body.
Literal fusedConv2d(const ops::FusedConv2d& op, Operands operands, const TensorType& type) {
  llvm::SmallVector<Literal, 4> inputs{valuesOf(op.convolution(), operands.take_front(2)).front()};
  inputs.append(operands.begin() + 2, operands.end());
  return fused(op.epilogue(), inputs, type);
}

Values valuesOf(const OpAttributes& attributes, Operands operands) {
  if (const auto channelsFirst = channelsFirstForm(attributes)) {
    return withChannelsLast(attributes, *channelsFirst, operands);
  }
  const llvm::SmallVector<TensorType, 1> types = resultTypesOf(attributes, operands);
  const TensorType& type = types.front();
  switch (kindOf(attributes)) {
  case OpKind::Input:
  case OpKind::Parameter:
  case OpKind::Custom:
  case OpKind::Gradients: DFC_UNREACHABLE(fmt::format("{} has no value", nameOf(kindOf(attributes))));
  case OpKind::Constant: return attributes.as<ops::Constant>().value;
  case OpKind::Assign: return operands[1];
  case OpKind::Transfer:
  case OpKind::Cut: return operands[0];
  case OpKind::Matmul: return matmul(attributes.as<ops::Matmul>(), operands, type);
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return elementwise(attributes, operands, type);
#define DFC_OP(Type, text)
#define DFC_COMPOSITE_OP(Type, text) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return composite(attributes, operands, types);
  case OpKind::Fused: return fused(attributes.as<ops::Fused>(), operands, type);
  case OpKind::FusedMatmul: return fusedMatmul(attributes.as<ops::FusedMatmul>(), operands, type);
  case OpKind::ReduceSum: {
    const auto& op = attributes.as<ops::ReduceSum>();
    return reduced(Reduction::Sum, operands[0], op.axes, op.keepDims);
  }
  case OpKind::ReduceMean: {
    const auto& op = attributes.as<ops::ReduceMean>();
    return reduced(Reduction::Mean, operands[0], op.axes, op.keepDims, op.count);
  }
  case OpKind::ReduceMax: {
    const auto& op = attributes.as<ops::ReduceMax>();
    return reduced(Reduction::Max, operands[0], op.axes, op.keepDims);
  }
  case OpKind::ArgMax: return argMax(attributes.as<ops::ArgMax>(), operands[0], type);
  case OpKind::Softmax: return softmax(attributes.as<ops::Softmax>(), operands[0]);
  case OpKind::LogSoftmax: return logSoftmax(attributes.as<ops::LogSoftmax>(), operands[0]);
  case OpKind::SoftmaxCrossEntropy:
    return softmaxCrossEntropy(attributes.as<ops::SoftmaxCrossEntropy>(), operands, type);
  case OpKind::SoftmaxCrossEntropyGradient:
    return softmaxCrossEntropyGradient(attributes.as<ops::SoftmaxCrossEntropyGradient>(), operands);
  case OpKind::Reshape: return reshape(operands[0], type);
  case OpKind::Subview: return subview(attributes.as<ops::Subview>(), operands[0], type);
  case OpKind::Transpose: return transpose(attributes.as<ops::Transpose>(), operands[0], type);
  case OpKind::Broadcast: return broadcast(operands[0], type);
  case OpKind::Concat: return concat(attributes.as<ops::Concat>(), operands, type);
  case OpKind::Slice: return slice(attributes.as<ops::Slice>(), operands[0], type);
  case OpKind::DynamicSlice: return dynamicSlice(attributes.as<ops::DynamicSlice>(), operands, type);
  case OpKind::DynamicUpdateSlice:
    return dynamicUpdateSlice(attributes.as<ops::DynamicUpdateSlice>(), operands);
  case OpKind::Pad: return pad(attributes.as<ops::Pad>(), operands[0], type);
  case OpKind::ReduceMin: {
    const auto& op = attributes.as<ops::ReduceMin>();
    return reduced(Reduction::Min, operands[0], op.axes, op.keepDims);
  }
  case OpKind::ReduceProduct: {
    const auto& op = attributes.as<ops::ReduceProduct>();
    return reduced(Reduction::Product, operands[0], op.axes, op.keepDims);
  }
  case OpKind::CumSum: return cumSum(attributes.as<ops::CumSum>(), operands[0]);
  case OpKind::TopK: return topK(attributes.as<ops::TopK>(), operands[0], types);
  case OpKind::Split: return split(attributes.as<ops::Split>(), operands[0], types);
  case OpKind::Tile: return tile(operands[0], type);
  case OpKind::Gather: return gather(attributes.as<ops::Gather>(), operands, type);
  case OpKind::ScatterAdd: return scatterAdd(attributes.as<ops::ScatterAdd>(), operands);
  case OpKind::OneHot: return oneHot(attributes.as<ops::OneHot>(), operands[0], type);
  case OpKind::Iota: return iota(attributes.as<ops::Iota>());
  case OpKind::Trilu: return trilu(attributes.as<ops::Trilu>(), operands[0]);
  case OpKind::LayerNorm: return layerNorm(attributes.as<ops::LayerNorm>(), operands, type);
  case OpKind::RmsNorm: return rmsNorm(attributes.as<ops::RmsNorm>(), operands, type);
  case OpKind::Dropout: return dropout(attributes.as<ops::Dropout>(), operands);
  case OpKind::RandomUniform: return randomUniform(attributes.as<ops::RandomUniform>(), operands[0]);
  case OpKind::BatchNorm: return batchNorm(attributes.as<ops::BatchNorm>(), operands, type);
  case OpKind::BatchNormTraining: return batchNormTraining(attributes.as<ops::BatchNormTraining>(), operands);
  case OpKind::BatchNormSums: return batchNormSums(attributes.as<ops::BatchNormSums>(), operands, type);
  case OpKind::BatchNormPass: return batchNormPass(attributes.as<ops::BatchNormPass>(), operands);
  case OpKind::BatchNormGradientPass:
    return batchNormGradientPass(attributes.as<ops::BatchNormGradientPass>(), operands);
  case OpKind::BatchNormGradient: return batchNormGradient(attributes.as<ops::BatchNormGradient>(), operands);
  case OpKind::Conv2d: return conv2d(attributes.as<ops::Conv2d>(), operands, type);
  case OpKind::FusedConv2d: return fusedConv2d(attributes.as<ops::FusedConv2d>(), operands, type);
  case OpKind::Conv2dInputGradient:
    return conv2dInputGradient(attributes.as<ops::Conv2dInputGradient>(), operands, type);
  case OpKind::Conv2dFilterGradient:
    return conv2dFilterGradient(attributes.as<ops::Conv2dFilterGradient>(), operands, type);
  case OpKind::MaxPool: return maxPool(attributes.as<ops::MaxPool>(), operands[0], type);
  case OpKind::MaxPoolGradient: return maxPoolGradient(attributes.as<ops::MaxPoolGradient>(), operands, type);
  case OpKind::AveragePool: return averagePool(attributes.as<ops::AveragePool>(), operands[0], type);
  case OpKind::AveragePoolGradient:
    return averagePoolGradient(attributes.as<ops::AveragePoolGradient>(), operands[0], type);
  }
  DFC_UNREACHABLE("op kind");
}

// Checks one kind of given values (feeds or parameters) against the ops that ask for them.
class Given {
 public:
  Given(const Graph& graph, OpKind kind, const NamedLiterals& values, Diagnostics& errors)
      : graph_(graph), kind_(kind), values_(values) {
    for (const OpId op : graph.ops()) {
      if (graph[op].kind() == kind) {
        check(op, errors);
      }
    }
    for (const auto& [name, value] : values) {
      checkWanted(name, errors);
    }
  }
  Literal of(OpId op) const {
    const Literal& given = values_.at(std::string(authorNameOf(graph_, op)));
    const TensorPart& place = placeOf(graph_, op);
    return place.isPart() ? place.valueIn(given, graph_.typeOf(graph_[op].firstResult).shape) : given;
  }

 private:
  void check(OpId op, Diagnostics& errors) {
    const std::string name(authorNameOf(graph_, op));
    const TensorType wanted = authorTypeOf(graph_, op);
    names_.push_back(name);
    const auto found = values_.find(name);
    if (found == values_.end()) {
      errors.push_back(errorWithoutPlace(
          fmt::format("{} '{}' of {} has no value", nameOf(kind_), name, toString(wanted)), "give one"));
    } else if (!(found->second.type() == wanted)) {
      errors.push_back(errorWithoutPlace(fmt::format("{} '{}' is {}, but its value is {}", nameOf(kind_),
                                                     name, toString(wanted), toString(found->second.type())),
                                         "give a value of that type"));
    }
  }
  void checkWanted(const std::string& name, Diagnostics& errors) {
    if (llvm::is_contained(names_, name)) {
      return;
    }
    const std::optional<std::string> near = nearestName(name, names_);
    errors.push_back(errorWithoutPlace(fmt::format("the graph has no {} '{}'", nameOf(kind_), name),
                                       near ? fmt::format("did you mean '{}'?", *near) : "leave it out"));
  }

  const Graph& graph_;
  OpKind kind_;
  const NamedLiterals& values_;
  std::vector<std::string> names_;
};

void refuseRequests(const Graph& graph, Diagnostics& errors) {
  for (const OpId op : graph.ops()) {
    if (classOf(graph[op].kind()) == OpClass::Request) {
      errors.push_back({Severity::Error, graph.locationOf(op),
                        fmt::format("'{}' is a request for gradients, which has no value", graph.nameOf(op)),
                        "run the pass `gradients` first"});
    }
  }
}

llvm::SmallVector<Literal, 4> operandsOf(const OpRow& row, const SideTable<ValueId, Literal>& values) {
  llvm::SmallVector<Literal, 4> operands;
  for (const ValueId operand : row.operands) {
    operands.push_back(values[operand]);
  }
  return operands;
}

/// Throws CustomError where the function fails.
Values customValues(const Graph& graph, OpId op, Operands operands, const CustomFunctions& functions) {
  llvm::SmallVector<const std::byte*, 4> from;
  llvm::SmallVector<std::byte*, 4> to;
  Literals results;
  for (const Literal& operand : operands) {
    from.push_back(operand.bytes().data());
  }
  for (const TensorType& type : graph.resultTypesOf(op)) {
    results.emplace_back(type);
  }
  for (Literal& result : results) {
    to.push_back(result.mutableBytes().data());
  }
  callCustom(functions.find(graph[op].as<ops::Custom>().function)->second, graph, op, from, to);
  return results;
}

} // namespace

llvm::SmallVector<Literal, 1> evaluateOp(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands) {
  return valuesOf(attributes, operands);
}

Result<SideTable<ValueId, Literal>> evaluateValues(const Graph& graph, const NamedLiterals& feeds,
                                                   const NamedLiterals& parameters,
                                                   const CustomFunctions& functions) try {
  Diagnostics errors = checkCustomCalls(graph, llvm::to_vector(graph.ops()), functions);
  const Given inputs(graph, OpKind::Input, feeds, errors);
  const Given state(graph, OpKind::Parameter, parameters, errors);
  refuseRequests(graph, errors);
  if (!errors.empty()) {
    return errors;
  }
  SideTable<ValueId, Literal> values(graph.valueCount());
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    const Values results = row.kind() == OpKind::Input       ? inputs.of(op)
                           : row.kind() == OpKind::Parameter ? state.of(op)
                           : row.kind() == OpKind::Custom
                               ? customValues(graph, op, operandsOf(row, values), functions)
                               : valuesOf(row.attributes, operandsOf(row, values));
    for (const ValueId result : row.results()) {
      values[result] = results[result.index() - row.firstResult.index()];
    }
  }
  return values;
} catch (const CustomError& error) {
  return error.diagnostics();
}

Result<Evaluation> evaluate(const Graph& graph, const NamedLiterals& feeds, const NamedLiterals& parameters,
                            const CustomFunctions& functions) {
  Result<SideTable<ValueId, Literal>> values = evaluateValues(graph, feeds, parameters, functions);
  if (!values) {
    return values.errors();
  }
  Evaluation evaluation{{}, parameters};
  for (const Fetch& fetch : graph.fetches()) {
    evaluation.fetches[std::string(graph.text(fetch.name))] = (*values)[fetch.value];
  }
  for (const OpId op : graph.opsOf(OpKind::Assign)) {
    const OpRow& row = graph[op];
    const OpId parameter = graph[row.operands[0]].producer;
    Literal& next = evaluation.parameters[std::string(authorNameOf(graph, parameter))];
    const TensorPart& place = placeOf(graph, parameter);
    if (place.isPart()) {
      putPart(next, place, (*values)[row.operands[1]]);
    } else {
      next = (*values)[row.operands[1]];
    }
  }
  return evaluation;
}

} // namespace dfc
