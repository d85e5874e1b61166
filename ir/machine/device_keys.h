// The keys of a device in a machine file, for every reader of such files.
#pragma once

#include <string>
#include <vector>

namespace dfc {

inline std::vector<std::string> deviceKeys() {
  return {"id",
          "class",
          "model",
          "architecture",
          "mem",
          "slots",
          "threads",
          "multiprocessors",
          "threadsPerMultiprocessor",
          "sharedBytesPerBlock",
          "flops",
          "matmulHalfInner",
          "matmulHalfTile",
          "convolutionFlops",
          "stridedFlops",
          "memoryBandwidth",
          "cache",
          "launch",
          "matmulLaunch",
          "stepOverhead"};
}

} // namespace dfc
