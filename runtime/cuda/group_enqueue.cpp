// The CUDA calls of a step: the same whether they are captured into a graph or executed at once.
#include "runtime/cuda/group.h"
#include "runtime/cuda/stream/captured_node.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

/// The last captured node of a stream.
cudaGraphNode_t lastNodeOf(cudaStream_t stream) {
  const auto last = lastCapturedNode(stream);
  DFC_ASSERT(last.has_value(), "a copy or memory operation is the last node of its stream");
  return *last;
}

} // namespace

Group::Captured Group::capture(const Step& step) {
  const Mark mark(options_.marks, marks_.capture, step.number);
  Captured captured;
  cudaStream_t origin = nullptr;
  check(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking), "making a stream to capture from");
  std::exception_ptr error;
  check(cudaStreamBeginCapture(origin, cudaStreamCaptureModeRelaxed), "beginning to capture a step");
  try {
    enqueueStep(step, origin, &captured);
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

void Group::enqueueStep(const Step& step, cudaStream_t origin, Captured* captured) {
  check(cudaEventRecord(forked_, origin), "forking a step");
  for (const QueueStream& stream : streams_) {
    check(cudaStreamWaitEvent(stream.handle, forked_, 0), "forking a step");
  }
  for (QueueStream& stream : streams_) {
    stream.crossed = false;
  }
  for (const auto& [program, position] : order_) {
    enqueue(program, position, step, captured);
  }
  const bool alone = programs_.size() == 1; // then the end follows in the one stream, without a join
  if (alone) {
    endStep(streams_[0].handle, alone);
  }
  for (size_t i = 0; i < programs_.size(); ++i) {
    const OnDevice current(programs_[i].gpu->ordinal);
    check(cudaEventRecord(streams_[i].joined, streams_[i].handle), "joining a step");
    check(cudaStreamWaitEvent(origin, streams_[i].joined, 0), "joining a step");
  }
  if (!alone) {
    endStep(origin, alone);
  }
}

void Group::endStep(cudaStream_t stream, bool alone) {
  const OnDevice current(programs_[0].gpu->ordinal);
  signalsOf(0).endStep(stream, ownCounter_, ends_, alone);
}

void Group::enqueue(size_t program, size_t position, const Step& step, Captured* captured) {
  const StreamProgram& own = programs_[program];
  const StreamCommand& command = own.commands[position];
  QueueStream& stream = streams_[program];
  located(*plan_, own.queue, command.op, [&] {
    const OnDevice current(own.gpu->ordinal);
    enqueueWaits(program, position, step, captured);
    enqueueAction(program, position, step, captured);
    if (stream.ended[position] != nullptr) {
      check(cudaEventRecord(stream.ended[position], stream.handle), "recording an end");
      stream.endedCrossed[position] = stream.crossed ? 1 : 0;
    }
    if (!stream.peerWrites[position].empty() && !waitsByPeerWords(program, position + 1)) {
      signalsOf(program).exchange(stream.handle, stream.peerWrites[position], {}, stream.crossed);
    }
    if (stream.published[position] != 0) {
      auto* word = reinterpret_cast<uint64_t*>(&(*board_)[own.queue.index()].handToDevice());
      enqueueWords(program, {{WordOperation::Kind::Write, word, own.commands.size(), position + 1}}, step,
                   captured);
    }
  });
}

void Group::enqueueWaits(size_t program, size_t position, const Step& step, Captured* captured) {
  llvm::SmallVector<WordOperation, 4> outside;
  llvm::SmallVector<DeviceWait, 4> peers;
  for (const WaitFor& wait : programs_[program].commands[position].waits) {
    if (byPeerWord(program, wait)) {
      peers.push_back(peerWords_.waitFor(programs_[program].gpu->ordinal,
                                         static_cast<size_t>(programOf_[queueOf(wait)]), wait.offset - 1));
    } else if (!inGroup(wait)) {
      const auto* word = reinterpret_cast<const uint64_t*>(&wait.word->count());
      outside.push_back({WordOperation::Kind::Wait, const_cast<uint64_t*>(word), // only ever read
                         wait.perStep, wait.offset});
    } else if (wait.offset > 0) { // else the step before has ended: all are launched on one stream
      waitInGroup(program, wait);
    }
  }
  if (!outside.empty()) {
    enqueueWords(program, outside, step, captured);
  }
  if (!peers.empty()) { // with what the command before left to write: one kernel for both
    QueueStream& stream = streams_[program];
    const bool left = position > 0 && waitsByPeerWords(program, position);
    signalsOf(program).exchange(stream.handle,
                                left ? stream.peerWrites[position - 1] : llvm::ArrayRef<DevicePublication>(),
                                peers, stream.crossed);
    stream.crossed = true; // the next launch reads what other GPUs wrote
  }
}

// Whether one exchange kernel publishes the end of the previous command and waits for the peers of this one.
// Not if this command also waits for other events: these may depend on that publication, a deadlock.
bool Group::waitsByPeerWords(size_t program, size_t position) const {
  const auto& commands = programs_[program].commands;
  const auto byWord = [&](const WaitFor& wait) { return byPeerWord(program, wait); };
  const auto ofEarlierSteps = [&](const WaitFor& wait) { return inGroup(wait) && wait.offset == 0; };
  return position < commands.size() && llvm::any_of(commands[position].waits, byWord) &&
         llvm::all_of(commands[position].waits,
                      [&](const WaitFor& wait) { return byWord(wait) || ofEarlierSteps(wait); });
}

void Group::waitInGroup(size_t program, const WaitFor& wait) {
  const auto other = static_cast<size_t>(programOf_[queueOf(wait)]);
  const size_t position = wait.offset - 1;
  QueueStream& stream = streams_[program];
  check(cudaStreamWaitEvent(stream.handle, streams_[other].ended[position], 0), "waiting for another queue");
  const bool elsewhere =
      programs_[other].gpu != programs_[program].gpu && !programs_[other].commands[position].copies();
  stream.crossed = stream.crossed || elsewhere || streams_[other].endedCrossed[position] != 0;
}

void Group::enqueueWords(size_t program, llvm::ArrayRef<WordOperation> operations, const Step& step,
                         Captured* captured) {
  cudaStream_t stream = streams_[program].handle;
  if (!wordsByStreams_) {
    signalsOf(program).enqueue(stream, operations);
    return;
  }
  streamMemory_.enqueue(stream, operations, step.number);
  if (captured != nullptr) {
    captured->wordPatches.push_back(
        {lastNodeOf(stream), programs_[program].gpu->ordinal, {operations.begin(), operations.end()}});
  }
}

void Group::enqueueAction(size_t program, size_t position, const Step& step, Captured* captured) {
  const StreamCommand& command = programs_[program].commands[position];
  if (command.kind == Command::Kind::Compute) {
    enqueueLaunches(program, position, step);
  } else if (command.copies()) {
    const Mark mark(options_.marks, command.mark, step.number);
    stamped(step, program, stamps_ != nullptr ? stamps_->itemOfCommand(program, position) : 0,
            /*afterKernel=*/false, [&] { enqueueCopy(program, command.copy, step, captured); });
    streams_[program].crossed = false;
  }
  if (step.traced && command.step.valid() && !command.copies()) {
    stamps_->mark(signalsOf(program), streams_[program].handle, program, position);
  }
}

void Group::enqueueLaunches(size_t program, size_t position, const Step& step) {
  const StreamProgram& own = programs_[program];
  QueueStream& stream = streams_[program];
  for (size_t i = own.firstAt[position]; i < own.firstAt[position + 1]; ++i) {
    const Mark mark(options_.marks, own.marks[i], step.number);
    StreamLaunch& launch = *own.computing.launches[i].streamLaunch;
    stamped(step, program, stamps_ != nullptr ? stamps_->itemOfLaunch(program, i) : 0, /*afterKernel=*/true,
            [&] {
              stream.crossed ? launch.enqueueBehind(stream.handle) : launch.enqueue(stream.handle);
              stream.crossed = false;
            });
  }
}

template <class Action>
void Group::stamped(const Step& step, size_t program, size_t item, bool afterKernel, const Action& action) {
  if (!step.traced) {
    action();
    return;
  }
  stamps_->begin(signalsOf(program), streams_[program].handle, program, item);
  action();
  stamps_->end(signalsOf(program), streams_[program].handle, program, item, afterKernel);
}

void Group::enqueueCopy(size_t program, const Copy& copy, const Step& step, Captured* captured) {
  cudaStream_t stream = streams_[program].handle;
  const auto bytes = static_cast<size_t>(copy.from.bytes);
  const int ordinal = programs_[program].gpu->ordinal;
  std::byte* from = addressOf(copy.from, ordinal, step);
  std::byte* to = addressOf(copy.to, ordinal, step);
  if (copy.staging != nullptr) {
    check(cudaMemcpyAsync(copy.staging, from, bytes, cudaMemcpyDefault, stream),
          "copying to the host on the way");
    from = copy.staging;
  }
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying");
  const bool moves = copy.from.base != Location::Base::Arena || copy.to.base != Location::Base::Arena;
  if (captured != nullptr && moves) {
    captured->patches.push_back({lastNodeOf(stream), &copy, ordinal});
  }
}

std::byte* Group::addressOf(const Location& location, int ordinal, const Step& step) const {
  switch (location.base) {
  case Location::Base::Arena: return deviceAddress(location);
  case Location::Base::Feed: return feeds_.source(location.buffer, ordinal, step);
  case Location::Base::Fetch: return step.fetches[location.buffer];
  }
  DFC_UNREACHABLE("where a value lies");
}

const Signals& Group::signalsOf(size_t program) const {
  return signals_[static_cast<size_t>(programs_[program].gpu - gpus_.data())];
}

} // namespace dfc::cuda
