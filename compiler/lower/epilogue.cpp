// Walks the body's single chain from the product to the result, an instruction at a time.
#include "compiler/lower/epilogue.h"

#include "ir/base/assert.h"

namespace dfc::cuda {
namespace {

class Reader {
 public:
  Reader(const Graph& graph, OpId op)
      : graph_(graph), row_(graph[op]), fused_(row_.as<ops::FusedMatmul>()),
        operands_(graph.operandTypesOf(op)), product_(fused_.productType(operands_)) {}

  std::optional<Epilogue> run() {
    if (graph_.typeOf(row_.firstResult) != product_) {
      return std::nullopt;
    }
    for (const ops::FusedInstruction& instruction : fused_.body.instructions) {
      if (finished_ || instruction.type != product_.element || !take(instruction)) {
        return std::nullopt;
      }
      current_ = next_++;
    }
    return epilogue_;
  }

 private:
  bool take(const ops::FusedInstruction& instruction) {
    switch (instruction.kind) {
    case OpKind::Relu: return finish(instruction, Activation::Relu);
    case OpKind::Gelu: return isTanhForm(instruction) && hasGelu() && finish(instruction, Activation::Gelu);
    case OpKind::Mul: return scale(instruction);
    case OpKind::Add: return add(otherThanCurrent(instruction));
    case OpKind::Sub: return subtract(instruction);
    default: return false; // every other op needs a kernel
    }
  }

  bool finish(const ops::FusedInstruction& instruction, Activation activation) {
    // cuBLASLt applies it to the scaled product and bias; with an addend it documents no order.
    finished_ = true;
    epilogue_.activation = activation;
    return instruction.inputs[0] == current_ && !epilogue_.addend;
  }

  static bool isTanhForm(const ops::FusedInstruction& instruction) {
    return static_cast<ops::Gelu::Approximation>(instruction.variant) == ops::Gelu::Approximation::Tanh;
  }

  // (1 + tanh) / 2 cancels below 0, and cuBLASLt documents no error bound of its tanh; generated kernels are
  // accurate to a few ulps there. The rounding of f16, bf16 and tf32 is coarser than either.
  bool hasGelu() const {
    switch (product_.element) {
    case ElementType::F16:
    case ElementType::BF16: return true;
    case ElementType::F32: return fused_.precision == ops::Precision::Tf32;
    case ElementType::F64:
    case ElementType::I32:
    case ElementType::I64:
    case ElementType::U8:
    case ElementType::Bool: return false;
    }
    DFC_UNREACHABLE("an element type");
  }

  bool scale(const ops::FusedInstruction& instruction) {
    const auto factor = constantOf(otherThanCurrent(instruction));
    if (!factor || epilogue_.bias || epilogue_.addend || scaled_) {
      return false;
    }
    scaled_ = true;
    epilogue_.alpha *= *factor;
    return true;
  }

  bool subtract(const ops::FusedInstruction& instruction) {
    if (instruction.inputs[1] != current_ || instruction.inputs[0] == current_ || epilogue_.bias ||
        epilogue_.addend) {
      return false;
    }
    epilogue_.alpha = -epilogue_.alpha;
    return add(operandOf(instruction.inputs[0]));
  }

  bool add(std::optional<size_t> operand) {
    if (!operand || epilogue_.bias || epilogue_.addend || operands_[*operand].element != product_.element) {
      return false;
    }
    const Shape& shape = operands_[*operand].shape;
    if (shape == product_.shape) {
      epilogue_.addend = operand;
      return true;
    }
    const int64_t columns = product_.shape[product_.shape.rank() - 1];
    const bool aRow = shape.rank() > 0 && shape.elements() == columns && shape[shape.rank() - 1] == columns;
    epilogue_.bias = operand;
    return aRow;
  }

  /// The other operand of a binary instruction on the current value; none where there is none.
  std::optional<size_t> otherThanCurrent(const ops::FusedInstruction& instruction) const {
    const bool first = instruction.inputs[0] == current_, second = instruction.inputs[1] == current_;
    return first == second ? std::nullopt : operandOf(instruction.inputs[first ? 1 : 0]);
  }

  // Register 0 is the product, then come the op's operands from the third on, then the instructions.
  std::optional<size_t> operandOf(uint32_t inRegister) const {
    const size_t index = size_t{inRegister} + 1;
    return inRegister >= 1 && index < operands_.size() ? std::optional(index) : std::nullopt;
  }

  std::optional<double> constantOf(std::optional<size_t> operand) const {
    if (!operand) {
      return std::nullopt;
    }
    const OpRow& producer = graph_[graph_[row_.operands[*operand]].producer];
    const auto* constant = producer.getIf<ops::Constant>();
    return constant != nullptr && constant->value.type().shape.elements() == 1
               ? std::optional(constant->value.at(0))
               : std::nullopt;
  }

  const Graph& graph_;
  const OpRow& row_;
  const ops::FusedMatmul& fused_;
  llvm::SmallVector<TensorType, 4> operands_;
  TensorType product_;
  Epilogue epilogue_;
  uint32_t current_ = 0;
  uint32_t next_ = static_cast<uint32_t>(operands_.size()) - 1; // the register of the first instruction
  bool finished_ = false, scaled_ = false;
};

} // namespace

bool isProduct(const OpRow& row) { return row.kind() == OpKind::Matmul || row.kind() == OpKind::FusedMatmul; }

ops::Matmul productOf(const OpRow& row) {
  return row.kind() == OpKind::Matmul ? row.as<ops::Matmul>() : row.as<ops::FusedMatmul>().product();
}

ProductCall productCall(const Graph& graph, OpId op) {
  const OpRow& row = graph[op];
  const ops::Matmul matmul = productOf(row);
  const auto operands = graph.operandTypesOf(op);
  ProductCall call;
  call.a = operands[0], call.b = operands[1];
  call.result = resultTypes(matmul, {operands[0], operands[1]}).types[0];
  call.transposeA = matmul.transposeA, call.transposeB = matmul.transposeB;
  call.tf32 = matmul.precision == ops::Precision::Tf32;
  return call;
}

LoneOp plainProductOf(const Graph& graph, OpId op) {
  GraphBuilder builder;
  std::vector<ValueId> operands;
  const auto types = graph.operandTypesOf(op);
  for (const TensorType& type : {types[0], types[1]}) {
    ops::Input input;
    input.type = type;
    operands.push_back(builder.result(builder.append(input, {}, {})));
  }
  const OpId product = builder.append(productOf(graph[op]), operands, {});
  auto alone = std::move(builder).finish();
  DFC_ASSERT(alone.ok(), "a product of a plan is a product alone");
  return {*std::move(alone), product};
}

std::optional<Epilogue> libraryEpilogue(const Graph& graph, OpId op) { return Reader(graph, op).run(); }

} // namespace dfc::cuda
