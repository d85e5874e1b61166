#include "runtime/cpu/onednn/primitive.h"

#include "ir/base/assert.h"

#include <omp.h>

namespace dfc::onednn {
namespace {

class Wrapped final : public Primitive {
 public:
  Wrapped(const dnnl::primitive& primitive, const std::vector<Argument>& operands, const Argument& result,
          const dnnl::memory::desc& scratch, uint32_t slots)
      : primitive_(primitive), operandCount_(operands.size()), scratchBytes_(scratch.get_size()) {
    for (uint32_t slot = 0; slot < slots; ++slot) {
      Slot& made = slots_.emplace_back(Slot{dnnl::stream(cpuEngine()), {}, {}});
      for (const Argument& operand : operands) {
        add(made, operand);
      }
      add(made, result);
      add(made, {DNNL_ARG_SCRATCHPAD, scratch});
    }
  }

  size_t scratchBytes() const override { return scratchBytes_; }

  bool run(uint32_t slot, const std::byte* const* operands, std::byte* result,
           std::byte* scratch) noexcept override {
    try {
      useOneThread();
      Slot& mine = slots_[slot];
      for (size_t i = 0; i < operandCount_; ++i) {
        mine.memories[i].set_data_handle(const_cast<std::byte*>(operands[i])); // oneDNN only reads it
      }
      mine.memories[operandCount_].set_data_handle(result);
      mine.memories[operandCount_ + 1].set_data_handle(scratch);
      primitive_.execute(mine.stream, mine.arguments);
      mine.stream.wait();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

 private:
  struct Slot {
    dnnl::stream stream;
    std::vector<dnnl::memory> memories;              // operands, result, scratch
    std::unordered_map<int, dnnl::memory> arguments; // the same objects: a memory is a shared handle
  };

  static void add(Slot& slot, const Argument& argument) {
    slot.memories.push_back(dnnl::memory(argument.layout, cpuEngine(), DNNL_MEMORY_NONE));
    slot.arguments.emplace(argument.index, slot.memories.back());
  }

  dnnl::primitive primitive_;
  size_t operandCount_, scratchBytes_;
  std::vector<Slot> slots_;
};

} // namespace

const dnnl::engine& cpuEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

void useOneThread() { omp_set_num_threads(1); }

dnnl::memory::data_type dataType(ElementType type) {
  DFC_ASSERT(type == ElementType::F32 || type == ElementType::BF16,
             "an element type that oneDNN is not given");
  return type == ElementType::F32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
}

dnnl::primitive_attr callerOwnsScratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

std::unique_ptr<Primitive> wrap(const dnnl::primitive& primitive, const std::vector<Argument>& operands,
                                const Argument& result, const dnnl::memory::desc& scratch, uint32_t slots) {
  return std::make_unique<Wrapped>(primitive, operands, result, scratch, slots);
}

} // namespace dfc::onednn
