#include "tests/runtime/cuda/nvrtc_compile.h"

#include "runtime/cuda/kernels/generated_kernel.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <array>

#ifdef DFC_TEST_NVRTC
#include <dlfcn.h>
#include <nvrtc.h>
#endif

namespace dfc::test {

std::string inNamespace(std::string kernel, size_t number) {
  using cuda::kernelName;
  for (size_t at = kernel.find(kernelName); at != std::string::npos; at = kernel.find(kernelName, at + 1)) {
    kernel.insert(at + kernelName.size(), fmt::format("_{}", number));
  }
  return fmt::format("namespace n{} {{\n{}}}\n", number, kernel);
}

#ifdef DFC_TEST_NVRTC
namespace {

// Null where the library is not on this machine.
void* nvrtcLibrary() {
  static void* const library = dlopen(DFC_TEST_NVRTC, RTLD_NOW | RTLD_LOCAL);
  return library;
}

template <class Function>
Function* nvrtcFunction(const char* name, Function* /*its type*/) {
  return reinterpret_cast<Function*>(dlsym(nvrtcLibrary(), name));
}
#define DFC_NVRTC(function) nvrtcFunction(#function, static_cast<decltype(&(function))>(nullptr))

nvrtcProgram newProgram(const std::string& source) {
  nvrtcProgram program = nullptr;
  REQUIRE(DFC_NVRTC(nvrtcCreateProgram)(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) ==
          NVRTC_SUCCESS);
  return program;
}

nvrtcResult compile(nvrtcProgram program) {
  const std::array options = {"--gpu-architecture=sm_90", "--fmad=false", "--std=c++17"};
  return DFC_NVRTC(nvrtcCompileProgram)(program, static_cast<int>(options.size()), options.data());
}

} // namespace

bool compilesHere() { return nvrtcLibrary() != nullptr; }

std::string compileLog(const std::string& source) {
  nvrtcProgram program = newProgram(source);
  const nvrtcResult result = compile(program);
  size_t size = 0;
  REQUIRE(DFC_NVRTC(nvrtcGetProgramLogSize)(program, &size) == NVRTC_SUCCESS);
  std::string log(size, '\0');
  REQUIRE(DFC_NVRTC(nvrtcGetProgramLog)(program, log.data()) == NVRTC_SUCCESS);
  REQUIRE(DFC_NVRTC(nvrtcDestroyProgram)(&program) == NVRTC_SUCCESS);
  log.resize(size - 1); // without its terminator
  return result == NVRTC_SUCCESS ? log : fmt::format("error {}: {}", static_cast<int>(result), log);
}

std::string compiledText(const std::string& source) {
  nvrtcProgram program = newProgram(source);
  REQUIRE(compile(program) == NVRTC_SUCCESS);
  size_t size = 0;
  REQUIRE(DFC_NVRTC(nvrtcGetPTXSize)(program, &size) == NVRTC_SUCCESS);
  std::string text(size, '\0');
  REQUIRE(DFC_NVRTC(nvrtcGetPTX)(program, text.data()) == NVRTC_SUCCESS);
  REQUIRE(DFC_NVRTC(nvrtcDestroyProgram)(&program) == NVRTC_SUCCESS);
  return text;
}
#else
bool compilesHere() { return false; }
std::string compiledText(const std::string& /*source*/) { return ""; }
std::string compileLog(const std::string& /*source*/) { return "no compiler"; }
#endif

} // namespace dfc::test
