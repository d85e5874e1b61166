// Lowering allocates scratch tiles as it goes and frees a tile at the last use of its register, so that a
// long body stays within the L1 cache.
#include "runtime/cpu/kernels/elementwise/tile_program.h"

#include "ir/base/assert.h"
#include "ir/graph/fused_instruction.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
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
  Lowering(TileProgram& program, const ops::FusedBody& body, llvm::ArrayRef<ElementType> operands, bool store,
           llvm::ArrayRef<bool> splats)
      : program_(program), body_(body), operandCount_(operands.size()), store_(store), splats_(splats),
        types_(operands.begin(), operands.end()) {}

  void run() {
    findLastUses();
    for (size_t i = 0; i < operandCount_; ++i) {
      tile_.push_back(program_.read_[i] && isHalf(types_[i]) ? widened(static_cast<uint32_t>(i))
                                                             : static_cast<uint32_t>(i));
    }
    for (size_t i = 0; i < body_.instructions.size();) {
      const size_t links = chainFrom(i);
      links > 1 ? lowerChain(i, links) : lower(body_.instructions[i], operandCount_ + i);
      i += std::max<size_t>(links, 1);
    }
    finish();
  }

 private:
  static constexpr uint32_t resultTile = ~uint32_t(0); // until its number is known

  size_t registers() const { return operandCount_ + body_.instructions.size(); }
  bool isLast(size_t reg) const { return reg + 1 == registers(); }

  void findLastUses() {
    lastUse_.assign(registers(), 0);
    uses_.assign(registers(), 0);
    program_.read_.assign(operandCount_, body_.instructions.empty());
    for (size_t i = 0; i < body_.instructions.size(); ++i) {
      for (const uint32_t input : body_.instructions[i].inputs) {
        DFC_ASSERT(input < operandCount_ + i, "a fused instruction reads a later register");
        lastUse_[input] = operandCount_ + i;
        ++uses_[input];
        if (input < operandCount_) {
          program_.read_[input] = true;
        }
      }
    }
  }

  bool isF32(uint32_t reg) const {
    return (reg < operandCount_ ? types_[reg] : body_.instructions[reg - operandCount_].type) ==
           ElementType::F32;
  }

  bool mayLink(const ops::FusedInstruction& instruction) const {
    return chainKindOf(instruction.kind) && instruction.type == ElementType::F32 &&
           llvm::all_of(instruction.inputs, [&](uint32_t input) { return isF32(input); });
  }

  // Whether instruction `index` takes the value before it, which nothing else reads, as a chain does.
  bool continues(size_t index) const {
    const ops::FusedInstruction& instruction = body_.instructions[index];
    const auto before = static_cast<uint32_t>(operandCount_ + index - 1);
    const auto place = llvm::find(instruction.inputs, before) - instruction.inputs.begin();
    return mayLink(instruction) && uses_[before] == 1 && place < (instruction.kind == OpKind::Clip ? 1 : 2) &&
           static_cast<size_t>(place) < instruction.inputs.size();
  }

  /// The instructions from `first` on that one pass computes.
  size_t chainFrom(size_t first) const {
    size_t links = mayLink(body_.instructions[first]) ? 1 : 0;
    while (links > 0 && links < mostLinks && first + links < body_.instructions.size() &&
           continues(first + links)) {
      ++links;
    }
    return links;
  }

  bool isSplat(uint32_t reg) const { return reg < splats_.size() && splats_[reg]; }

  Chain::Link linkOf(const ops::FusedInstruction& instruction, std::optional<uint32_t> before) const {
    Chain::Link link;
    link.link.kind = *chainKindOf(instruction.kind);
    const auto& inputs = instruction.inputs;
    if (instruction.kind == OpKind::Clip) {
      link.link.hasOneBound = isSplat(inputs[1]) && isSplat(inputs[2]);
      link.other = tile_[inputs[1]];
      link.third = tile_[inputs[2]];
    } else if (inputs.size() == 2) {
      link.link.isSecond = before && inputs[1] == *before;
      link.other = tile_[inputs[link.link.isSecond ? 0 : 1]];
    }
    return link;
  }

  // The result may lie over an input, as all are f32.
  void lowerChain(size_t first, size_t links) {
    Step step{nullptr, {}, 0};
    step.chain.value = tile_[body_.instructions[first].inputs[0]];
    for (size_t i = first; i < first + links; ++i) {
      const auto before = static_cast<uint32_t>(operandCount_ + i - 1);
      step.chain.links.push_back(
          linkOf(body_.instructions[i], i > first ? std::optional(before) : std::nullopt));
      types_.push_back(ElementType::F32);
      tile_.push_back(0); // none: only the chain reads it
    }
    for (size_t i = first; i < first + links; ++i) {
      giveBack(body_.instructions[i], operandCount_ + i, true);
    }
    step.output = isLast(operandCount_ + first + links - 1) && store_ ? resultTile : newTile();
    tile_.back() = step.output;
    program_.steps_.push_back(std::move(step));
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
    program_.isChain_ = store_ && program_.steps_.size() == 1 && program_.steps_.front().function == nullptr;
  }

  TileProgram& program_;
  const ops::FusedBody& body_;
  size_t operandCount_;
  bool store_;
  llvm::ArrayRef<bool> splats_;
  llvm::SmallVector<ElementType, 8> types_; // of each register
  llvm::SmallVector<uint32_t, 8> tile_;     // of each register
  llvm::SmallVector<size_t, 8> lastUse_, uses_;
  llvm::SmallVector<uint32_t, 8> free_;
};

TileProgram::TileProgram(const ops::FusedBody& body, llvm::ArrayRef<ElementType> operands, bool store,
                         llvm::ArrayRef<bool> splats)
    : operandCount_(operands.size()) {
  Lowering(*this, body, operands, store, splats).run();
}

void TileProgram::run(const Chain& chain, llvm::ArrayRef<void*> tiles, void* output, size_t count) {
  llvm::SmallVector<ChainLink, mostLinks> links;
  for (const Chain::Link& link : chain.links) {
    links.push_back(link.link);
    links.back().other = static_cast<const float*>(tiles[link.other]);
    links.back().third = static_cast<const float*>(tiles[link.third]);
  }
  runChain(links.data(), links.size(), static_cast<const float*>(tiles[chain.value]),
           static_cast<float*>(output), count);
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
    if (step.function == nullptr) {
      run(step.chain, tiles, tiles[step.output], static_cast<size_t>(count));
      continue;
    }
    const void* inputs[3] = {};
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      inputs[i] = tiles[step.inputs[i]];
    }
    step.function(inputs, tiles[step.output], static_cast<size_t>(count));
  }
  return tiles[resultTile_];
}

} // namespace dfc
