// The commands that the cuda backend enqueues as copies. Programmatic dependent launch depends on it: after a
// copy on its own stream a kernel may be launched ahead again, although the stream waited for another GPU.
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

TEST_CASE("cuda: a transfer that a kernel reads from the peer is a copy in traced steps only") {
  for (const bool traced : {false, true}) {
    CHECK(commandOf(Kind::Copy, 4).copies(traced));
    CHECK(commandOf(Kind::Transfer, 4).copies(traced));
    CHECK(commandOf(Kind::Transfer, 4, true).copies(traced) == traced);
    CHECK_FALSE(commandOf(Kind::Compute, 0).copies(traced));
    CHECK_FALSE(commandOf(Kind::Nothing, 0).copies(traced));
  }
}

TEST_CASE("cuda: a copy of no bytes is not enqueued") {
  for (const bool traced : {false, true}) {
    CHECK_FALSE(commandOf(Kind::Copy, 0).copies(traced));
    CHECK_FALSE(commandOf(Kind::Transfer, 0).copies(traced));
    CHECK_FALSE(commandOf(Kind::Transfer, 0, true).copies(traced));
  }
}
