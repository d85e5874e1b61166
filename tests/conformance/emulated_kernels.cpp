#include "tests/conformance/emulated_kernels.h"

#include "compiler/lower/kernels/kernel_text.h"
#include "ir/base/assert.h"
#include "runtime/executable_folder.h"
#include "tests/support/temporary_folder.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

namespace dfc::test {
namespace {

// The conversions that the prelude leaves to a host, by way of ir/base/half.h in this program.
constexpr std::string_view conversions = R"(
extern "C" float (*dfcWidenHalf)(unsigned short), (*dfcWidenBrain)(unsigned short);
extern "C" unsigned short (*dfcNarrowHalf)(float), (*dfcNarrowBrain)(float);
float (*dfcWidenHalf)(unsigned short), (*dfcWidenBrain)(unsigned short);
unsigned short (*dfcNarrowHalf)(float), (*dfcNarrowBrain)(float);
struct f16; struct bf16;
inline float widened(f16 a);
inline float widened(bf16 a);
inline unsigned short halfBits(float a) { return dfcNarrowHalf(a); }
inline unsigned short brainBits(float a) { return dfcNarrowBrain(a); }
)";
constexpr std::string_view widening = R"(
inline float widened(f16 a) { return dfcWidenHalf(a.bits); }
inline float widened(bf16 a) { return dfcWidenBrain(a.bits); }
)";

template <class Half16>
float widen(unsigned short bits) {
  Half16 half;
  half.bits = bits;
  return static_cast<float>(half);
}
template <class Half16>
unsigned short narrow(float value) {
  return Half16(value).bits;
}

// The kernel in a namespace under a name of its own, and what calls it.
std::string wrapped(const std::string& text, bool pointersByValue, size_t id) {
  std::string code = text;
  const std::string name = fmt::format("{}_{}", kernelName, id);
  for (size_t at = code.find(kernelName); at != std::string::npos;
       at = code.find(kernelName, at + name.size())) {
    code.replace(at, kernelName.size(), name);
  }
  const std::string call = pointersByValue ? fmt::format("imitation::callByValue(p{}::{}, p)", id, name)
                                           : fmt::format("imitation::call(p{}::{}, p)", id, name);
  return fmt::format(
      "namespace p{0} {{\n{1}}}\nextern \"C\" bool dfc_run_{0}(void** given, const unsigned* grid, "
      "unsigned threads, bool backwards) {{\n  return imitation::runGrid([](void** p) {{ {2}; }}, given, "
      "grid, threads, backwards);\n}}\n",
      id, code, call);
}

std::string contentsOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

using Run = bool(void**, const unsigned*, unsigned, bool);
constexpr size_t margin = 64; // bytes after a result that must stay as they are

/// A buffer aligned as an arena's are, and no longer than it must be, but for the margin.
struct Guarded {
  explicit Guarded(size_t size) : bytes(size) {
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(256, (size + margin + 255) / 256 * 256)),
                 std::free);
    std::memset(memory.get(), 0xCD, size + margin);
  }
  bool isSound() const {
    return std::all_of(memory.get() + bytes, memory.get() + bytes + margin,
                       [](std::byte byte) { return byte == std::byte{0xCD}; });
  }
  size_t bytes;
  std::shared_ptr<std::byte> memory;
};

} // namespace

struct EmulatedKernels::Library {
  TemporaryFolder folder;
  void* handle = nullptr;
  template <class T>
  T* symbol(const std::string& name) const {
    return reinterpret_cast<T*>(dlsym(handle, name.c_str()));
  }
  ~Library() {
    if (handle != nullptr) {
      dlclose(handle);
    }
  }
};

EmulatedKernels::EmulatedKernels() = default;
EmulatedKernels::~EmulatedKernels() = default;

std::string EmulatedKernels::unavailable() {
  return ::access(DFC_CXX_COMPILER, X_OK) == 0 ? "" : "no " DFC_CXX_COMPILER " to run generated kernels with";
}

size_t EmulatedKernels::add(cuda::GeneratedKernels work) {
  std::vector<size_t> kernels;
  for (const cuda::GeneratedLaunch& launch : work.launches) {
    const std::string size = fmt::format("static_assert(sizeof(k0::Shared) == {});\n",
                                         std::max(launch.sharedBytes, 1U)); // 1 where it is empty
    kernels.push_back(addKernel(kernelText(launch) + size, false));
  }
  works_.push_back({std::move(work), std::move(kernels)});
  return works_.size() - 1;
}

size_t EmulatedKernels::addKernel(const std::string& text, bool pointersByValue) {
  const auto [row, isNew] = numbers_.emplace(text, kernels_.size());
  if (isNew) {
    kernels_.push_back({text, pointersByValue});
  }
  return row->second;
}

bool EmulatedKernels::launch(size_t kernel, std::vector<void*> pointers, std::array<uint32_t, 2> grid,
                             uint32_t threads) {
  auto* run = library_->symbol<Run>(fmt::format("dfc_run_{}", kernel));
  DFC_ASSERT(run != nullptr, "a kernel that was not built");
  return run(pointers.data(), grid.data(), threads, backwards_);
}

std::string EmulatedKernels::build() {
  library_ = std::make_unique<Library>();
  const std::string folder = library_->folder.path().string();
  {
    std::ofstream out(library_->folder.file("kernels.cpp"));
    out << "#include \"" << shippedFile("tests/conformance/cuda_imitation.h").string() << "\"\n"
        << conversions;
    std::string prelude(cuda::prelude());
    const std::string mark = "// Storage and registers.";
    const size_t at = prelude.find(mark);
    DFC_ASSERT(at != std::string::npos, "the prelude has changed");
    out << prelude.insert(at, widening);
    for (size_t i = 0; i < kernels_.size(); ++i) {
      out << wrapped(kernels_[i].text, kernels_[i].pointersByValue, i);
    }
  }
  const std::string log = folder + "/log";
  const std::string command = fmt::format("'{}' -std=c++20 -O0 -w -ffp-contract=off -shared -fPIC -o "
                                          "'{}/kernels.so' '{}/kernels.cpp' > '{}' 2>&1",
                                          DFC_CXX_COMPILER, folder, folder, log);
  if (std::system(command.c_str()) != 0) {
    return contentsOf(log);
  }
  library_->handle = dlopen((folder + "/kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_->handle == nullptr) {
    return dlerror();
  }
  *library_->symbol<float (*)(unsigned short)>("dfcWidenHalf") = widen<Half>;
  *library_->symbol<float (*)(unsigned short)>("dfcWidenBrain") = widen<BFloat16>;
  *library_->symbol<unsigned short (*)(float)>("dfcNarrowHalf") = narrow<Half>;
  *library_->symbol<unsigned short (*)(float)>("dfcNarrowBrain") = narrow<BFloat16>;
  return "";
}

std::vector<Literal> EmulatedKernels::run(size_t number, llvm::ArrayRef<Literal> operands,
                                          OperandTypes results, std::string& problem,
                                          std::optional<uint32_t> left) {
  return runAt(number, operands, results, problem, left, std::nullopt);
}

std::vector<Literal> EmulatedKernels::runOver(size_t overwritten, size_t number,
                                              llvm::ArrayRef<Literal> operands, OperandTypes results,
                                              std::string& problem) {
  return runAt(number, operands, results, problem, std::nullopt, overwritten);
}

std::vector<Literal> EmulatedKernels::runAt(size_t number, llvm::ArrayRef<Literal> operands,
                                            OperandTypes results, std::string& problem,
                                            std::optional<uint32_t> left, std::optional<size_t> overwritten) {
  const auto& [work, kernels] = works_[number];
  std::vector<Guarded> to;
  for (const TensorType& result : results) {
    to.emplace_back(static_cast<size_t>(result.bytes()));
  }
  if (overwritten) {
    const std::span<const std::byte> bytes = operands[*overwritten].bytes();
    DFC_ASSERT(bytes.size() == to[0].bytes, "a result of another size than what it overwrites");
    std::memcpy(to[0].memory.get(), bytes.data(), bytes.size());
  }
  const Guarded workspace(static_cast<size_t>(work.workspaceBytes));
  for (int64_t at = 0; left && at + 4 <= work.workspaceBytes; at += 4) {
    std::memcpy(workspace.memory.get() + at, &*left, 4);
  }
  for (size_t l = 0; l < work.launches.size(); ++l) {
    const cuda::GeneratedLaunch& launch = work.launches[l];
    std::vector<void*> given;
    for (const cuda::Argument& argument : launch.arguments) {
      switch (argument.from) {
      case cuda::Argument::From::Operand:
        given.push_back(overwritten == argument.index
                            ? to[0].memory.get()
                            : const_cast<std::byte*>(operands[argument.index].bytes().data()));
        break;
      case cuda::Argument::From::Result: given.push_back(to[argument.index].memory.get()); break;
      case cuda::Argument::From::Workspace: given.push_back(workspace.memory.get() + argument.offset); break;
      }
    }
    if (!this->launch(kernels[l], given, launch.grid, launch.threads)) {
      problem = "threads wait for each other for ever";
    }
  }
  std::vector<Literal> literals;
  bool sound = workspace.isSound();
  for (size_t i = 0; i < results.size(); ++i) {
    sound = sound && to[i].isSound();
    std::memcpy(literals.emplace_back(results[i]).mutableBytes().data(), to[i].memory.get(), to[i].bytes);
  }
  problem = sound ? problem : "a write beyond the end";
  return literals;
}

} // namespace dfc::test
