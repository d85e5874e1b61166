// What the cuda backend enqueues for a command as a copy. Whether a kernel may be launched ahead of the end
// of what its stream waits for hangs on it: only behind something of its own GPU, which a copy is.
#include "runtime/cuda/stream/stream_command.h"
#include "tests/support/catch.h"

using namespace dfc;
using cuda::StreamCommand;
using Kind = Command::Kind;

namespace {

StreamCommand commandOf(Kind kind, int64_t bytes, bool readByPeer = false) {
  StreamCommand command;
  command.kind = kind;
  command.readByPeer = readByPeer;
  command.copy.from.bytes = command.copy.to.bytes = bytes;
  return command;
}

} // namespace

TEST_CASE("cuda: copies are what a traced round or another makes as such") {
  for (const bool traced : {false, true}) {
    CHECK(commandOf(Kind::Copy, 4).copies(traced));
    CHECK(commandOf(Kind::Transfer, 4).copies(traced));
    CHECK(commandOf(Kind::Transfer, 4, true).copies(traced) == traced);
    CHECK_FALSE(commandOf(Kind::Compute, 0).copies(traced));
    CHECK_FALSE(commandOf(Kind::Nothing, 0).copies(traced));
  }
}

TEST_CASE("cuda: a copy of no bytes is not enqueued, so that what follows it follows what came before") {
  for (const bool traced : {false, true}) {
    CHECK_FALSE(commandOf(Kind::Copy, 0).copies(traced));
    CHECK_FALSE(commandOf(Kind::Transfer, 0).copies(traced));
    CHECK_FALSE(commandOf(Kind::Transfer, 0, true).copies(traced));
  }
}
