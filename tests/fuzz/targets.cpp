// The list.
#include "tests/fuzz/targets.h"

#include <array>

namespace dfc::test {

llvm::ArrayRef<FuzzTarget> fuzzTargets() {
  static constexpr std::array<FuzzTarget, 8> targets = {{{"graph", fuzzGraph},
                                                         {"machine", fuzzMachine},
                                                         {"plan", fuzzPlan},
                                                         {"npy", fuzzNpy},
                                                         {"npz", fuzzNpz},
                                                         {"safetensors", fuzzSafetensors},
                                                         {"csv", fuzzCsv},
                                                         {"onnx", fuzzOnnx}}};
  return targets;
}

} // namespace dfc::test
