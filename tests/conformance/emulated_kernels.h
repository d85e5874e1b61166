// Generated CUDA kernels run on the host: their text is compiled by the C++ compiler behind a small imitation
// of CUDA (one fiber a thread, lock-step only where the kernel asks for it), so that what they compute is
// tested where there is no GPU. Slow: small launches only.
#pragma once

#include "compiler/lower/kernels/generated_kernel.h"
#include "ir/graph/literal.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dfc::test {

class EmulatedKernels {
 public:
  /// Why there are none on this host: they need a C++ compiler. "" where there is one.
  static std::string unavailable();
  /// Adds an op's launches; gives the number to run it by.
  size_t add(cuda::GeneratedKernels work);
  /// Compiles and loads all that was added. "" or what the compiler said.
  std::string build();
  /// Adds a kernel that stands behind the prelude; gives the number to launch it by. `pointersByValue`: its
  /// parameter is the array of all pointers (a merged kernel), else each pointer is one. Equal texts are one.
  size_t addKernel(const std::string& text, bool pointersByValue);
  /// Blocks start in the order of their numbers unless this is said, and then against it.
  void startBackwards() { backwards_ = true; }
  /// False: threads wait for each other for ever.
  bool launch(size_t kernel, std::vector<void*> pointers, std::array<uint32_t, 2> grid, uint32_t threads);
  /// Results and workspace are filled with a pattern first, the workspace with `left` over and over where an
  /// earlier op left that. A thread that stays at a barrier that others never reach, and a write beyond the
  /// result, are reported through `problem`.
  std::vector<Literal> run(size_t number, llvm::ArrayRef<Literal> operands, OperandTypes results,
                           std::string& problem, std::optional<uint32_t> left = std::nullopt);
  /// As `run`, with result 0 in the very bytes of operand `overwritten`, which is as long.
  std::vector<Literal> runOver(size_t overwritten, size_t number, llvm::ArrayRef<Literal> operands,
                               OperandTypes results, std::string& problem);

  EmulatedKernels();
  ~EmulatedKernels();

 private:
  struct Library;
  struct Kernel {
    std::string text;
    bool pointersByValue = false;
  };
  struct Added {
    cuda::GeneratedKernels work;
    std::vector<size_t> kernels; ///< by launch
  };
  std::vector<Literal> runAt(size_t number, llvm::ArrayRef<Literal> operands, OperandTypes results,
                             std::string& problem, std::optional<uint32_t> left,
                             std::optional<size_t> overwritten);

  std::vector<Kernel> kernels_;
  std::map<std::string, size_t> numbers_; ///< of the kernels, by text
  std::vector<Added> works_;
  std::unique_ptr<Library> library_;
  bool backwards_ = false;
};

} // namespace dfc::test
