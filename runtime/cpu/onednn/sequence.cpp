#include "runtime/cpu/onednn/sequence.h"

namespace dfc::onednn {
namespace {

using Step = SequenceMaker::Step;

class Sequence final : public Primitive {
 public:
  Sequence(std::vector<Step> steps, size_t scratchBytes, uint32_t slots)
      : steps_(std::move(steps)), scratchBytes_(scratchBytes) {
    for (uint32_t slot = 0; slot < slots; ++slot) {
      Slot& made = slots_.emplace_back(Slot{dnnl::stream(cpuEngine()), {}, {}});
      for (const Step& step : steps_) {
        std::unordered_map<int, dnnl::memory>& arguments = made.arguments.emplace_back();
        for (const auto& argument : step.arguments) {
          made.memories.push_back(dnnl::memory(argument.layout, cpuEngine(), DNNL_MEMORY_NONE));
          arguments.emplace(argument.index, made.memories.back());
        }
      }
    }
  }

  size_t scratchBytes() const override { return scratchBytes_; }

  bool run(uint32_t slot, const std::byte* const* operands, std::byte* result,
           std::byte* scratch) noexcept override {
    try {
      useOneThread();
      Slot& mine = slots_[slot];
      size_t next = 0;
      for (size_t i = 0; i < steps_.size(); ++i) {
        for (const auto& argument : steps_[i].arguments) {
          mine.memories[next++].set_data_handle(addressOf(argument.place, operands, result, scratch));
        }
        steps_[i].primitive.execute(mine.stream, mine.arguments[i]);
      }
      mine.stream.wait();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

 private:
  struct Slot {
    dnnl::stream stream;
    std::vector<std::unordered_map<int, dnnl::memory>> arguments; // of each step
    std::vector<dnnl::memory>
        memories; // of all steps, in order: the same objects, as a memory is a shared handle
  };

  static std::byte* addressOf(const Place& place, const std::byte* const* operands, std::byte* result,
                              std::byte* scratch) {
    switch (place.in) {
    case Place::In::Operand: return const_cast<std::byte*>(operands[place.at]); // oneDNN only reads it
    case Place::In::Result: return result;
    case Place::In::Scratch: return scratch + place.at;
    }
    return nullptr;
  }

  std::vector<Step> steps_;
  size_t scratchBytes_;
  std::vector<Slot> slots_;
};

} // namespace

Place SequenceMaker::scratch(const dnnl::memory::desc& layout) {
  const Place place{Place::In::Scratch, scratchBytes_};
  scratchBytes_ += (layout.get_size() + 63) / 64 * 64;
  return place;
}

Place SequenceMaker::brought(Place place, const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
  if (from == to) {
    return place;
  }
  const Place there = scratch(to);
  reorder(place, from, there, to);
  return there;
}

void SequenceMaker::reorder(Place from, const dnnl::memory::desc& fromLayout, Place to,
                            const dnnl::memory::desc& toLayout) {
  const dnnl::reorder::primitive_desc description(cpuEngine(), fromLayout, cpuEngine(), toLayout,
                                                  callerOwnsScratch());
  add(dnnl::reorder(description), {{DNNL_ARG_FROM, fromLayout, from}, {DNNL_ARG_TO, toLayout, to}},
      description.scratchpad_desc());
}

void SequenceMaker::add(const dnnl::primitive& primitive, std::vector<PlacedArgument> arguments,
                        const dnnl::memory::desc& scratch) {
  arguments.push_back({DNNL_ARG_SCRATCHPAD, scratch, this->scratch(scratch)});
  steps_.push_back({primitive, std::move(arguments)});
}

std::unique_ptr<Primitive> SequenceMaker::finish() && {
  return std::make_unique<Sequence>(std::move(steps_), scratchBytes_, slots_);
}

} // namespace dfc::onednn
