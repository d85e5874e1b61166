// A round's calls: the same whether they are captured into a graph or carried out as they come.
#include "runtime/cuda/group.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

/// What was captured last on a stream.
cudaGraphNode_t lastNodeOf(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  const cudaGraphNode_t* last = nullptr;
  size_t count = 0;
  check(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, nullptr, &count),
        "finding a captured node");
  DFC_ASSERT(count == 1, "a copy or memory operation is the last node of its stream");
  return last[0];
}

} // namespace

Group::Captured Group::capture(const Step& round) {
  const Mark mark(options_.marks, marks_.capture, round.number);
  Captured captured;
  cudaStream_t origin = nullptr;
  check(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking), "making a stream to capture from");
  std::exception_ptr error;
  check(cudaStreamBeginCapture(origin, cudaStreamCaptureModeRelaxed), "beginning to capture a step");
  try {
    enqueueRound(round, origin, &captured);
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

void Group::enqueueRound(const Step& round, cudaStream_t origin, Captured* captured) {
  check(cudaEventRecord(forked_, origin), "forking a step");
  for (const Lane& lane : lanes_) {
    check(cudaStreamWaitEvent(lane.stream, forked_, 0), "forking a step");
  }
  for (Lane& lane : lanes_) {
    lane.crossed = false;
  }
  for (const auto& [program, position] : round.traced ? tracedOrder_ : order_) {
    enqueue(program, position, round, captured);
  }
  const bool alone = programs_.size() == 1; // then the end need not wait for a join of streams
  if (alone) {
    endRound(lanes_[0].stream, alone);
  }
  for (size_t i = 0; i < programs_.size(); ++i) {
    const OnDevice current(programs_[i].gpu->ordinal);
    check(cudaEventRecord(lanes_[i].joined, lanes_[i].stream), "joining a step");
    check(cudaStreamWaitEvent(origin, lanes_[i].joined, 0), "joining a step");
  }
  if (!alone) {
    endRound(origin, alone);
  }
}

void Group::endRound(cudaStream_t stream, bool alone) {
  const OnDevice current(programs_[0].gpu->ordinal);
  signalsOf(0).endRound(stream, reinterpret_cast<uint64_t*>(ownCounter_.get()), ends_, alone);
}

void Group::enqueue(size_t program, size_t position, const Step& round, Captured* captured) {
  const StreamProgram& own = programs_[program];
  const StreamCommand& command = own.commands[position];
  Lane& lane = lanes_[program];
  located(*plan_, own.queue, command.op, [&] {
    const OnDevice current(own.gpu->ordinal);
    enqueueWaits(program, command, round, captured);
    if (round.traced) {
      stamps_->stamp(signalsOf(program), lane.stream, program, position, false);
    }
    enqueueAction(program, position, round, captured);
    if (round.traced) {
      stamps_->stamp(signalsOf(program), lane.stream, program, position, true);
    }
    if (lane.ended[position] != nullptr) {
      check(cudaEventRecord(lane.ended[position], lane.stream), "recording an end");
      lane.endedCrossed[position] = lane.crossed ? 1 : 0;
    }
    if (lane.published[position] != 0) {
      auto* word = reinterpret_cast<uint64_t*>(&(*board_)[own.queue.index()].handToDevice());
      enqueueWords(program, {{WordOperation::Kind::Write, word, own.commands.size(), position + 1}}, round,
                   captured);
    }
  });
}

void Group::enqueueWaits(size_t program, const StreamCommand& command, const Step& round,
                         Captured* captured) {
  llvm::SmallVector<WordOperation, 4> outside;
  for (const WaitFor& wait : command.waitsOf(round.traced)) {
    if (!inGroup(wait)) {
      const auto* word = reinterpret_cast<const uint64_t*>(&wait.word->count());
      outside.push_back({WordOperation::Kind::Wait, const_cast<uint64_t*>(word), // only ever read
                         wait.perStep, wait.offset});
    } else if (wait.offset > 0) { // the round before has ended: rounds follow one another on one stream
      waitInGroup(program, wait, round.traced);
    }
  }
  if (!outside.empty()) {
    enqueueWords(program, outside, round, captured);
  }
}

void Group::waitInGroup(size_t program, const WaitFor& wait, bool traced) {
  const auto other = static_cast<size_t>(programOf_[queueOf(wait)]);
  const size_t position = wait.offset - 1;
  Lane& lane = lanes_[program];
  check(cudaStreamWaitEvent(lane.stream, lanes_[other].ended[position], 0), "waiting for another queue");
  const bool elsewhere =
      programs_[other].gpu != programs_[program].gpu && !programs_[other].commands[position].copies(traced);
  lane.crossed = lane.crossed || elsewhere || lanes_[other].endedCrossed[position] != 0;
}

void Group::enqueueWords(size_t program, llvm::ArrayRef<WordOperation> operations, const Step& round,
                         Captured* captured) {
  cudaStream_t stream = lanes_[program].stream;
  if (!wordsByStreams_) {
    signalsOf(program).carryOut(stream, operations);
    return;
  }
  streamMemory_.enqueue(stream, operations, round.number);
  if (captured != nullptr) {
    captured->wordPatches.push_back(
        {lastNodeOf(stream), programs_[program].gpu->ordinal, {operations.begin(), operations.end()}});
  }
}

void Group::enqueueAction(size_t program, size_t position, const Step& round, Captured* captured) {
  const StreamCommand& command = programs_[program].commands[position];
  if (command.kind == Command::Kind::Compute) {
    enqueueLaunches(program, position, round);
  } else if (command.copies(round.traced)) {
    const Mark mark(options_.marks, command.mark, round.number);
    enqueueCopy(program, command.copy, round, captured);
    lanes_[program].crossed = false;
  }
}

void Group::enqueueLaunches(size_t program, size_t position, const Step& round) {
  const Computing& computing = programs_[program].computingFor(round.traced);
  Lane& lane = lanes_[program];
  for (size_t i = computing.firstAt[position]; i < computing.firstAt[position + 1]; ++i) {
    const Mark mark(options_.marks, computing.marks[i], round.number);
    StreamLaunch& work = *computing.made.launches[i].work;
    lane.crossed ? work.enqueueBehind(lane.stream) : work.enqueue(lane.stream);
    lane.crossed = false;
  }
}

void Group::enqueueCopy(size_t program, const Copy& copy, const Step& round, Captured* captured) {
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
    captured->patches.push_back({lastNodeOf(stream), &copy});
  }
}

std::byte* Group::addressOf(const Location& location, const Step& round) const {
  switch (location.base) {
  case Location::Base::Arena: return deviceAddress(location);
  case Location::Base::Feed: return const_cast<std::byte*>(round.feeds[location.buffer]); // only ever read
  case Location::Base::Fetch: return round.fetches[location.buffer];
  }
  DFC_UNREACHABLE("where a value lies");
}

const Signals& Group::signalsOf(size_t program) const {
  return signals_[static_cast<size_t>(programs_[program].gpu - gpus_.data())];
}

} // namespace dfc::cuda
