#include "runtime/cuda/stream/peer_words.h"

#include <llvm/ADT/STLExtras.h>

#include <set>

namespace dfc::cuda {
namespace {

constexpr size_t wordsApart =
    16; // 128 bytes: a wait's reads and a peer's write of another word share no line

std::set<int> ordinalsOf(const std::vector<StreamProgram>& programs) {
  std::set<int> ordinals;
  for (const StreamProgram& program : programs) {
    ordinals.insert(program.gpu->ordinal);
  }
  return ordinals;
}

} // namespace

PeerWords::PeerWords(const std::vector<StreamProgram>& programs) {
  for (const StreamProgram& program : programs) {
    commands_.push_back(program.commands.size());
  }
  const size_t bytes = (1 + programs.size()) * wordsApart * sizeof(uint64_t);
  for (const int ordinal : ordinalsOf(programs)) {
    const OnDevice current(ordinal);
    buffers_.emplace_back(ordinal, DeviceBuffer(ordinal, static_cast<int64_t>(bytes), "progress words"));
    check(cudaMemset(buffers_.back().second.get(), 0, bytes), "clearing progress words");
    check(cudaDeviceSynchronize(), "clearing progress words");
  }
}

cudaError_t PeerWords::setStepCount(uint64_t steps) const {
  for (const auto& [ordinal, buffer] : buffers_) {
    if (const cudaError_t code =
            cudaMemcpy(counterOf(ordinal), &steps, sizeof(steps), cudaMemcpyHostToDevice);
        code != cudaSuccess) {
      return code;
    }
  }
  return cudaSuccess;
}

DeviceWait PeerWords::waitFor(int ordinal, size_t program, size_t position) const {
  return {wordOf(ordinal, 1 + program), commands_[program], position + 1};
}

DevicePublication PeerWords::endOf(size_t program, size_t position, int ordinal) const {
  return {wordOf(ordinal, 1 + program), commands_[program], position + 1};
}

std::vector<DevicePublication> PeerWords::stepEnds(int endingOrdinal) const {
  std::vector<DevicePublication> ends;
  for (const auto& [ordinal, buffer] : buffers_) {
    if (ordinal != endingOrdinal) {
      ends.push_back({counterOf(ordinal), 1, 0});
    }
  }
  return ends;
}

uint64_t* PeerWords::wordOf(int ordinal, size_t index) const {
  const auto found = llvm::find_if(buffers_, [&](const auto& row) { return row.first == ordinal; });
  return reinterpret_cast<uint64_t*>(found->second.get()) + index * wordsApart;
}

// A kernel that waits must not keep another queue's kernels from their GPU. Streams share as many connections
// to a GPU as CUDA_DEVICE_MAX_CONNECTIONS says, by default eight; four of them are left for copies.
bool exchangeByWords(const Executable& plan, const std::vector<StreamProgram>& programs, const Peers& peers) {
  constexpr long mostComputeQueues = 4;
  const std::set<int> ordinals = ordinalsOf(programs);
  const auto exchanges = [&](int from) {
    const auto queues = llvm::count_if(programs, [&](const StreamProgram& program) {
      return program.gpu->ordinal == from && plan.schedule().queues[program.queue].kind == QueueKind::Compute;
    });
    return queues <= mostComputeQueues &&
           llvm::all_of(ordinals, [&](int to) { return from == to || peers.direct(from, to); });
  };
  return ordinals.size() > 2 && llvm::all_of(ordinals, exchanges);
}

} // namespace dfc::cuda
