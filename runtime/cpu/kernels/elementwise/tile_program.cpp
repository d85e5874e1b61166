// Lowering allocates scratch tiles as it goes and frees a tile at the last use of its register, so that a
// long body stays within the L1 cache.
#include "runtime/cpu/kernels/elementwise/tile_program.h"

#include "ir/base/assert.h"
#include "ir/graph/fused_instruction.h"

#include <llvm/ADT/STLExtras.h>

#include <string>

namespace dfc {

ops::FusedBody bodyOf(const OpAttributes& attributes, OperandTypes operands, OperandTypes results) {
  if (const auto* fused = attributes.getIf<ops::Fused>()) {
    return fused->body;
  }
  DFC_ASSERT(classOf(kindOf(attributes)) == OpClass::Elementwise, "not an elementwise op");
  return bodyOfOne(attributes, operands.size(), results.front().element);
}

namespace {

bool isHalf(ElementType type) { return computeTypeOf(type) != type; }
int64_t computeWidth(ElementType type) { return byteWidth(computeTypeOf(type)); }

TileFunction functionOf(const ops::FusedInstruction& instruction, llvm::ArrayRef<ElementType> inputs) {
  const ElementType computeType = computeTypeOf(inputs.back());
  switch (instruction.kind) {
  case OpKind::Compare:
    return compareTile(static_cast<ops::Compare::Direction>(instruction.variant), computeType);
  case OpKind::Select: return selectTile(computeType);
  case OpKind::Cast: return castTile(computeType, computeTypeOf(instruction.type));
  default: return arithmeticTile(instruction.kind, computeType, instruction.variant);
  }
}

} // namespace

class TileProgram::Lowering {
 public:
  Lowering(TileProgram& program, const ops::FusedBody& body, llvm::ArrayRef<ElementType> operands, bool store)
      : program_(program), body_(body), operandCount_(operands.size()), store_(store),
        types_(operands.begin(), operands.end()) {}

  void run() {
    findLastUses();
    for (size_t i = 0; i < operandCount_; ++i) {
      tile_.push_back(program_.read_[i] && isHalf(types_[i]) ? widened(static_cast<uint32_t>(i))
                                                             : static_cast<uint32_t>(i));
    }
    for (size_t i = 0; i < body_.instructions.size(); ++i) {
      lower(body_.instructions[i], operandCount_ + i);
    }
    finish();
  }

 private:
  static constexpr uint32_t resultTile = ~uint32_t(0); // until its number is known

  size_t registers() const { return operandCount_ + body_.instructions.size(); }
  bool isLast(size_t reg) const { return reg + 1 == registers(); }

  void findLastUses() {
    lastUse_.assign(registers(), 0);
    program_.read_.assign(operandCount_, body_.instructions.empty());
    for (size_t i = 0; i < body_.instructions.size(); ++i) {
      for (const uint32_t input : body_.instructions[i].inputs) {
        DFC_ASSERT(input < operandCount_ + i, "a fused instruction reads a later register");
        lastUse_[input] = operandCount_ + i;
        if (input < operandCount_) {
          program_.read_[input] = true;
        }
      }
    }
  }

  uint32_t newTile() {
    if (free_.empty()) {
      return static_cast<uint32_t>(operandCount_ + program_.scratchTiles_++);
    }
    return free_.pop_back_val();
  }

  uint32_t widened(uint32_t operand) {
    const uint32_t tile = newTile();
    program_.steps_.push_back({widenTile(types_[operand]), {operand}, tile});
    return tile;
  }

  void lower(const ops::FusedInstruction& instruction, size_t reg) {
    Step step;
    llvm::SmallVector<ElementType, 3> inputTypes;
    for (const uint32_t input : instruction.inputs) {
      step.inputs.push_back(tile_[input]);
      inputTypes.push_back(types_[input]);
    }
    step.function = functionOf(instruction, inputTypes);
    DFC_ASSERT(step.function != nullptr, "no tile function: " + std::string(nameOf(instruction.kind)) +
                                             " of " + std::string(name(inputTypes.back())));
    const bool half = isHalf(instruction.type);
    const bool stored = isLast(reg) && store_;
    // A tile function may write over an input of the same width only.
    giveBack(instruction, reg, true);
    const uint32_t written = stored && !half ? resultTile : newTile();
    giveBack(instruction, reg, false);
    step.output = written;
    program_.steps_.push_back(std::move(step));
    if (half && !stored) { // the final narrowing rounds
      program_.steps_.push_back({roundTile(instruction.type), {written}, written});
    }
    types_.push_back(instruction.type);
    tile_.push_back(written);
  }

  void giveBack(const ops::FusedInstruction& instruction, size_t reg, bool ofResultWidth) {
    llvm::SmallVector<uint32_t, 3> done;
    for (const uint32_t input : instruction.inputs) {
      const bool dies = lastUse_[input] == reg && tile_[input] >= operandCount_;
      const bool sameWidth = computeWidth(types_[input]) == computeWidth(instruction.type);
      if (dies && sameWidth == ofResultWidth && !llvm::is_contained(done, input)) {
        free_.push_back(tile_[input]);
        done.push_back(input);
      }
    }
  }

  void finish() {
    const ElementType type = types_.back();
    uint32_t last = tile_.back();
    program_.resultType_ = type;
    if (store_ && last != resultTile) { // a 16-bit result, or no instruction at all
      const ElementType computeType = computeTypeOf(type);
      program_.steps_.push_back(
          {isHalf(type) ? narrowTile(type) : castTile(computeType, computeType), {last}, resultTile});
      last = resultTile;
    }
    // The result's own tile follows the scratch tiles, whose number is known only now.
    const auto result = static_cast<uint32_t>(operandCount_ + program_.scratchTiles_);
    program_.resultTile_ = last == resultTile ? result : last;
    for (Step& step : program_.steps_) {
      step.output = step.output == resultTile ? result : step.output;
    }
  }

  TileProgram& program_;
  const ops::FusedBody& body_;
  size_t operandCount_;
  bool store_;
  llvm::SmallVector<ElementType, 8> types_; // of each register
  llvm::SmallVector<uint32_t, 8> tile_;     // of each register
  llvm::SmallVector<size_t, 8> lastUse_;
  llvm::SmallVector<uint32_t, 8> free_;
};

TileProgram::TileProgram(const ops::FusedBody& body, llvm::ArrayRef<ElementType> operands, bool store)
    : operandCount_(operands.size()) {
  Lowering(*this, body, operands, store).run();
}

const void* TileProgram::run(llvm::ArrayRef<const std::byte*> operands, std::byte* scratch, std::byte* result,
                             int64_t count) const {
  llvm::SmallVector<void*, 24> tiles;
  for (const std::byte* operand : operands) {
    tiles.push_back(const_cast<std::byte*>(operand)); // tile functions only read it
  }
  for (size_t i = 0; i < scratchTiles_; ++i) {
    tiles.push_back(scratch + i * tileElements * sizeof(double));
  }
  tiles.push_back(result);
  for (const Step& step : steps_) {
    const void* inputs[3] = {};
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      inputs[i] = tiles[step.inputs[i]];
    }
    step.function(inputs, tiles[step.output], static_cast<size_t>(count));
  }
  return tiles[resultTile_];
}

} // namespace dfc
