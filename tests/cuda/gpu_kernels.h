// Generated kernels on the first GPU of this host, without a session: their results, and their times.
#pragma once

#include "compiler/lower/kernels/generated_kernel.h"
#include "ir/graph/literal.h"

#include <string>
#include <vector>

namespace dfc::test {

class GpuKernels {
 public:
  /// Why there are none on this host; "" where there is a GPU.
  static std::string unavailable();
  static GpuShape shape();
  static std::string model();

  /// Adds an op's launches; gives the number to run it by.
  size_t add(cuda::GeneratedKernels work);
  /// Compiles and loads all that was added, several at once. Throws MachineError.
  void build();
  /// Results are filled with a pattern first. A write beyond a result is reported through `problem`.
  std::vector<Literal> run(size_t number, const std::vector<Literal>& operands,
                           const std::vector<TensorType>& results, std::string& problem);
  /// The mean microseconds of many runs in a row, after some that do not count.
  double microseconds(size_t number, const std::vector<Literal>& operands,
                      const std::vector<TensorType>& results);

 private:
  class Memory;
  struct Buffers;
  void launchAll(size_t number, const Buffers& buffers) const;
  std::vector<cuda::GeneratedKernels> works_;
  std::vector<std::vector<const void*>> kernels_; ///< by work and launch
};

} // namespace dfc::test
