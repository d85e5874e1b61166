#include "runtime/finite/first_not_finite.h"

#include "ir/base/assert.h"
#include "ir/graph/fused_instruction.h"
#include "ir/graph/rules/op_rules.h"
#include "runtime/cpu/kernels/kernel.h"

#include <fmt/format.h>

namespace dfc {
namespace {

Literal computed(const OpAttributes& attributes, const std::vector<NamedLiteral>& operands,
                 const TensorType& type) {
  ThreadPool pool(1);
  llvm::SmallVector<TensorType, 3> types;
  llvm::SmallVector<const std::byte*, 3> from;
  for (const NamedLiteral& operand : operands) {
    types.push_back(operand.value.type());
    from.push_back(operand.value.bytes().data());
  }
  Literal result(type);
  std::byte* to = result.mutableBytes().data();
  makeCpuKernel(attributes, types, type, pool)->run(from, to);
  return result;
}

TensorType typeOf(const ops::FusedInstruction& instruction, const std::vector<NamedLiteral>& operands) {
  llvm::SmallVector<TensorType, 3> types;
  for (const NamedLiteral& operand : operands) {
    types.push_back(operand.value.type());
  }
  const std::optional<Shape> shape = commonShape(types);
  DFC_ASSERT(shape, "operands of an instruction that do not broadcast");
  return {instruction.type, *shape};
}

/// The registers of a body, computed one after the other; each is dropped behind its last reader.
class BodyWalk {
 public:
  BodyWalk(const ops::FusedBody& body, std::vector<NamedLiteral> registers, size_t before,
           bool infinitiesPass)
      : body_(body), registers_(std::move(registers)),
        lastReader_(registers_.size() + body.instructions.size()), before_(before),
        infinitiesPass_(infinitiesPass) {
    for (size_t i = 0; i < body.instructions.size(); ++i) {
      for (const uint32_t input : body.instructions[i].inputs) {
        lastReader_[input] = i;
      }
    }
  }

  /// `ends`: how many parts come after the body.
  std::optional<FusedPart> run(size_t ends) {
    for (size_t i = 0; i < body_.instructions.size(); ++i) {
      const ops::FusedInstruction& instruction = body_.instructions[i];
      FusedPart part{std::string(nameOf(instruction.kind)),
                     before_ + i + 1,
                     before_ + body_.instructions.size() + ends,
                     {},
                     {}};
      for (const uint32_t input : instruction.inputs) {
        part.operands.push_back(registers_[input]);
      }
      part.result = {"the result of " + part.kind,
                     computed(opOf(instruction), part.operands, typeOf(instruction, part.operands))};
      if (!passes(part.result.value)) {
        return part;
      }
      registers_.push_back(part.result);
      for (const uint32_t input : instruction.inputs) {
        if (lastReader_[input] == i) {
          registers_[input].value = Literal();
        }
      }
    }
    return std::nullopt;
  }

  bool passes(const Literal& value) const {
    return isFinite(value.type(), value.bytes()) ||
           (infinitiesPass_ && rangeOf(value.type(), value.bytes()).nans == 0);
  }

 private:
  const ops::FusedBody& body_;
  std::vector<NamedLiteral> registers_;
  std::vector<size_t> lastReader_; ///< by register; of those that nobody reads 0
  size_t before_;                  ///< parts before the body
  bool infinitiesPass_;
};

// Of a product or a convolution of the first two operands, and a body behind it.
std::optional<FusedPart> firstOfProduct(const OpAttributes& product, const ops::FusedBody& body,
                                        std::vector<NamedLiteral> operands, bool infinitiesPass) {
  const std::vector<NamedLiteral> factors(operands.begin(), operands.begin() + 2);
  const TensorType types[] = {factors[0].value.type(), factors[1].value.type()};
  const std::string kind(nameOf(product.kind()));
  NamedLiteral made{"the result of " + kind,
                    computed(product, factors, resultTypes(product, types).types.front())};
  operands.erase(operands.begin() + 1);
  operands.front() = made;
  BodyWalk walk(body, std::move(operands), 1, infinitiesPass);
  return walk.passes(made.value) ? walk.run(0)
                                 : FusedPart{kind, 1, 1 + body.instructions.size(), std::move(made), factors};
}

std::string textOf(const NamedLiteral& value) {
  const TensorType& type = value.value.type();
  return fmt::format("{} {}", toString(type), textOf(rangeOf(type, value.value.bytes())));
}

} // namespace

bool isFused(const OpAttributes& attributes) {
  return attributes.getIf<ops::Fused>() != nullptr || attributes.getIf<ops::FusedMatmul>() != nullptr ||
         attributes.getIf<ops::FusedConv2d>() != nullptr;
}

std::optional<FusedPart> firstNotFinite(const OpAttributes& attributes, std::vector<NamedLiteral> operands,
                                        bool infinitiesPass) {
  if (const auto* product = attributes.getIf<ops::FusedMatmul>()) {
    return firstOfProduct(product->product(), product->body, std::move(operands), infinitiesPass);
  }
  if (const auto* convolution = attributes.getIf<ops::FusedConv2d>()) {
    return firstOfProduct(convolution->convolution(), convolution->body, std::move(operands), infinitiesPass);
  }
  const auto& fused = attributes.as<ops::Fused>();
  const bool reduces = fused.reduction != ops::Fused::Reduction::None;
  return BodyWalk(fused.body, std::move(operands), 0, infinitiesPass).run(reduces ? 1 : 0);
}

std::string textOf(const FusedPart& part) {
  std::string operands;
  for (const NamedLiteral& operand : part.operands) {
    operands += fmt::format("{}{} {}", operands.empty() ? "" : " and ", operand.name, textOf(operand));
  }
  return fmt::format("{} ({} of {}) gives {}, of {}", part.kind, part.number, part.count, textOf(part.result),
                     operands);
}

} // namespace dfc
