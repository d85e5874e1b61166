// What is fuzzed: every reader of files that other people may have made. A target takes any bytes, lets the
// reader have them, and where the reader is content asks for more: what was read passes its verifier, and
// written and read again it is the same. The same functions run under libFuzzer (README.md) and, over seeds
// and past findings, in the ordinary tests.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace dfc::test {

struct FuzzTarget {
  std::string_view name; ///< also of its folder of findings, and of the executable fuzz_<name>
  void (*run)(std::span<const std::byte> bytes); ///< throws when the reader breaks its word
};

llvm::ArrayRef<FuzzTarget> fuzzTargets();

void fuzzGraph(std::span<const std::byte> bytes);       ///< .dfg; small ones are compiled too
void fuzzMachine(std::span<const std::byte> bytes);     ///< machine JSON
void fuzzPlan(std::span<const std::byte> bytes);        ///< plan file; also with its checksum made right
void fuzzNpy(std::span<const std::byte> bytes);         ///< .npy
void fuzzNpz(std::span<const std::byte> bytes);         ///< .npz
void fuzzSafetensors(std::span<const std::byte> bytes); ///< .safetensors
void fuzzCsv(std::span<const std::byte> bytes);         ///< .csv; the first byte chooses how it is read
void fuzzOnnx(std::span<const std::byte> bytes);        ///< .onnx; small graphs are written again

} // namespace dfc::test
