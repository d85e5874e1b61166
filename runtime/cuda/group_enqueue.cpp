// A round's calls: the same whether they are captured into a graph or carried out as they come.
#include "runtime/cuda/group.h"

#include <algorithm>

namespace dfc::cuda {

Group::Captured Group::capture(const Round& round, size_t site) {
  Captured captured;
  cudaStream_t origin = nullptr;
  check(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking), "making a stream to capture from");
  std::exception_ptr error;
  check(cudaStreamBeginCapture(origin, cudaStreamCaptureModeRelaxed), "beginning to capture a step");
  try {
    fork(site, origin);
    for (const auto& [program, position] : order_) {
      if (siteOf(program) == site) {
        enqueue(program, position, round, &captured);
      }
    }
    join(site, origin);
  } catch (...) {
    error = std::current_exception();
  }
  const cudaError_t ended = cudaStreamEndCapture(origin, &captured.graph);
  ignore(cudaStreamDestroy(origin));
  if (error) {
    ignore(cudaGetLastError());
    std::rethrow_exception(error);
  }
  check(ended, "ending the capture of a step");
  check(cudaGraphInstantiate(&captured.exec, captured.graph, 0), "making a step's CUDA graph ready");
  return captured;
}

void Group::fork(size_t site, cudaStream_t origin) {
  if (sites_[site].stream == nullptr) {
    return;
  }
  const OnDevice current(gpus_[site].ordinal);
  check(cudaEventRecord(sites_[site].forked, origin), "forking a step");
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (siteOf(i) == site) {
      check(cudaStreamWaitEvent(lanes_[i].stream, sites_[site].forked, 0), "forking a step");
    }
  }
}

void Group::join(size_t site, cudaStream_t origin) {
  if (sites_[site].stream == nullptr) {
    return;
  }
  const OnDevice current(gpus_[site].ordinal);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (siteOf(i) == site) {
      check(cudaEventRecord(lanes_[i].joined, lanes_[i].stream), "joining a step");
      check(cudaStreamWaitEvent(origin, lanes_[i].joined, 0), "joining a step");
    }
  }
  sites_[site].signals->endRound(origin, reinterpret_cast<const DevicePublication*>(sites_[site].ends.get()),
                                 sites_[site].endCount);
}

void Group::enqueue(size_t program, size_t position, const Round& round, Captured* captured) {
  const StreamProgram& own = programs_[program];
  const StreamCommand& command = own.commands[position];
  const Lane& lane = lanes_[program];
  located(*plan_, own.queue, command.op, [&] {
    const OnDevice current(own.gpu->ordinal);
    enqueueWaits(program, command);
    if (round.traced) {
      stamps_->stamp(signalsOf(program), lane.stream, program, position, false);
    }
    enqueueAction(program, command, round, captured);
    if (round.traced) {
      stamps_->stamp(signalsOf(program), lane.stream, program, position, true);
    }
    if (lane.ended[position] != nullptr) {
      check(cudaEventRecord(lane.ended[position], lane.stream), "recording an end");
    }
    tell(program, position);
  });
}

void Group::tell(size_t program, size_t position) {
  const auto& words = lanes_[program].told[position];
  const uint64_t commands = programs_[program].commands.size();
  llvm::SmallVector<DevicePublication, 2> publications;
  for (uint64_t* word : words) {
    publications.push_back({word, commands, position + 1});
  }
  for (size_t i = 0; i < publications.size(); i += Signals::atOnce) {
    const size_t count = std::min<size_t>(publications.size() - i, Signals::atOnce);
    signalsOf(program).publish(lanes_[program].stream, publications.data() + i, static_cast<int>(count));
  }
}

void Group::enqueueWaits(size_t program, const StreamCommand& command) {
  cudaStream_t stream = lanes_[program].stream;
  llvm::SmallVector<DeviceWait, 4> polled;
  for (const WaitFor& wait : command.waits) {
    const int other = programOf(wait);
    if (other < 0) {
      polled.push_back({reinterpret_cast<const uint64_t*>(&wait.word->count()), wait.perRound, wait.offset});
    } else if (siteOf(static_cast<size_t>(other)) != siteOf(program)) {
      polled.push_back({sites_[siteOf(program)].words + queueOf(wait), wait.perRound, wait.offset});
    } else if (wait.offset >
               0) { // the round before has ended: the GPU's rounds follow one another on one stream
      check(cudaStreamWaitEvent(stream, lanes_[static_cast<size_t>(other)].ended[wait.offset - 1], 0),
            "waiting for another queue");
    }
  }
  for (size_t i = 0; i < polled.size(); i += Signals::atOnce) {
    const size_t count = std::min<size_t>(polled.size() - i, Signals::atOnce);
    signalsOf(program).wait(stream, polled.data() + i, static_cast<int>(count));
  }
}

void Group::enqueueAction(size_t program, const StreamCommand& command, const Round& round,
                          Captured* captured) {
  switch (command.kind) {
  case Command::Kind::Nothing: return;
  case Command::Kind::Compute:
    if (command.work != nullptr) {
      command.work->enqueue(lanes_[program].stream);
    }
    return;
  case Command::Kind::Copy:
  case Command::Kind::Transfer: enqueueCopy(program, command.copy, round, captured); return;
  }
}

void Group::enqueueCopy(size_t program, const Copy& copy, const Round& round, Captured* captured) {
  if (copy.from.bytes == 0) {
    return;
  }
  cudaStream_t stream = lanes_[program].stream;
  const auto bytes = static_cast<size_t>(copy.from.bytes);
  std::byte* from = addressOf(copy.from, round);
  std::byte* to = addressOf(copy.to, round);
  if (copy.staging != nullptr) {
    check(cudaMemcpyAsync(copy.staging, from, bytes, cudaMemcpyDefault, stream),
          "copying to the host on the way");
    from = copy.staging;
  }
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying");
  const bool moves = copy.from.base != Location::Base::Arena || copy.to.base != Location::Base::Arena;
  if (captured != nullptr && moves) {
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* last = nullptr;
    size_t count = 0;
    check(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, nullptr, &count),
          "finding a copy's node");
    DFC_ASSERT(count == 1, "a copy is the last node of its stream");
    captured->patches.push_back({last[0], &copy});
  }
}

std::byte* Group::addressOf(const Location& location, const Round& round) const {
  switch (location.base) {
  case Location::Base::Arena: return deviceAddress(location);
  case Location::Base::Feed: return const_cast<std::byte*>(round.feeds[location.buffer]); // only ever read
  case Location::Base::Fetch: return round.fetches[location.buffer];
  }
  DFC_UNREACHABLE("where a value lies");
}

} // namespace dfc::cuda
