#include "runtime/cuda/stream/stamps.h"

namespace dfc::cuda {

Stamps::Stamps(const std::vector<StreamProgram>& programs, const std::vector<Gpu>& gpus,
               KernelLibrary& library)
    : programs_(programs), gpus_(gpus), library_(library) {
  for (const StreamProgram& program : programs) {
    first_.push_back(perStep_);
    perStep_ += 2 * static_cast<uint32_t>(program.commands.size());
  }
  slots_ = PinnedBuffer(int64_t{ring} * perStep_ * static_cast<int64_t>(sizeof(uint64_t)));
  firstClocks_ = readClocks();
}

std::vector<ClockReading> Stamps::readClocks() const {
  std::vector<ClockReading> readings;
  for (const Gpu& gpu : gpus_) {
    const OnDevice current(gpu.ordinal);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "reading " + gpu.name + "'s clock");
    readings.push_back(readClock(library_, gpu.architecture, stream));
    ignore(cudaStreamDestroy(stream));
  }
  return readings;
}

void Stamps::stamp(const Signals& signals, cudaStream_t stream, size_t program, size_t position,
                   bool after) const {
  if (programs_[program].commands[position].step.valid()) {
    signals.stamp(stream, reinterpret_cast<uint64_t*>(slots_.get()), ring, perStep_,
                  first_[program] + 2 * static_cast<uint32_t>(position) + (after ? 1 : 0));
  }
}

std::optional<uint64_t> Stamps::stepToTakeOut(uint64_t step) {
  return step >= ring ? std::optional(step - ring) : std::nullopt;
}

void Stamps::takeOut(uint64_t throughStep) {
  auto* slots = reinterpret_cast<uint64_t*>(slots_.get());
  while (!waiting_.empty() && waiting_.front() <= throughStep) {
    const uint64_t step = waiting_.front();
    waiting_.erase(waiting_.begin());
    for (size_t program = 0; program < programs_.size(); ++program) {
      const auto& commands = programs_[program].commands;
      uint64_t* at = slots + (step % ring) * perStep_ + first_[program];
      for (size_t i = 0; i < commands.size(); ++i) {
        if (at[2 * i] != 0 && at[2 * i + 1] != 0) { // zero: a failed step did not reach it
          raw_.push_back({program, commands[i].step, static_cast<uint32_t>(step), at[2 * i], at[2 * i + 1]});
          at[2 * i] = at[2 * i + 1] = 0;
        }
      }
    }
  }
}

std::vector<Span> Stamps::takeSpans(QueueId queue) {
  takeOut(~uint64_t{0});
  const std::vector<ClockReading> clocks = readClocks();
  std::vector<Span> spans;
  std::vector<RawSpan> others;
  for (const RawSpan& raw : raw_) {
    const StreamProgram& program = programs_[raw.program];
    if (program.queue != queue) {
      others.push_back(raw);
      continue;
    }
    const auto gpu = static_cast<size_t>(program.gpu - gpus_.data());
    const auto onHost = [&](uint64_t time) { return hostTime(time, firstClocks_[gpu], clocks[gpu]); };
    spans.push_back({raw.step, raw.stepNumber, onHost(raw.begin), onHost(raw.end)});
  }
  raw_ = std::move(others);
  return spans;
}

} // namespace dfc::cuda
