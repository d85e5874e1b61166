// The commands that the cuda backend enqueues as copies. Programmatic dependent launch depends on it: after a
// copy on its own stream a kernel may be launched ahead again, although the stream waited for another GPU.
#include "runtime/cuda/stream/stream_command.h"
#include "tests/support/catch.h"

using namespace dfc;
using cuda::StreamCommand;
using Kind = Command::Kind;

namespace {

StreamCommand commandOf(Kind kind, int64_t bytes) {
  StreamCommand command;
  command.kind = kind;
  command.copy.from.bytes = command.copy.to.bytes = bytes;
  return command;
}

} // namespace

TEST_CASE("cuda: copies and transfers are enqueued as copies, unless they have no bytes") {
  CHECK(commandOf(Kind::Copy, 4).copies());
  CHECK(commandOf(Kind::Transfer, 4).copies());
  CHECK_FALSE(commandOf(Kind::Copy, 0).copies());
  CHECK_FALSE(commandOf(Kind::Transfer, 0).copies());
  CHECK_FALSE(commandOf(Kind::Compute, 0).copies());
  CHECK_FALSE(commandOf(Kind::Nothing, 0).copies());
}
