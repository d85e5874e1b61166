// CUDA's compiler library, opened when a test asks for it: kernels' texts are compiled for an H100/H200 where
// it is installed, with no GPU and no driver.
#pragma once

#include <string>

namespace dfc::test {

/// Whether NVRTC was found when this was configured, and opens.
bool compilesHere();

/// What the compiler says of a whole translation unit: "" where there is nothing to say. Only where
/// `compilesHere`.
std::string compileLog(const std::string& source);

/// What the compiler makes of a translation unit that has no fault, as PTX. Only where `compilesHere`.
std::string compiledText(const std::string& source);

struct CompiledKernel {
  std::string warnings;     ///< or errors; "" where there is nothing to say
  int64_t spilledBytes = 0; ///< of registers that did not suffice, stored
};

/// A translation unit of one kernel compiled to a binary for an architecture ("sm_80"). Only where
/// `compilesHere`.
CompiledKernel compiledKernel(const std::string& source, const std::string& architecture);

/// A kernel that shares a translation unit with others: in a namespace, under a name of its own.
std::string inNamespace(std::string kernel, size_t number);

} // namespace dfc::test
